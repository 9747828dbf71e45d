"""Arrow schemas of columns, and decode plans for a schema and a selection of columns."""

from __future__ import annotations

import pathlib
import re

import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.kernel.plan import Column, DecodePlan, Kind
from tfrecord_beam.schema.arrow import arrow_schema, decode_plan

AGE = Column("age", Kind.INT64)
HEIGHT = Column("height", Kind.FLOAT)
NAMES = Column("names", Kind.BYTES)
SCHEMA = schema_pb2.Schema(
    feature=[
        {"name": "age", "type": "INT"},
        {"name": "height", "type": "FLOAT"},
        {"name": "names", "type": "BYTES"},
    ]
)


def test_arrow_type_of_each_kind() -> None:
    schema = arrow_schema([AGE, HEIGHT, NAMES, Column("unseen")], "raw")
    assert schema == pa.schema(
        {
            "age": pa.large_list(pa.int64()),
            "height": pa.large_list(pa.float32()),
            "names": pa.large_list(pa.large_binary()),
            "unseen": pa.null(),
            "raw": pa.large_list(pa.large_binary()),
        }
    )
    assert all(field.nullable for field in schema)
    assert arrow_schema(()) == pa.schema([])


def test_plan_takes_the_whole_schema_in_its_order() -> None:
    assert decode_plan(SCHEMA) == DecodePlan((AGE, HEIGHT, NAMES))
    assert decode_plan(SCHEMA, raw_record_column="raw") == DecodePlan((AGE, HEIGHT, NAMES), "raw")


def test_plan_takes_columns_in_the_order_asked_for() -> None:
    assert decode_plan(SCHEMA, columns=["names", "age"]) == DecodePlan((NAMES, AGE))
    assert decode_plan(SCHEMA, columns=()) == DecodePlan(())


def test_plan_without_a_schema_leaves_kinds_open() -> None:
    assert decode_plan(None) == DecodePlan(None)
    assert decode_plan(None, columns=["b", "a"]) == DecodePlan((Column("b"), Column("a")))
    assert decode_plan(None, columns=[]) == DecodePlan(())


def test_schema_without_features_is_a_schema() -> None:
    assert decode_plan(schema_pb2.Schema()) == DecodePlan(())


def test_plan_takes_what_a_schema_is_loaded_from(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "schema.pb"
    path.write_bytes(SCHEMA.SerializeToString())
    assert decode_plan(path) == decode_plan(SCHEMA.SerializeToString()) == decode_plan(SCHEMA)


def test_raw_record_column_may_have_the_name_of_a_column_left_out() -> None:
    assert decode_plan(SCHEMA, columns=["age"], raw_record_column="names") == DecodePlan(
        (AGE,), "names"
    )


@pytest.mark.parametrize("schema", [SCHEMA, None])
@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ("age", "Expected a list of columns, found 'age' (write ['age'])"),
        (["age", "names", "age"], "Expected different columns, found 'age' twice"),
        ([b"age"], "Expected names of columns as str, found b'age'"),
    ],
)
def test_selection_that_is_no_list_of_names_is_refused(
    schema: schema_pb2.Schema | None, columns: list[str], text: str
) -> None:
    with pytest.raises(SchemaError, match=f"^{re.escape(text)}$"):
        decode_plan(schema, columns=columns)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (["q"], "Expected columns among 'age', 'height', 'names', found 'q'"),
        (
            ["age", "hieght", "q"],
            "Expected columns among 'age', 'height', 'names', found 'hieght', 'q' "
            "(did you mean 'height'?)",
        ),
    ],
)
def test_unknown_column_is_refused(columns: list[str], text: str) -> None:
    with pytest.raises(SchemaError, match=f"^{re.escape(text)}$"):
        decode_plan(SCHEMA, columns=columns)


def test_unknown_column_of_a_wide_schema_gives_a_short_text() -> None:
    schema = schema_pb2.Schema(
        feature=[{"name": f"feature_{i}", "type": "INT"} for i in range(5000)]
    )
    with pytest.raises(SchemaError, match=r"'feature_9', \.\.\. \(5000 in all\), found 'q'$") as e:
        decode_plan(schema, columns=["q"])
    assert len(str(e.value)) < 300


def test_unknown_column_of_an_empty_schema() -> None:
    with pytest.raises(SchemaError, match=r"^Expected columns among none at all, found 'age'$"):
        decode_plan(schema_pb2.Schema(), columns=["age"])


@pytest.mark.parametrize("schema", [SCHEMA, None])
def test_raw_record_column_with_the_name_of_a_column_is_refused(
    schema: schema_pb2.Schema | None,
) -> None:
    text = (
        "Expected a raw-record column with a name of its own, found 'age', which is a column of "
        "the data (choose another raw_record_column_name)"
    )
    with pytest.raises(SchemaError, match=f"^{re.escape(text)}$"):
        decode_plan(schema, columns=["age"], raw_record_column="age")
