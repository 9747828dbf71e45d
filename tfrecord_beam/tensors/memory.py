"""Memory that TensorFlow can use for a tensor without a copy: aligned like Arrow's."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.tensors.specs import AnyArray


def allocate(shape: tuple[int, ...], dtype: npt.DTypeLike) -> AnyArray:
    """Returns an aligned array with undefined content."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    return np.frombuffer(pa.allocate_buffer(size), dtype).reshape(shape)


def int64_vector(values: Sequence[int]) -> Int64Array:
    """Returns an aligned array of these values."""
    vector = allocate((len(values),), np.int64)
    vector[:] = values
    return vector
