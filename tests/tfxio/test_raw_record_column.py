"""The column that holds each row's own record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tfxio.record_based_tfxio import AppendRawRecordColumn, CreateRawRecordColumn

COLUMN_TYPE = pa.large_list(pa.large_binary())
BATCH = pa.record_batch({"a": [1, 2, 3]})


@pytest.mark.parametrize(
    "records",
    [
        [b"one", b"two"],
        ["one", "two"],
        np.array([b"one", b"two"], object),
        np.array([b"one", b"two"]),
        np.array(["one", "two"]),
    ],
)
def test_column(records: Any) -> None:
    expected = pa.array([[b"one"], [b"two"]], COLUMN_TYPE)
    assert CreateRawRecordColumn(records).equals(expected)


def test_column_of_no_records() -> None:
    assert CreateRawRecordColumn([]).equals(pa.array([], COLUMN_TYPE))


@pytest.mark.parametrize(
    ("records", "found"),
    [([3], r"others \(.*\)"), ([b"a", None], "None among them"), ([[b"a"]], r"others \(.*\)")],
)
def test_no_records(records: Any, found: str) -> None:
    with pytest.raises(SchemaError, match=f"^Expected records as bytes, found {found}$"):
        CreateRawRecordColumn(records)


def test_appended_by_row() -> None:
    batch = AppendRawRecordColumn(BATCH, "raw", [b"x", b"y", b"z"])
    assert batch.schema.equals(pa.schema([("a", pa.int64()), ("raw", COLUMN_TYPE)]))
    assert batch.to_pydict() == {"a": [1, 2, 3], "raw": [[b"x"], [b"y"], [b"z"]]}


@pytest.mark.parametrize("list_type", [pa.list_(pa.int64()), pa.large_list(pa.uint8())])
def test_appended_by_index(list_type: pa.DataType) -> None:
    indices = pa.array([[9], [1], [0], [1], [9]], list_type)[1:4]
    batch = AppendRawRecordColumn(pa.record_batch({"i": indices}), "raw", [b"x", b"y"], "i")
    assert batch.column(1).to_pylist() == [[b"y"], [b"x"], [b"y"]]


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([[0], [1], [2]], "Expected indices of 2 records in column 'i', found others .*"),
        ([[0], [1], [-1]], "Expected indices of 2 records in column 'i', found others .*"),
        ([[0], None, [1]], "Expected lists of one record index each in column 'i', found others"),
        ([[0], [1, 1], []], "Expected lists of one record index each in column 'i', found others"),
        ([[0], [None], [1]], "Expected lists of one record index each in column 'i', found others"),
        ([0, 1, 1], "Expected lists of integers in column 'i', found int64"),
        ([["0"], [], []], "Expected lists of integers in column 'i', found list<item: string>"),
    ],
)
def test_no_indices(indices: list[Any], text: str) -> None:
    batch = pa.record_batch({"i": indices})
    with pytest.raises(SchemaError, match=f"^{text}$"):
        AppendRawRecordColumn(batch, "raw", [b"x", b"y"], "i")


@pytest.mark.parametrize(
    ("name", "index_name", "text"),
    [
        ("raw", None, "Expected a record for each of 3 rows, found 2"),
        ("raw", "i", "Expected a column of record indices 'i', found none"),
        ("a", None, "Expected a raw-record column with a name of its own, found 'a', .*"),
    ],
)
def test_records_that_do_not_fit(name: str, index_name: str | None, text: str) -> None:
    with pytest.raises(SchemaError, match=f"^{text}"):
        AppendRawRecordColumn(BATCH, name, [b"x", b"y"], index_name)
