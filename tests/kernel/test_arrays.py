"""Row splits, sizes and UTF-8 of arrays of every layout, and coordinates there and back."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tests.kernel.test_capsules import OnlyTheProtocol

STRINGS = [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()]
NUMBERS = [
    *[pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()],
    *[pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
]
FLAT = [*NUMBERS, pa.bool_(), pa.null(), *STRINGS]
UNSERVED = [
    *[pa.float16(), pa.date32(), pa.decimal128(5), pa.binary(3), pa.list_(pa.int8(), 2)],
    pa.dictionary(pa.int8(), pa.string()),
]


def types(flat: list[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    """Returns those of `flat`, and lists and structs of them."""
    return st.recursive(
        st.sampled_from(flat),
        lambda inner: st.one_of(
            inner.map(pa.list_),
            inner.map(pa.large_list),
            st.lists(inner, max_size=2).map(
                lambda t: pa.struct([(f"{i}", t[i]) for i in range(len(t))])
            ),
        ),
        max_leaves=3,
    )


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """UTF-8, or with a few bytes in it that may break it."""
    text = draw(st.text(max_size=12)).encode()
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from([b"", b"", b"\xff", b"\xc2", b"\x80"])) + text[at:]


@st.composite
def arrays(draw: st.DrawFn, data_type: pa.DataType, rows: int | None = None) -> pa.Array:
    """Slices with nulls or without; what a null list or string stands over need not be empty."""
    rows = draw(st.integers(0, 20)) if rows is None else rows
    first, total = draw(st.integers(0, 9)), rows + draw(st.integers(9, 12))
    if pa.types.is_null(data_type):
        return pa.nulls(total).slice(first, rows)
    is_valid = draw(st.none() | st.lists(st.booleans(), min_size=total, max_size=total))
    validity = None if is_valid is None else pa.array(is_valid).buffers()[1]
    if pa.types.is_struct(data_type):
        buffers = [validity]
        children = [draw(arrays(data_type[i].type, total)) for i in range(len(data_type))]
    elif pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        offsets = draw(_offsets(total))
        buffers = [validity, _buffer(offsets, pa.types.is_large_list(data_type))]
        children = [draw(arrays(data_type.value_type, int(offsets[-1])))]
    elif data_type in STRINGS:
        values = draw(st.lists(texts(), min_size=total, max_size=total))
        whole = pa.array(values, pa.large_binary() if "large" in str(data_type) else pa.binary())
        buffers, children = [validity, *whole.buffers()[1:]], []
    else:
        values = draw(st.lists(st.sampled_from([0, 1]), min_size=total, max_size=total))
        buffers, children = [validity, pa.array(values).cast(data_type).buffers()[1]], []
    array = pa.Array.from_buffers(data_type, total, buffers, children=children)
    return array.slice(first, rows)


@st.composite
def _offsets(draw: st.DrawFn, lists: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Offsets that need not begin with 0."""
    lengths = draw(st.lists(st.integers(0, 3), min_size=lists, max_size=lists))
    return np.cumsum([draw(st.integers(0, 2)), *lengths])


def _buffer(offsets: Any, is_large: bool) -> pa.Buffer:
    return pa.array(offsets, pa.int64() if is_large else pa.int32()).buffers()[1]


def lists_and_strings() -> st.SearchStrategy[pa.DataType]:
    return st.sampled_from(STRINGS) | types(FLAT).flatmap(
        lambda inner: st.sampled_from([pa.list_(inner), pa.large_list(inner)])
    )


def answer(function: Any, *arguments: Any) -> Any:
    """Returns the result as what can be compared, or the text of the error."""
    try:
        result = function(*arguments)
    except ValueError as error:
        return str(error)
    parts = result if isinstance(result, tuple) else (result,)
    return [(p.dtype, p.tolist()) if isinstance(p, np.ndarray) else p for p in parts]


@given(st.data())
def test_row_splits_of_both_kernels(
    native: ModuleType, reference: ModuleType, data: st.DataObject
) -> None:
    array = data.draw(lists_and_strings().flatmap(arrays))
    found = answer(native.row_splits, OnlyTheProtocol(array))
    assert found == answer(reference.row_splits, array)
    lengths = answer(native.element_lengths, OnlyTheProtocol(array))
    assert lengths == answer(reference.element_lengths, array)


