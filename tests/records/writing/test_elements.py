"""Tests of tfrecord_beam.records.writing.elements: rows and messages as what is written."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections import OrderedDict, UserDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.writing.elements import RowTypes, convert_elements, row_types


def to_batch(*rows: object, schema: schema_pb2.Schema | None = None) -> pa.RecordBatch:
    batch = convert_elements(rows, row_types(schema))
    assert isinstance(batch, pa.RecordBatch)
    batch.validate(full=True)
    assert batch.num_rows == len(rows)
    return batch


def column(*values: object, schema: schema_pb2.Schema | None = None) -> pa.Array:
    return to_batch(*({"x": value} for value in values), schema=schema).column("x")


def schema_of(**types: int) -> schema_pb2.Schema:
    return schema_pb2.Schema(
        feature=[schema_pb2.Feature(name=name, type=each) for name, each in types.items()]
    )


INT, FLOAT, BYTES = schema_pb2.INT, schema_pb2.FLOAT, schema_pb2.BYTES

SCALARS: list[st.SearchStrategy[Any]] = [
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8")),
    st.binary(),
]


def of_one_kind(scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Returns a strategy of strategies of values."""
    lists = st.lists(scalars, max_size=3)
    return st.sampled_from([scalars, lists, st.lists(lists, max_size=2)])


@st.composite
def row_lists(draw: st.DrawFn) -> list[dict[str, Any]]:
    values = {
        name: draw(draw(st.sampled_from([of_one_kind(each) for each in SCALARS])))
        for name in draw(st.lists(st.text(st.characters(codec="utf-8")), max_size=4, unique=True))
        if name != "##SEQUENCE##"
    }
    rows = st.fixed_dictionaries(
        {}, optional={name: st.one_of(st.none(), each) for name, each in values.items()}
    )
    return draw(st.lists(rows, min_size=1, max_size=8))


@given(row_lists())
def test_rows_are_kept(rows: list[dict[str, Any]]) -> None:
    batch = to_batch(*rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    assert batch.schema.names == names
    assert batch.to_pylist() == [{name: row.get(name) for name in names} for row in rows]


class _Tuple(NamedTuple):
    age: int
    name: str


@dataclasses.dataclass
class _Data:
    age: int
    name: str
    kind = "no field"


@dataclasses.dataclass(frozen=True, slots=True)
class _Slots:
    age: int
    name: str


@pytest.mark.parametrize(
    "row",
    [
        {"age": 3, "name": "a"},
        OrderedDict(age=3, name="a"),
        UserDict(age=3, name="a"),
        _Tuple(3, "a"),
        _Data(3, "a"),
        _Slots(3, "a"),
        beam.Row(age=3, name="a"),
    ],
    ids=lambda row: type(row).__name__,
)
def test_every_kind_of_row(row: object) -> None:
    batch = to_batch(row, {"age": 4}, row)
    assert batch.to_pydict() == {"age": [3, 4, 3], "name": ["a", None, "a"]}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([np.int8(1), 300, None], pa.array([1, 300, None])),
        ([np.float32(0.1), 0.5], pa.array([np.float32(0.1), 0.5], pa.float64())),
        ([np.float32(0.1)], pa.array([0.1], pa.float32())),
        ([np.bool_(True), False], pa.array([True, False])),
        ([np.str_("a"), "b"], pa.array(["a", "b"])),
        (["ü", b"\xff"], pa.array(["ü".encode(), b"\xff"])),
        ([["ü", b"\xff"], []], pa.array([["ü".encode(), b"\xff"], []])),
        ([[["a", None, b"\xff"]]], pa.array([[[b"a", None, b"\xff"]]])),
        ([bytearray(b"a"), memoryview(b"b")], pa.array([b"a", b"b"])),
        ([(1, 2), [3], np.array([4]), None, []], pa.array([[1, 2], [3], [4], None, []])),
        ([np.array([0.5, 1], "f4")], pa.array([[0.5, 1]], pa.list_(pa.float32()))),
        ([np.array([1, 2], ">i4")], pa.array([[1, 2]], pa.list_(pa.int32()))),
        ([np.arange(6)[::2]], pa.array([[0, 2, 4]])),
        ([np.arange(4).reshape(2, 2), [[5]]], pa.array([[[0, 1], [2, 3]], [[5]]])),
        ([np.zeros((2, 0, 3), "f4")], pa.array([[[], []]], pa.list_(pa.list_(pa.null())))),
        ([np.array(5), 6], pa.array([5, 6])),
        ([np.array(["a", None, b"b"], object)], pa.array([[b"a", None, b"b"]])),
        ([np.array(["a", "b"])], pa.array([["a", "b"]])),
        ([np.array([b"a", b"b"])], pa.array([[b"a", b"b"]])),
        ([np.array([True])], pa.array([[True]])),
        ([decimal.Decimal("1.2")], pa.array([decimal.Decimal("1.2")])),
        ([datetime.date(2024, 1, 2)], pa.array([datetime.date(2024, 1, 2)])),
        ([None, None], pa.nulls(2)),
        ([[None], []], pa.array([[None], []])),
        ([float("nan"), None], pa.array([float("nan"), None])),
        ([np.uint64(2**63)], pa.array([2**63], pa.uint64())),
    ],
)
def test_values(values: list[Any], expected: pa.Array) -> None:
    found = column(*values)
    assert found.type == expected.type
    assert str(found) == str(expected)  # of arrays with NaN none is equal to itself


