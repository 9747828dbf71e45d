"""Specifications of tensors, and their values as numpy arrays.

The first dimension of every shape is the batch; None stands for a size that is not fixed.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrecord_beam.records.block import Int64Array

BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
Shape = tuple[int | None, ...]


@dataclasses.dataclass(frozen=True)
class DenseSpec:
    """A dense tensor, whose value is an array.

    Attributes:
      dtype: of the values; object stands for `bytes`.
      shape: of the tensor.
    """

    dtype: np.dtype[Any]
    shape: Shape


@dataclasses.dataclass(frozen=True)
class SparseSpec:
    """A sparse tensor, whose value is a `SparseValue`.

    Attributes:
      dtype: of the values; object stands for `bytes`.
      shape: of the equivalent dense tensor.
    """

    dtype: np.dtype[Any]
    shape: Shape


@dataclasses.dataclass(frozen=True)
class RaggedSpec:
    """A ragged tensor, whose value is a `RaggedValue`.

    Attributes:
      dtype: of the values; object stands for `bytes`.
      shape: of the tensor; the ragged dimensions are None.
      ragged_rank: how many dimensions are split into rows: `len(RaggedValue.row_splits)`.
      splits_dtype: int32 or int64.
    """

    dtype: np.dtype[Any]
    shape: Shape
    ragged_rank: int
    splits_dtype: np.dtype[Any]


class SparseValue(NamedTuple):
    """The values of a sparse tensor and their indices.

    Attributes:
      indices: int64 [n, rank], in the order of the batch's rows.
      values: [n].
      dense_shape: int64 [rank]; -1 for a size that the representation does not specify.
    """

    indices: Int64Array
    values: AnyArray
    dense_shape: Int64Array


class RaggedValue(NamedTuple):
    """The values of a ragged tensor and where its rows end.

    Attributes:
      values: [n, ...], those of all rows end to end.
      row_splits: one array for each ragged dimension, outermost first: row i spans splits[i] to
        splits[i + 1] of the elements of the next dimension.
    """

    values: AnyArray
    row_splits: tuple[AnyArray, ...]


TensorSpec = DenseSpec | SparseSpec | RaggedSpec
NumpyTensor = AnyArray | SparseValue | RaggedValue
