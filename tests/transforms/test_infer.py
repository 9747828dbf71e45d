"""Tests of tfrecord_beam.transforms.infer: schemas inferred in pipelines."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.frames import framed
from tests.records.reading import flip
from tests.sequence_files import write_files as write_sequence_files
from tests.tfxio.example_files import NUM_RECORDS, write_files
from tests.tfxio.pipelines import run
from tests.transforms.apart import run_apart
from tests.wire import entry, example, floats, int64
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.inference import infer_schema
from tfrecord_beam.transforms.infer import InferSchema
from tfrecord_beam.transforms.read import BeamSource

OPTIONS: dict[str, Any] = {"infer_shape": True, "int_domains": True, "string_domains": 50}
INT, FLOAT = example(entry("x", int64(7))), example(entry("x", floats(1)))


def infer(*transforms: beam.PTransform[Any, Any]) -> schema_pb2.Schema:
    [schema] = run(*transforms).elements
    assert isinstance(schema, schema_pb2.Schema)
    return schema


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[pathlib.Path]:
    return write_files(tmp_path)


def test_of_files(files: list[pathlib.Path]) -> None:
    expected = infer_schema(files, **OPTIONS)
    assert len(expected.feature) > 3
    assert infer(InferSchema(files, desired_bundle_bytes=300, **OPTIONS)) == expected


def test_of_batches(files: list[pathlib.Path]) -> None:
    source = BeamSource(files, batch_size=7)
    assert infer(source, InferSchema(**OPTIONS)) == infer_schema(files, **OPTIONS)


def test_of_sequence_examples(tmp_path: pathlib.Path) -> None:
    files = write_sequence_files(tmp_path)
    expected = infer_schema(files, record_type="SequenceExample")
    assert [each.name for each in expected.feature] == ["id", "##SEQUENCE##"]
    options: Any = {"record_type": "SequenceExample", "desired_bundle_bytes": 300}
    assert infer(InferSchema(files, **options)) == expected
    assert infer(BeamSource(files, **options), InferSchema()) == expected


def test_folders_are_features(tmp_path: pathlib.Path) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a").write_bytes(framed(INT))
    options: Any = {"partition_columns": "hive"}
    expected = infer_schema(tmp_path, **options)
    assert [each.name for each in expected.feature] == ["day", "x"]
    assert infer(InferSchema(tmp_path, **options)) == expected
    with pytest.raises(ValueError, match=r"^Expected file_pattern with partition_columns"):
        InferSchema(**options)


def test_of_nothing(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert infer(InferSchema(tmp_path)) == schema_pb2.Schema()
    assert infer(beam.Create([]), InferSchema()) == schema_pb2.Schema()


def test_in_windows() -> None:
    batches = [pa.record_batch({"x": [1]}), pa.record_batch({"x": ["a"]})]
    schemas = run(
        beam.Create([TimestampedValue(batch, index) for index, batch in enumerate(batches)]),
        beam.Map(lambda element: element).with_output_types(pa.RecordBatch),
        beam.WindowInto(FixedWindows(1)),
        InferSchema(),
    ).elements
    assert {schema.feature[0].type for schema in schemas} == {schema_pb2.INT, schema_pb2.BYTES}


def test_conflict(tmp_path: pathlib.Path) -> None:
    for name, record in (("1", INT), ("2", FLOAT)):
        (tmp_path / name).write_bytes(framed(example(entry("y", int64(1))), record))
    text = rf"Expected int64_list for feature 'x' as at {tmp_path}/1:\d+, record 1, found float_li"
    with pytest.raises(SchemaError, match=text):
        infer(InferSchema(tmp_path))


@pytest.mark.filterwarnings("ignore:Left out a feature")
def test_conflict_that_is_dropped(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(framed(INT, FLOAT))
    schema = infer(InferSchema(tmp_path, on_conflict="drop"))
    assert not schema.feature
    assert "'x'" in schema.annotation.comment[0]


def test_corrupt_records_go_aside(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(framed(INT, b"\xff", INT) + flip(framed(FLOAT), 20))
    [schema], corrupt, _ = run_apart(
        make=lambda handler: InferSchema(tmp_path, error_handler=handler)
    )
    assert [each.type for each in schema.feature] == [schema_pb2.INT]
    assert [record.record for record in corrupt] == [1, 3]


def test_elements_that_are_no_batches() -> None:
    with pytest.raises(SchemaError, match=r"Expected a pyarrow.RecordBatch, found 'a\.tfrecord'"):
        infer(beam.Create(["a.tfrecord"]), InferSchema())


def test_source_with_inferred_schema(files: list[pathlib.Path]) -> None:
    batches = run(BeamSource(files, "infer", desired_bundle_bytes=300)).elements
    assert sum(batch.num_rows for batch in batches) == NUM_RECORDS
    names = [feature.name for feature in infer_schema(files).feature]
    assert {tuple(batch.schema.names) for batch in batches} == {tuple(names)}


def test_source_without_files_to_infer_from() -> None:
    with pytest.raises(ValueError, match=r"^Expected file_pattern with schema='infer', found none"):
        BeamSource(schema="infer")
