"""CSV files as record batches, in bounded memory."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.types as pt
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.caller import warn_caller
from tfrecord_beam.errors import DecodeError, Location, render
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.options import count_of, describe
from tfrecord_beam.records.compression import open_decompressed, read_codec
from tfrecord_beam.records.csv_quotes import OpenQuote
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.schema.tfmd import schema_columns

_BLOCK_BYTES = 8 << 20
"""Without a schema, the types of columns are inferred from the first block of this size."""

_TYPES = {Kind.INT64: pa.int64(), Kind.FLOAT: pa.float64(), Kind.BYTES: pa.large_binary()}

_NUMBER = re.compile(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*")

_INTEGER = r"^\s*[-+]?[0-9]+\s*$"

# Parts of pyarrow's error messages.
_BAD_CELL = re.compile(r"In CSV column #(\d+): ")
_BAD_LINE = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
_LONG_LINE = "straddling object"
_NO_LINE = "Empty CSV file"

_SHOWN = 200
"""How many characters of pyarrow's message are shown; it may contain a whole file."""


def iter_csv(
    raw: BinaryFile,
    path: str,
    schema: schema_pb2.Schema | None = None,
    column_names: Sequence[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a file, in their order.

    The schema defines the types of columns; without one pyarrow infers numbers and booleans from
    the first 8 MiB, and everything else is text, including columns of integers some of which exceed
    64 bits. An empty cell is null, one with two quotes is empty text.

    Args:
      raw: the file, which is not closed.
      path: its path or URL.
      schema: defines types.
      column_names: one for each cell of a line. None: the first line has them, and there is a
        warning if one of them is a number and not in the schema.

    Raises:
      DecodeError: no line has names; a line has another number of cells, or a quote is not closed;
        a cell is not of its column's type.
    """
    columns = () if schema is None else schema_columns(schema)
    told = {column.name: _TYPES[column.kind] for column in columns if column.kind}
    content = _Content(raw, path)
    # From memory, because pyarrow reads ahead, even in a file that is already read elsewhere.
    head = content.read(2 * _BLOCK_BYTES)
    if column_names is not None and not head:
        return
    names: list[str] = []
    try:
        found = _open(pa.BufferReader(head), column_names).schema
        names = found.names
        if column_names is None:
            _warn_of_data([name for name in names if name not in told], path)
        by_looks = _choose_types(found, head, column_names)
        content = _Content(raw, path)
        yield from _open(
            pa.PythonFile(content, mode="r"),
            column_names,
            {**by_looks, **told},
            # In a file with one column an empty line is a null; in others it is not a row.
            ignore_empty_lines=len(names) != 1,
        )
    except UnicodeDecodeError as error:
        raise DecodeError(
            "Expected UTF-8 in the names of the columns, found other bytes", Location(path, line=1)
        ) from error
    except pa.ArrowInvalid as error:
        is_bad_line = _BAD_LINE.search(str(error)) is not None
        record = _find_bad_row(_Content(raw, path), column_names) if is_bad_line else None
        raise _explain(error, content, path, names, record) from error
    if content.quote.line is not None:
        raise _left_open(path, content.quote.line)


def _warn_of_data(names: Sequence[str], path: str) -> None:
    """Warns if a name in the first line is a number, so that the line may be a row."""
    number = next((name for name in names if _NUMBER.fullmatch(name)), None)
    if number is not None:
        text = "Expected names of columns in the first line of a CSV file, found the number"
        hint = "if that line is data, give column_names"
        warn_caller(render(f"{text} {number!r}", Location(path, line=1), hint))


def _choose_types(
    found: pa.Schema, head: bytes, column_names: Sequence[str] | None
) -> dict[str, pa.DataType]:
    """Returns the types of all columns, given the types that pyarrow infers from the first rows."""
    is_kept = pt.is_integer, pt.is_floating, pt.is_boolean, pt.is_binary
    types = {
        field.name: field.type if any(is_(field.type) for is_ in is_kept) else pa.large_string()
        for field in found
    }
    floats = {name: pa.large_string() for name, each in types.items() if pt.is_floating(each)}
    if floats:
        batch = _open(pa.BufferReader(head), column_names, floats).read_next_batch()
        # Integers that pyarrow reads as floats only because some are too large.
        types.update(
            (name, cells.type)
            for name, cells in zip(batch.schema.names, batch.columns, strict=True)
            if name in floats and pc.all(pc.match_substring_regex(cells, _INTEGER)).as_py()
        )
    return types


def _open(
    content: pa.NativeFile,
    column_names: Sequence[str] | None,
    types: Mapping[str, pa.DataType] = MappingProxyType({}),
    *,
    ignore_empty_lines: bool = True,
    use_threads: bool = True,
) -> pa.csv.CSVStreamingReader:
    return pa.csv.open_csv(
        content,
        pa.csv.ReadOptions(
            use_threads=use_threads, block_size=_BLOCK_BYTES, column_names=column_names
        ),
        pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=ignore_empty_lines),
        pa.csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _find_bad_row(content: _Content, column_names: Sequence[str] | None) -> int | None:
    """Returns the index of the row that has the wrong number of cells; None: not found.

    pyarrow only counts rows without threads, so the file is read again.
    """
    try:
        for _ in _open(pa.PythonFile(content, mode="r"), column_names, use_threads=False):
            pass
    except pa.ArrowInvalid as error:
        if (found := _BAD_LINE.search(str(error))) and found[1]:
            return int(found[1]) - (2 if column_names is None else 1)
    return None


def _explain(
    error: pa.ArrowInvalid,
    content: _Content,
    path: str,
    names: Sequence[str],
    record: int | None,
) -> DecodeError:
    """Returns the error for data that pyarrow could not read, with the row if it is known."""
    text = str(error)
    line = content.quote.line
    if line is not None and content.is_read:
        return _left_open(path, line)
    if _LONG_LINE in text:
        return DecodeError(
            f"Expected a row of at most {_BLOCK_BYTES} bytes, found a longer one",
            Location(path, line=line),
            None if line is None else "is the quote closed that is open there?",
        )
    if _NO_LINE in text:
        return DecodeError(
            "Expected a line with the names of the columns, found none", Location(path)
        )
    if found := _BAD_LINE.search(text):
        _, number, count, shown = found.groups()
        expected = f"a line of {count_of(int(number), 'cell')}"
        return DecodeError(
            f"Expected {expected}, found {count}: {describe(shown)}",
            Location(path, record=record),
        )
    cell = _BAD_CELL.match(text)
    return DecodeError(
        "Expected csv data, found some that cannot be read: "
        f"{textwrap.shorten(text, _SHOWN, placeholder=' ...')}",
        Location(path, feature=names[int(cell[1])] if cell else None),
        "types are inferred from the first rows: if that is the cause, give a schema"
        if cell
        else None,
    )


def _left_open(path: str, line: int) -> DecodeError:
    return DecodeError(
        "Expected every quote closed, found one left open", Location(path, line=line)
    )


class _Content:
    """The decompressed content of a file, with the interface that Arrow reads from.

    Reads return less than requested only at the end. The last line always gets a line end.

    Attributes:
      quote: the quote that is open at the current position.
      is_read: whether the end has been reached.
    """

    closed = False

    def __init__(self, raw: BinaryFile, path: str) -> None:
        raw.seek(0)
        self._stream = open_decompressed(_Kept(raw), read_codec(raw, path))
        self._last = b""
        self.quote = OpenQuote()
        self.is_read = False

    def read(self, size: int) -> bytes:
        buffer = memoryview(bytearray(size))
        filled = 0
        while filled < size and (count := self._stream.readinto(buffer[filled:])):
            filled += count
        data = bytes(buffer[:filled])
        if filled < size:
            self.is_read = True
            if (data[-1:] or self._last) not in b"\n":
                data += b"\n"
        self._last = data[-1:] or self._last
        self.quote.feed(data)
        return data

    def close(self) -> None:
        """Does nothing: the file is closed by the code that opened it."""


class _Kept:
    """A file that stays open when a decompressor is freed: Arrow's would close their input."""

    def __init__(self, raw: BinaryFile) -> None:
        self.read, self.readinto, self.seek, self.tell = raw.read, raw.readinto, raw.seek, raw.tell

    def close(self) -> None: ...
