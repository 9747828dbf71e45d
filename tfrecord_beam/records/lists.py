"""Arrays of single values as columns of lists, the type that every column has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def to_singleton_lists(values: pa.Array) -> pa.Array:
    """Returns a `large_list` array with a list of one value for each, and null for null.

    >>> to_singleton_lists(pa.array([1, None])).to_pylist()
    [[1], None]
    """
    if not values.null_count:
        return pa.LargeListArray.from_arrays(
            pa.array(np.arange(len(values) + 1), pa.int64()), values
        )
    offsets = np.append(0, np.cumsum(values.is_valid().to_numpy(zero_copy_only=False)))
    return pa.LargeListArray.from_arrays(
        pa.array(offsets, pa.int64()), values.drop_null(), mask=values.is_null()
    )
