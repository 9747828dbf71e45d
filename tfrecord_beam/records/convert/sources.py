"""Files of other formats as record batches, in bounded memory."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pyarrow.types as pt
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import CorruptRecordError, DecodeError, EncodeError, Location
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.options import describe
from tfrecord_beam.records.compression import HEAD_BYTES, detect_codec, open_decompressed
from tfrecord_beam.records.convert.formats import Format
from tfrecord_beam.records.decompression import BinaryFile, ByteStream
from tfrecord_beam.records.lines import LineBlock, LineOptions, read_lines
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.writing.elements import RowTypes, convert_elements, row_types
from tfrecord_beam.schema.arrow import project_batch
from tfrecord_beam.schema.names import check_known
from tfrecord_beam.schema.tfmd import schema_columns

_BATCH_ROWS, _BATCH_BYTES = 1 << 16, 64 << 20
"""The most rows of a batch of Parquet, and about the most bytes."""

_CSV_BLOCK_BYTES = 8 << 20
"""By the first of these the types of columns are chosen where no schema tells them."""

_CSV_TYPES = {Kind.INT64: pa.int64(), Kind.FLOAT: pa.float64(), Kind.BYTES: pa.large_binary()}

_CSV_INTEGER = r"^\s*[-+]?[0-9]+\s*$"

_CSV_HINT = "types are told by the first rows: give a schema, if it is for that"

_JSON_BLOCK_BYTES = 1 << 20

_JSON_HINT = "give a schema, if it is numbers of which some are integers"

_ARROW_MAGIC = b"ARROW1"


def iter_file(
    raw: BinaryFile,
    path: str,
    file_format: Format,
    *,
    schema: schema_pb2.Schema | None = None,
    columns: Sequence[str] | None = None,
    row_groups: range | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a file, in their order.

    Types are those of the file. In CSV, where there are none, the schema tells them; without one
    pyarrow tells numbers and booleans by the looks of the first 8 MiB, and all else is text, as are
    integers of which some are too large for 64 bits. An empty cell is null, one of two quotes is
    empty text.

    Args:
      raw: the file, which is closed at the end.
      path: its path or URL.
      file_format: any but TFRecord.
      schema: tells types of CSV, and which numbers of JSON are floats.
      columns: names of the columns to read, in the order wanted; None: all.
      row_groups: of Parquet, those to read; None: all.

    Raises:
      DecodeError: the file is not of this format, or damaged.
      SchemaError: there is no such column.
    """
    try:
        with _reading(path, file_format):
            for batch in _iter_batches(raw, path, file_format, schema, columns, row_groups):
                yield batch if columns is None else project_batch(batch, columns)
    finally:
        raw.close()


