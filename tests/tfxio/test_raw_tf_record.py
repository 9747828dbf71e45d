"""Raw records: one column of bytes, from files and from a PCollection."""

from __future__ import annotations

import pathlib
import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.tfxio.example_files import NUM_RECORDS, RECORDS, write_files
from tests.tfxio.pipelines import Distribution, run
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions
from tfrecord_beam.tfxio.raw_tf_record import RawBeamRecordTFXIO, RawTfRecordTFXIO
from tfrecord_beam.tfxio.record_based_tfxio import RecordBasedTFXIO

SCHEMA = pa.schema([("raw", pa.large_list(pa.large_binary()))])
TENSORS = {"raw": schema_pb2.TensorRepresentation(dense_tensor={"column_name": "raw", "shape": {}})}


class Source(NamedTuple):
    """A class, and what stands before its transforms in a pipeline."""

    tfxio: RecordBasedTFXIO
    head: Callable[[], Sequence[beam.PTransform[Any, Any]]]


@pytest.fixture(params=["files", "memory"])
def source(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Source:
    """Each class in turn."""
    if request.param == "files":
        return Source(RawTfRecordTFXIO(write_files(tmp_path), "raw", ["test"]), tuple)
    return Source(RawBeamRecordTFXIO("memory", "raw", ["test"]), lambda: [beam.Create(RECORDS)])


def values(batches: Sequence[pa.RecordBatch]) -> list[list[bytes]]:
    for batch in batches:
        batch.validate(full=True)
        assert batch.schema == SCHEMA
        assert batch.column(0).offset == 0
    return sorted(row for batch in batches for row in batch.column("raw").to_pylist())


@pytest.mark.parametrize("batch_size", [None, 7])
def test_rows_are_the_records(source: Source, batch_size: int | None) -> None:
    tfxio, head = source
    whole = run(*head(), tfxio.BeamSource(batch_size))
    parts = run(*head(), tfxio.RawRecordBeamSource(), tfxio.RawRecordToRecordBatch(batch_size))
    for result in (whole, parts):
        assert values(result.elements) == sorted([record] for record in RECORDS)
        assert all(batch.num_rows <= (batch_size or NUM_RECORDS) for batch in result.elements)


def test_record_batches(tmp_path: pathlib.Path) -> None:
    tfxio = RawTfRecordTFXIO(write_files(tmp_path), "raw", ["test"])
    options = RecordBatchesOptions(batch_size=7, num_epochs=1, shuffle=False)
    batches = list(tfxio.RecordBatches(options))
    assert {batch.num_rows for batch in batches[:-1]} == {7}
    assert [row for batch in batches for row in batch.column("raw").to_pylist()] == [
        [record] for record in RECORDS
    ]
    assert values(list(tfxio.RecordBatches(options._replace(shuffle=True)))) == values(batches)


def test_column_and_tensor(source: Source) -> None:
    tfxio, _ = source
    assert tfxio.raw_record_column_name == "raw"
    assert tfxio.ArrowSchema() == SCHEMA
    assert tfxio.TensorRepresentations() == TENSORS


@pytest.mark.parametrize(
    ("names", "tensors"), [(["raw"], TENSORS), (["raw", "raw"], TENSORS), ([], {})]
)
def test_projection_keeps_the_column(
    source: Source, names: list[str], tensors: dict[str, Any]
) -> None:
    tfxio, head = source
    projected = pickle.loads(pickle.dumps(tfxio.Project(names)))
    assert projected.ArrowSchema() == SCHEMA
    assert projected.TensorRepresentations() == tensors
    assert tfxio.TensorRepresentations() == TENSORS
    assert values(run(*head(), projected.BeamSource()).elements) == sorted([r] for r in RECORDS)


def test_there_is_no_other_tensor(source: Source) -> None:
    tfxio, _ = source
    with pytest.raises(ValueError, match=r"^Expected tensors among 'raw', found 'x'$"):
        tfxio.Project(["raw", "x"])
    with pytest.raises(ValueError, match=r"^Expected tensors among none at all, found 'raw'$"):
        tfxio.Project([]).Project(["raw"])
    with pytest.raises(ValueError, match=r"^Expected a list of tensors, found 'raw'"):
        tfxio.Project("raw")


def test_metrics_count_the_records(source: Source) -> None:
    tfxio, head = source
    physical = "memory" if head() else "tfrecords_gzip"
    prefix = f"LogicalFormat[bytes]-PhysicalFormat[{physical}]-"
    found = run(*head(), tfxio.BeamSource()).in_namespace("tfx.test.io")
    sizes = [len(record) for record in RECORDS]
    assert found[prefix + "num_raw_records"] == NUM_RECORDS
    assert found[prefix + "raw_record_byte_size"] == Distribution(
        NUM_RECORDS, sum(sizes), min(sizes), max(sizes)
    )
    assert found[prefix + "num_cells[STRING]"] == NUM_RECORDS


@pytest.mark.parametrize("name", [None, 3])
def test_column_needs_a_name(name: Any, tmp_path: pathlib.Path) -> None:
    text = r"^Expected raw_record_column_name to be the name of the column, found (None|3)$"
    with pytest.raises(ValueError, match=text):
        RawTfRecordTFXIO(tmp_path, name, None)
    with pytest.raises(ValueError, match=text):
        RawBeamRecordTFXIO("memory", name, None)


def test_files_need_a_pattern() -> None:
    with pytest.raises(ValueError, match=r"^Expected file_pattern"):
        RawTfRecordTFXIO([], "raw", ["test"])
