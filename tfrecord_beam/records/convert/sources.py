"""Reads files of other formats as record batches, in bounded memory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import DecodeError, EncodeError
from tfrecord_beam.options import describe
from tfrecord_beam.records.convert.csv_file import iter_csv
from tfrecord_beam.records.convert.formats import Format, reading
from tfrecord_beam.records.convert.parquet_file import iter_parquet
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.lines import LineBlock, LineOptions, read_lines
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.writing.elements import RowTypes, convert_elements, row_types
from tfrecord_beam.schema.arrow import project_batch

_JSON_BLOCK_BYTES = 1 << 20

_ARROW_MAGIC = b"ARROW1"


def iter_file(
    raw: BinaryFile,
    path: str,
    file_format: Format,
    *,
    schema: schema_pb2.Schema | None = None,
    columns: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    row_groups: range | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a file, in order.

    Types are those of the file; for CSV, which has none, see `iter_csv`.

    Args:
      raw: the file, which is closed at the end.
      path: its path or URL.
      file_format: any but TFRecord.
      schema: defines the types of CSV, and which numbers of JSON are floats.
      columns: names of the columns to read, in output order; None: all.
      column_names: for CSV without a header line; None: the first line has the names.
      row_groups: for Parquet, the row groups to read; None: all.

    Raises:
      DecodeError: the file does not have this format, or is damaged.
      SchemaError: a column does not exist.
    """
    try:
        with reading(path, file_format):
            if file_format is Format.CSV:
                batches = iter_csv(raw, path, schema, column_names)
            elif file_format is Format.JSON:
                batches = _iter_json(raw, path, row_types(schema))
            elif file_format is Format.PARQUET:
                batches = iter_parquet(raw, columns=columns, row_groups=row_groups)
            else:
                batches = _iter_arrow(raw)
            for batch in batches:
                yield batch if columns is None else project_batch(batch, columns)
    finally:
        raw.close()


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
            raise DecodeError(error.message, place, error.hint) from None


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
