"""Tests of tfrecord_beam.schema.from_arrow and from_spark: schemas of other kinds as TFMD."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.frames import framed
from tests.schema.schemas import parse_schema
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.inference import infer_schema
from tfrecord_beam.records.table import read_table
from tfrecord_beam.schema.from_arrow import schema_from_arrow
from tfrecord_beam.schema.from_spark import SPARK_TYPES, arrow_from_spark, schema_from_spark
from tfrecord_beam.schema.inference import make_schema
from tfrecord_beam.schema.statistics import DatasetStatistics
from tfrecord_beam.schema.tfmd import load_schema, schema_columns, sequence_schema_columns

ARROW = pa.schema(
    [
        pa.field("id", pa.int16(), nullable=False),
        pa.field("steps", pa.list_(pa.list_(pa.int8()))),
        pa.field("day", pa.date32()),
        pa.field("embedding", pa.list_(pa.float64(), 3), nullable=False),
        pa.field("tags", pa.large_list(pa.string())),
        pa.field("nothing", pa.null()),
        pa.field("##SEQUENCE##", pa.struct([("prices", pa.list_(pa.decimal128(5, 2)))])),
        pa.field("word", pa.dictionary(pa.int8(), pa.binary())),
    ]
)
TFMD = parse_schema(
    """
    feature { name: "id" type: INT presence { min_fraction: 1 min_count: 1 }
              value_count { min: 1 max: 1 } }
    feature { name: "day" type: INT value_count { min: 1 max: 1 } }
    feature { name: "embedding" type: FLOAT presence { min_fraction: 1 min_count: 1 }
              value_count { min: 3 max: 3 } }
    feature { name: "tags" type: BYTES annotation { tag: "utf-8" } }
    feature { name: "nothing" type: BYTES value_count { min: 1 max: 1 } }
    feature { name: "word" type: BYTES value_count { min: 1 max: 1 } }
    feature {
      name: "##SEQUENCE##" type: STRUCT
      struct_domain {
        feature { name: "steps" type: INT }
        feature { name: "prices" type: FLOAT }
      }
    }
    """
)


def spark(**types: Any) -> dict[str, Any]:
    """Returns a StructType with nullable fields of these types."""
    fields = [{"name": name, "type": each, "nullable": True} for name, each in types.items()]
    return {"type": "struct", "fields": fields}


def array(element: Any) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": True}


def test_arrow() -> None:
    assert schema_from_arrow(ARROW) == TFMD
    assert load_schema(ARROW) == TFMD


def test_schema_of_arrow_has_the_kinds_of_the_records() -> None:
    """As they are inferred of a batch, in another order."""
    batch = pa.RecordBatch.from_arrays(
        [pa.nulls(1, field.type) for field in ARROW], names=ARROW.names
    )
    statistics = DatasetStatistics()
    statistics.add(batch)
    context, steps = sequence_schema_columns(TFMD)
    found_context, found_steps = sequence_schema_columns(make_schema(statistics))
    assert set(found_context) == set(context)
    assert set(found_steps) == set(steps)


def test_schema_of_arrow_reads_what_was_written(tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch({"b": [1, None], "a": [[1.5], []]})
    (tmp_path / "a").write_bytes(framed(*RecordEncoder().encode_records(batch)))
    schema = schema_from_arrow(batch.schema)
    assert schema_columns(schema)[::-1] == schema_columns(infer_schema(tmp_path))
    table = read_table(tmp_path, schema, scalars=True)
    assert table.to_pylist() == batch.to_pylist()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ([("m", pa.map_(pa.int64(), pa.int64()))], r"^Expected numbers, .* 'm', found map"),
        ([("s", pa.struct([("x", pa.int64())]))], r"^Expected numbers, .* 's', found struct"),
        ([("d", pa.list_(pa.list_(pa.list_(pa.int64()))))], r"^Expected lists of .* 'd', found li"),
        ([("x", pa.int64())] * 2, r"^Expected different columns, found 'x' twice"),
    ],
)
def test_refused_arrow(fields: list[Any], text: str) -> None:
    with pytest.raises(SchemaError, match=text):
        schema_from_arrow(pa.schema(fields))


def test_no_arrow_schema() -> None:
    with pytest.raises(ValueError, match=r"^Expected arrow_schema to be of type Schema, found \["):
        schema_from_arrow([])


def test_parquet(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": pa.array([1], pa.int8()), "b": [["x"]]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert load_schema(tmp_path / "a.parquet") == schema_from_arrow(table.schema)
    assert load_schema(f"file://{tmp_path}/a.parquet") == schema_from_arrow(table.schema)
    (tmp_path / "b.parquet").write_bytes(b"feature {}")
    with pytest.raises(SchemaError, match=r"^Expected a Parquet file, found other bytes: "):
        load_schema(tmp_path / "b.parquet")


@pytest.mark.parametrize("name", SPARK_TYPES)
def test_spark_types(name: str) -> None:
    struct = spark(one=name, many=array(name), steps=array(array(name)))
    data_type = SPARK_TYPES[name]
    assert arrow_from_spark(struct) == pa.schema(
        [
            ("one", data_type),
            ("many", pa.list_(data_type)),
            ("steps", pa.list_(pa.list_(data_type))),
        ]
    )
    names = [each.name for each in schema_from_spark(struct).feature]
    assert names == ["one", "many", "##SEQUENCE##"]


def test_spark_file(tmp_path: pathlib.Path) -> None:
    struct = spark(b="string", a="decimal(10,2)")
    struct["fields"][0]["nullable"] = False
    (tmp_path / "schema.json").write_text(json.dumps(struct))
    assert load_schema(tmp_path / "schema.json") == parse_schema(
        """
        feature { name: "b" type: BYTES presence { min_fraction: 1 min_count: 1 }
                  value_count { min: 1 max: 1 } annotation { tag: "utf-8" } }
        feature { name: "a" type: FLOAT value_count { min: 1 max: 1 } }
        """
    )


@pytest.mark.parametrize(
    "unsupported",
    [
        "interval",
        "decimal",
        "decimal(0,0)",
        "decimal(39,2)",
        "decimal(5,9999999999)",
        array("interval"),
        {"type": "map"},
        spark(),
        {"type": "udt"},
    ],
)
def test_refused_spark_types(unsupported: Any) -> None:
    text = r"^Expected a type among boolean, .* of these for feature 'x', found \S+ \(cast the"
    with pytest.raises(SchemaError, match=text):
        schema_from_spark(spark(x=unsupported))


@pytest.mark.parametrize("struct", [{}, [], None, {"type": "array"}])
def test_no_spark_schema(struct: Any) -> None:
    with pytest.raises(SchemaError, match=r"^Expected a StructType of Spark as JSON, found"):
        schema_from_spark(struct)


@pytest.mark.parametrize("fields", [None, 5, [{}], [5], [{"name": 5, "type": "long"}]])
def test_spark_fields_that_are_none(fields: Any) -> None:
    with pytest.raises(SchemaError, match=r"^Expected a StructType of Spark as JSON, found one wi"):
        schema_from_spark({"type": "struct", "fields": fields})
