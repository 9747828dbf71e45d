"""Plans, Arrow schemas, tensors and projections of records with steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.sequence_files import SCHEMA
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.kernel.plan import Column, Kind, SequenceDecodePlan
from tfrecord_beam.schema.arrow import decode_plan, plan_names, plan_schema
from tfrecord_beam.schema.projection import project_tensor_representations
from tfrecord_beam.schema.representation_inference import infer_tensor_representations
from tfrecord_beam.schema.tfmd import SchemaSource, schema_columns

ID, LABEL = Column("id", Kind.INT64), Column("label", Kind.BYTES)
WORDS, IDS = Column("words", Kind.BYTES), Column("ids", Kind.INT64)
UNSEEN = Column("unseen", Kind.FLOAT)


def plan_of(
    schema: SchemaSource | None = SCHEMA, columns: Sequence[str] | None = None, **options: Any
) -> SequenceDecodePlan:
    plan = decode_plan(schema, columns=columns, record_type="SequenceExample", **options)
    assert isinstance(plan, SequenceDecodePlan)
    return plan


def with_feature(**feature: Any) -> schema_pb2.Schema:
    return schema_pb2.Schema(feature=[{"name": "##SEQUENCE##", **feature}])


def test_plan_of_the_whole_schema() -> None:
    assert plan_of() == SequenceDecodePlan((ID, LABEL), (WORDS, IDS, UNSEEN))
    with_raw = plan_of(raw_record_column="raw")
    assert with_raw == SequenceDecodePlan(
        (ID, LABEL), (WORDS, IDS, UNSEEN), raw_record_column="raw"
    )
    same = decode_plan(SCHEMA, record_type="ExampleListWithContext")
    assert same == plan_of()


@pytest.mark.parametrize(
    ("columns", "context", "steps"),
    [
        (["label", "##SEQUENCE##.ids", "id"], (LABEL, ID), (IDS,)),
        (["##SEQUENCE##.ids", "##SEQUENCE##.words"], (), (IDS, WORDS)),
        (["##SEQUENCE##"], (), (WORDS, IDS, UNSEEN)),
        (["id"], (ID,), ()),
        ([], (), ()),
    ],
)
def test_columns_in_the_order_asked_for(
    columns: list[str], context: tuple[Column, ...], steps: tuple[Column, ...]
) -> None:
    assert plan_of(columns=columns) == SequenceDecodePlan(context, steps)


def test_plan_without_a_schema() -> None:
    assert plan_of(None) == SequenceDecodePlan(None, None)
    assert plan_of(None, ["id", "##SEQUENCE##"]) == SequenceDecodePlan((Column("id"),), None)
    named = plan_of(None, ["##SEQUENCE##.a.b", "##SEQUENCE##x"])
    assert named == SequenceDecodePlan((Column("##SEQUENCE##x"),), (Column("a.b"),))


def test_another_name_of_the_struct_column() -> None:
    schema = schema_pb2.Schema(
        feature=[
            {
                "name": "s",
                "type": "STRUCT",
                "struct_domain": {"feature": [{"name": "a", "type": "INT"}]},
            }
        ]
    )
    plan = plan_of(schema, sequence_column="s")
    assert plan == SequenceDecodePlan((), (Column("a", Kind.INT64),), "s")
    assert plan_of(schema, ["s.a"], sequence_column="s") == plan


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (["##SEQUENCE##.word"], "found '##SEQUENCE##.word' \\(did you mean '##SEQUENCE##.words'"),
        (["words"], "Expected columns among 'id', 'label', '##SEQUENCE##', '##SEQUENCE##.words'"),
        (["##SEQUENCE##", "##SEQUENCE##.ids"], "found both it and '##SEQUENCE##.ids'"),
        (["id", "id"], "found 'id' twice"),
    ],
)
def test_columns_that_cannot_be(columns: list[str], text: str) -> None:
    with pytest.raises(SchemaError, match=text):
        plan_of(columns=columns)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (with_feature(type="INT"), "^Expected type STRUCT for feature '##SEQUENCE##', found INT"),
        (with_feature(), "^Expected type STRUCT for feature '##SEQUENCE##', found none"),
        (
            with_feature(
                type="STRUCT", struct_domain={"feature": [{"name": "x", "type": "STRUCT"}]}
            ),
            r"^Expected type INT, FLOAT or BYTES for feature '##SEQUENCE##\.x', found STRUCT",
        ),
        (
            with_feature(
                type="STRUCT", struct_domain={"feature": [{"name": "x", "type": "INT"}] * 2}
            ),
            "^Expected different features in '##SEQUENCE##', found 'x' twice",
        ),
        (
            schema_pb2.Schema(feature=[{"name": "other", "type": "STRUCT"}]),
            "^Expected type INT, FLOAT or BYTES for feature 'other', found STRUCT",
        ),
    ],
)
def test_schemas_that_cannot_be(schema: schema_pb2.Schema, text: str) -> None:
    with pytest.raises(SchemaError, match=text):
        plan_of(schema)


def test_schema_of_sequence_examples_for_examples() -> None:
    with pytest.raises(SchemaError, match=r"found STRUCT .*record_type='SequenceExample'"):
        schema_columns(SCHEMA)


@pytest.mark.parametrize("name", ["id", "##SEQUENCE##"])
def test_name_of_the_raw_record_column(name: str) -> None:
    with pytest.raises(SchemaError, match=r"raw-record column with a name of its own"):
        plan_of(raw_record_column=name)


@pytest.mark.parametrize("record_type", ["example", None, 1, ["Example"]])
def test_unknown_record_type(record_type: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected record_type to be one of Example, SequenceEx"):
        decode_plan(SCHEMA, record_type=record_type)


def test_arrow_schema() -> None:
    lists = [pa.large_list(pa.large_list(t)) for t in (pa.large_binary(), pa.int64(), pa.float32())]
    assert plan_schema(plan_of(raw_record_column="raw")) == pa.schema(
        {
            "id": pa.large_list(pa.int64()),
            "label": pa.large_list(pa.large_binary()),
            "##SEQUENCE##": pa.struct(dict(zip(["words", "ids", "unseen"], lists))),
            "raw": pa.large_list(pa.large_binary()),
        }
    )
    assert plan_schema(plan_of(with_feature(type="STRUCT"))) == pa.schema([])
    assert plan_schema(plan_of(None)) is None
    assert plan_schema(plan_of(None, ["a", "##SEQUENCE##"])) is None


def test_names_of_a_plan() -> None:
    for columns in (["id", "##SEQUENCE##.ids"], ["id"], []):
        assert plan_names(plan_of(columns=columns)) == columns
    assert plan_names(plan_of(None)) is None
    assert plan_names(plan_of(None, ["id", "##SEQUENCE##"])) == ["id", "##SEQUENCE##"]
    assert plan_names(decode_plan(None, columns=["id"])) == ["id"]


def test_tensors_of_feature_lists() -> None:
    tensors = infer_tensor_representations(SCHEMA)
    assert list(tensors)[2:] == [f"##SEQUENCE##.{name}" for name in ("words", "ids", "unseen")]
    path = tensors["##SEQUENCE##.ids"].ragged_tensor.feature_path
    assert list(path.step) == ["##SEQUENCE##", "ids"]


def test_projection_keeps_what_is_used() -> None:
    projected = project_tensor_representations(SCHEMA, ["##SEQUENCE##.ids", "label"])
    assert plan_of(projected) == SequenceDecodePlan((LABEL,), (IDS,))
    without_steps = project_tensor_representations(SCHEMA, ["id"])
    assert plan_of(without_steps) == SequenceDecodePlan((ID,), ())
    with pytest.raises(SchemaError, match=r"Expected tensors among 'id', 'label', '##SEQUENCE##.w"):
        project_tensor_representations(SCHEMA, ["##SEQUENCE##"])
