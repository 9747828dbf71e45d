"""Functions of Arrow arrays and batches, against tfx-bsl, for random nested arrays and slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tests.compat.peers import import_peer
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tfxio.arrow import array_util, table_util
from tfrecord_beam.tfxio.arrow.path import ColumnPath

their_array_util = import_peer("tfx_bsl.arrow.array_util")
their_table_util = import_peer("tfx_bsl.arrow.table_util")
their_path = import_peer("tfx_bsl.arrow.path")

LEAVES = {
    pa.int64(): st.integers(-9, 9),
    pa.uint8(): st.integers(0, 9),
    pa.float32(): st.sampled_from([0.5, -1.0, float("inf")]),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(max_size=3),
    pa.large_binary(): st.binary(max_size=3),
    pa.binary(): st.sampled_from([b"a", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80"]),
}

STRINGS = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]


def leaf_types() -> st.SearchStrategy[pa.DataType]:
    return st.sampled_from(list(LEAVES))


def lists_of(types: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    return types.map(pa.list_) | types.map(pa.large_list)


def structs_of(types: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    fields = st.dictionaries(st.sampled_from("xyz"), types, min_size=1, max_size=2)
    return fields.map(lambda fields: pa.struct(list(fields.items())))


def list_types() -> st.SearchStrategy[pa.DataType]:
    return lists_of(st.recursive(leaf_types() | st.just(pa.null()), lists_of, max_leaves=3))


def any_types() -> st.SearchStrategy[pa.DataType]:
    leaves = leaf_types() | st.just(pa.null())
    return st.recursive(leaves, lambda t: lists_of(t) | structs_of(t), max_leaves=4)


def values(data_type: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_null(data_type):
        return st.none()
    if array_util.is_list_like(data_type):
        return st.none() | st.lists(values(data_type.value_type), max_size=3)
    if pa.types.is_struct(data_type):
        fields = [data_type.field(i) for i in range(data_type.num_fields)]
        return st.none() | st.fixed_dictionaries({f.name: values(f.type) for f in fields})
    return st.none() | LEAVES[data_type]


@st.composite
def arrays(draw: st.DrawFn, types: st.SearchStrategy[pa.DataType], rows: int | None = None) -> Any:
    """An array of which only a slice may count; with nulls, or none at all."""
    data_type = draw(types)
    count = draw(st.integers(0, 12)) if rows is None else rows
    cells = values(data_type)
    if draw(st.booleans()):
        cells = cells.filter(lambda cell: cell is not None) if data_type != pa.null() else cells
    start, rest = draw(st.integers(0, 9)), draw(st.integers(0, 2))
    total = start + count + rest
    cell_list = draw(st.lists(cells, min_size=total, max_size=total))
    return pa.array(cell_list, data_type).slice(start, count)


def check_equal(found: Any, expected: Any) -> None:
    """Checks results, of the same types."""
    if isinstance(expected, pa.Array):
        found.validate(full=True)
        assert found.type == expected.type
        assert found.equals(expected) or found.to_pylist() == expected.to_pylist()
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    elif isinstance(expected, tuple):
        assert len(found) == len(expected)
        for found_part, expected_part in zip(found, expected, strict=True):
            check_equal(found_part, expected_part)
    else:
        assert found == expected


def check_same(name: str, *arguments: Any, module: Any = array_util) -> None:
    """Checks that a function gives what its namesake gives, or refuses what it refuses."""
    theirs = their_array_util if module is array_util else their_table_util
    try:
        expected = getattr(theirs, name)(*arguments)
    except RuntimeError:
        with pytest.raises(SchemaError):
            getattr(module, name)(*arguments)
    else:
        check_equal(getattr(module, name)(*arguments), expected)


# --- Arrays -----------------------------------------------------------------------------


@settings(deadline=None)
@given(array=arrays(any_types()))
@pytest.mark.parametrize(
    "name",
    [
        "GetElementLengths",
        "GetFlattenedArrayParentIndices",
        "GetBinaryArrayTotalByteSize",
        "CooFromListArray",
        "CountInvalidUTF8",
        "get_innermost_nested_type",
        "is_list_like",
    ],
)
def test_functions_of_one_array(name: str, array: pa.Array) -> None:
    if name.islower():
        check_same(name, array.type)
    else:
        check_same(name, array)


@settings(deadline=None)
@given(array=arrays(list_types() | leaf_types() | structs_of(list_types())))
def test_byte_size(array: pa.Array) -> None:
    """But of structs in lists: where no struct is in them, tfx-bsl counts all fields in full."""
    check_same("GetByteSize", array)


@settings(deadline=None)
@given(array=arrays(list_types() | any_types().filter(lambda t: t != pa.null())))
def test_nulls_and_singletons(array: pa.Array) -> None:
    """Of a column of type null tfx-bsl says that there are no nulls in it."""
    check_same("GetArrayNullBitmapAsByteArray", array)
    check_same("ToSingletonListArray", array)
    for return_parent_indices in (True, False):
        check_same("flatten_nested", array, return_parent_indices)


@settings(deadline=None)
@given(array=arrays(list_types()), data=st.data())
def test_fill_null_lists(array: pa.Array, data: st.DataObject) -> None:
    fill_with = data.draw(arrays(st.just(array.type.value_type)))
    check_same("FillNullLists", array, fill_with[:2])


@settings(deadline=None)
@given(data=st.data(), data_type=leaf_types())
def test_index_in(data: st.DataObject, data_type: pa.DataType) -> None:
    """But among strings that repeat, where tfx-bsl counts each of them once."""
    needles, hay = (data.draw(arrays(st.just(data_type))) for _ in range(2))
    if array_util.is_binary_like(data_type):
        hay = hay.drop_null().unique()
    check_same("IndexIn", needles, hay)


@settings(deadline=None)
@given(
    array=arrays(any_types()),
    num_parents=st.integers(0, 5),
    empty_list_as_null=st.booleans(),
    data=st.data(),
)
def test_make_list_array(
    array: pa.Array, num_parents: int, empty_list_as_null: bool, data: st.DataObject
) -> None:
    count = len(array)
    parents_strategy = st.lists(st.integers(0, 4), min_size=count, max_size=count)
    parents = pa.array(sorted(data.draw(parents_strategy)), pa.int64())
    name = "MakeListArrayFromParentIndicesAndValues"
    check_same(name, num_parents, parents, array, empty_list_as_null)


@settings(deadline=None)
@given(array=arrays(structs_of(any_types())))
def test_get_field(array: pa.Array) -> None:
    check_same("get_field", array, array.type.field(0).name)


def test_lengths_do_not_count_what_a_null_spans() -> None:
    """Where they do in tfx-bsl, whose parent indices then are more than the values."""
    offsets, validity = pa.py_buffer(np.array([0, 2, 5])), pa.py_buffer(bytes([0b01]))
    children = [pa.array(range(5))]
    spanning = pa.Array.from_buffers(
        pa.large_list(pa.int64()), 2, [validity, offsets], children=children
    )
    assert their_array_util.GetElementLengths(spanning).to_pylist() == [2, 3]
    assert array_util.GetElementLengths(spanning).to_pylist() == [2, 0]


# --- Batches ----------------------------------------------------------------------------


@st.composite
def batches(draw: st.DrawFn, types: Callable[[], st.SearchStrategy[pa.DataType]]) -> Any:
    rows = draw(st.integers(1, 4))
    names = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3))
    columns = [draw(arrays(types(), rows)) for _ in names]
    if not columns:
        return pa.record_batch([pa.nulls(rows)], names=["a"]).select([])
    return pa.RecordBatch.from_arrays(columns, names=names)


@settings(deadline=None)
@given(batch=batches(lambda: list_types() | leaf_types()), ignore_unsupported=st.booleans())
def test_total_byte_size(batch: pa.RecordBatch, ignore_unsupported: bool) -> None:
    check_same("TotalByteSize", batch, ignore_unsupported, module=table_util)
    table = pa.Table.from_batches([batch, batch])
    check_same("TotalByteSize", table, ignore_unsupported, module=table_util)


def merge_types() -> st.SearchStrategy[pa.DataType]:
    """Few types, many of which go together."""
    leaves = st.sampled_from([pa.int64(), pa.int64(), pa.null(), pa.binary()])
    return st.recursive(leaves, lambda t: t.map(pa.list_) | structs_of(t), max_leaves=3)


@settings(deadline=None)
@given(parts=st.lists(batches(merge_types), max_size=3))
def test_merge(parts: Sequence[pa.RecordBatch]) -> None:
    try:
        expected = their_table_util.MergeRecordBatches(parts)
    except RuntimeError:
        with pytest.raises(SchemaError):
            table_util.MergeRecordBatches(parts)
        return
    found = table_util.MergeRecordBatches(parts)
    found.validate(full=True)
    assert found.num_rows == expected.num_rows
    assert found.schema.equals(expected.schema)
    assert [c.to_pylist() for c in found.columns] == [c.to_pylist() for c in expected.columns]


@settings(deadline=None)
@given(batch=batches(any_types), data=st.data())
def test_take(batch: pa.RecordBatch, data: st.DataObject) -> None:
    rows = st.none() | st.integers(0, batch.num_rows - 1)
    indices = pa.array(data.draw(st.lists(rows, max_size=4)), pa.int64())
    found = table_util.RecordBatchTake(batch, indices)
    expected = their_table_util.RecordBatchTake(batch, indices)
    assert found.num_rows == expected.num_rows
    assert found.schema.equals(expected.schema)
    assert [c.to_pylist() for c in found.columns] == [c.to_pylist() for c in expected.columns]


@settings(deadline=None)
@given(batch=batches(lambda: leaf_types() | list_types()))
def test_canonical_batch(batch: pa.RecordBatch) -> None:
    found = table_util.CanonicalizeRecordBatch(batch)
    if batch.num_columns:
        assert found.equals(their_table_util.CanonicalizeRecordBatch(batch))


@settings(deadline=None)
@given(
    batch=batches(lambda: structs_of(list_types()) | list_types()),
    leaves_only=st.booleans(),
    wrap=st.booleans(),
)
def test_paths(batch: pa.RecordBatch, leaves_only: bool, wrap: bool) -> None:
    found = list(table_util.enumerate_arrays(batch, leaves_only, wrap))
    expected = list(their_table_util.enumerate_arrays(batch, leaves_only, wrap))
    assert [path for path, _ in found] == [path.steps() for path, _ in expected]
    for (path, array), (_, expected_array) in zip(found, expected, strict=True):
        check_equal(array, expected_array)
        check_equal(
            table_util.get_array(batch, path, True, wrap),
            their_table_util.get_array(batch, their_path.ColumnPath(path), True, wrap),
        )
    with pytest.raises(KeyError):
        table_util.get_array(batch, ColumnPath(["d"]), True)


@pytest.mark.parametrize("kind", list("iufbSUOMc"))
def test_types_by_kind(kind: str) -> None:
    assert table_util.NumpyKindToArrowType(kind) == their_table_util.NumpyKindToArrowType(kind)


@pytest.mark.parametrize("data_type", STRINGS)
@settings(deadline=None)
@given(cells=st.lists(st.none() | st.binary(max_size=4), max_size=5))
def test_invalid_utf8(data_type: pa.DataType, cells: list[bytes | None]) -> None:
    is_large = data_type in (pa.large_string(), pa.large_binary())
    array = pa.array(cells, pa.large_binary() if is_large else pa.binary()).view(data_type)
    check_same("CountInvalidUTF8", array)
