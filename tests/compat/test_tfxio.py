"""The TFXIO classes against those of tfx-bsl, on the same files."""

from __future__ import annotations

import inspect
import itertools
import pathlib
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.compat.peers import import_peer
from tests.decoding import contents
from tests.tfxio.example_files import EMPTY_SCHEMA, RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import Distribution, run
from tfrecord_beam import kernel
from tfrecord_beam.tfxio import (
    coders,
    dataset_options,
    record_based_tfxio,
    telemetry,
    tensor_representation_util,
    tf_example_record,
    tfxio,
)

peer_base = import_peer("tfx_bsl.tfxio.record_based_tfxio")
peer_coders = import_peer("tfx_bsl.coders.example_coder")
peer_options = import_peer("tfx_bsl.tfxio.dataset_options")
peer_projected = import_peer("tfx_bsl.tfxio.tfxio")
peer_record = import_peer("tfx_bsl.tfxio.tf_example_record")
peer_adapter = import_peer("tfx_bsl.tfxio.tensor_adapter")
peer_telemetry = import_peer("tfx_bsl.tfxio.telemetry")
peer_util = import_peer("tfx_bsl.tfxio.tensor_representation_util")

DESCRIPTORS = ["compat", "test"]
NAMESPACES = ("tfx.compat.test.io", "tfx.compat.test")


def rows(batches: Sequence[pa.RecordBatch]) -> list[str]:
    """Returns the rows in an order of their own, for batches come in any."""
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


def both(files: Sequence[pathlib.Path], **options: Any) -> tuple[Any, Any]:
    """Returns a TFExampleRecord of the library and one of tfx-bsl over the same files."""
    patterns = [str(file) for file in files]
    return (
        tf_example_record.TFExampleRecord(patterns, **options),
        peer_record.TFExampleRecord(patterns, **options),
    )


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[pathlib.Path]:
    """Files of `RECORDS`; the second one is compressed, the third one is empty."""
    return write_files(tmp_path)


@pytest.fixture
def many_files(tmp_path: pathlib.Path) -> list[pathlib.Path]:
    """Files with each of `RECORDS` several times."""
    paths = [tmp_path / f"{i}.tfrecord" for i in range(5)]
    for path in paths:
        path.write_bytes(kernel.frame(RECORDS))
    return paths


# --- What is called by the same names ---------------------------------------------------

CONSTRUCTORS = [
    (tf_example_record.TFExampleRecord, peer_record.TFExampleRecord),
    (tf_example_record.TFExampleBeamRecord, peer_record.TFExampleBeamRecord),
    (dataset_options.RecordBatchesOptions, peer_options.RecordBatchesOptions),
    (coders.ExamplesToRecordBatchDecoder, peer_coders.ExamplesToRecordBatchDecoder),
    (record_based_tfxio.RecordBasedTFXIO, peer_base.RecordBasedTFXIO),
    (tfxio._ProjectedTFXIO, peer_projected._ProjectedTFXIO),
]

METHODS = (
    "ArrowSchema",
    "BeamSource",
    "Project",
    "RawRecordBeamSource",
    "RawRecordToRecordBatch",
    "RecordBatches",
    "SupportAttachingRawRecords",
    "TensorRepresentations",
)

FUNCTIONS = [
    name
    for name, function in inspect.getmembers(tensor_representation_util, inspect.isfunction)
    if function.__module__ == tensor_representation_util.__name__
]


def signature(function: Any) -> list[tuple[str, Any]]:
    """Returns the parameters of a function in order: names and defaults."""
    parameters = inspect.signature(function).parameters.values()
    return [(parameter.name, parameter.default) for parameter in parameters]


@pytest.mark.parametrize(("ours", "theirs"), CONSTRUCTORS)
def test_constructors_take_the_same(ours: type, theirs: type) -> None:
    assert signature(ours) == signature(theirs)


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_the_same(name: str) -> None:
    ours = getattr(tf_example_record.TFExampleRecord, name)
    theirs = getattr(peer_record.TFExampleRecord, name)
    assert signature(ours) == signature(theirs)


