"""Sources that users put together themselves, and records of files."""

from __future__ import annotations

import pathlib

import apache_beam as beam
import pyarrow as pa
import pytest

from tests.tfxio.example_files import NUM_RECORDS, RECORDS, write_files
from tests.tfxio.pipelines import run
from tfrecord_beam.tfxio.record_based_tfxio import (
    OverridableRecordBasedTFXIO,
    ReadTfRecord,
)


def to_batch(record: bytes) -> pa.RecordBatch:
    return pa.record_batch({"length": [[len(record)]]})


def test_source_of_two_transforms() -> None:
    sizes = []

    def make_batches(batch_size: int | None) -> beam.PTransform[bytes, pa.RecordBatch]:
        sizes.append(batch_size)
        return beam.Map(to_batch).with_output_types(pa.RecordBatch)

    tfxio = OverridableRecordBasedTFXIO(
        ["test"], "mine", "memory", lambda: beam.Create(RECORDS), make_batches
    )
    result = run(tfxio.BeamSource(3))
    assert sizes == [3]
    lengths = sorted(batch.column("length")[0].as_py()[0] for batch in result.elements)
    assert lengths == sorted(map(len, RECORDS))
    name = "LogicalFormat[mine]-PhysicalFormat[memory]-num_raw_records"
    assert result.in_namespace("tfx.test.io")[name] == NUM_RECORDS
    for ask, what in (
        (tfxio.ArrowSchema, "columns"),
        (tfxio.TensorRepresentations, "tensors"),
        (lambda: tfxio.Project(["a"]), "tensors"),
    ):
        with pytest.raises(NotImplementedError, match=rf"TFXIO does not know its {what}$"):
            ask()


def test_records_of_files(tmp_path: pathlib.Path) -> None:
    assert sorted(run(ReadTfRecord(write_files(tmp_path))).elements) == sorted(RECORDS)