@given(st.data())
def test_row_splits_lead_to_the_lists(kernel: ModuleType, data: st.DataObject) -> None:
    data_type = data.draw(st.sampled_from([pa.list_(pa.int64()), pa.large_list(pa.int64())]))
    array = data.draw(arrays(data_type))
    splits, longest, first = kernel.row_splits(array)
    values = array.flatten().to_pylist()
    lists = [values[a:b] for a, b in itertools.pairwise(splits)]
    assert lists == [one or [] for one in array.to_pylist()]
    assert kernel.element_lengths(array).tolist() == [len(one) for one in lists]
    assert longest == max(map(len, lists), default=0)
    if first is not None:
        assert array.values.slice(first, splits[-1]).to_pylist() == values
    else:
        assert array.null_count


@given(st.data())
def test_byte_size_of_both_kernels(
    native: ModuleType, reference: ModuleType, data: st.DataObject
) -> None:
    array = data.draw(types(FLAT).flatmap(arrays))
    size = native.byte_size(OnlyTheProtocol(array))
    assert size == reference.byte_size(array)
    assert size is not None
    batch = pa.record_batch({"a": array, "b": array})
    assert native.byte_size(batch) == reference.byte_size(batch) == 2 * size


@given(st.data())
def test_utf8_of_both_kernels(
    native: ModuleType, reference: ModuleType, data: st.DataObject
) -> None:
    array = data.draw(st.sampled_from(STRINGS).flatmap(arrays))
    assert native.count_invalid_utf8(OnlyTheProtocol(array)) == reference.count_invalid_utf8(array)


