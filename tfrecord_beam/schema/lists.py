"""Arrays of lists: their depth, the values in them, and lists of single values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# By type id, which is much faster to look up than a type.
PLAIN_LISTS = frozenset((pa.lib.Type_LIST, pa.lib.Type_LARGE_LIST))
"""Lists that are contiguous, with offsets."""
_LISTS = PLAIN_LISTS | {
    pa.lib.Type_FIXED_SIZE_LIST,
    pa.lib.Type_LIST_VIEW,
    pa.lib.Type_LARGE_LIST_VIEW,
}


def is_list(data_type: pa.DataType) -> bool:
    """Returns whether a type is a list of any layout."""
    return data_type.id in _LISTS


def list_depth(data_type: pa.DataType) -> int:
    """Returns how many levels of lists there are around the values."""
    return len(unnest(data_type)[0])


def unnest(data_type: pa.DataType) -> tuple[list[int], pa.DataType]:
    """Returns the type ids of the lists, outermost first, and the type of the values."""
    levels = []
    while is_list(data_type):
        levels.append(data_type.id)
        data_type = data_type.value_type
    return levels, data_type


def flatten_all(column: pa.Array) -> pa.Array:
    """Returns the values of a column in one array, whatever its levels of lists."""
    while is_list(column.type):
        column = column.flatten()
    return column


def row_of(column: pa.Array, index: int) -> int:
    """Returns the row that holds a value, given its index in `flatten_all`.

    >>> row_of(pa.array([[[1], [2]], [], [[3, 4]]]), 3)
    2
    """
    if not is_list(column.type):
        return index
    row: int = pc.list_parent_indices(column)[row_of(column.flatten(), index)].as_py()
    return row


class FlatLists(NamedTuple):
    """The elements of lists, contiguous and without those below null lists.

    Attributes:
      values: of all lists.
      offsets: int64 [lists + 1], where the values of each list begin and end.
    """

    values: pa.Array
    offsets: np.ndarray[Any, np.dtype[np.int64]]

    def list_of(self, index: int) -> int:
        """Returns the index of the list that holds the value at an index."""
        return int(np.searchsorted(self.offsets[1:], index, side="right"))


def flatten_lists(lists: pa.Array) -> FlatLists:
    """Returns the elements of lists of any layout.

    >>> flatten_lists(pa.array([[1, 2], None, [3]])).offsets.tolist()
    [0, 2, 2, 3]
    """
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    return FlatLists(lists.flatten(), np.append(0, np.cumsum(lengths, dtype=np.int64)))


def make_lists(
    offsets: np.ndarray[Any, np.dtype[np.int64]],
    values: pa.Array,
    is_valid: np.ndarray[Any, np.dtype[Any]] | None = None,
) -> pa.LargeListArray:
    """Returns a `large_list` array, with less overhead than `pa.LargeListArray.from_arrays`.

    Args:
      offsets: int64 [lists + 1], where the values of each list begin and end.
      values: of all lists, not copied.
      is_valid: [lists], 0 or False for each null; None: no list is null.
    """
    bitmap = None if is_valid is None else pa.py_buffer(np.packbits(is_valid, bitorder="little"))
    return pa.Array.from_buffers(
        pa.large_list(values.type),
        len(offsets) - 1,
        [bitmap, pa.py_buffer(np.ascontiguousarray(offsets))],
        children=[values],
    )


def to_singleton_lists(values: pa.Array) -> pa.LargeListArray:
    """Returns a `large_list` array in which each value is a list of one, and null stays null.

    >>> to_singleton_lists(pa.array([1, None])).to_pylist()
    [[1], None]
    """
    if not values.null_count:
        return make_lists(np.arange(len(values) + 1), values)
    is_valid = values.is_valid().to_numpy(zero_copy_only=False)
    offsets = np.append(0, np.cumsum(is_valid, dtype=np.int64))
    return make_lists(offsets, values.drop_null(), is_valid)
