"""Tests of tfrecord_beam.schema.features."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.test_ragged import add_ragged
from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.schema.features import (
    Features,
    check_kinds,
    feature_kinds,
    feature_rules,
    record_values,
    schema_kinds,
    to_record_features,
)

STRUCT = pa.array([{"s": [[1]], "t": [b"x"]}])
NESTED = pa.array([[[1]]])
FLAT = pa.array([[1, 2]])


def split(
    columns: dict[str, Any],
    record_type: Any = "SequenceExample",
    schema: schema_pb2.Schema | None = None,
    **options: Any,
) -> Features:
    options = {"feature_list_columns": None, "null_values": "error", **options}
    rules = feature_rules(schema, record_type=record_type, **options)
    return to_record_features(pa.record_batch(columns), rules)


def names(features: Features) -> tuple[list[str], list[str] | None]:
    lists = features.feature_lists
    return list(features.context), None if lists is None else list(lists)


def test_columns_of_examples() -> None:
    assert names(split({"b": FLAT, "a": [1]}, "Example")) == (["b", "a"], None)


def test_feature_lists_by_type() -> None:
    columns = {"n": NESTED, "f": FLAT, "##SEQUENCE##": STRUCT, "c": [1], "z": pa.nulls(1)}
    assert names(split(columns)) == (["f", "c", "z"], ["n", "s", "t"])
    assert names(split({"f": FLAT})) == (["f"], [])


@pytest.mark.parametrize(
    ("wanted", "context", "feature_lists"),
    [
        (["f"], ["c"], ["f"]),
        (["##SEQUENCE##"], ["f", "c"], ["s", "t"]),
        (["other"], ["f", "c"], ["s", "t"]),
        (["f", "other"], ["c"], ["f", "s", "t"]),
        ([], ["f", "c"], []),
    ],
)
def test_feature_lists_by_name(
    wanted: list[str], context: list[str], feature_lists: list[str]
) -> None:
    columns = {"f": FLAT, "c": pa.array([1])}
    columns |= {name: STRUCT for name in ("##SEQUENCE##", "other") if name in wanted}
    assert names(split(columns, feature_list_columns=wanted)) == (context, feature_lists)


def test_feature_lists_that_are_named_are_the_only_ones() -> None:
    with pytest.raises(SchemaError, match=r"^Expected values or lists of values for feature 'n'"):
        split({"n": NESTED, "f": FLAT}, feature_list_columns=["f"])
    with pytest.raises(SchemaError, match=r"for feature '##SEQUENCE##', found struct"):
        split({"##SEQUENCE##": STRUCT, "f": FLAT}, feature_list_columns=["f"])


def test_sequence_column_that_is_no_struct() -> None:
    assert names(split({"##SEQUENCE##": pa.nulls(1)})) == ([], [])
    for column in (FLAT, NESTED, pa.array([1])):
        with pytest.raises(SchemaError, match=r"^Expected a struct of feature lists in column '##"):
            split({"##SEQUENCE##": column})


def test_ragged_tensors_are_of_the_context() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "n", ["values"], "lengths")
    add_ragged(schema, "m", ["##SEQUENCE##", "m"])
    columns = {"n": NESTED, "m": NESTED}
    found = split(columns, schema=schema)
    assert names(found) == (["values", "lengths"], ["m"])
    assert names(split(columns, schema=schema, feature_list_columns=["n", "m"])) == ([], ["n", "m"])
    with pytest.raises(SchemaError, match=r"found the path '##SEQUENCE##\.m'$"):
        split(columns, "Example", schema)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"##SEQUENCE##": pa.array([{"x": 1}])}, "Expected lists of values or of lists for feat"),
        ({"##SEQUENCE##": STRUCT, "s": NESTED}, "Expected different feature lists, found 's' twi"),
        (
            {
                "##SEQUENCE##": pa.StructArray.from_arrays([NESTED, NESTED], ["x", "x"]),
            },
            "Expected different feature lists, found 'x' twice",
        ),
    ],
)
def test_feature_lists_that_are_refused(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=f"^{message}"):
        split(columns)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"record_type": "example"}, ValueError, "Expected record_type to be one of Example, Seq"),
        ({"record_type": None}, ValueError, "Expected record_type to be one of Example, Seq"),
        ({"null_values": "zero"}, ValueError, "Expected null_values to be one of error, drop, f"),
        ({"feature_list_columns": ["x"], "record_type": "Example"}, ValueError, "Expected feature"),
        ({"feature_list_columns": "x"}, SchemaError, "Expected a list of feature_list_columns, fo"),
        ({"feature_list_columns": ["g"]}, SchemaError, "Expected feature_list_columns among 'f',"),
        ({"record_type": "ByteArray", "schema": schema_pb2.Schema()}, ValueError, "Expected no sc"),
    ],
)
def test_options_that_are_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}"):
        split({"f": FLAT}, **options)


def test_kinds() -> None:
    columns = {"i": pa.array([1], pa.int8()), "f": [[0.5]], "b": ["x"], "n": pa.nulls(1)}
    kinds = {"i": Kind.INT64, "f": Kind.FLOAT, "b": Kind.BYTES, "n": None}
    assert feature_kinds(split(columns, "Example")) == kinds
    assert feature_kinds(split({**columns, "##SEQUENCE##": STRUCT})) == {
        **kinds,
        "##SEQUENCE##.s": Kind.INT64,
        "##SEQUENCE##.t": Kind.BYTES,
    }


def test_kinds_of_a_schema() -> None:
    schema = schema_pb2.Schema()
    schema.feature.add(name="i", type="INT")
    assert schema_kinds(schema, "Example") == {"i": Kind.INT64}
    steps = schema.feature.add(name="##SEQUENCE##", type="STRUCT").struct_domain
    steps.feature.add(name="f", type="FLOAT")
    expected = {"i": Kind.INT64, "##SEQUENCE##.f": Kind.FLOAT}
    assert schema_kinds(schema, "SequenceExample") == expected
    with pytest.raises(SchemaError, match=r"^Expected type INT, FLOAT or BYTES for feature '##SEQ"):
        schema_kinds(schema, "Example")


def test_kinds_that_do_not_match() -> None:
    expected = {"a": Kind.INT64, "b": Kind.BYTES}
    check_kinds({"b": None, "a": Kind.INT64}, expected)
    with pytest.raises(SchemaError) as raised:
        check_kinds({"a": Kind.INT64}, {**expected, "c": None})
    assert str(raised.value) == (
        "Expected a column for each feature of the schema, found none for 'b', 'c' "
        "(a column of nulls is one without values)"
    )
    with pytest.raises(SchemaError) as raised:
        check_kinds({"a": Kind.INT64, "B": Kind.BYTES}, expected)
    assert str(raised.value) == "Expected features of the schema among 'a', 'b', found 'B'"
    with pytest.raises(SchemaError) as raised:
        check_kinds({"a": Kind.FLOAT, "b": Kind.BYTES}, expected)
    assert str(raised.value) == (
        "Expected int64_list for feature 'a', found float_list (cast the column, or change the "
        "schema)"
    )
    assert raised.value.feature == "a"


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"a", b"", b"b"]),
        pa.array(["a", "", "b"]),
        pa.array([b"a", b"", b"b"], pa.large_binary()),
        pa.array(["a", "", "b"]).dictionary_encode(),
        pa.array([[b"a"], [b""], [b"b"]]),
        pa.array([["a"], [""], ["b"]], pa.large_list(pa.string())),
    ],
    ids=lambda column: str(column.type),
)
def test_records_of_bytes(column: pa.Array) -> None:
    assert record_values(pa.record_batch({"r": column})) == [b"a", b"", b"b"]
    assert record_values(pa.record_batch({"r": column})[1:]) == [b"", b"b"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "Expected one column of bytes for records of type 'ByteArray', found none at all"),
        ({"a": [b""], "b": [b""]}, "Expected one column .*, found 'a', 'b'"),
        ({"a": [1]}, "Expected bytes or strings as records in column 'a', found int64"),
        ({"a": pa.nulls(1)}, "Expected bytes or strings as records in column 'a', found null"),
        ({"a": [[[b""]]]}, "Expected values or lists of values for feature 'a', found list"),
    ],
)
def test_batches_that_hold_no_records(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=f"^{message}"):
        record_values(pa.record_batch(columns))


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([b"", None], "null"),
        ([[b""], None], "null"),
        ([[b""], [None]], "null"),
        ([[b""], []], "another number of them"),
        ([[b""], [b"", b""]], "another number of them"),
    ],
)
def test_rows_that_hold_no_record(rows: list[Any], found: str) -> None:
    with pytest.raises(EncodeError) as raised:
        record_values(pa.record_batch({"r": rows}))
    assert str(raised.value) == (
        f"Expected one record in each row, found {found} - at record 1, feature 'r'"
    )


@pytest.mark.parametrize("record_type", ["Example", "SequenceExample"])
@pytest.mark.parametrize("column", [FLAT, NESTED])
def test_names_that_nobody_could_read_again(record_type: str, column: pa.Array) -> None:
    if record_type == "Example" and column is NESTED:
        return
    batch = pa.record_batch({"a\0b": column})
    with pytest.raises(SchemaError, match=r"^Expected features without NUL in their names, found"):
        RecordEncoder(record_type=record_type).encode_frames(batch)  # type: ignore[arg-type]
