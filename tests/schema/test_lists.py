"""Tests of tfrecord_beam.schema.lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tfrecord_beam.schema.lists import flatten_lists, is_list, list_depth, to_singleton_lists


@pytest.mark.parametrize(
    ("rows", "values", "offsets"),
    [
        ([[1, 2], None, [], [3]], [1, 2, 3], [0, 2, 2, 2, 3]),
        ([None, [None]], [None], [0, 0, 1]),
        ([], [], [0]),
    ],
)
@pytest.mark.parametrize("make", [pa.list_, pa.large_list])
def test_flatten_lists(make: Any, rows: list[Any], values: list[Any], offsets: list[int]) -> None:
    found = flatten_lists(pa.array([[7], *rows], make(pa.int64()))[1:])
    assert found.values.to_pylist() == values
    assert found.offsets.tolist() == offsets
    assert found.offsets.dtype == np.int64


def test_flatten_leaves_out_what_lies_below_nulls() -> None:
    mask = pa.array([False, True, False])
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), [1, 2, 3], mask=mask)
    found = flatten_lists(lists)
    assert (found.values.to_pylist(), found.offsets.tolist()) == ([1, 3], [0, 1, 1, 2])
    assert [found.list_of(index) for index in range(2)] == [0, 2]


def test_list_of_a_value() -> None:
    found = flatten_lists(pa.array([[], [1, 2], None, [], [3]]))
    assert [found.list_of(index) for index in range(3)] == [1, 1, 4]


def test_depth() -> None:
    assert [list_depth(one) for one in (pa.int8(), pa.list_(pa.list_(pa.int8(), 2)))] == [0, 2]
    assert is_list(pa.large_list(pa.int8())) and not is_list(pa.map_(pa.int8(), pa.int8()))


def test_singleton_lists() -> None:
    for values in ([1, None, 2], [None], [1], []):
        found = to_singleton_lists(pa.array([0, *values], pa.int64())[1:])
        found.validate(full=True)
        assert found.to_pylist() == [None if value is None else [value] for value in values]
