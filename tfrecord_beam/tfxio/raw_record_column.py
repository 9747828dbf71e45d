"""The column that holds each row's own record."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import check_instance
from tfrecord_beam.schema.arrow import check_raw_record_column
from tfrecord_beam.tfxio.arrow.array_util import ToSingletonListArray, is_list_like


def CreateRawRecordColumn(raw_records: Iterable[bytes]) -> pa.Array:
    """Returns records as a raw-record column: `large_list<large_binary>`, each in a list of one.

    >>> CreateRawRecordColumn([b"one", b"two"]).to_pylist()
    [[b'one'], [b'two']]

    Raises:
      ValueError: a record is neither bytes nor str.
    """
    return ToSingletonListArray(_as_array(raw_records))


def AppendRawRecordColumn(
    record_batch: pa.RecordBatch,
    column_name: str,
    raw_records: Iterable[bytes],
    record_index_column_name: str | None = None,
) -> pa.RecordBatch:
    """Returns the batch with a last column that holds the record of each row.

    Args:
      record_batch: the rows.
      column_name: name of the new column.
      raw_records: the records; without an index column, one for each row.
      record_index_column_name: name of a column of lists with one integer each: the index of the
        row's record. None: row i belongs to record i.

    Raises:
      ValueError: the name is that of another column, the number of records differs from that of
        rows, or the index column does not exist or has another type.
    """
    check_instance("record_batch", record_batch, pa.RecordBatch)
    check_instance("column_name", column_name, str)
    check_raw_record_column(column_name, record_batch.schema.names)
    records = _as_array(raw_records)
    if record_index_column_name is not None:
        check_instance("record_index_column_name", record_index_column_name, str)
        records = _take(records, record_batch, record_index_column_name)
    elif len(records) != record_batch.num_rows:
        raise SchemaError(
            f"Expected a record for each of {record_batch.num_rows} rows, found {len(records)}"
        )
    field = pa.field(column_name, pa.large_list(pa.large_binary()))
    return pa.RecordBatch.from_arrays(
        [*record_batch.columns, ToSingletonListArray(records)],
        schema=record_batch.schema.append(field),
    )


def _as_array(raw_records: Iterable[bytes]) -> pa.Array:
    try:
        records = pa.array(list(raw_records), pa.large_binary())
    except (pa.ArrowException, TypeError) as error:
        raise SchemaError(f"Expected records as bytes, found others ({error})") from error
    if records.null_count:
        raise SchemaError("Expected records as bytes, found None among them")
    return records


def _take(records: pa.Array, batch: pa.RecordBatch, index_column: str) -> pa.Array:
    """Returns for each row its record, according to an index column."""
    index = batch.schema.get_field_index(index_column)
    if index < 0:
        raise SchemaError(f"Expected a column of record indices {index_column!r}, found none")
    lists = batch.column(index)
    if not is_list_like(lists.type) or not pa.types.is_integer(lists.type.value_type):
        raise SchemaError(
            f"Expected lists of integers in column {index_column!r}, found {lists.type}"
        )
    indices = lists.flatten()
    is_one_each = np.array_equal(lists.value_lengths().fill_null(0), np.ones(len(lists)))
    if not is_one_each or indices.null_count:
        raise SchemaError(
            f"Expected lists of one record index each in column {index_column!r}, found others"
        )
    try:
        return records.take(indices)
    except pa.ArrowIndexError as error:
        raise SchemaError(
            f"Expected indices of {len(records)} records in column {index_column!r}, "
            f"found others ({error})"
        ) from error
