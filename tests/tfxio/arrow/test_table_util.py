"""Functions of record batches."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tfxio.arrow import table_util
from tfrecord_beam.tfxio.arrow.path import ColumnPath

batch_of = pa.RecordBatch.from_pydict

NO_COLUMNS = batch_of({"a": [1, 2, 3]}).select([])


# --- Sizes and rows ---------------------------------------------------------------------


def test_total_byte_size() -> None:
    batch = batch_of({"a": pa.array([[1], None]), "b": pa.array(["x", "yz"])})
    assert table_util.TotalByteSize(batch) == (1 + 12 + 8) + (12 + 3)
    table = pa.Table.from_batches([batch, batch])
    assert table_util.TotalByteSize(table) == 2 * table_util.TotalByteSize(batch)


def test_total_byte_size_of_other_types() -> None:
    dates = pa.array([1], pa.date64())
    batch = batch_of({"a": pa.array([1]), "b": pa.array([[1]]), "c": dates})
    assert table_util.TotalByteSize(batch, ignore_unsupported=True) == 8 + 16
    with pytest.raises(SchemaError, match=r"found date64\[ms\]$"):
        table_util.TotalByteSize(batch)


def test_take() -> None:
    batch = batch_of({"a": [[1], None, [2, 3]], "b": ["x", "y", "z"]})
    taken = table_util.RecordBatchTake(batch, pa.array([2, None, 0, 0]))
    assert taken.to_pydict() == {"a": [[2, 3], None, [1], [1]], "b": ["z", None, "x", "x"]}
    assert taken.schema.equals(batch.schema)
    assert table_util.RecordBatchTake(NO_COLUMNS, pa.array([0, 1])).num_rows == 2


@pytest.mark.parametrize("indices", [pa.array([3]), pa.array([-1]), pa.array([0.5])])
def test_take_of_no_row(indices: pa.Array) -> None:
    with pytest.raises(SchemaError, match=r"^Expected indices of 1 row, found others \(.*\)$"):
        table_util.RecordBatchTake(batch_of({"a": [1]}), indices)


# --- Canonical types --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, None], pa.int8()), pa.array([[1], None], pa.large_list(pa.int64()))),
        (pa.array([1], pa.uint16()), pa.array([[1]], pa.large_list(pa.uint64()))),
        (pa.array([0.5], pa.float32()), pa.array([[0.5]], pa.large_list(pa.float64()))),
        (pa.array([True, None]), pa.array([[1], None], pa.large_list(pa.int8()))),
        (pa.array(["a"]), pa.array([[b"a"]], pa.large_list(pa.large_binary()))),
        (pa.array([b"ab"], pa.binary(2)), pa.array([[b"ab"]], pa.large_list(pa.large_binary()))),
        (pa.nulls(1), pa.array([None], pa.large_list(pa.large_binary()))),
        (pa.array([[True], None]), pa.array([[1], None], pa.large_list(pa.int8()))),
        (
            pa.array([[["a"]], None]),
            pa.array([[[b"a"]], None], pa.large_list(pa.large_list(pa.large_binary()))),
        ),
    ],
)
def test_canonical_batch(column: pa.Array, expected: pa.Array) -> None:
    batch = table_util.CanonicalizeRecordBatch(batch_of({"x": column}))
    assert batch.schema.names == ["x"]
    assert batch.column(0).equals(expected)


def test_canonical_batch_keeps_its_rows() -> None:
    batch = batch_of({"x": [1, None, 3]}).slice(1)
    assert table_util.CanonicalizeRecordBatch(batch).to_pydict() == {"x": [None, [3]]}
    assert table_util.CanonicalizeRecordBatch(NO_COLUMNS).num_rows == 3


@pytest.mark.parametrize("column", [pa.array([{"a": 1}]), pa.array([1], pa.date64())])
def test_no_canonical_type(column: pa.Array) -> None:
    text = r"^Expected numbers, bools, strings or lists of these in column 'x', found "
    with pytest.raises(SchemaError, match=text):
        table_util.CanonicalizeRecordBatch(batch_of({"x": column}))


def test_types_by_kind() -> None:
    assert table_util.NumpyKindToArrowType("f") == pa.float64()
    assert table_util.NumpyKindToArrowType("M") is None


# --- Merging ----------------------------------------------------------------------------


def merge(*columns: dict[str, Any]) -> pa.RecordBatch:
    merged = table_util.MergeRecordBatches([batch_of(c) for c in columns])
    merged.validate(full=True)
    return merged


def test_merge_puts_columns_side_by_side() -> None:
    merged = merge({"a": [[1]], "b": ["x"]}, {"c": [0.5], "a": [None]})
    assert merged.schema.equals(
        pa.schema([("a", pa.list_(pa.int64())), ("b", pa.string()), ("c", pa.float64())])
    )
    assert merged.to_pydict() == {"a": [[1], None], "b": ["x", None], "c": [None, 0.5]}


@pytest.mark.parametrize("make", [pa.list_, pa.large_list])
def test_merge_of_nulls_and_lists(make: Any) -> None:
    nulls = pa.array([[None], [], None], make(pa.null()))
    typed = pa.array([[b"x"], [b"y", None]], make(pa.binary()))
    merged = merge({"a": nulls[1:]}, {"a": pa.nulls(1)}, {"a": typed[1:]})
    assert merged.column(0).equals(pa.array([[], None, None, [b"y", None]], make(pa.binary())))


def test_merge_of_structs() -> None:
    left = pa.array([{"x": [1], "s": {"p": 1}}, None])
    right = pa.array([None, {"y": ["q"], "s": {"q": 2}}])[1:]
    merged = merge({"a": left}, {"a": right})
    assert merged.column(0).to_pylist() == [
        {"x": [1], "s": {"p": 1, "q": None}, "y": None},
        None,
        {"x": None, "s": {"p": None, "q": 2}, "y": ["q"]},
    ]


def test_merge_of_lists_of_structs() -> None:
    merged = merge({"a": [[{"x": 1}], None]}, {"a": [[{"y": 2}, None]]})
    rows = [[{"x": 1, "y": None}], None, [{"x": None, "y": 2}, None]]
    assert merged.column(0).to_pylist() == rows


def test_merge_of_one_schema() -> None:
    twice = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    merged = table_util.MergeRecordBatches([twice, twice])
    assert [column.to_pylist() for column in merged.columns] == [[1, 1], [2, 2]]


def test_merge_of_rows_without_columns() -> None:
    assert table_util.MergeRecordBatches([NO_COLUMNS, NO_COLUMNS]).num_rows == 6
    merged = table_util.MergeRecordBatches([NO_COLUMNS, batch_of({"a": [1]})])
    assert merged.to_pydict() == {"a": [None, None, None, 1]}


def test_merge_of_no_rows() -> None:
    assert table_util.MergeRecordBatches([]).num_rows == 0
    no_rows = batch_of({"a": pa.array([], pa.int64())})
    assert table_util.MergeRecordBatches([no_rows]).equals(no_rows)


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        (pa.array([1]), pa.array([[1]]), "'a', found int64 and list<item: int64>"),
        (pa.array(["x"]), pa.array([b"x"]), "'a', found string and binary"),
        (pa.array([[1]]), pa.array([["x"]]), "'a', found int64 and string"),
        (pa.array([{"f": 1}]), pa.array([{"f": "x"}]), "'f', found int64 and string"),
        (
            pa.array([[1]]),
            pa.array([[1]], pa.large_list(pa.int64())),
            "'a', found list<item: int64> and large_list<item: int64>",
        ),
    ],
)
def test_types_that_do_not_merge(left: pa.Array, right: pa.Array, text: str) -> None:
    with pytest.raises(SchemaError, match=f"^Expected one type for column or field {text}$"):
        merge({"a": left}, {"a": right})


# --- Paths ------------------------------------------------------------------------------

STRUCTS = batch_of(
    {
        "a": [[1], None],
        "s": [{"x": [1], "z": {"y": ["q"]}}, None],
        "ls": [[{"x": [1]}, {"x": None}], None],
    }
)


def test_leaves() -> None:
    found = {str(p): a.to_pylist() for p, a in table_util.enumerate_arrays(STRUCTS, True)}
    assert found == {
        "a": [[1], None],
        "s.x": [[1], None],
        "s.z.y": [["q"], None],
        "ls.x": [[1], None],
    }


@pytest.mark.parametrize(
    ("wrap", "structs"), [(True, [[{"y": ["q"]}], None]), (False, [{"y": ["q"]}, None])]
)
def test_structs_too(wrap: bool, structs: list[Any]) -> None:
    found = {str(p): a for p, a in table_util.enumerate_arrays(STRUCTS, False, wrap)}
    assert list(found) == ["a", "s", "s.x", "s.z", "s.z.y", "ls", "ls.x"]
    assert found["s.z"].to_pylist() == structs
    assert found["ls"].equals(STRUCTS.column(2))


@pytest.mark.parametrize(
    ("path", "expected", "rows"),
    [
        (["a"], [[1], None], [0, 1]),
        (["s", "z", "y"], [["q"], None], [0, 1]),
        (["s", "z"], [[{"y": ["q"]}], None], [0, 1]),
        (["ls", "x"], [[1], None], [0, 0]),
    ],
)
def test_get_array(path: list[str], expected: list[Any], rows: list[int]) -> None:
    array, found_rows = table_util.get_array(STRUCTS, ColumnPath(path), True)
    assert found_rows is not None
    assert (array.to_pylist(), found_rows.tolist()) == (expected, rows)
    array, no_rows = table_util.get_array(STRUCTS, ColumnPath(path), False)
    assert (array.to_pylist(), no_rows) == (expected, None)


def test_get_array_leaves_structs_as_they_are() -> None:
    array, _ = table_util.get_array(STRUCTS, ColumnPath("s"), False, wrap_flat_struct_in_list=False)
    assert array.equals(STRUCTS.column(1))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ([], "Expected the path of a column or field, found ''"),
        (["z"], "Expected the path of a column or field, found 'z'"),
        (["s", "w"], "Expected a struct with one field 'w', found struct<.*>"),
        (
            ["ls", "x", "y"],
            "Expected structs at 'ls.x', to find 'ls.x.y' in them, found list<item: int64>",
        ),
    ],
)
def test_nothing_there_is_a_key_error(path: list[str], text: str) -> None:
    with pytest.raises(KeyError) as raised:
        table_util.get_array(STRUCTS, ColumnPath(path), True)
    assert isinstance(raised.value, SchemaError)
    assert raised.match(f"^{text}$")
