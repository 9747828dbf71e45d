"""Pads tensors of variable length to dense ones."""

from __future__ import annotations

import numpy as np

from tfrecord_beam import kernel
from tfrecord_beam.errors import DecodeError, Location
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.tensors.columns import list_lengths
from tfrecord_beam.tensors.specs import AnyArray, BoolArray, NumpyTensor, RaggedValue, SparseValue


def pad(value: NumpyTensor) -> AnyArray:
    """Returns a dense array, with 0 or, for strings, ``b""`` where there is no value.

    A dense value is returned unchanged.

    >>> pad(RaggedValue(np.array([1, 2, 3]), (np.array([0, 1, 3]),))).tolist()
    [[1, 0], [2, 3]]

    Raises:
      DecodeError: two values of a sparse tensor have the same index.
    """
    if isinstance(value, SparseValue):
        _check_distinct(value.indices)
        return _scatter(value.values, value.indices, close_shape(value))
    if isinstance(value, RaggedValue):
        splits = [one.astype(np.int64, copy=False) for one in value.row_splits]
        indices = kernel.coordinates(splits)
        lengths = [list_lengths(one).max(initial=0) for one in splits]
        return _scatter(value.values, indices, np.array([len(value.row_splits[0]) - 1, *lengths]))
    return value


def close_shape(value: SparseValue) -> Int64Array:
    """Returns the shape of a sparse tensor, with unknown sizes set to what the values need."""
    needed = value.indices.max(axis=0, initial=-1) + 1
    shape: Int64Array = np.where(value.dense_shape < 0, needed, value.dense_shape)
    return shape


def are_ordered(indices: Int64Array) -> bool:
    """Returns whether the indices are strictly ascending, in row-major order."""
    steps = indices[1:] - indices[:-1]
    return bool((_first_nonzero(steps) > 0).all())


def _first_nonzero(steps: Int64Array) -> Int64Array:
    """Returns the first nonzero number of each row, 0 if there is none."""
    first = steps[:, -1].copy()
    for column in range(steps.shape[1] - 2, -1, -1):
        is_nonzero: BoolArray = steps[:, column] != 0
        first[is_nonzero] = steps[is_nonzero, column]
    return first


def _check_distinct(indices: Int64Array) -> None:
    if are_ordered(indices):
        return
    distinct, counts = np.unique(indices, axis=0, return_counts=True)
    if (counts > 1).any():
        row, *index = distinct[counts > 1][0].tolist()
        raise DecodeError(
            f"Expected one value at each index of a padded tensor, found several at {index}",
            Location(record=row),
        )


def _scatter(values: AnyArray, indices: Int64Array, shape: Int64Array) -> AnyArray:
    empty = b"" if values.dtype.kind == "O" else 0
    dense = np.full((*shape.tolist(), *values.shape[1:]), empty, values.dtype)
    dense[tuple(indices.T)] = values
    return dense
