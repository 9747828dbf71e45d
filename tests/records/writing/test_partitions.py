"""Tests of tfrecord_beam.records.writing.partitions: which rows go to which partition."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.records.hive import Partition
from tfrecord_beam.records.writing.partitions import partition_rows

Rows = list[tuple[Partition, list[int]]]


def split(batch: pa.RecordBatch, *columns: str) -> Rows:
    partitions, order, bounds, _ = partition_rows(batch, columns)
    assert order.dtype == bounds.dtype == np.int64
    assert len(bounds) == len(partitions) + 1
    return [
        (partition, order[bounds[i] : bounds[i + 1]].tolist())
        for i, partition in enumerate(partitions)
    ]


def texts(column: pa.Array) -> list[str | None]:
    """Returns the text of each row of a column without doubles."""
    found = split(pa.record_batch({"p": column}), "p")
    assert [rows for _, rows in found] == [[row] for row in range(len(column))]
    return [value for ((_, value),), _ in found]


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-3, 3)), st.sampled_from(["", "a", "A", None, "b"])
        ),
        max_size=50,
    ),
    st.booleans(),
)
def test_rows_are_grouped_as_in_python(rows: list[tuple[Any, Any]], lists: bool) -> None:
    numbers = pa.array([row[0] for row in rows], pa.int64())
    names = pa.array([row[1] for row in rows], pa.string())
    if lists:
        numbers = pa.array(
            [None if row[0] is None else [row[0]] for row in rows], pa.list_(pa.int8())
        )
        names = names.dictionary_encode()
    expected: dict[Partition, list[int]] = {}
    for index, (number, name) in enumerate(rows):
        text = None if number is None else str(number)
        expected.setdefault((("n", text), ("s", name)), []).append(index)
    batch = pa.record_batch({"s": names, "n": numbers})
    assert split(batch, "n", "s") == list(expected.items())
    rows_twice = pa.concat_arrays([batch.to_struct_array()] * 2)
    sliced = pa.RecordBatch.from_struct_array(rows_twice).slice(len(rows))
    assert split(sliced, "n", "s") == list(expected.items())


@pytest.mark.parametrize("num_keys", [1, 7, 300, 70_000])
def test_many_partitions(num_keys: int) -> None:
    keys = np.random.default_rng(5).permutation(100_000) % num_keys
    batch = pa.record_batch({"key": keys, "row": np.arange(len(keys))})
    partitions, order, bounds, _ = partition_rows(batch, ["key"])
    assert len(partitions) == num_keys
    assert sorted(order.tolist()) == list(range(len(keys)))
    for i in (0, num_keys // 2, num_keys - 1):
        [(_, text)] = partitions[i]
        assert (
            order[bounds[i] : bounds[i + 1]].tolist()
            == np.flatnonzero(keys == int(text or "")).tolist()
        )


def test_many_columns_of_many_values() -> None:
    columns = {f"c{i}": np.arange(5_000) for i in range(6)}  # 5,000**6 is beyond int64
    found = split(pa.record_batch(columns), *columns)
    assert len(found) == 5_000
    assert found[-1] == (tuple((name, "4999") for name in columns), [4_999])


def test_no_rows_and_no_columns() -> None:
    batch = pa.record_batch({"p": pa.array([], pa.int64())})
    assert split(batch, "p") == []
    assert split(batch) == []
    assert split(pa.record_batch({"p": [1, 1]})) == [((), [0, 1])]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([0, -7, 127], pa.int8()), ["0", "-7", "127"]),
        (pa.array([2**63 - 1], pa.uint64()), ["9223372036854775807"]),
        (pa.array([-(2**63)]), ["-9223372036854775808"]),
        (pa.array([True, None, False]), ["true", None, "false"]),
        (pa.array(["ü", "", None]), ["ü", "", None]),
        (pa.array(["a"], pa.large_string()), ["a"]),
        (pa.array(["ü".encode(), b"\0"]), ["ü", "\0"]),
        (pa.array([b"a"], pa.large_binary()), ["a"]),
        (pa.array([b"ab"], pa.binary(2)), ["ab"]),
        (
            pa.array([datetime.date(1, 2, 3), datetime.date(9999, 12, 31)]),
            ["0001-02-03", "9999-12-31"],
        ),
        (pa.array([decimal.Decimal("1.20"), decimal.Decimal("-100.00")]), ["1.20", "-100.00"]),
        (pa.array([decimal.Decimal("12E+30")]), ["12" + "0" * 30]),
        (pa.nulls(1), [None]),
        (pa.array(["b", "a", None]).dictionary_encode(), ["b", "a", None]),
        (pa.array([["a"], None, [""]]), ["a", None, ""]),
        (pa.array([[1], [2]], pa.list_(pa.int64(), 1)), ["1", "2"]),
        (pa.array([[1], None], pa.large_list(pa.int64())), ["1", None]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_text_of_values(column: pa.Array, expected: list[str | None]) -> None:
    assert texts(column) == expected


@pytest.mark.parametrize("data_type", [pa.string_view(), pa.binary_view()], ids=str)
def test_text_of_views(data_type: pa.DataType) -> None:
    views = pa.array(["b", "a", None], data_type)
    try:
        assert texts(views) == ["b", "a", None]
        column = pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), views)
        assert texts(column) == ["a", None, "b"]
    except SchemaError as error:
        assert (error.hint or "").startswith("cast it to string")
        assert int(pa.__version__.split(".")[0]) < 20
        pytest.skip("this pyarrow cannot convert it")


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (
            pa.array([["a"], ["a", "b"]]),
            "Expected one value to partition by feature 'p', found 2 - at record 1",
        ),
        (
            pa.array([None, [], [1]]),
            "Expected one value to partition by feature 'p', found 0 - at record 1",
        ),
        (
            pa.array([None, ["a"], [None]]),
            "Expected one value to partition by feature 'p', found a list of a null - at record 2",
        ),
        (
            pa.array([b"a", b"a", b"\xff", b"\xff"]),
            "Expected UTF-8 to partition by feature 'p', found b'\\xff' - at record 2",
        ),
        (
            pa.array([b"\xff"]).view(pa.string()),
            "Expected UTF-8 to partition by feature 'p', found b'\\xff' - at record 0",
        ),
        (
            pa.array([0, 2**63], pa.uint64()),
            "Expected an integer below 2**63 to partition by feature 'p', "
            "found 9223372036854775808 - at record 1",
        ),
        (
            pa.array([0, 3_000_000], pa.int32()).cast(pa.date32()),
            "Expected a date of the years 1 to 9999 to partition by feature 'p', "
            "found day 3000000 since 1970 - at record 1",
        ),
        (
            pa.array(["", "é" * 126, "/" * 85]),
            "Expected a folder's name of at most 255 bytes to partition by feature 'p', "
            "found one of 257 - at record 2",
        ),
    ],
)
def test_values_that_name_no_folder(column: pa.Array, text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        partition_rows(pa.record_batch({"p": column}), ["p"])
    assert str(caught.value) == text
    assert caught.value.feature == "p"


def test_kinds_of_texts() -> None:
    batch = pa.record_batch(
        {
            "int": pa.array([1], pa.uint8()),
            "bool": [[True]],
            "decimal": [decimal.Decimal("1.5")],
            "text": pa.array(["a"]).dictionary_encode(),
            "bytes": [b"a"],
            "date": [datetime.date(2024, 1, 1)],
            "null": pa.nulls(1),
        }
    )
    kinds = partition_rows(batch, batch.schema.names).kinds
    assert list(kinds.values()) == [
        Kind.INT64, Kind.INT64, Kind.FLOAT, Kind.BYTES, Kind.BYTES, Kind.BYTES, None
    ]  # fmt: skip
    assert partition_rows(batch.slice(0, 0), batch.schema.names).kinds == kinds


def test_longest_name() -> None:
    assert texts(pa.array(["x" * 253])) == ["x" * 253]


@pytest.mark.parametrize(
    "data_type",
    [
        pa.timestamp("us"),
        pa.date64(),
        pa.float32(),
        pa.time32("s"),
        pa.duration("s"),
        pa.list_(pa.list_(pa.int64())),
        pa.struct([("a", pa.int64())]),
        pa.map_(pa.string(), pa.int64()),
    ],
    ids=str,
)
def test_types_that_name_no_folder(data_type: pa.DataType) -> None:
    with pytest.raises(SchemaError, match=r" by feature 'p', found .* \(cast it to string"):
        partition_rows(pa.record_batch({"p": pa.nulls(1, data_type)}), ["p"])


def test_columns_that_are_not_there() -> None:
    batch = pa.record_batch({"day": [1]})
    with pytest.raises(SchemaError, match=r"^Expected partition columns among 'day', found 'dya'"):
        partition_rows(batch, ["dya"])
    twice = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], ["p", "p"])
    with pytest.raises(SchemaError, match=r"found 'p' twice"):
        partition_rows(twice, ["p"])
