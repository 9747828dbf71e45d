"""Separates rows that cannot be encoded from those that can be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.records.writing.batches import BatchEncoder, encode_rows
from tfrecord_beam.records.writing.elements import convert_elements
from tfrecord_beam.records.writing.encoding import RowEncoding
from tfrecord_beam.records.writing.options import WriteOptions


class RefusedRow(NamedTuple):
    """A row that cannot be written.

    Attributes:
      row: as it was given; of a batch, a batch of one row.
      error: why.
    """

    row: Any
    error: EncodeError | SchemaError


def sort_out(
    rows: pa.RecordBatch | Sequence[Any], options: WriteOptions, encoding: RowEncoding
) -> Iterator[pa.RecordBatch | list[bytes] | RefusedRow]:
    """Yields all rows in their order: batches that can be written, and each row that cannot.

    Rows that fit a schema one by one may still not make one batch, as True beside 2 does not: then
    they are several.

    Args:
      rows: a batch, or elements of another kind; those that are records are not looked into.
      options: the partition columns.
      encoding: how rows become records, by a schema.
    """
    if not len(rows):
        return
    try:
        batch = rows if isinstance(rows, pa.RecordBatch) else convert_elements(rows, encoding.types)
        if isinstance(batch, pa.RecordBatch):
            encode_rows(batch, BatchEncoder(encoding.encoder), options, encoding)
    except (EncodeError, SchemaError) as error:
        if len(rows) == 1:
            row = rows if isinstance(rows, pa.RecordBatch) else rows[0]
            yield RefusedRow(row, error.located(record=None))
            return
    else:
        yield batch
        return
    middle = len(rows) // 2
    yield from sort_out(rows[:middle], options, encoding)
    yield from sort_out(rows[middle:], options, encoding)
