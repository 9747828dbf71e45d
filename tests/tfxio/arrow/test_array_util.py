"""Functions of Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tfxio.arrow import array_util

LIST_TYPES = pytest.mark.parametrize("make", [pa.list_, pa.large_list])

MakeType = Callable[[pa.DataType], pa.DataType]

INT64 = pa.int64()


def spanning(make: MakeType) -> pa.Array:
    """Returns [[0, 1], null, [], [5]], where the null spans the values 2, 3, 4."""
    data_type = make(INT64)
    dtype = np.int64 if pa.types.is_large_list(data_type) else np.int32
    offsets = pa.py_buffer(np.array([0, 2, 5, 5, 6], dtype))
    validity = pa.py_buffer(bytes([0b1101]))
    values = pa.array(range(9), INT64)
    return pa.Array.from_buffers(data_type, 4, [validity, offsets], children=[values])


@LIST_TYPES
@pytest.mark.parametrize("start", [0, 1, 9, 12])
def test_lengths_and_parents_of_slices(make: MakeType, start: int) -> None:
    rows = [[1], None, [], [2, 3]] * 3
    array = pa.array(rows, make(INT64)).slice(start)
    lengths = [len(row or []) for row in rows[start:]]
    assert array_util.GetElementLengths(array).equals(pa.array(lengths, INT64))
    parents = [row for row, length in enumerate(lengths) for _ in range(length)]
    parents_type = pa.int32() if make is pa.list_ else INT64
    assert array_util.GetFlattenedArrayParentIndices(array).equals(pa.array(parents, parents_type))


@LIST_TYPES
def test_values_that_a_null_spans_do_not_count(make: MakeType) -> None:
    array = spanning(make)
    assert array_util.GetElementLengths(array).to_pylist() == [2, 0, 0, 1]
    assert array_util.GetFlattenedArrayParentIndices(array).to_pylist() == [0, 0, 3]
    coo, shape = array_util.CooFromListArray(array)
    assert (coo.to_pylist(), shape.to_pylist()) == ([0, 0, 0, 1, 3, 0], [4, 2])
    values, rows = array_util.flatten_nested(array, return_parent_indices=True)
    assert rows is not None
    assert (values.to_pylist(), rows.tolist()) == ([0, 1, 5], [0, 0, 3])
    filled = array_util.FillNullLists(array, pa.array([7]))
    assert filled.to_pylist() == [[0, 1], [7], [], [5]]


@LIST_TYPES
@pytest.mark.parametrize("nulls", [1, 16, 17, 40])
@pytest.mark.parametrize("fill", [[], [7, 8]])
def test_few_and_many_null_lists_are_filled(make: MakeType, nulls: int, fill: list[int]) -> None:
    rows = [[1], None, [], [2, 3]] + [None, [4]] * (nulls - 1)
    array = pa.array([[0], *rows, None], make(INT64))[1:-1]
    filled = array_util.FillNullLists(array, pa.array([9, *fill], INT64)[1:])
    filled.validate(full=True)
    assert filled.equals(pa.array([fill if row is None else row for row in rows], make(INT64)))


@pytest.mark.parametrize(
    "data_type", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()]
)
def test_strings(data_type: pa.DataType) -> None:
    array = pa.array(["x", "ab", None, "", "\u00e9"], data_type)[1:]
    assert array_util.GetElementLengths(array).to_pylist() == [2, 0, 0, 2]
    assert array_util.GetBinaryArrayTotalByteSize(array) == 4
    assert array_util.CountInvalidUTF8(array) == 0


def test_nulls_as_bytes() -> None:
    array = pa.array([1, None] * 10)
    nulls = array_util.GetArrayNullBitmapAsByteArray(array[9:])
    assert nulls.equals(pa.array([1, 0] * 5 + [1], pa.uint8()))
    assert array_util.GetArrayNullBitmapAsByteArray(pa.array([1])).to_pylist() == [0]
    assert array_util.GetArrayNullBitmapAsByteArray(pa.nulls(2)).to_pylist() == [1, 1]


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (pa.array([1, 2], INT64), 16),
        (pa.array([1, None], INT64), 17),
        (pa.array([1] * 20 + [None], INT64)[3:21], 18 * 8 + 3),
        (pa.array([True] * 9), 2),
        (pa.nulls(5), 0),
        (pa.array([1.0], pa.float32()), 4),
        (pa.array(["ab", None, "c"])[:2], 1 + 12 + 2),
        (pa.array(["ab"], pa.large_string()), 16 + 2),
        (pa.array([[1, 2], [3]], pa.list_(INT64))[1:], 8 + 8),
        (pa.array([[1, 2], [3]], pa.large_list(INT64))[1:], 16 + 8),
        (pa.array([{"a": [1]}, {"a": [None]}, None])[1:], 1 + (12 + 1 + 8)),
        (pa.array([], pa.list_(INT64)), 4),
    ],
)
def test_byte_size(array: pa.Array, size: int) -> None:
    assert array_util.GetByteSize(array) == size


def test_index_in() -> None:
    values = pa.array([b"a", b"b", None, b"c"])
    found = array_util.IndexIn(values, pa.array([b"b", b"a", b"b"]))
    assert found.equals(pa.array([1, 0, None, None], pa.int32()))


@LIST_TYPES
def test_fill_null_lists(make: MakeType) -> None:
    array = pa.array([[1], None, []], make(INT64))
    filled = array_util.FillNullLists(array[1:], pa.array([7, None], INT64))
    assert filled.equals(pa.array([[7, None], []], array.type))
    assert array_util.FillNullLists(array[2:], pa.array([7], INT64)).to_pylist() == [[]]
    nulls = pa.array([None], make(pa.null()))
    assert array_util.FillNullLists(nulls, pa.nulls(2)).to_pylist() == [[None, None]]
    full = pa.array([[1]], make(INT64))
    assert array_util.FillNullLists(full, pa.array([7], INT64)) is full


@pytest.mark.parametrize(
    ("array", "coo", "shape"),
    [
        (pa.array([5, 6]), [0, 1], [2]),
        (pa.array([[5], None, [6, 7]]), [0, 0, 2, 0, 2, 1], [3, 2]),
        (pa.array([[5], None, [6, 7]])[1:], [1, 0, 1, 1], [2, 2]),
        (pa.array([[[1], [2, 3]], [], [[4]]]), [0, 0, 0, 0, 1, 0, 0, 1, 1, 2, 0, 0], [3, 2, 2]),
        (pa.array([], pa.list_(pa.list_(INT64))), [], [0, 0, 0]),
    ],
)
def test_coo(array: pa.Array, coo: list[int], shape: list[int]) -> None:
    found_coo, found_shape = array_util.CooFromListArray(array)
    assert found_coo.equals(pa.array(coo, INT64))
    assert found_shape.equals(pa.array(shape, INT64))


BAD_UTF8 = [
    b"\x80",
    b"\xc0\x80",
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80",
    b"\xe2\x82",
    b"a\nb\xff",
]
GOOD_UTF8 = [b"", b"a\n\x00", *(chr(c).encode() for c in (0x80, 0x7FF, 0x800, 0xD7FF, 0xE000))]
GOOD_UTF8 += [chr(c).encode() for c in (0xFFFF, 0x10000, 0x10FFFF)]


@pytest.mark.parametrize("data_type", [pa.binary(), pa.large_binary()])
def test_invalid_utf8(data_type: pa.DataType) -> None:
    array = pa.array([*BAD_UTF8, None, *GOOD_UTF8], data_type)
    assert array_util.CountInvalidUTF8(array) == len(BAD_UTF8)
    assert array_util.CountInvalidUTF8(array[3:]) == len(BAD_UTF8) - 3
    assert array_util.CountInvalidUTF8(array[len(BAD_UTF8) :]) == 0


def test_invalid_utf8_in_strings() -> None:
    array = pa.array([b"\xff", b"a"], pa.large_binary()).view(pa.large_string())
    assert array_util.CountInvalidUTF8(array) == 1


@pytest.mark.parametrize(
    ("empty_is_null", "expected"),
    [(True, [[0], [1, 2], None, [3], None]), (False, [[0], [1, 2], [], [3], []])],
)
def test_make_list_array(empty_is_null: bool, expected: list[Any]) -> None:
    parents, values = pa.array([9, 0, 1, 1, 3])[1:], pa.array([9, 0, 1, 2, 3])[1:]
    made = array_util.MakeListArrayFromParentIndicesAndValues(5, parents, values, empty_is_null)
    assert made.equals(pa.array(expected, pa.large_list(INT64)))


@pytest.mark.parametrize(
    ("num_parents", "parents", "text"),
    [
        (2, pa.array([0, 2]), "Expected parent indices below 2, found 2"),
        (2, pa.array([1, 0]), "Expected parent indices that ascend, .*"),
        (2, pa.array([0]), "Expected a parent index for each of 2 values, found 1"),
        (2, pa.array([0, None]), "Expected a parent index for each of 2 values, found 1"),
        (2, pa.array([0, 1], pa.int32()), "Expected int64 parent indices, found int32"),
    ],
)
def test_parents_of_no_lists(num_parents: int, parents: pa.Array, text: str) -> None:
    with pytest.raises(SchemaError, match=f"^{text}$"):
        array_util.MakeListArrayFromParentIndicesAndValues(num_parents, parents, pa.array([1, 2]))


def test_singleton_lists() -> None:
    array = pa.array(["x", "a", None, "b"])[1:]
    expected = pa.array([["a"], None, ["b"]], pa.large_list(pa.string()))
    assert array_util.ToSingletonListArray(array).equals(expected)
    assert array_util.ToSingletonListArray(array[:1]).equals(expected[:1])
    assert array_util.ToSingletonListArray(pa.nulls(2)).to_pylist() == [None, None]


def test_types() -> None:
    assert array_util.is_list_like(pa.list_(INT64))
    assert array_util.is_list_like(pa.large_list(INT64))
    assert not array_util.is_list_like(pa.list_(INT64, 2))
    nested = pa.list_(pa.large_list(pa.struct([("a", INT64)])))
    assert array_util.get_innermost_nested_type(nested) == pa.struct([("a", INT64)])


def test_flatten_nested() -> None:
    array = pa.array([[[1], [2, 3]], None, [[], [4]]], pa.large_list(pa.list_(INT64)))
    values, rows = array_util.flatten_nested(array, return_parent_indices=True)
    assert rows is not None
    assert (values.to_pylist(), rows.tolist()) == ([1, 2, 3, 4], [0, 0, 0, 2])
    assert array_util.flatten_nested(array) == (values, None)
    flat, rows = array_util.flatten_nested(values, return_parent_indices=True)
    assert flat is values
    assert rows is not None
    assert rows.tolist() == [0, 1, 2, 3]


def test_get_field() -> None:
    validity = pa.py_buffer(bytes([0b101]))
    child = pa.array([1, 2, 3])
    structs = pa.Array.from_buffers(pa.struct([("a", INT64)]), 3, [validity], children=[child])
    assert array_util.get_field(structs, "a").to_pylist() == [1, None, 3]
    assert array_util.get_field(structs[1:], 0).to_pylist() == [None, 3]
    assert array_util.get_field(structs[2:], "a").to_pylist() == [3]


@pytest.mark.parametrize("field", ["b", 1, -1])
def test_field_that_is_not_there_is_a_key_error(field: str | int) -> None:
    text = f"Expected a struct with one field {field!r}, found struct<a: int64>"
    with pytest.raises(KeyError) as raised:
        array_util.get_field(pa.array([{"a": 1}]), field)
    assert str(raised.value) == text
    assert isinstance(raised.value, SchemaError)


NO_ARRAY: Any = 1


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        (
            array_util.GetElementLengths,
            [pa.array([1])],
            "an array of lists or strings, found int64",
        ),
        (
            array_util.GetFlattenedArrayParentIndices,
            [pa.array(["a"])],
            "a list array, found string",
        ),
        (array_util.GetArrayNullBitmapAsByteArray, [NO_ARRAY], "an array, found int"),
        (
            array_util.GetBinaryArrayTotalByteSize,
            [pa.array([1])],
            "an array of strings, found int64",
        ),
        (array_util.GetByteSize, [pa.array([1], pa.date64())], r"integers, .*, found date64\[ms\]"),
        (array_util.IndexIn, [pa.array([1]), pa.array(["a"])], ".*, found int64 and string"),
        (array_util.FillNullLists, [pa.array([1]), pa.array([1])], "a list array, found int64"),
        (
            array_util.FillNullLists,
            [pa.array([[1]]), pa.array(["a"])],
            "an array of int64, .* string",
        ),
        (
            array_util.CountInvalidUTF8,
            [pa.array([[1]])],
            "an array of strings, found list<item: .*>",
        ),
        (array_util.CooFromListArray, [[1]], "an array, found list"),
        (array_util.flatten_nested, [NO_ARRAY], "an array, found int"),
        (array_util.get_field, [pa.array([1]), "a"], "an array of structs, found int64"),
        (array_util.ToSingletonListArray, [NO_ARRAY], "an array, found int"),
    ],
)
def test_arrays_of_other_types(
    function: Callable[..., Any], arguments: list[Any], text: str
) -> None:
    with pytest.raises(SchemaError, match=f"^Expected {text}$"):
        function(*arguments)