@pytest.mark.parametrize("name", ["DecodeBatch", "ArrowSchema"])
def test_methods_of_a_decoder_take_the_same(name: str) -> None:
    ours = getattr(coders.ExamplesToRecordBatchDecoder, name)
    theirs = getattr(peer_coders.ExamplesToRecordBatchDecoder, name)
    assert signature(ours) == signature(theirs)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_the_same(name: str) -> None:
    assert signature(getattr(tensor_representation_util, name)) == signature(
        getattr(peer_util, name)
    )


@pytest.mark.parametrize("name", ["ProfileRawRecords", "ProfileRecordBatches"])
def test_transforms_of_telemetry_take_the_same(name: str) -> None:
    assert signature(getattr(telemetry, name)) == signature(getattr(peer_telemetry, name))


def test_private_names_that_users_read() -> None:
    for name in ("_DEFAULT_TENSOR_REPRESENTATION_GROUP", "_DISQUALIFYING_LIFECYCLE_STAGES"):
        assert getattr(tensor_representation_util, name) == getattr(peer_util, name)


# --- What is known before reading -------------------------------------------------------


@pytest.mark.parametrize("raw", [None, "raw"])
@pytest.mark.parametrize("schema", [SCHEMA, EMPTY_SCHEMA], ids=["schema", "empty"])
def test_what_a_schema_says(
    schema: schema_pb2.Schema, raw: str | None, files: list[pathlib.Path]
) -> None:
    ours, theirs = both(files, schema=schema, raw_record_column_name=raw)
    assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    assert ours.raw_record_column_name == theirs.raw_record_column_name
    assert ours.telemetry_descriptors == theirs.telemetry_descriptors


@pytest.mark.parametrize("tensors", [["sparse_score"], []], ids=["one", "none"])
def test_what_a_projection_says(tensors: list[str], files: list[pathlib.Path]) -> None:
    ours, theirs = (one.Project(tensors) for one in both(files, schema=SCHEMA))
    assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    assert ours.origin.ArrowSchema().equals(theirs.origin.ArrowSchema())


def test_the_same_is_refused(files: list[pathlib.Path]) -> None:
    for one in both(files):
        with pytest.raises(ValueError, match="schema"):
            one.ArrowSchema()
    for one in both(files, schema=SCHEMA):
        with pytest.raises(ValueError, match="unknown"):
            one.Project(["unknown"])
    for module, options in ((tf_example_record, dataset_options), (peer_record, peer_options)):
        with pytest.raises(NotImplementedError):
            next(
                module.TFExampleBeamRecord("memory").RecordBatches(options.RecordBatchesOptions(1))
            )


# --- What is read -----------------------------------------------------------------------


@pytest.mark.parametrize("raw", [None, "raw"])
@pytest.mark.parametrize("batch_size", [None, 7])
def test_rows_of_a_source(
    batch_size: int | None, raw: str | None, files: list[pathlib.Path]
) -> None:
    found, expected = (
        run(one.BeamSource(batch_size)).elements
        for one in both(files, schema=SCHEMA, raw_record_column_name=raw)
    )
    assert rows(found) == rows(expected)
    assert all(batch.schema.equals(expected[0].schema) for batch in found)
    assert all(batch.num_rows <= (batch_size or len(RECORDS)) for batch in found)


def test_rows_without_a_schema(files: list[pathlib.Path]) -> None:
    """Batch by batch of one record, for what columns there are depends on the batch."""
    found, expected = (run(one.BeamSource(1)).elements for one in both(files))
    assert sorted(str(contents(batch)) for batch in found) == sorted(
        str(contents(batch)) for batch in expected
    )


def test_rows_of_a_projection(files: list[pathlib.Path]) -> None:
    found, expected = (
        run(one.Project(["sparse_score"]).BeamSource()).elements
        for one in both(files, schema=SCHEMA)
    )
    assert rows(found) == rows(expected)


@pytest.mark.parametrize("raw", [None, "raw"])
def test_rows_of_records_from_elsewhere(raw: str | None) -> None:
    found, expected = (
        run(
            beam.Create(RECORDS),
            module.TFExampleBeamRecord(
                "memory", schema=SCHEMA, raw_record_column_name=raw
            ).BeamSource(9),
        ).elements
        for module in (tf_example_record, peer_record)
    )
    assert rows(found) == rows(expected)


def test_raw_records(files: list[pathlib.Path]) -> None:
    ours, theirs = both(files)
    assert sorted(run(ours.RawRecordBeamSource()).elements) == sorted(
        run(theirs.RawRecordBeamSource()).elements
    )


