from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.tensors.batches import RAGGED, VARLEN, convert, int_batch, ragged, sparse
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.tensors.padding import are_ordered, pad
from tfrecord_beam.tensors.specs import RaggedValue, SparseValue

ROWS = st.lists(st.none() | st.lists(st.integers(1, 9), max_size=4), max_size=6)


def filled(rows: list[list[Any]], empty: Any) -> list[list[Any]]:
    return [[*row] for row in zip(*itertools.zip_longest(*rows, fillvalue=empty))]


@given(rows=ROWS.filter(any))
@pytest.mark.parametrize("text", [VARLEN, RAGGED])
def test_rows_are_as_long_as_the_longest(text: str, rows: list[list[int] | None]) -> None:
    found = pad(convert(text, int_batch(v=rows)))
    assert found.tolist() == filled([row or [] for row in rows], 0)


@pytest.mark.parametrize("text", [VARLEN, RAGGED])
def test_rows_without_values(text: str) -> None:
    assert pad(convert(text, int_batch(v=[[], None]))).shape == (2, 0)
    assert pad(convert(text, int_batch(v=[]))).shape == (0, 0)


def test_strings_are_padded_with_empty_ones() -> None:
    values = np.array([b"a", b"b", b"c"], object)
    found = pad(RaggedValue(values, (np.array([0, 1, 3]),)))
    assert found.tolist() == [[b"a", b""], [b"b", b"c"]]


def test_several_ragged_dimensions() -> None:
    # [[[1], []], [], [[2, 3]]], each value twice
    splits = (np.array([0, 2, 2, 3]), np.array([0, 1, 1, 3], np.int32))
    found = pad(RaggedValue(np.array([[1, 1], [2, 2], [3, 3]]), splits))
    assert found.shape == (3, 2, 2, 2)
    assert found[..., 0].tolist() == [[[1, 0], [0, 0]], [[0, 0], [0, 0]], [[2, 3], [0, 0]]]
    assert (found[..., 0] == found[..., 1]).all()


def test_uniform_rows() -> None:
    found = pad(convert(ragged(2), int_batch(v=[[1, 2, 3, 4], [5, 6]])))
    assert found.tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]


def test_sparse_values_are_where_their_indices_say() -> None:
    batch = int_batch(v=[[7, 8], [9]], i=[[2, 0], [1]])
    assert pad(convert(sparse(4), batch)).tolist() == [[8, 0, 7, 0], [0, 9, 0, 0]]
    assert pad(convert(sparse(-1), batch)).tolist() == [[8, 0, 7], [0, 9, 0]]


def test_two_values_at_one_place() -> None:
    batch = int_batch(v=[[7], [1, 8, 9]], i=[[2], [0, 3, 3]])
    with pytest.raises(DecodeError) as raised:
        pad(convert(sparse(4), batch))
    assert str(raised.value) == (
        "Expected one value at each index of a padded tensor, found several at [3] - at record 1"
    )


def test_dense_values_stay() -> None:
    array = np.ones(3)
    assert pad(array) is array


@given(indices=st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=5))
def test_order_of_indices(indices: list[tuple[int, int, int]]) -> None:
    array = np.array(indices, np.int64).reshape(-1, 3)
    assert are_ordered(array) == all(a < b for a, b in itertools.pairwise(indices))


def test_order_of_a_sparse_value() -> None:
    value = convert(VARLEN, int_batch(v=[[1, 2], [3]]))
    assert isinstance(value, SparseValue)
    assert are_ordered(value.indices)
