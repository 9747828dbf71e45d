"""Columns of lists as the parts of tensors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tests.kernel.test_arrays import FLAT, NUMBERS, STRINGS, Extension, answer, arrays, types


def read(kernel: ModuleType, function: str, array: pa.Array, *, at_once: bool = True) -> Any:
    """Returns what a function finds in a batch with this column."""
    batch = pa.record_batch([array], ["x"])
    return getattr(kernel.BatchReader(batch, at_once), function)(0)


def list_types(flat: list[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    return st.sampled_from([make(t) for t in flat for make in (pa.list_, pa.large_list)])


@given(st.data())
def test_lists_of_values_of_both_kernels(
    native: ModuleType, reference: ModuleType, data: st.DataObject
) -> None:
    of_values = list_types([*NUMBERS, *STRINGS])
    array = data.draw(st.one_of(of_values, of_values, types(FLAT)).flatmap(arrays))
    for name in ("value_lists", "sparse_lists"):
        found = read(native, name, array, at_once=data.draw(st.booleans()))
        expected = read(reference, name, array)
        if found is None and expected is not None:
            # The native kernel does not count, so that a value may be null.
            assert array.values.buffers()[0] is not None
        else:
            assert answer(lambda result: result, found) == answer(lambda result: result, expected)


@pytest.mark.parametrize("data_type", NUMBERS, ids=str)
@pytest.mark.parametrize("function", ["value_lists", "sparse_lists"])
def test_numbers_share_the_memory_of_the_array(
    kernel: ModuleType, function: str, data_type: pa.DataType
) -> None:
    array = pa.array([[1, 2], None, [3]] * 2, pa.large_list(data_type))[1:5]
    found = read(kernel, function, array)
    numbers = found[2 if function == "value_lists" else 1]
    values = array.values.to_numpy()
    assert (numbers.dtype, np.shares_memory(numbers, values)) == (values.dtype, True)
    assert not numbers.flags.writeable
    del array, values
    assert numbers.tolist() == [3, 1, 2]


def test_lists_as_a_sparse_tensor(kernel: ModuleType) -> None:
    array = pa.array([["a", "b"], None, [], ["\0"]])
    indices, values, shape = read(kernel, "sparse_lists", array)
    assert indices.tolist() == [[0, 0], [0, 1], [3, 0]]
    assert (values.dtype, values.tolist()) == (object, [b"a", b"b", b"\0"])
    assert shape.tolist() == [4, 2]


@pytest.mark.parametrize("first", [0, 3, 8])
@pytest.mark.parametrize("share_of_nulls", [0.0, 0.3, 0.97, 1.0])
@pytest.mark.parametrize("empty_at_start", [0, 8])
@pytest.mark.parametrize("spanned_by_nulls", [0, 1])
def test_many_lists_of_both_kernels(
    native: ModuleType,
    reference: ModuleType,
    first: int,
    share_of_nulls: float,
    empty_at_start: int,
    spanned_by_nulls: int,
) -> None:
    random = np.random.default_rng(0)
    is_null = random.random(300) < share_of_nulls
    lengths = random.integers(0, 20, 300)
    lengths[is_null] *= spanned_by_nulls
    lengths[:empty_at_start] = 0
    offsets = np.cumsum([0, *lengths])
    for values in (np.arange(offsets[-1]), [b"%d" % (i % 7) for i in range(offsets[-1])]):
        mask = pa.array(is_null) if share_of_nulls else None
        array = pa.LargeListArray.from_arrays(offsets, pa.array(values), mask=mask)[first:]
        for name in ("value_lists", "sparse_lists"):
            found = answer(read, native, name, array)
            assert found == answer(read, reference, name, array)
        assert answer(native.row_splits, array) == answer(reference.row_splits, array)


def test_short_and_long_strings(kernel: ModuleType) -> None:
    words = [b"", b"a", b"x" * 64, b"x" * 65, b"y" * 65, b"x" * 63 + b"y"] * 3
    _, _, values = read(kernel, "value_lists", pa.array([words, words]))
    assert values.tolist() == words * 2


@st.composite
def sparse_columns(draw: st.DrawFn) -> tuple[pa.RecordBatch, list[int], list[int]]:
    """A batch whose first column are values, the others their indices, which mostly fit."""
    rows = draw(st.integers(0, 5))
    lengths = draw(st.lists(st.integers(0, 10), min_size=rows, max_size=rows))

    def column(data_type: pa.DataType, least: int, *, may_differ: bool = True) -> pa.Array:
        of_rows = [
            draw(st.lists(st.integers(least, 4), min_size=length, max_size=length))
            for length in lengths
        ]
        if of_rows and may_differ and draw(st.integers(0, 9)) == 0:
            of_rows[0].append(1)
        make = draw(st.sampled_from([pa.list_, pa.large_list]))
        return pa.array(of_rows, make(data_type))

    count = draw(st.integers(0, 3))
    data_type = draw(st.sampled_from([pa.int64()] * 5 + [pa.int32(), pa.uint64(), pa.float64()]))
    least = 0 if data_type == pa.uint64() else draw(st.sampled_from([0, 0, 0, -1]))
    indices = [column(data_type, least) for _ in range(count)]
    sizes = st.lists(st.sampled_from([5, 5, 5, -1, 4]), min_size=count, max_size=count)
    columns = [column(pa.float32(), 0, may_differ=False), *indices]
    names = [str(i) for i in range(1 + count)]
    return pa.record_batch(columns, names), list(range(1, 1 + count)), draw(sizes)


@given(sparse_columns(), st.booleans())
def test_sparse_columns_of_both_kernels(
    native: ModuleType, reference: ModuleType, columns: tuple[Any, Any, Any], at_once: bool
) -> None:
    batch, indices, sizes = columns
    found = answer(native.BatchReader(batch, at_once).sparse_columns, 0, indices, sizes)
    expected = reference.BatchReader(batch, at_once)
    assert found == answer(expected.sparse_columns, 0, indices, sizes)


def test_rows_of_many_indices(native: ModuleType, reference: ModuleType) -> None:
    random = np.random.default_rng(0)
    offsets = np.cumsum([0, *random.integers(0, 20, 300)])
    columns = [
        pa.LargeListArray.from_arrays(offsets, random.integers(0, 50, offsets[-1]))
        for _ in range(3)
    ]
    batch = pa.record_batch(columns, ["a", "b", "c"])
    for last, is_found in ((50, True), (49, False)):
        found = answer(native.BatchReader(batch, True).sparse_columns, 0, [1, 2], [50, last])
        expected = reference.BatchReader(batch, True)
        assert found == answer(expected.sparse_columns, 0, [1, 2], [50, last])
        assert (found != [None]) == is_found


def test_values_and_their_indices_as_a_sparse_tensor(kernel: ModuleType) -> None:
    values = pa.array([["a", "b"], None, ["c"]])
    x, y = pa.array([[1, 0], [], [2]]), pa.array([[3, 3], None, [7]])
    reader = kernel.BatchReader(pa.record_batch([values, x, y], ["v", "x", "y"]), True)
    indices, found, shape = reader.sparse_columns(0, [1, 2], [3, -1])
    assert indices.tolist() == [[0, 1, 3], [0, 0, 3], [2, 2, 7]]
    assert (found.tolist(), shape.tolist()) == ([b"a", b"b", b"c"], [3, 3, -1])
    assert reader.sparse_columns(0, [1, 2], [2, -1]) is None
    assert reader.sparse_columns(0, [1, 0], [3, -1]) is None
    with pytest.raises(ValueError, match=r"^Expected a size for each column of indices"):
        reader.sparse_columns(0, [1, 2], [3])


@pytest.mark.parametrize("at_once", [False, True])
def test_columns_outlive_their_batch(kernel: ModuleType, at_once: bool) -> None:
    batch = pa.record_batch({"a": [[1, 2]], "b": [[b"x"]], "c": [[0.5]], "d": [7]})[:1]
    reader = kernel.BatchReader(batch, at_once)
    found = [reader.value_lists(i) for i in (2, 0, 1, 0)]
    assert (reader.column(3).to_pylist(), reader.value_lists(3)) == ([7], None)
    del reader, batch
    assert [values.tolist() for _, _, values in found] == [[0.5], [1, 2], [b"x"], [1, 2]]
    assert [splits.tolist() for splits, _, _ in found] == [[0, 1], [0, 2], [0, 1], [0, 2]]


@pytest.mark.parametrize("at_once", [False, True])
def test_a_column_keeps_its_own_memory_only(native: ModuleType, at_once: bool) -> None:
    before = pa.total_allocated_bytes()
    small, large = pa.array([[1]]), pa.array([list(range(100_000))])
    reader = native.BatchReader(pa.record_batch([small, large], ["a", "b"]), at_once)
    found = reader.value_lists(0)
    del small, large, reader
    assert pa.total_allocated_bytes() - before < 100_000
    assert found[2].tolist() == [1]


@pytest.mark.parametrize("at_once", [False, True])
def test_no_such_column(kernel: ModuleType, at_once: bool) -> None:
    reader = kernel.BatchReader(pa.record_batch({"a": [[1]]}), at_once)
    with pytest.raises(IndexError):
        reader.value_lists(1)


def test_extension_types_of_values(kernel: ModuleType) -> None:
    numbers = pa.ExtensionArray.from_storage(Extension(pa.int8()), pa.array([1, 2], pa.int8()))
    _, _, found = read(kernel, "value_lists", pa.ListArray.from_arrays([0, 2], numbers))
    assert (found.dtype, found.tolist()) == (np.int8, [1, 2])
