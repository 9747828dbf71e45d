"""The columns of a record batch as the parts of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tfrecord_beam.kernel.reference.arrays import (
    bit_width,
    is_list,
    is_string,
    row_splits,
    to_storage,
)
from tfrecord_beam.kernel.reference.coordinates import coordinates, parent_indices

_Int64Array = npt.NDArray[np.int64]

_BINARY = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}


class BatchReader:
    """Reads columns that are lists of numbers or strings."""

    def __init__(self, batch: Any, at_once: bool) -> None:
        self._batch = batch

    def column(self, index: int) -> pa.Array:
        """Returns a column."""
        return self._batch.column(index)

    def value_lists(self, index: int) -> tuple[_Int64Array, int, npt.NDArray[Any]] | None:
        """Returns the row splits of a column, the length of the longest list, and the values."""
        array = to_storage(self.column(index))
        if not is_list(array.type):
            return None
        values = to_storage(array.values)
        of_strings = is_string(values.type)
        if (bit_width(values.type) is None and not of_strings) or values.null_count:
            return None
        splits, longest, first = row_splits(array)
        if first is None:
            return None
        values = values.slice(first, splits[-1]).view(_BINARY.get(values.type, values.type))
        return splits, longest, values.to_numpy(zero_copy_only=not of_strings)

    def sparse_lists(self, index: int) -> tuple[_Int64Array, npt.NDArray[Any], _Int64Array] | None:
        """Returns the same lists as the parts of a sparse tensor."""
        found = self.value_lists(index)
        if found is None:
            return None
        splits, longest, values = found
        return coordinates([splits]), values, np.array([len(splits) - 1, longest], np.int64)

    def sparse_columns(
        self, index: int, indices: Sequence[int], sizes: Sequence[int]
    ) -> tuple[_Int64Array, npt.NDArray[Any], _Int64Array] | None:
        """Returns the same for a column of values and, for each dimension, one of their indices."""
        if len(indices) != len(sizes):
            raise ValueError("Expected a size for each column of indices, found others")
        found = self.value_lists(index)
        if found is None:
            return None
        splits, _, values = found
        parts = [parent_indices(splits)]
        for column, size in zip(map(self.value_lists, indices), sizes, strict=True):
            if column is None or column[2].dtype != np.int64:
                return None
            end = np.iinfo(np.int64).max if size < 0 else size
            is_outside = (column[2] < 0) | (column[2] >= end)
            if not np.array_equal(column[0], splits) or is_outside.any():
                return None
            parts.append(column[2])
        return np.stack(parts, axis=1), values, np.array([len(splits) - 1, *sizes], np.int64)
