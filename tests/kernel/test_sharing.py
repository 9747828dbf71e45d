"""Memory of arrays that other libraries can take."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

ALIGNED = np.frombuffer(pa.allocate_buffer(512), np.uint8)
"""Arrow aligns what it allocates to 64 bytes."""


@pytest.mark.parametrize(
    ("first", "step", "aligned"), [(0, 1, True), (64, 1, True), (8, 1, False), (0, 2, False)]
)
def test_alignment(kernel: ModuleType, first: int, step: int, aligned: bool) -> None:
    assert kernel.is_aligned(ALIGNED[first::step]) is aligned


def test_alignment_of_a_matrix(kernel: ModuleType) -> None:
    matrix = ALIGNED.view(np.float64).reshape(8, 8)
    assert kernel.is_aligned(matrix)
    assert not kernel.is_aligned(matrix.T)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "f4", "i8", "f8", "f2"])
def test_writable_views(kernel: ModuleType, dtype: str) -> None:
    array = np.frombuffer(bytes(range(48)), dtype).reshape(2, -1)[:, ::2]
    view = kernel.as_writable(array)
    assert view.flags.writeable
    assert not array.flags.writeable
    assert (view.dtype, view.strides) == (array.dtype, array.strides)
    assert view.__array_interface__["data"][0] == array.__array_interface__["data"][0]
    expected = array.tobytes()
    del array
    assert view.tobytes() == expected


def test_writable_views_of_nothing(kernel: ModuleType) -> None:
    assert kernel.as_writable(np.zeros((0, 3))).shape == (0, 3)
