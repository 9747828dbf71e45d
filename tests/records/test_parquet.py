"""Parquet files to record batches: types, values, portions of row groups, and what is wrong."""

from __future__ import annotations

import io
import itertools
import pathlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tfrecord_beam.errors import DecodeError, EncodeError, SchemaError
from tfrecord_beam.records.convert.parquet_file import RowGroups, read_schema, split_row_groups
from tfrecord_beam.records.parquet import list_schema, read_row_groups, to_lists

INT = pa.large_list(pa.int64())
FLOAT = pa.large_list(pa.float32())
BYTES = pa.large_list(pa.large_binary())


def open_file(path: str) -> Any:
    return open(path, "rb", buffering=0)


def convert(column: pa.Array, wanted: pa.DataType) -> list[Any]:
    batch = pa.record_batch({"other": pa.nulls(len(column)), "x": column})
    schema = pa.schema([("x", wanted)])
    converted = to_lists(batch, schema)
    converted.validate(full=True)
    assert converted.schema == schema
    values: list[Any] = converted.column("x").to_pylist()
    return values


@pytest.mark.parametrize(
    ("values", "given", "wanted", "expected"),
    [
        ([1, None, -2], pa.int32(), INT, [[1], None, [-2]]),
        ([1, None], pa.uint64(), INT, [[1], None]),
        ([True, False], pa.bool_(), INT, [[1], [0]]),
        ([0.1, None], pa.float64(), FLOAT, [[0.10000000149011612], None]),
        ([np.float16(1.5)], pa.float16(), FLOAT, [[1.5]]),
        ([16777217], pa.int64(), FLOAT, [[16777216.0]]),
        ([2**53 + 1], pa.int64(), FLOAT, [[2.0**53]]),
        ([float("inf")], pa.float64(), FLOAT, [[float("inf")]]),
        (["é", None, ""], pa.string(), BYTES, [["é".encode()], None, [b""]]),
        (["é"], pa.large_string(), BYTES, [["é".encode()]]),
        ([b"\xff"], pa.binary(), BYTES, [[b"\xff"]]),
        ([b"ab"], pa.binary(2), BYTES, [[b"ab"]]),
        (["a", None, "a"], pa.dictionary(pa.int8(), pa.string()), BYTES, [[b"a"], None, [b"a"]]),
        ([[1, 2], None, []], pa.list_(pa.int64()), INT, [[1, 2], None, []]),
        ([[1, 2], None], pa.list_(pa.int64(), 2), INT, [[1, 2], None]),
        ([[0.5], []], pa.large_list(pa.float64()), FLOAT, [[0.5], []]),
        ([["a"], None], pa.list_(pa.string()), BYTES, [[b"a"], None]),
        ([None, None], pa.null(), INT, [None, None]),
        ([None, None], pa.timestamp("us"), INT, [None, None]),
        ([[], None], pa.list_(pa.null()), INT, [[], None]),
        ([1], pa.timestamp("us"), INT, [[1]]),
        ([Decimal("1.5")], pa.decimal128(5, 1), FLOAT, [[1.5]]),
    ],
)
def test_columns_become_lists(
    values: list[Any], given: pa.DataType, wanted: pa.DataType, expected: list[Any]
) -> None:
    assert convert(pa.array(values, given), wanted) == expected
    padded = pa.array([None, *values, None], given)[1:-1]
    assert convert(padded, wanted) == expected


