"""Lists of values that say which list they are of."""

from __future__ import annotations

import numpy as np

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.block import Int64Array


def offsets_of_parents(parent_indices: Int64Array, num_parents: int) -> Int64Array:
    """Returns where the values of each list begin, and at last where those of the last one end.

    >>> offsets_of_parents(np.array([0, 1, 1, 3]), 4).tolist()
    [0, 1, 3, 3, 4]

    Args:
      parent_indices: of each value the list that it is of, ascending.
      num_parents: how many lists there are.

    Raises:
      SchemaError: the indices do not ascend, or are below 0 or not below `num_parents`.
    """
    if num_parents < 0:
        raise SchemaError(f"Expected a number of lists, found {num_parents}")
    parent_indices = np.ascontiguousarray(parent_indices)  # read several times
    if len(parent_indices):
        if (parent_indices[1:] < parent_indices[:-1]).any():
            raise SchemaError("Expected parent indices that ascend, found one below that before it")
        first, last = parent_indices[0], parent_indices[-1]
        if first < 0 or last >= num_parents:
            outside = first if first < 0 else last
            raise SchemaError(f"Expected parent indices below {num_parents}, found {outside}")
    offsets = np.zeros(num_parents + 1, np.int64)
    np.cumsum(np.bincount(parent_indices, minlength=num_parents), out=offsets[1:])
    return offsets


def are_left_aligned(positions: Int64Array, offsets: Int64Array) -> bool:
    """Returns whether the positions of the values within each list are 0, 1, 2, ...

    Args:
      positions: of each value.
      offsets: where the values of each list begin, see `offsets_of_parents`.
    """
    starts = offsets[:-1][offsets[:-1] < offsets[1:]]
    is_next = positions[1:] - positions[:-1] == 1
    is_next[starts[1:] - 1] = True  # there the next list begins
    return not positions[starts].any() and bool(is_next.all())
