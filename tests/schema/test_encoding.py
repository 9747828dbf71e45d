"""Every Arrow type: the feature it becomes, or why it is refused."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.schema.encoding import NullValues, to_features

INT_TYPES = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
OPTIONAL_TYPES = [
    getattr(pa, name)(*arguments)
    for name, arguments in (("decimal32", (5, 2)), ("decimal64", (5, 2)))
    if hasattr(pa, name)
]

DAY = datetime.date(1970, 1, 3)
MOMENT = datetime.datetime(1970, 1, 1, 0, 0, 1)
HALF = decimal.Decimal("0.5")
NO_TENSORS = pa.array([], pa.list_(pa.int64(), 1))


def features_or_skip(column: pa.Array) -> pa.Array:
    """Returns the features of a type that old versions of pyarrow know but cannot convert."""
    try:
        return to_features("x", column)
    except SchemaError as error:
        assert (error.hint or "").startswith("cast it to int64, float32, binary or lists of ")
        assert int(pa.__version__.split(".")[0]) < 20
        return pytest.skip("this pyarrow cannot convert it")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        *((pa.array([0, None, 127], one), [0, None, 127]) for one in INT_TYPES),
        (pa.array([2**63 - 1], pa.uint64()), [2**63 - 1]),
        (pa.array([-(2**63)], pa.int64()), [-(2**63)]),
        (pa.array([True, None, False]), [1, None, 0]),
        (pa.array([DAY], pa.date32()), [2]),
        (pa.array([DAY, None], pa.date64()), [2 * 86_400_000, None]),
        (pa.array([MOMENT, None], pa.timestamp("s")), [1, None]),
        (pa.array([MOMENT], pa.timestamp("ns", "Europe/Paris")), [10**9]),
        (pa.array([MOMENT.time()], pa.time32("ms")), [1000]),
        (pa.array([MOMENT.time()], pa.time64("us")), [10**6]),
        (pa.array([datetime.timedelta(days=-1)], pa.duration("s")), [-86400]),
        (pa.array(np.array([1.5, -np.inf], np.float16)), [1.5, -np.inf]),
        (pa.array([0.1, None, 3e38], pa.float64()), [float(np.float32(0.1)), None, 3.0e38]),
        (pa.array([np.inf, -np.inf, 1e-60]), [np.inf, -np.inf, 0.0]),
        (pa.array([HALF, None], pa.decimal128(5, 2)), [0.5, None]),
        (pa.array([HALF], pa.decimal256(60, 2)), [0.5]),
        *((pa.array([HALF], one), [0.5]) for one in OPTIONAL_TYPES),
        (pa.array([b"\xff\0", None], pa.binary(2)), [b"\xff\0", None]),
        (pa.array([9, None, 9], pa.int16()).dictionary_encode(), [9, None, 9]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_values(column: pa.Array, expected: list[Any]) -> None:
    rows = to_features("x", column)
    approximate = rows.type == pa.float32()
    assert rows.to_pylist() == (pytest.approx(expected) if approximate else expected)
    kind = pa.float32() if isinstance(expected[0], float) else pa.int64()
    assert rows.type == (pa.large_binary() if isinstance(expected[0], bytes) else kind)
    # The same in a list, a slice of it, and in the steps of a feature list.
    values = column.drop_null()
    of_rows = rows.drop_null().to_pylist()
    lists = pa.ListArray.from_arrays([0, 0, len(values)], values)
    assert to_features("x", lists).to_pylist() == [[], of_rows]
    assert to_features("x", lists[1:]).to_pylist() == [of_rows]
    steps = pa.ListArray.from_arrays([0, 2], lists)
    assert to_features("x", steps, is_feature_list=True).to_pylist() == [[[], of_rows]]


@pytest.mark.parametrize("name", ["string_view", "binary_view"])
def test_views(name: str) -> None:
    if not hasattr(pa, name):
        pytest.skip("this pyarrow has no views")
    values = ["short", None, "longer than what a view holds"]
    column = pa.array(values, getattr(pa, name)())
    expected = [None if value is None else value.encode() for value in values]
    assert features_or_skip(column).cast(pa.large_binary()).to_pylist() == expected
    meant = pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 0]), column)
    found = features_or_skip(meant).cast(pa.large_binary())
    assert found.to_pylist() == [expected[2], None, None, expected[0]]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], None], pa.list_(pa.int64())),
        pa.array([[1.0], None], pa.large_list(pa.float32())),
        pa.array(["é", None]),
        pa.array([b""], pa.large_binary()),
        pa.nulls(3),
        pa.array([[], None], pa.list_(pa.null())),
    ],
    ids=lambda column: str(column.type),
)
def test_what_the_kernel_reads_is_not_copied(column: pa.Array) -> None:
    assert to_features("x", column) is column


@pytest.mark.parametrize("value_type", [pa.int64(), pa.int8(), pa.float64(), pa.string()])
@pytest.mark.parametrize("layout", ["fixed_size_list", "list_view", "large_list_view"])
def test_list_layouts(layout: str, value_type: pa.DataType) -> None:
    rows = [[1, 2], None, [3, 4], [5, 6]]
    if layout == "fixed_size_list":
        list_type = pa.list_(value_type, 2)
    elif hasattr(pa, layout):
        list_type = getattr(pa, layout)(value_type)
        rows[2] = []
    else:
        pytest.skip("this pyarrow has no list views")
    as_type = str if value_type == pa.string() else int
    column = pa.array(
        [None if row is None else [as_type(value) for value in row] for row in rows], list_type
    )
    expected = column.to_pylist()
    for found in (features_or_skip(column), features_or_skip(column[1:])):
        found.validate(full=True)
        assert pa.types.is_large_list(found.type)
        assert found.to_pylist() == expected
        expected = expected[1:]


def test_dictionary_in_lists() -> None:
    dictionary = pa.array(["a", "b", "a"]).dictionary_encode()
    column = pa.ListArray.from_arrays([0, 1, 3], dictionary)
    assert to_features("x", column).to_pylist() == [["a"], ["b", "a"]]
    assert to_features("x", column[1:]).to_pylist() == [["b", "a"]]


@given(st.lists(st.none() | st.lists(st.floats(width=64, allow_nan=False), max_size=3)))
def test_floats_are_rounded_or_refused(rows: list[list[float] | None]) -> None:
    column = pa.array(rows, pa.list_(pa.float64()))
    with np.errstate(over="ignore"):
        rounded = [None if row is None else [float(np.float32(v)) for v in row] for row in rows]
    overflows = [
        index
        for index, row in enumerate(rows)
        for value, after in zip(row or [], rounded[index] or [])
        if np.isinf(after) and not np.isinf(value)
    ]
    if not overflows:
        assert to_features("x", column).to_pylist() == rounded
        return
    with pytest.raises(EncodeError) as raised:
        to_features("x", column)
    assert raised.value.record == overflows[0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            pa.array([1, 2**63], pa.uint64()),
            "Expected an integer below 2**63 for feature 'x', found 9223372036854775808",
        ),
        (
            pa.array([1.0, -1e39]),
            "Expected a number in the range of float32 for feature 'x', found -1e+39",
        ),
        (
            pa.array([0, 10**60], pa.decimal256(70, 0)),
            f"Expected a number in the range of float32 for feature 'x', found {10**60}",
        ),
    ],
    ids=["uint64", "float64", "decimal256"],
)
def test_value_that_no_feature_holds(values: pa.Array, message: str) -> None:
    good, bad = values[:1], values[1:]
    lists = pa.ListArray.from_arrays([0, 0, 1, 3], pa.concat_arrays([good, good, bad]))
    steps = pa.ListArray.from_arrays([0, 1, 3], lists)
    for column, is_feature_list, row in (
        (values, False, 1),
        (lists, False, 2),
        (lists[1:], False, 1),
        (lists, True, 2),
        (steps, True, 1),
    ):
        with pytest.raises(EncodeError) as raised:
            to_features("x", column, is_feature_list=is_feature_list)
        assert str(raised.value) == f"{message} - at record {row}"
        assert raised.value.feature == "x"


def test_values_below_nulls_are_not_looked_at() -> None:
    values = pa.array([1, 2**64 - 1, 3], pa.uint64())
    column = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), values, mask=pa.array([False, True, False])
    )
    assert to_features("x", column).to_pylist() == [[1], None, [3]]


def nest(data_type: pa.DataType, depth: int) -> pa.DataType:
    for _ in range(depth):
        data_type = pa.list_(data_type)
    return data_type


@pytest.mark.parametrize(
    ("data_type", "advice"),
    [
        (pa.struct([("y", pa.int64())]), "StructArray.flatten"),
        (pa.map_(pa.string(), pa.int64()), "map_lookup"),
        (pa.dense_union([pa.field("y", pa.int64())]), "UnionArray.field"),
        (pa.month_day_nano_interval(), "cast it to duration"),
    ],
    ids=["struct", "map", "union", "interval"],
)
@pytest.mark.parametrize("depth", [0, 1])
def test_type_that_no_feature_holds(data_type: pa.DataType, advice: str, depth: int) -> None:
    column_type = nest(data_type, depth)
    column = pa.array([], column_type) if not pa.types.is_union(data_type) else _no_unions(depth)
    with pytest.raises(SchemaError) as raised:
        to_features("x", column)
    assert raised.value.message == (
        f"Expected numbers, bytes, strings or lists of them for feature 'x', found {column.type}"
    )
    assert raised.value.feature == "x"
    assert advice in (raised.value.hint or "")


def test_extension_type() -> None:
    column = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int64(), [1]), NO_TENSORS)
    with pytest.raises(
        SchemaError, match=r"found extension<.*\(take what it is stored as: pyarrow"
    ):
        to_features("x", column)
    assert to_features("x", column.storage).to_pylist() == []


def _no_unions(depth: int) -> pa.Array:
    values = pa.UnionArray.from_dense(
        pa.array([], pa.int8()), pa.array([], pa.int32()), [pa.array([], pa.int64())]
    )
    return pa.ListArray.from_arrays([0], values) if depth else values


@pytest.mark.parametrize("value_type", [pa.int64(), pa.int8()])
def test_depth_of_lists(value_type: pa.DataType) -> None:
    nested = pa.array([], nest(value_type, 2))
    with pytest.raises(SchemaError) as raised:
        to_features("x", nested)
    assert str(raised.value) == (
        f"Expected values or lists of values for feature 'x', found {nested.type} "
        "(give a schema that represents it as a ragged tensor, or record_type='SequenceExample', "
        "for which it is a feature list)"
    )
    for depth in (0, 3):
        column = pa.array([], nest(value_type, depth))
        with pytest.raises(SchemaError, match=r"^Expected lists of values or of lists for feature"):
            to_features("x", column, is_feature_list=True)
    assert to_features("x", pa.nulls(1), is_feature_list=True) == pa.nulls(1)


def text(*values: bytes, large: bool = False) -> pa.Array:
    """Returns strings that nobody has looked at."""
    found = pa.array(values, pa.large_binary() if large else pa.binary())
    data_type = pa.large_string() if large else pa.string()
    return pa.Array.from_buffers(data_type, len(found), found.buffers())


@pytest.mark.parametrize("bad", [b"\xff", b"\xed\xa0\x80"], ids=["byte", "lone surrogate"])
@pytest.mark.parametrize("large", [False, True])
def test_string_that_is_not_utf8(bad: bytes, large: bool) -> None:
    values = text(b"", "é".encode(), b"b", bad, bad, large=large)
    lists = pa.ListArray.from_arrays([0, 0, 2, 5], values)
    steps = pa.ListArray.from_arrays([0, 2, 3], lists)
    for column, is_feature_list, row in (
        (values, False, 3),
        (values[2:], False, 1),
        (lists, False, 2),
        (lists[2:], False, 0),
        (steps, True, 1),
        (values.dictionary_encode(), False, 3),
    ):
        with pytest.raises(EncodeError) as raised:
            to_features("x", column, is_feature_list=is_feature_list)
        assert str(raised.value) == (
            f"Expected UTF-8 in a string for feature 'x', found other bytes - at record {row}"
        )
    assert to_features("x", values[:3]).equals(values[:3])
    assert to_features("x", lists[:2]).to_pylist() == [[], ["", "é"]]


def test_bytes_need_not_be_utf8() -> None:
    column = pa.array([b"\xff"])
    assert to_features("x", column) is column


@pytest.mark.parametrize(
    ("data_type", "value", "default"),
    [
        (pa.int64(), 1, 0),
        (pa.uint8(), 1, 0),
        (pa.bool_(), True, 0),
        (pa.float32(), 0.5, 0.0),
        (pa.float64(), 0.5, 0.0),
        (pa.binary(), b"x", b""),
        (pa.string(), "x", ""),
        (pa.large_string(), "x", ""),
        (pa.dictionary(pa.int8(), pa.string()), "x", ""),
    ],
    ids=str,
)
def test_null_values_of_each_type(data_type: pa.DataType, value: Any, default: Any) -> None:
    rows = [[None, value], None, [], [value, None, None], [value]]
    column = pa.array(rows, pa.list_(data_type))
    for start in range(len(rows)):
        dropped = to_features("x", column[start:], null_values="drop").to_pylist()
        assert dropped == [[value], None, [], [value], [value]][start:]
        filled = to_features("x", column[start:], null_values="fill").to_pylist()
        expected = [[default, value], None, [], [value, default, default], [value]]
        assert filled == expected[start:]


def test_null_values_of_type_null() -> None:
    column = pa.array([[None], None, []], pa.list_(pa.null()))
    assert to_features("x", column, null_values="drop").to_pylist() == [[], None, []]
    assert to_features("x", column, null_values="fill").to_pylist() == [[None], None, []]


@pytest.mark.parametrize(("null_values", "values"), [("drop", [1]), ("fill", [1, 0])])
def test_null_rows_and_steps_stay(null_values: NullValues, values: list[int]) -> None:
    scalars = to_features("x", pa.array([1, None]), null_values=null_values)
    assert scalars.to_pylist() == [1, None]
    for column, expected in (
        (pa.array([[1, None], None]), [[1, None], None]),
        (pa.array([[[1, None], None], None, []]), [[values, None], None, []]),
    ):
        steps = to_features("x", column, is_feature_list=True, null_values=null_values)
        assert steps.to_pylist() == expected


def test_lists_without_nulls_are_not_copied() -> None:
    column = pa.array([[1], None])
    assert to_features("x", column, null_values="drop") is column