@pytest.mark.parametrize(
    ("values", "given", "wanted", "text"),
    [
        (
            [1, 2**63],
            pa.uint64(),
            INT,
            "Expected an integer below 2**63 for feature 'x', found 9223372036854775808 "
            "- at record 1",
        ),
        (
            [None, [], [1.0, 2.0], [1e300]],
            pa.list_(pa.float64()),
            FLOAT,
            "Expected a number in the range of float32 for feature 'x', found 1e+300 - at record 3",
        ),
        (
            [[1], None, [2, None]],
            pa.list_(pa.int64()),
            INT,
            "Expected lists without nulls, found a null in one - at record 2, feature 'x'",
        ),
    ],
)
def test_value_that_does_not_fit(
    values: list[Any], given: pa.DataType, wanted: pa.DataType, text: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        convert(pa.array(values, given), wanted)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (pa.array(["a"]), INT),
        (pa.array([1]), BYTES),
        (pa.array([2.0]), INT),
        (pa.array([[[1]]]), INT),
        (pa.array([{"a": 1}]), INT),
    ],
)
def test_column_of_another_type(given: pa.Array, wanted: pa.DataType) -> None:
    with pytest.raises(SchemaError, match=r"^Expected .* for feature 'x', found "):
        convert(given, wanted)


def test_column_that_is_there_twice(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "a.parquet")
    pyarrow.parquet.write_table(pa.table([[1], [2]], ["x", "x"]), path)
    text = r"^Expected different columns, found 'x' twice - at .*a.parquet$"
    with pytest.raises(SchemaError, match=text):
        list(read_row_groups(RowGroups(path, 0, 1, 0), open_file, pa.schema([("x", INT)])))


