"""Parquet files to Arrow record batches, some row groups at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from tfrecord_beam.errors import CorruptRecordError, Location
from tfrecord_beam.records.batch_stream import rebatch
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.parquet_columns import check_columns, convert_batch

OpenFile = Callable[[str], BinaryFile]

_BATCH_ROWS = 1 << 16
"""Rows of a batch where no number was asked for: some megabytes of most data."""


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
      CorruptRecordError: it is no Parquet file.
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
      CorruptRecordError: it is no Parquet file.
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


def read_row_groups(
    groups: RowGroups, open_file: OpenFile, schema: pa.Schema, *, batch_size: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yields the rows as batches of a schema; no other column is read.

    Args:
      groups: what to read.
      open_file: opens a path for binary reading.
      schema: see `convert_batch`.
      batch_size: rows of each batch but the last. None: 65,536 at most.

    Raises:
      CorruptRecordError: the file cannot be read.
      SchemaError: the file has no such column, or one of a type that cannot become the wanted one.
      DecodeError: a value does not fit its type.
    """
    batches = _read(groups, open_file, schema, batch_size or _BATCH_ROWS)
    return batches if batch_size is None else rebatch(batches, batch_size, drop_remainder=False)


def _read(
    groups: RowGroups, open_file: OpenFile, schema: pa.Schema, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    row = groups.first_row
    with _open(groups.path, open_file) as file:
        check_columns(schema, file.schema_arrow, groups.path)
        batches = file.iter_batches(
            batch_rows,
            row_groups=range(groups.start, groups.stop),
            columns=schema.names,
            use_threads=False,
        )
        while True:
            with _reading(groups.path):
                batch = next(batches, None)
            if batch is None:
                return
            yield convert_batch(batch, schema, place=Location(groups.path, record=row))
            row += batch.num_rows


@contextlib.contextmanager
def _open(path: str, open_file: OpenFile) -> Iterator[Any]:
    raw = open_file(path)
    try:
        with _reading(path):
            file = pyarrow.parquet.ParquetFile(pa.PythonFile(raw, mode="r"))
        yield file
    finally:
        raw.close()


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise  # it is the reading that failed; Arrow's own errors have no number
        reason = " ".join(str(error).split())  # in one line
        raise CorruptRecordError(
            f"Expected a Parquet file, found one that cannot be read: {reason}", Location(path)
        ) from error
