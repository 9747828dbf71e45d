"""Counts of values in record batches, which the metrics are made of."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tfrecord_beam.tfxio.value_counts import count_cells, count_columns, count_values, value_type

MIXED = pa.record_batch(
    {
        "s": pa.array([["abc", "def"], None, ["g"], []]),
        "i": pa.array([[1], [2], [3], [4]], pa.large_list(pa.int64())),
        "f": pa.array([[1.0], [], [], [0.5]]),
        "n": pa.nulls(4),
        "flat": pa.array([1, None, 3, 4]),
    }
)
NESTED = pa.record_batch(
    {"x": pa.array([[[[1, 2, 3], [4]], [[5]]], [[None, [1]]], None, [], [None]])}
)
STRUCTS = pa.record_batch(
    {
        "x": pa.array(
            [
                [{"foo": ["a", "b"], "bar": None}, {"foo": ["c"], "bar": [1, 2]}],
                [{"foo": None, "bar": [3]}],
                None,
            ],
            pa.list_(pa.struct({"foo": pa.list_(pa.string()), "bar": pa.list_(pa.int64())})),
        )
    }
)


def values(batch: pa.RecordBatch) -> list[tuple[str, list[int]]]:
    return [(name, counts.tolist()) for name, counts in count_values(batch)]


@pytest.mark.parametrize(
    ("data_type", "expected"),
    [
        (pa.uint8(), "INT"),
        (pa.int64(), "INT"),
        (pa.float16(), "FLOAT"),
        (pa.float32(), "FLOAT"),
        (pa.string(), "STRING"),
        (pa.large_binary(), "STRING"),
        (pa.null(), "NULL"),
        (pa.bool_(), "OTHER"),
        (pa.list_(pa.int64()), "OTHER"),
    ],
)
def test_value_type(data_type: pa.DataType, expected: str) -> None:
    assert value_type(data_type) == expected


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (MIXED, [("STRING", 3), ("INT", 4), ("FLOAT", 4), ("NULL", 4), ("OTHER", 3)]),
        (MIXED.slice(1, 2), [("STRING", 1), ("INT", 2), ("FLOAT", 2), ("NULL", 2), ("OTHER", 1)]),
        (NESTED, [("OTHER", 4)]),
        (STRUCTS, [("OTHER", 2)]),
    ],
)
def test_cells_are_counted_by_type(batch: pa.RecordBatch, expected: list[tuple[str, int]]) -> None:
    assert list(count_cells(batch)) == expected


@pytest.mark.parametrize(
    ("batch", "expected"),
    [(MIXED, [4, 2, 4, 4]), (MIXED.slice(1, 2), [2, 4]), (MIXED.slice(0, 0), [])],
)
def test_columns_are_counted_by_row(batch: pa.RecordBatch, expected: list[int]) -> None:
    assert count_columns(batch).tolist() == expected


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (
            MIXED,
            [
                ("STRING", [2, 0, 1, 0]),
                ("INT", [1, 1, 1, 1]),
                ("FLOAT", [1, 0, 0, 1]),
                ("NULL", [1, 1, 1, 1]),
                ("INT", [1, 1, 1, 1]),
            ],
        ),
        (NESTED, [("INT", [5, 1, 0, 0, 0])]),
        (NESTED.slice(1), [("INT", [1, 0, 0, 0])]),
        (STRUCTS, [("STRING", [3, 0, 0]), ("INT", [2, 1, 0])]),
        (STRUCTS.slice(1, 1), [("STRING", [0]), ("INT", [1])]),
        (MIXED.select([]), []),
    ],
)
def test_values_are_counted_by_row(batch: pa.RecordBatch, expected: list[Any]) -> None:
    assert values(batch) == expected


def test_values_under_a_null_list_do_not_count() -> None:
    lists = pa.LargeListArray.from_arrays([0, 2, 3], [7, 8, 9], mask=pa.array([True, False]))
    assert values(pa.record_batch({"x": lists})) == [("INT", [0, 1])]