def test_rows_without_columns() -> None:
    assert to_batch({}, {}).num_columns == 0


def test_columns_of_the_schema_come_first_and_are_all_there() -> None:
    schema = schema_of(b=INT, a=FLOAT, c=BYTES)
    batch = to_batch({"z": 1, "c": "x"}, {"a": [], "z": 2}, schema=schema)
    assert batch.schema.names == ["b", "a", "c", "z"]
    assert batch.schema.types[:3] == [
        pa.large_list(pa.int64()),
        pa.large_list(pa.float32()),
        pa.string(),
    ]
    assert batch.column("a").to_pylist() == [None, []]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, None, 2.5], [1.0, None, 2.5]),
        ([1, 2], [1.0, 2.0]),
        ([[1], [2.5, 3], []], [[1.0], [2.5, 3.0], []]),
        ([np.array([1, 2]), np.array([0.5])], [[1.0, 2.0], [0.5]]),
        ([2**53], [2.0**53]),
    ],
)
def test_ints_of_a_float_feature(values: list[Any], expected: list[Any]) -> None:
    found = column(*values, schema=schema_of(x=FLOAT))
    assert repr(found.to_pylist()) == repr(expected)


@pytest.mark.parametrize("values", [[0.5, 2**53 + 1], [2**53 + 1]])
def test_ints_that_no_float_holds(values: list[Any]) -> None:
    with pytest.raises(EncodeError, match=r"^Expected .* for feature 'x', found 9007199254740993"):
        column(*values, schema=schema_of(x=FLOAT))


def test_feature_lists() -> None:
    steps = schema_of(tokens=BYTES, ids=INT)
    schema = schema_of(label=INT)
    schema.feature.add(
        name="##SEQUENCE##", type=schema_pb2.STRUCT, struct_domain={"feature": steps.feature}
    )
    flat = to_batch({"tokens": [["a"], []]}, {"label": 3}, schema=schema)
    assert flat.schema.names == ["label", "tokens", "ids"]
    assert flat.schema.field("ids").type == pa.large_list(pa.large_list(pa.int64()))
    nested = to_batch(
        {"##SEQUENCE##": {"tokens": [["a"], []]}}, {"label": 3}, {"##SEQUENCE##": {}}, schema=schema
    )
    assert nested.schema.names == ["label", "##SEQUENCE##"]
    assert nested.column("##SEQUENCE##").to_pylist() == [
        {"tokens": [["a"], []], "ids": None},
        None,
        {"tokens": None, "ids": None},
    ]
    with pytest.raises(EncodeError, match="for feature 'tokens', found 5 - at record 1"):
        to_batch({"##SEQUENCE##": {"tokens": [["a"]]}}, {"##SEQUENCE##": {"tokens": 5}})