@st.composite
def nested_splits(draw: st.DrawFn) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Levels of lists, mostly such that go together."""
    levels: list[Any] = []
    lists = draw(st.integers(0, 6))
    for _ in range(draw(st.integers(1, 3))):
        lengths = draw(st.lists(st.integers(0, 3), min_size=lists, max_size=lists))
        levels.append(np.cumsum([0, *lengths]))
        lists = int(levels[-1][-1]) + draw(st.sampled_from([0] * 9 + [1]))
    return levels


@given(nested_splits())
def test_coordinates_of_both_kernels(
    native: ModuleType, reference: ModuleType, levels: list[Any]
) -> None:
    assert answer(native.coordinates, levels) == answer(reference.coordinates, levels)
    for splits in levels:
        assert answer(native.parent_indices, splits) == answer(reference.parent_indices, splits)


@given(st.data())
def test_splits_of_coordinates_of_both_kernels(
    native: ModuleType, reference: ModuleType, data: st.DataObject
) -> None:
    shape = data.draw(st.lists(st.integers(-1, 4), min_size=1, max_size=3))
    numbers = st.lists(st.integers(-1 if data.draw(st.booleans()) else 0, 4), max_size=12)
    flat = data.draw(numbers)
    if data.draw(st.booleans()):
        flat.sort()
    rank = len(shape)
    matrix = np.array(flat[: len(flat) // rank * rank], np.int64).reshape(-1, rank)
    for one in (matrix, np.asfortranarray(matrix), matrix[::-1], matrix[:, :1]):
        found = answer(native.splits_of_coordinates, one, shape)
        assert found == answer(reference.splits_of_coordinates, one, shape)


@given(nested_splits().map(lambda levels: levels[:1]))
def test_coordinates_and_splits_are_inverse(kernel: ModuleType, levels: list[Any]) -> None:
    (splits,) = levels
    found = kernel.coordinates(levels)
    longest = int(np.diff(splits).max(initial=0))
    shape = [len(splits) - 1, longest]
    assert answer(kernel.splits_of_coordinates, found, shape) == [(np.int64, splits.tolist()), True]
    assert kernel.parent_indices(splits).tolist() == found[:, 0].tolist()


def test_nested_coordinates(kernel: ModuleType) -> None:
    levels = [np.array([0, 2, 2, 3]), np.array([0, 1, 3, 4])]
    expected = [[0, 0, 0], [0, 1, 0], [0, 1, 1], [2, 0, 0]]
    assert kernel.coordinates(levels).tolist() == expected


@pytest.mark.parametrize(
    "bad", [[], [1, 2], [0, 2, 1], [[0]]], ids=["empty", "not from 0", "falling", "a matrix"]
)
def test_bad_splits(kernel: ModuleType, bad: Any) -> None:
    splits = np.array(bad, np.int64)
    for call in (kernel.parent_indices, lambda s: kernel.coordinates([s])):
        with pytest.raises(ValueError, match=r"^Expected row splits"):
            call(splits)


def test_bad_levels(kernel: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"^Expected at least one level, found none$"):
        kernel.coordinates([])
    with pytest.raises(ValueError, match=r"^Expected a level of 2 lists, found 1$"):
        kernel.coordinates([np.array([0, 2]), np.array([0, 2])])


@pytest.mark.parametrize("shape", [[], [2], [-1, 2], [1, 2, 3]])
def test_bad_shapes(kernel: ModuleType, shape: list[int]) -> None:
    with pytest.raises(ValueError, match=r"^Expected as many coordinates of each value as sizes"):
        kernel.splits_of_coordinates(np.zeros((0, 2), np.int64), shape)


@pytest.mark.parametrize("number", [2**60, 2**61, 2**62 + 1, 2**63 - 1])
def test_more_than_memory_holds(kernel: ModuleType, number: int) -> None:
    splits = np.array([0, number])
    with pytest.raises(MemoryError):
        kernel.parent_indices(splits)
    with pytest.raises(MemoryError):
        kernel.coordinates([splits])
    with pytest.raises(MemoryError):
        kernel.splits_of_coordinates(np.zeros((0, 1), np.int64), [number])


@given(st.data())
def test_types_without_a_size(kernel: ModuleType, data: st.DataObject) -> None:
    unserved = data.draw(types(UNSERVED).filter(lambda t: "struct<>" not in str(t)))
    assert kernel.byte_size(pa.nulls(3, unserved)) is None


class Extension(pa.ExtensionType):  # type: ignore[misc]  # pyarrow has no types
    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "test")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


def test_extension_types_are_what_they_are_stored_as(kernel: ModuleType) -> None:
    lists = pa.array([["a"], None, ["b", "c"]])[1:]
    array = pa.ExtensionArray.from_storage(Extension(lists.type), lists)
    assert answer(kernel.row_splits, array) == answer(kernel.row_splits, lists)
    assert kernel.element_lengths(array).tolist() == [0, 2]
    assert kernel.byte_size(array) == kernel.byte_size(lists)
    assert kernel.byte_size(pa.record_batch({"x": array})) == kernel.byte_size(lists)
    texts = pa.ExtensionArray.from_storage(Extension(pa.binary()), pa.array([b"a", b"\xff"]))
    assert kernel.count_invalid_utf8(texts) == 1


@pytest.mark.parametrize(
    "data_type", [*UNSERVED, pa.int64(), pa.struct([("a", pa.int8())])], ids=str
)
def test_types_without_lists(kernel: ModuleType, data_type: pa.DataType) -> None:
    array = pa.nulls(2, data_type)
    for function in (kernel.row_splits, kernel.element_lengths):
        with pytest.raises(ValueError, match=r"^Expected an array of lists or strings, found ano"):
            function(array)
    with pytest.raises(ValueError, match=r"^Expected an array of strings, found another$"):
        kernel.count_invalid_utf8(array)


@pytest.mark.parametrize("data_type", [*STRINGS, pa.list_(pa.int8()), pa.large_list(pa.int8())])
def test_arrays_without_buffers(kernel: ModuleType, data_type: pa.DataType) -> None:
    """An empty array need not have offsets."""
    children = [] if data_type in STRINGS else [pa.array([], pa.int8())]
    buffers = [None, None, pa.py_buffer(b"")] if data_type in STRINGS else [None, None]
    array = pa.Array.from_buffers(data_type, 0, buffers, children=children)
    splits, longest, first = kernel.row_splits(array)
    assert (splits.tolist(), longest, first) == ([0], 0, 0)
    assert kernel.element_lengths(array).tolist() == []
    assert kernel.byte_size(array) == (8 if "large" in str(data_type) else 4)


def test_results_outlive_the_arguments(kernel: ModuleType) -> None:
    """Arrays own their memory, on which nothing writes."""
    splits, _, _ = kernel.row_splits(pa.array([[1], [2, 3]]))
    found = kernel.coordinates([splits])
    kept = [
        splits,
        found,
        kernel.parent_indices(splits),
        kernel.splits_of_coordinates(found, [2, 2])[0],
    ]
    before = [one.tolist() for one in kept]
    for _ in range(50):
        kernel.coordinates([np.array([0, 5, 9])])
    assert (
        [one.tolist() for one in kept]
        == before
        == [[0, 1, 3], [[0, 0], [1, 0], [1, 1]], [0, 1, 1], [0, 1, 3]]
    )
