"""TFXIO for tf.SequenceExample: the same data whichever way they are read."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import apache_beam as beam
import pytest

from tests.sequence_files import NUM_RECORDS, RECORDS, ROWS, SCHEMA, write_files
from tests.tfxio.pipelines import Distribution, run
from tfrecord_beam import tfxio
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.arrow import decode_plan, plan_schema
from tfrecord_beam.tfxio.coders.sequence_example_coder import SequenceExamplesToRecordBatchDecoder
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions
from tfrecord_beam.tfxio.record_based_tfxio import RecordBasedTFXIO
from tfrecord_beam.tfxio.tf_sequence_example_record import (
    TFSequenceExampleBeamRecord,
    TFSequenceExampleRecord,
)

DESCRIPTORS = ["steps"]


def make_source(kind: str, folder: pathlib.Path, **options: Any) -> RecordBasedTFXIO:
    if kind == "files":
        return TFSequenceExampleRecord(write_files(folder), DESCRIPTORS, **options)
    return TFSequenceExampleBeamRecord("memory", DESCRIPTORS, **options)


def head_of(kind: str) -> list[Any]:
    return [] if kind == "files" else [beam.Create(RECORDS, reshuffle=False)]


def rows_of(elements: list[Any]) -> list[dict[str, Any]]:
    rows = [row for batch in elements for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: row["id"])


kinds = pytest.mark.parametrize("kind", ["files", "memory"])


def test_names() -> None:
    assert tfxio.TFSequenceExampleRecord is TFSequenceExampleRecord
    assert tfxio.TFSequenceExampleBeamRecord is TFSequenceExampleBeamRecord


@kinds
def test_batches_of_every_way(tmp_path: pathlib.Path, kind: str) -> None:
    source = make_source(kind, tmp_path, schema=SCHEMA, raw_record_column_name="raw")
    ways = [
        [source.BeamSource(7)],
        [source.RawRecordBeamSource(), source.RawRecordToRecordBatch(7)],
    ]
    for way in ways:
        batches = run(*head_of(kind), *way).elements
        assert all(batch.schema == source.ArrowSchema() for batch in batches)
        assert max(batch.num_rows for batch in batches) == 7
        raw = [value for batch in batches for value in batch["raw"].flatten().to_pylist()]
        assert sorted(raw) == sorted(RECORDS)
        rows = rows_of([batch.drop_columns(["raw"]) for batch in batches])
        assert rows == ROWS


@kinds
def test_projection(tmp_path: pathlib.Path, kind: str) -> None:
    source = make_source(kind, tmp_path, schema=SCHEMA)
    projected = source.Project(["##SEQUENCE##.ids", "id"])
    assert list(projected.TensorRepresentations()) == ["##SEQUENCE##.ids", "id"]
    plan = decode_plan(SCHEMA, columns=["id", "##SEQUENCE##.ids"], record_type="SequenceExample")
    assert projected.ArrowSchema() == plan_schema(plan)
    assert rows_of(run(*head_of(kind), projected.BeamSource()).elements) == [
        {"id": row["id"], "##SEQUENCE##": {"ids": row["##SEQUENCE##"]["ids"]}} for row in ROWS
    ]
    with pytest.raises(ValueError, match=r"Expected tensors among 'id', 'label', '##SEQUENCE##.w"):
        source.Project(["nope"])
    assert source.Project(["id"]).ArrowSchema().names == ["id"]


def test_arguments_are_taken_in_the_order_of_tfxio(tmp_path: pathlib.Path) -> None:
    files = write_files(tmp_path)
    source = TFSequenceExampleRecord(files, ["me"], True, SCHEMA, "raw")
    assert source.ArrowSchema().names == ["id", "label", "##SEQUENCE##", "raw"]
    assert source.telemetry_descriptors == ["me"]
    beam_source = TFSequenceExampleBeamRecord("text", ["me"], SCHEMA, "raw")
    assert beam_source.ArrowSchema() == source.ArrowSchema()
    with pytest.raises(TypeError, match=r"telemetry_descriptors"):
        TFSequenceExampleRecord(files)  # type: ignore[call-arg]


def test_without_a_schema(tmp_path: pathlib.Path) -> None:
    source = TFSequenceExampleRecord(write_files(tmp_path), None)
    (batch, *_) = run(source.BeamSource()).elements
    assert batch.schema.names == ["id", "##SEQUENCE##"]
    for what in (source.ArrowSchema, source.TensorRepresentations, source.TensorAdapterConfig):
        with pytest.raises(SchemaError, match=r"^Expected a TFMD schema"):
            what()


def test_record_batches_without_beam(tmp_path: pathlib.Path) -> None:
    files = write_files(tmp_path)
    options = RecordBatchesOptions(batch_size=16, num_epochs=1, shuffle=False)
    for schema in (SCHEMA, None):
        source = TFSequenceExampleRecord(files, None, schema=schema)
        batches = list(source.RecordBatches(options))
        assert [batch.num_rows for batch in batches] == [16, 16, 8]
        assert [row["id"] for batch in batches for row in batch.to_pylist()] == [
            row["id"] for row in ROWS
        ]


@kinds
def test_metrics(tmp_path: pathlib.Path, kind: str) -> None:
    source = make_source(kind, tmp_path, schema=SCHEMA)
    metrics = run(*head_of(kind), source.BeamSource()).in_namespace("tfx.steps.io")
    physical = "tfrecords_gzip" if kind == "files" else "memory"
    prefix = f"LogicalFormat[tf_sequence_example]-PhysicalFormat[{physical}]-"
    assert metrics[prefix + "num_raw_records"] == NUM_RECORDS
    assert metrics[prefix + "num_cells[OTHER]"] == NUM_RECORDS  # the struct column
    assert metrics[prefix + "num_cells[INT]"] == NUM_RECORDS
    rows = metrics[prefix + "num_rows"]
    assert isinstance(rows, Distribution)
    assert rows.sum == NUM_RECORDS


def test_pickled_source(tmp_path: pathlib.Path) -> None:
    source = TFSequenceExampleRecord(write_files(tmp_path), None, schema=SCHEMA)
    copy = pickle.loads(pickle.dumps(source.Project(["id"])))
    assert copy.ArrowSchema().names == ["id"]


# --- The coder --------------------------------------------------------------------------


def test_coder() -> None:
    decoder = SequenceExamplesToRecordBatchDecoder("##SEQUENCE##", SCHEMA.SerializeToString())
    for coder in (decoder, pickle.loads(pickle.dumps(decoder))):
        batch = coder.DecodeBatch(RECORDS)
        assert batch.schema == coder.ArrowSchema()
        assert batch.to_pylist() == ROWS


def test_coder_without_a_schema() -> None:
    decoder = SequenceExamplesToRecordBatchDecoder("steps")
    assert decoder.DecodeBatch(RECORDS).schema.names == ["id", "steps"]
    with pytest.raises(SchemaError, match=r"found none \(give serialized_schema\)"):
        decoder.ArrowSchema()


def test_coder_of_wrong_arguments() -> None:
    name: Any = None
    with pytest.raises(SchemaError, match=r"^Expected sequence_feature_column_name as str, found"):
        SequenceExamplesToRecordBatchDecoder(name)
    with pytest.raises(SchemaError, match=r"^Expected a serialized TFMD Schema"):
        SequenceExamplesToRecordBatchDecoder("s", b"\xff")