@contextlib.contextmanager
def _reading(path: str, file_format: Format) -> Iterator[None]:
    try:
        yield
    except CorruptRecordError as error:  # of decompression, which knows no name
        raise error.located(file=path) from error.__cause__
    except (pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise  # it is the reading that failed; Arrow's own errors have no number
        reason = " ".join(str(error).split())  # in one line
        raise DecodeError(
            f"Expected {file_format.value} data, found some that cannot be read: {reason}",
            Location(path),
            _CSV_HINT if file_format is Format.CSV else None,
        ) from error


def _iter_batches(
    raw: BinaryFile,
    path: str,
    file_format: Format,
    schema: schema_pb2.Schema | None,
    columns: Sequence[str] | None,
    row_groups: range | None,
) -> Iterator[pa.RecordBatch]:
    if file_format is Format.CSV:
        return _iter_csv(raw, path, schema)
    if file_format is Format.JSON:
        return _iter_json(raw, path, row_types(schema))
    if file_format is Format.PARQUET:
        file = pa.parquet.ParquetFile(pa.PythonFile(raw, mode="r"))
        return _iter_parquet(file, columns, row_groups)
    return _iter_arrow(raw)


def _iter_parquet(
    file: pa.parquet.ParquetFile, columns: Sequence[str] | None, row_groups: range | None
) -> Iterator[pa.RecordBatch]:
    if columns is not None:
        check_known(columns, file.schema_arrow.names, "columns")
    numbers = range(file.num_row_groups) if row_groups is None else row_groups
    groups = [file.metadata.row_group(number) for number in numbers]
    row_bytes = max(
        (group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0
    )
    rows = min(_BATCH_ROWS, max(1, _BATCH_BYTES // max(row_bytes, 1)))
    batches: Iterator[pa.RecordBatch] = file.iter_batches(rows, numbers, columns)
    return batches


def _iter_arrow(raw: BinaryFile) -> Iterator[pa.RecordBatch]:
    """Yields the batches of an IPC file or stream, whichever it is."""
    is_file = raw.read(len(_ARROW_MAGIC)) == _ARROW_MAGIC
    raw.seek(0)
    content = pa.PythonFile(raw, mode="r")
    if not is_file:
        yield from pa.ipc.open_stream(content)
        return
    file = pa.ipc.open_file(content)
    yield from map(file.get_batch, range(file.num_record_batches))


def _iter_json(raw: BinaryFile, path: str, types: RowTypes) -> Iterator[pa.RecordBatch]:
    options = LineOptions(block_bytes=_JSON_BLOCK_BYTES)
    for block in read_lines(FileRange(path), lambda _: raw, options):
        rows = [index for index in range(block.num_lines) if block.line(index).strip()]
        if not rows:
            continue
        try:
            yield convert_elements([_parse_json(block, index) for index in rows], types)
        except EncodeError as error:
            place = block.location(rows[error.record or 0], error.feature)
            raise DecodeError(error.message, place, error.hint or _JSON_HINT) from None


def _parse_json(block: LineBlock, index: int) -> dict[str, Any]:
    line = block.line(index)
    try:
        row = json.loads(line, object_pairs_hook=_to_object, parse_float=_to_float)
    except (ValueError, RecursionError) as error:
        raise DecodeError(
            f"Expected a JSON object in each line, found {describe(line)}: {error}",
            block.location(index),
        ) from error
    if not isinstance(row, dict):
        raise DecodeError(
            f"Expected a JSON object in each line, found {describe(row)}", block.location(index)
        )
    return row


def _to_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):  # Infinity itself is no number of digits
        raise ValueError(f"{describe(digits)} is beyond float64")
    return number


def _to_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{describe(next(n for n in names if names.count(n) > 1))} comes twice")
    return row


def _iter_csv(
    raw: BinaryFile, path: str, schema: schema_pb2.Schema | None
) -> Iterator[pa.RecordBatch]:
    columns = () if schema is None else schema_columns(schema)
    told = {column.name: _CSV_TYPES[column.kind] for column in columns if column.kind}
    # From memory: pyarrow reads ahead, also in a file in which others read already.
    head = _open_content(raw, path).read(2 * _CSV_BLOCK_BYTES)
    found = _open_csv(pa.BufferReader(head), told, is_single=False).schema
    by_looks = {field.name: _csv_type(field.type) for field in found}
    floats = {name for name, each in by_looks.items() if pt.is_floating(each)} - told.keys()
    by_looks |= dict.fromkeys(_find_large_integers(head, floats), pa.large_string())
    content = pa.PythonFile(_open_content(raw, path), mode="r")
    yield from _open_csv(content, {**by_looks, **told}, is_single=len(found) == 1)


def _find_large_integers(head: bytes, floats: Collection[str]) -> list[str]:
    """Returns those columns whose cells are integers, and float only because some are too large."""
    if not floats:
        return []
    types = dict.fromkeys(floats, pa.large_string())
    batch = _open_csv(pa.BufferReader(head), types, is_single=False).read_next_batch()
    return [
        name
        for name, cells in zip(batch.schema.names, batch.columns, strict=True)
        if name in floats and pc.all(pc.match_substring_regex(cells, _CSV_INTEGER)).as_py()
    ]


def _csv_type(found: pa.DataType) -> pa.DataType:
    """Returns the type of a column by what the first rows look like to pyarrow."""
    is_kept = pt.is_integer, pt.is_floating, pt.is_boolean, pt.is_binary
    return found if any(is_type(found) for is_type in is_kept) else pa.large_string()


def _open_csv(
    content: pa.NativeFile, types: dict[str, pa.DataType], *, is_single: bool
) -> pa.csv.CSVStreamingReader:
    return pa.csv.open_csv(
        content,
        pa.csv.ReadOptions(block_size=_CSV_BLOCK_BYTES),
        # In a file of one column an empty line is a null; in others it is none of the rows.
        pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=not is_single),
        pa.csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _open_content(raw: BinaryFile, path: str) -> _Content:
    """Returns the decompressed content of a file from its start."""
    raw.seek(0)
    codec = detect_codec(raw.read(HEAD_BYTES), path)
    raw.seek(0)
    return _Content(open_decompressed(raw, codec))


class _Content:
    """A stream with the interface that Arrow reads from, which ends where less is given."""

    closed = False

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        buffer = memoryview(bytearray(size))
        filled = 0
        while filled < size and (count := self._stream.readinto(buffer[filled:])):
            filled += count
        return bytes(buffer[:filled])

    def close(self) -> None:
        """Does nothing: who opened the file closes it."""
