"""Reads Parquet files as record batches, a few row groups at a time, in bounded memory."""

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
"""Maximum number of rows, and approximate maximum size, of a batch if no number of rows is given.
With 64 MiB, too large for memory to be reused for the next batch, images and long lists took twice
as long."""


class RowGroups(NamedTuple):
    """Consecutive row groups of a file.

    Attributes:
      path: path or URL.
      start: index of the first row group.
      stop: index after the last one.
      first_row: index of the first row in the file.
    """

    path: str
    start: int
    stop: int
    first_row: int


def read_schema(path: str, open_file: OpenFile) -> pa.Schema:
    """Returns the Arrow schema of a file.

    Raises:
      DecodeError: it is not a Parquet file.
    """
    with _open(path, open_file) as file:
        return file.schema_arrow


def split_row_groups(path: str, open_file: OpenFile, min_bytes: int) -> Iterator[RowGroups]:
    """Yields the row groups of a file in portions of at least `min_bytes`.

    Args:
      path: path or URL.
      open_file: opens a path for binary reading.
      min_bytes: minimum size of a portion, except the last one, uncompressed.

    Raises:
      DecodeError: it is not a Parquet file.
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
    """Yields the rows of a file, in order.

    Args:
      raw: the file, which is not closed.
      columns: names of the columns to read, which are in the file's order; None: all.
      row_groups: indices of the row groups to read; None: all.
      batch_rows: maximum number of rows in a batch. None: as many as fit into about 8 MiB.

    Raises:
      SchemaError: a column does not exist.
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
        wanted = tuple(f"{name}." for name in columns)  # each leaf of a nested column is a chunk
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
