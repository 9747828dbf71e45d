"""What all TFXIO classes share, on small classes made for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest

from tests.tfxio.pipelines import run
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions
from tfrecord_beam.tfxio.record_based_tfxio import RecordBasedTFXIO
from tfrecord_beam.tfxio.tfxio import TFXIO, _ProjectedTFXIO


class Lines(RecordBasedTFXIO):
    """Records that are words, with a column for each tensor that holds the word's length."""

    def __init__(self, tensors: Sequence[str], raw_record_column_name: str | None = None) -> None:
        super().__init__(["test"], "words", "memory", raw_record_column_name)
        self.tensors = tensors

    def SupportAttachingRawRecords(self) -> bool:
        return True

    def TensorRepresentations(self) -> TensorRepresentations:
        return dict.fromkeys(self.tensors)

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        return pa.schema([(name, pa.int64()) for name in self.tensors])

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return beam.Create([b"one", b"three"])

    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        tensors = self.tensors

        def to_batch(word: bytes) -> pa.RecordBatch:
            return pa.record_batch({name: [len(word)] for name in tensors})

        return beam.Map(to_batch).with_output_types(pa.RecordBatch)

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        return Lines(tensor_names, self.raw_record_column_name)


class WithoutRawColumn(Lines):
    """The same, but it cannot have a raw-record column."""

    def SupportAttachingRawRecords(self) -> bool:
        return False


def test_projection_keeps_the_first_origin() -> None:
    lines = Lines(["a", "b", "c"])
    once = lines.Project(["a", "b"])
    twice = once.Project(["b"])
    assert isinstance(once, _ProjectedTFXIO)
    assert isinstance(twice, _ProjectedTFXIO)
    assert once.origin is twice.origin is lines
    assert isinstance(twice.projected, Lines)
    assert list(once.TensorRepresentations()) == ["a", "b"]
    assert list(twice.TensorRepresentations()) == ["b"]
    assert twice.ArrowSchema().names == ["b"]


def test_projection_is_read_as_projected() -> None:
    result = run(Lines(["a", "b"]).Project(["b"]).BeamSource())
    assert sorted(batch.to_pydict()["b"] for batch in result.elements) == [[3], [5]]
    assert all(batch.schema.names == ["b"] for batch in result.elements)


def test_raw_record_column_comes_last_in_the_schema() -> None:
    assert Lines(["a"], "raw").ArrowSchema() == pa.schema(
        {"a": pa.int64(), "raw": pa.large_list(pa.large_binary())}
    )
    with pytest.raises(ValueError, match=r"^Expected a raw-record column with a name of its own"):
        Lines(["a", "raw"], "raw").ArrowSchema()


def test_raw_record_column_is_refused_where_there_is_none() -> None:
    with pytest.raises(ValueError, match=r"^Expected no raw_record_column_name for WithoutRawCol"):
        WithoutRawColumn(["a"], "raw")


def test_properties() -> None:
    lines = Lines(["a"], "raw")
    assert lines.raw_record_column_name == "raw"
    assert lines.telemetry_descriptors == ["test"]


def test_class_that_reads_only_with_beam_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"^Lines reads record batches only with Beam"):
        Lines(["a"]).RecordBatches(RecordBatchesOptions(2))
    with pytest.raises(NotImplementedError, match=r"^Lines reads"):
        Lines(["a"]).Project([]).RecordBatches(RecordBatchesOptions(2))


def test_source_is_the_chain_of_its_parts_and_counts_them() -> None:
    lines = Lines(["a"])
    whole = run(lines.BeamSource(3))
    parts = run(lines.RawRecordBeamSource(), lines.RawRecordToRecordBatch(3))
    for result in (whole, parts):
        assert sorted(batch.to_pydict()["a"] for batch in result.elements) == [[3], [5]]
        metrics = result.in_namespace("tfx.test.io")
        assert metrics["LogicalFormat[words]-PhysicalFormat[memory]-num_raw_records"] == 2
        assert metrics["LogicalFormat[words]-PhysicalFormat[memory]-num_cells[OTHER]"] == 2
        assert result.in_namespace("tfx.test")["desired_batch_size"] == 3


def test_labels_are_those_of_the_methods_and_can_be_given() -> None:
    lines = Lines(["a"])
    assert lines.BeamSource().label == "BeamSource"
    assert lines.RawRecordBeamSource().label == "RawRecordBeamSource"
    assert lines.RawRecordToRecordBatch().label == "RawRecordToRecordBatch"
    result = run(
        lines.RawRecordBeamSource(),
        beam.Filter(lambda word: len(word) > 3).with_output_types(bytes),
        "Again" >> lines.RawRecordToRecordBatch(),
    )
    assert [batch.to_pydict() for batch in result.elements] == [{"a": [5]}]
