"""Counts the values of a record batch, by row and by the type of the values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.tfxio.arrow.array_util import is_binary_like, is_list_like

VALUE_TYPES = ("INT", "FLOAT", "STRING", "NULL", "OTHER")
"""The classes of Arrow types that the counts distinguish."""


def value_type(data_type: pa.DataType) -> str:
    """Returns which of the `VALUE_TYPES` the values of a leaf have."""
    if pa.types.is_integer(data_type):
        return "INT"
    if pa.types.is_floating(data_type):
        return "FLOAT"
    if pa.types.is_null(data_type):
        return "NULL"
    if is_binary_like(data_type):
        return "STRING"
    return "OTHER"


def count_cells(batch: pa.RecordBatch) -> Iterator[tuple[str, int]]:
    """Yields for each column the type of the values in its lists, and its number of non-null cells.

    Columns that are not lists are OTHER. For a column of type null all cells are counted.
    """
    for column in batch.columns:
        if pa.types.is_null(column.type):
            yield "NULL", len(column)
        elif is_list_like(column.type):
            yield value_type(column.type.value_type), len(column) - column.null_count
        else:
            yield "OTHER", len(column) - column.null_count


def count_columns(batch: pa.RecordBatch) -> Int64Array:
    """Returns for each row its number of non-null cells."""
    counts = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        counts += column.is_valid().to_numpy(zero_copy_only=False)
    return counts


def count_values(batch: pa.RecordBatch) -> Iterator[tuple[str, Int64Array]]:
    """Yields for each leaf the type of its values, and the number of them in each row.

    A leaf is a column with all levels of lists removed; a struct has one leaf for each field.
    """
    rows = np.arange(batch.num_rows + 1)
    for column in batch.columns:
        yield from _count_leaves(column, rows)


def _count_leaves(values: pa.Array, row_starts: Int64Array) -> Iterator[tuple[str, Int64Array]]:
    """Counts in `values`; row i has those from its start to the start of the next row."""
    if is_list_like(values.type):
        # Computed from the lengths, not from the offsets: a null list may span values.
        lengths = pc.list_value_length(values).fill_null(0)
        starts = np.concatenate(([0], np.cumsum(lengths)))[row_starts]
        inner = values.type.value_type
        if pa.types.is_nested(inner):
            yield from _count_leaves(values.flatten(), starts)
        else:  # Not flattened, which may copy the values.
            yield value_type(inner), np.diff(starts)
    elif pa.types.is_struct(values.type):
        for field in values.flatten():
            yield from _count_leaves(field, row_starts)
    else:
        yield value_type(values.type), np.diff(row_starts)