def test_schema_of_lists() -> None:
    given = pa.schema(
        [
            ("a", pa.int8()),
            ("b", pa.list_(pa.float64())),
            ("c", pa.dictionary(pa.int8(), pa.string())),
            ("d", pa.null()),
            ("e", pa.bool_()),
        ]
    )
    expected = pa.schema([("a", INT), ("b", FLOAT), ("c", BYTES), ("d", BYTES), ("e", INT)])
    assert list_schema(given) == expected
    with pytest.raises(SchemaError, match=r"^Expected numbers, bytes, .* for feature 't', fou"):
        list_schema(pa.schema([("t", pa.struct([]))]))
    with pytest.raises(SchemaError, match=r"^Expected different columns, found 'a' twice$"):
        list_schema(pa.schema([("a", pa.int8()), ("a", pa.int8())]))


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    """A file of 100 rows in ten row groups."""
    table = pa.table({"id": range(100), "text": [f"text {i}" for i in range(100)]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    return str(tmp_path / "a.parquet")


def values(batches: Sequence[pa.RecordBatch], name: str) -> list[Any]:
    return list(itertools.chain(*(batch.column(name).to_pylist() for batch in batches)))


@pytest.mark.parametrize("min_bytes", [0, 1, 500, 1 << 20])
def test_portions_hold_each_row_once(path: str, min_bytes: int) -> None:
    portions = list(split_row_groups(path, open_file, min_bytes))
    assert len(portions) == (10 if min_bytes < 2 else 1 if min_bytes > 500 else len(portions))
    ids = []
    for portion in portions:
        batches = list(read_row_groups(portion, open_file, pa.schema([("id", INT)])))
        assert batches[0].column("id")[0].as_py() == [portion.first_row]
        ids += values(batches, "id")
    assert ids == [[i] for i in range(100)]


@pytest.mark.parametrize(
    ("batch_size", "sizes"), [(None, [100]), (7, [7] * 14 + [2]), (500, [100])]
)
def test_batches_have_the_size_asked_for(
    path: str, batch_size: int | None, sizes: list[int]
) -> None:
    schema = pa.schema([("text", BYTES), ("id", INT)])
    batches = list(
        read_row_groups(RowGroups(path, 0, 10, 0), open_file, schema, batch_size=batch_size)
    )
    assert [batch.num_rows for batch in batches] == sizes
    assert all(batch.schema == schema for batch in batches)
    assert values(batches, "text") == [[b"text %d" % i] for i in range(100)]


def test_batches_are_bounded_in_bytes_of_what_is_read(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "a.parquet")
    images = [index.to_bytes(1, "big") * (1 << 19) for index in range(64)]
    table = pa.table({"id": range(64), "image": images})
    pyarrow.parquet.write_table(table, path, row_group_size=32, use_dictionary=False)
    for column, rows in (("image", 16), ("id", 32)):
        schema = pa.schema([(column, INT if column == "id" else BYTES)])
        batches = list(read_row_groups(RowGroups(path, 0, 2, 0), open_file, schema))
        assert sum(batch.num_rows for batch in batches) == 64
        assert rows - 2 < batches[0].num_rows <= 2 * rows
        assert all(batch.nbytes <= 8 << 20 for batch in batches)


def test_rows_count_without_columns(path: str) -> None:
    batches = list(read_row_groups(RowGroups(path, 3, 5, 30), open_file, pa.schema([])))
    assert sum(batch.num_rows for batch in batches) == 20
    assert all(batch.num_columns == 0 for batch in batches)


def test_error_counts_rows_from_the_start_of_the_file(path: str) -> None:
    with pytest.raises(SchemaError, match=r"for feature 'text', found bytes_list - at .*a\.pa"):
        list(read_row_groups(RowGroups(path, 3, 5, 30), open_file, pa.schema([("text", INT)])))
    table = pa.table({"id": pa.array([*range(35), 1 << 63, *range(5)], pa.uint64())})
    pyarrow.parquet.write_table(table, path, row_group_size=10)
    with pytest.raises(DecodeError, match=r"found 9223372036854775808 - at .*, record 35$"):
        list(read_row_groups(RowGroups(path, 3, 4, 30), open_file, pa.schema([("id", INT)])))


def test_file_that_is_none(path: str) -> None:
    assert read_schema(path, open_file).names == ["id", "text"]
    text = r"^Expected parquet data, found some that cannot be read: .* - at b\.parquet$"
    for content in (b"", b"no Parquet file at all"):
        with pytest.raises(DecodeError, match=text):
            read_schema("b.parquet", lambda _, data=content: io.BytesIO(data))  # type: ignore[misc]


def test_damaged_row_group(path: str) -> None:
    content = bytearray(pathlib.Path(path).read_bytes())
    content[4:40] = bytes(36)
    with pytest.raises(DecodeError, match=r"found some that cannot be read: .* - at a.parqu"):
        list(
            read_row_groups(
                RowGroups("a.parquet", 0, 1, 0),
                lambda _: io.BytesIO(content),
                pa.schema([("id", INT)]),
            )
        )


def test_file_without_row_groups(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "a.parquet")
    pyarrow.parquet.write_table(pa.table({"id": pa.array([], pa.int64())}), path)
    portions = list(split_row_groups(path, open_file, 0))
    batches = [
        batch
        for portion in portions
        for batch in read_row_groups(portion, open_file, pa.schema([("id", INT)]))
    ]
    assert sum(batch.num_rows for batch in batches) == 0


class Failing(io.BytesIO):
    """A file in a store that is lost while row groups are read."""

    fails = False

    def read(self, size: int | None = -1, /) -> bytes:
        if self.fails:
            raise TimeoutError(110, "timed out")
        return super().read(size)


def test_failed_reading_is_no_damage() -> None:
    data = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"x": range(10)}), data)
    file = Failing(data.getvalue())
    (groups,) = split_row_groups("a.parquet", lambda path: Failing(data.getvalue()), 1)
    batches = read_row_groups(groups, lambda path: file, pa.schema([("x", INT)]))
    file.fails = True
    with pytest.raises(TimeoutError, match="timed out"):
        list(batches)


def test_missing_column_of_a_file_lists_what_there_is(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "a.parquet")
    pyarrow.parquet.write_table(pa.table({"x": [1], "z": [2]}), path)
    batches = read_row_groups(RowGroups(path, 0, 1, 0), open_file, pa.schema([("y", INT)]))
    with pytest.raises(SchemaError, match=r"^Expected columns among 'x', 'z', found 'y' - at "):
        list(batches)
