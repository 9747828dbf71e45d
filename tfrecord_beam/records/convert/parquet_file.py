"""Parquet files as record batches, some row groups at a time, in bounded memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet

from tfrecord_beam.records.convert.formats import Format, reading
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.reader import BLOCK_BYTES
from tfrecord_beam.schema.names import check_known

OpenFile = Callable[[str], BinaryFile]

_BATCH_ROWS, _BATCH_BYTES = 1 << 16, BLOCK_BYTES
"""The most rows, and about the most bytes, of a batch where no number of rows was asked for. With
64 MiB, too much to be kept for the next batch, images and long lists took twice as long."""


class RowGroups(NamedTuple):
    """Row groups of a file that are read one after the other.

    Attributes:
      path: path or URL.
      start: number of the first one.
      stop: number of the first one that is not read.
      first_row: number in the file of the first row.
    """

    path: str
    start: int
    stop: int
    first_row: int


def read_schema(path: str, open_file: OpenFile) -> pa.Schema:
    """Returns the Arrow schema of a file.

    Raises:
      DecodeError: it is no Parquet file.
    """
    with _open(path, open_file) as file:
        return file.schema_arrow


def split_row_groups(path: str, open_file: OpenFile, min_bytes: int) -> Iterator[RowGroups]:
    """Yields the row groups of a file in portions of at least so many bytes.

    Args:
      path: path or URL.
      open_file: opens a path for binary reading.
      min_bytes: of a portion but the last, uncompressed.

    Raises:
      DecodeError: it is no Parquet file.
    """
    with _open(path, open_file) as file:
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    start = first_row = row = size = 0
    for number, group in enumerate(groups, 1):
        row += group.num_rows
        size += group.total_byte_size
        if size >= min_bytes or number == len(groups):
            yield RowGroups(path, start, number, first_row)
            start, first_row, size = number, row, 0


def iter_parquet(
    raw: BinaryFile,
    *,
    columns: Sequence[str] | None = None,
    row_groups: range | None = None,
    batch_rows: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a file, in their order.

    Args:
      raw: the file, which is not closed.
      columns: names of those to read, which come in the file's order; None: all.
      row_groups: numbers of those to read; None: all.
      batch_rows: rows of a batch at most. None: as many as have about 8 MiB.

    Raises:
      SchemaError: there is no such column.
      pa.ArrowException: the file cannot be read.
    """
    file = pa.parquet.ParquetFile(pa.PythonFile(raw, mode="r"))
    if columns is not None:
        check_known(columns, file.schema_arrow.names, "columns")
    numbers = range(file.num_row_groups) if row_groups is None else row_groups
    if batch_rows is None:
        groups = (file.metadata.row_group(number) for number in numbers)
        row_bytes = max((_row_bytes(group, columns) for group in groups), default=0)
        batch_rows = min(_BATCH_ROWS, max(1, _BATCH_BYTES // max(row_bytes, 1)))
    yield from file.iter_batches(batch_rows, numbers, columns)


def _row_bytes(group: pa.parquet.RowGroupMetaData, columns: Sequence[str] | None) -> int:
    chunks = [group.column(index) for index in range(group.num_columns)]
    if columns is not None:
        wanted = tuple(f"{name}." for name in columns)  # of nested columns each leaf is a chunk
        chunks = [chunk for chunk in chunks if f"{chunk.path_in_schema}.".startswith(wanted)]
    num_bytes: int = sum(chunk.total_uncompressed_size for chunk in chunks)
    return num_bytes // max(int(group.num_rows), 1)


@contextlib.contextmanager
def _open(path: str, open_file: OpenFile) -> Iterator[pa.parquet.ParquetFile]:
    raw = open_file(path)
    try:
        with reading(path, Format.PARQUET):
            yield pa.parquet.ParquetFile(pa.PythonFile(raw, mode="r"))
    finally:
        raw.close()
