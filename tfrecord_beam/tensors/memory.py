"""Memory of arrays that TensorFlow can take for a tensor without a copy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.tensors.specs import AnyArray

ALIGNMENT = 64
"""Bytes to which Arrow aligns what it allocates, and without which TensorFlow ends the process."""


def allocate(shape: tuple[int, ...], dtype: npt.DTypeLike) -> AnyArray:
    """Returns an aligned array with undefined content."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    return np.frombuffer(pa.allocate_buffer(size), dtype).reshape(shape)


def int64_vector(values: Sequence[int]) -> Int64Array:
    """Returns an aligned array of these values."""
    vector = allocate((len(values),), np.int64)
    vector[:] = values
    return vector


def is_aligned(array: AnyArray) -> bool:
    """Whether the array lies at an aligned address, without gaps."""
    address: int = array.__array_interface__["data"][0]
    return address % ALIGNMENT == 0 and array.flags.c_contiguous


def as_writable(array: AnyArray) -> AnyArray:
    """Returns an array over the same memory that may be written to as far as numpy knows.

    DLPack has no word for memory that is only to be read, so numpy refuses to share it. It is for
    users that do not write, as TensorFlow.
    """
    return array if array.flags.writeable else np.asarray(_Writable(array))


class _Writable:
    """Holds an array and describes its memory as writable."""

    def __init__(self, array: AnyArray) -> None:
        self._array = array
        interface: dict[str, Any] = array.__array_interface__
        address, _ = interface["data"]
        self.__array_interface__ = {**interface, "data": (address, False)}
