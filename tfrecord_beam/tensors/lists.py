"""Converts arrays of lists, and the parent indices of values, to row splits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.block import Int64Array


class FlatLists(NamedTuple):
    """The lists of an array.

    Attributes:
      splits: list i spans splits[i] to splits[i + 1] of the values; a null list is empty.
      longest: the length of the longest list.
      values: those of all lists, end to end.
    """

    splits: Int64Array
    longest: int
    values: pa.Array


def flatten(array: pa.Array) -> FlatLists:
    """Returns the lists of a `list` or `large_list` array; copies values only if necessary.

    >>> flatten(pa.array([[5, 6], None, [7]])).splits.tolist()
    [0, 2, 2, 3]
    """
    splits, longest, first = kernel.row_splits(array)
    if first is None:
        return FlatLists(splits, longest, array.flatten())
    values, length = array.values, splits[-1]
    if len(values) != length:
        values = values.slice(first, length)
    return FlatLists(splits, longest, values)


def offsets_of_parents(parent_indices: Int64Array, num_parents: int) -> Int64Array:
    """Returns where the values of each list begin, followed by the end of the last one.

    >>> offsets_of_parents(np.array([0, 1, 1, 3]), 4).tolist()
    [0, 1, 3, 3, 4]

    Args:
      parent_indices: for each value the index of its list, ascending.
      num_parents: how many lists there are.

    Raises:
      SchemaError: the indices do not ascend, or are not between 0 and `num_parents` - 1.
    """
    if num_parents < 0:
        raise SchemaError(f"Expected a number of lists, found {num_parents}")
    found = kernel.splits_of_coordinates(parent_indices[:, np.newaxis], [num_parents])
    if found is not None:
        return found[0]
    if (parent_indices[1:] < parent_indices[:-1]).any():
        raise SchemaError("Expected parent indices that ascend, found one below that before it")
    first, last = parent_indices[0], parent_indices[-1]
    outside = first if first < 0 else last
    raise SchemaError(f"Expected parent indices below {num_parents}, found {outside}")