OWN_LIST: list[Any] = [1]
OWN_LIST.append(OWN_LIST)
OWN_DICT: dict[str, Any] = {}
OWN_DICT["own"] = OWN_DICT
ONE_KIND = "numbers, bool, str, bytes, or lists of one kind of them"
BEFORE = "(that is what the rows before have)"
MIXED = "(a schema can say that ints are FLOAT, too)"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1, None, 2.5], f"Expected int64 for feature 'x', found 2.5 - at record 2 {MIXED}"),
        ([2.5, 1], f"Expected double for feature 'x', found 1 - at record 1 {MIXED}"),
        ([1.5, True], f"Expected double for feature 'x', found True - at record 1 {BEFORE}"),
        ([1, True], f"Expected int64 for feature 'x', found True - at record 1 {BEFORE}"),
        ([1, 2, "a"], f"Expected int64 for feature 'x', found 'a' - at record 2 {BEFORE}"),
        (["a", 1], f"Expected string for feature 'x', found 1 - at record 1 {BEFORE}"),
        ([1, [2]], f"Expected int64 for feature 'x', found [2] - at record 1 {BEFORE}"),
        (
            [None, [], [1], [2.5]],
            f"Expected list<item: int64> for feature 'x', found [2.5] - at record 3 {MIXED}",
        ),
        (
            [[], [[1]], [1]],
            "Expected list<item: list<item: int64>> for feature 'x', found [1] - at record 2 "
            f"{BEFORE}",
        ),
        (
            [[1, 2.5]],
            f"Expected {ONE_KIND} for feature 'x', found [1, 2.5] - at record 0 {MIXED}",
        ),
        ([OWN_LIST], f"Expected {ONE_KIND} for feature 'x', found [1, [...]] - at record 0"),
        (
            [OWN_DICT],
            f"Expected {ONE_KIND} for feature 'x', found {{'own': {{...}}}} - at record 0",
        ),
        ([None, object], f"Expected {ONE_KIND} for feature 'x', found <class 'object'> - at "),
        ([None, 2**63], f"Expected {ONE_KIND} for feature 'x', found 9223372036854775808 - at "),
        (
            ["a", "\ud800"],
            "Expected text that UTF-8 can hold for feature 'x', found '\\ud800' - at record 1",
        ),
        (
            [["a"], ["b", "\ud800"]],
            "Expected text that UTF-8 can hold for feature 'x', found ['b', '\\ud800'] - at ",
        ),
        ([decimal.Decimal(1), 1], "Expected decimal128(1, 0) for feature 'x', found 1 - at "),
        ([datetime.date(2020, 1, 1), 1], "Expected date32[day] for feature 'x', found 1 - at "),
        (
            [np.array([1]), np.array([0.5])],
            "Expected list<item: int64> for feature 'x', found array([0.5]) - at record 1",
        ),
        ([np.zeros(2, "c8")], f"Expected {ONE_KIND} for feature 'x', found array([0.+0.j"),
    ],
)
def test_values_that_make_no_column(values: list[Any], text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        column(*values)
    assert str(caught.value).startswith(text)
    assert caught.value.feature == "x"
    assert (caught.value.hint is None) == (
        "UTF-8" in text or (ONE_KIND in text and MIXED not in text)
    )


def test_single_values_beside_lists_where_the_schema_has_the_feature() -> None:
    schema = schema_of(x=FLOAT)
    values = [1, None, [2, 3], np.array(4), np.array([5.5]), []]
    found = column(*values, schema=schema)
    assert found.to_pylist() == [[1], None, [2, 3], [4], [5.5], []]
    assert pa.types.is_floating(found.type.value_type)
    assert column("a", ["b", "c"], schema=schema_of(x=BYTES)).to_pylist() == [["a"], ["b", "c"]]
    with pytest.raises(
        EncodeError, match=r"found 'a' - at record 2 \(that is what the rows before"
    ):
        column(1, [2], "a", schema=schema_of(x=INT))


def test_feature_lists_in_feature_lists() -> None:
    row: dict[str, Any] = {}
    row["##SEQUENCE##"] = row
    with pytest.raises(EncodeError, match="feature lists, found '##SEQUENCE##' - at record 1"):
        to_batch({}, row)


def test_values_nested_deeper_than_the_schema() -> None:
    with pytest.raises(EncodeError, match=r"found \[\[\[\[\]\]\]\] - at record 1"):
        column([], [[[[]]]], schema=schema_of(x=INT))


def test_the_row_is_found_among_many() -> None:
    with pytest.raises(EncodeError) as caught:
        column(*range(4_321), "a", *range(1_000))
    assert caught.value.record == 4_321


def test_columns_of_two_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pa.array
    monkeypatch.setattr(pa, "array", lambda values: pa.chunked_array([made([v]) for v in values]))
    assert column("a", "b").to_pylist() == [b"a", b"b"]


def test_records() -> None:
    example = Example()
    example.features.feature["b"].int64_list.value.append(1)
    example.features.feature["a"].int64_list.value.append(2)
    found = convert_elements([b"a", bytearray(b"b"), memoryview(b"c"), example], RowTypes())
    assert found == [b"a", b"b", b"c", example.SerializeToString(deterministic=True)]
    assert isinstance(found, list)
    assert set(map(type, found)) == {bytes}


def test_messages_of_any_type() -> None:
    schema = schema_of(x=INT)
    assert convert_elements([schema], RowTypes()) == [schema.SerializeToString()]


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        ([{}, 5], "Expected a RecordBatch, bytes, a protobuf message, a mapping, "),
        ([{}, b"a"], "Expected a RecordBatch, bytes, a protobuf message, a mapping, "),
        ([{}, (1, 2)], "Expected a RecordBatch, bytes, a protobuf message, a mapping, "),
        ([{}, _Data], "Expected a RecordBatch, bytes, a protobuf message, a mapping, "),
        ([{}, beam.Row], "Expected a RecordBatch, bytes, a protobuf message, a mapping, "),
        ([{}, None], "Expected a RecordBatch, bytes, a protobuf message, a mapping, "),
        ([b"a", {}], "Expected bytes or a protobuf message as the elements before, found {}"),
        ([b"a", "a"], "Expected bytes or a protobuf message as the elements before, found 'a'"),
        ([{}, {5: 1}], "Expected names of columns as str, found 5"),
        ([{}, {b"a": 1}], "Expected names of columns as str, found b'a'"),
    ],
)
def test_elements_that_are_not_written(elements: list[Any], text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        convert_elements(elements, RowTypes())
    assert str(caught.value).startswith(text)
    assert str(caught.value).endswith(" - at record 1")


def test_a_schema_that_cannot_be_used() -> None:
    with pytest.raises(SchemaError, match="found STRUCT"):
        row_types(schema_of(x=schema_pb2.STRUCT))


@pytest.mark.parametrize("schema", [None, schema_of(age=INT, score=FLOAT, name=BYTES)])
def test_rows_can_be_encoded(schema: schema_pb2.Schema | None) -> None:
    rows: list[Mapping[str, Any]] = [
        {"age": 3, "score": 0.5, "name": "a"},
        {"age": None, "name": b"\xff"},
    ]
    records = RecordEncoder().encode_records(to_batch(*rows, schema=schema))
    features = [Example.FromString(record).features.feature for record in records]
    assert features[0]["age"].int64_list.value == [3]
    assert features[0]["score"].float_list.value == [0.5]
    assert features[1]["name"].bytes_list.value == [b"\xff"]
    assert features[1]["age"].WhichOneof("kind") is None