@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["schema", "none"])
@pytest.mark.parametrize("raw", [None, "raw"])
@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 8, "num_epochs": 1},
        {"batch_size": 8, "num_epochs": 1, "drop_final_batch": True},
        {"batch_size": 7, "num_epochs": 3},
        {"batch_size": 100, "num_epochs": 1},
        {"batch_size": 7},
    ],
    ids=str,
)
def test_record_batches(
    options: dict[str, Any],
    raw: str | None,
    schema: schema_pb2.Schema | None,
    files: list[pathlib.Path],
) -> None:
    """Of one file in order: tfx-bsl reads several files in turns."""
    found, expected = (
        itertools.islice(
            one.RecordBatches(module.RecordBatchesOptions(shuffle=False, **options)), 20
        )
        for one, module in zip(
            both(files[:1], schema=schema, raw_record_column_name=raw),
            (dataset_options, peer_options),
        )
    )
    for batch, expected_batch in itertools.zip_longest(found, expected):
        assert batch.schema.equals(expected_batch.schema)
        assert contents(batch) == contents(expected_batch)


def test_shuffled_record_batches(files: list[pathlib.Path]) -> None:
    ours, theirs = both([files[0], files[3]], schema=SCHEMA)
    found, expected = (
        list(one.RecordBatches(module.RecordBatchesOptions(batch_size=9, num_epochs=2)))
        for one, module in ((ours, dataset_options), (theirs, peer_options))
    )
    assert [batch.num_rows for batch in found] == [batch.num_rows for batch in expected]
    assert rows(found) == rows(expected)


def test_our_batches_fit_their_tensor_adapter(tmp_path: pathlib.Path) -> None:
    """Which is how TensorFlow Transform takes them in."""
    has_whole_sparse_score = [record for i, record in enumerate(RECORDS) if i % 5]
    path = tmp_path / "file"
    path.write_bytes(kernel.frame(has_whole_sparse_score))
    ours, theirs = both([path], schema=SCHEMA)
    config = peer_adapter.TensorAdapterConfig(ours.ArrowSchema(), ours.TensorRepresentations())
    adapter = peer_adapter.TensorAdapter(config)
    assert adapter.TypeSpecs() == theirs.TensorAdapter().TypeSpecs()
    decoder = peer_coders.ExamplesToRecordBatchDecoder(SCHEMA.SerializeToString())
    for batch in run(ours.BeamSource(5)).elements:
        # The records by their ids, for batches come in any order.
        records = [RECORDS[i] for i in batch.column("id").flatten().to_pylist()]
        found, expected = (
            one.ToBatchTensors(each, produce_eager_tensors=False)
            for one, each in (
                (adapter, batch),
                (theirs.TensorAdapter(), decoder.DecodeBatch(records)),
            )
        )
        assert str(found) == str(expected)


# --- Telemetry --------------------------------------------------------------------------


def metrics(tfxio: Any, *head: beam.PTransform[Any, Any]) -> dict[tuple[str, str], Any]:
    """Returns what is counted of batches of one row.

    Of so many batches each metric that is only taken of some is there for certain; its values
    are left out, for they depend on chance.
    """
    result = run(*head, tfxio.BeamSource(1))
    return {
        (namespace, name): ... if "num_feature_values" in name or "num_columns" in name else value
        for namespace in NAMESPACES
        for name, value in result.in_namespace(namespace).items()
    }


@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["schema", "none"])
def test_metrics(schema: schema_pb2.Schema | None, many_files: list[pathlib.Path]) -> None:
    options = {"schema": schema, "telemetry_descriptors": DESCRIPTORS}
    found, expected = (metrics(one) for one in both(many_files, **options))
    check_metrics(found, expected)


def test_metrics_of_records_from_elsewhere() -> None:
    found, expected = (
        metrics(module.TFExampleBeamRecord("memory", DESCRIPTORS, SCHEMA), beam.Create(RECORDS * 5))
        for module in (tf_example_record, peer_record)
    )
    check_metrics(found, expected)


def check_metrics(found: dict[Any, Any], expected: dict[Any, Any]) -> None:
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if key[1].endswith("record_batch_byte_size"):
            assert isinstance(found[key], Distribution)
            assert found[key].count == value.count
        else:
            assert found[key] == value
