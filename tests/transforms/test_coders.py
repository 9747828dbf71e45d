"""Tests of tfrecord_beam.transforms.coders."""

from __future__ import annotations

import pathlib
import warnings

import apache_beam as beam
import pyarrow as pa
import pytest

from tests.frames import framed
from tests.records.reading import FILE, read_blocks
from tests.tfxio.example_files import RECORDS, SCHEMA
from tests.tfxio.pipelines import run
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.transforms.coders import RecordBatchCoder, RecordBlockCoder
from tfrecord_beam.transforms.read import BeamSource, ReadRecordBlocks

LARGE = pa.record_batch(
    {"a": pa.array([[i, i + 1] for i in range(100_000)], pa.large_list(pa.int64()))}
)


@pytest.mark.parametrize(
    "batch",
    [
        LARGE,
        LARGE.slice(70_000, 10),
        LARGE.slice(0, 0),
        pa.record_batch([], schema=pa.schema([])),
        pa.record_batch({"n": pa.nulls(3), "b": [[b"x"], None, []]}),
    ],
    ids=["large", "slice", "no rows", "no columns", "nulls"],
)
def test_batch_survives(batch: pa.RecordBatch) -> None:
    coder = RecordBatchCoder()
    copy = coder.decode(coder.encode(batch))
    assert copy.equals(batch, check_metadata=True)
    copy.validate(full=True)
    assert all(column.offset == 0 for column in copy.columns)


def test_rows_without_columns_survive() -> None:
    batch = LARGE.select([])
    coder = RecordBatchCoder()
    assert coder.decode(coder.encode(batch)).num_rows == batch.num_rows == 100_000


def test_slice_of_a_large_batch_is_small() -> None:
    assert len(RecordBatchCoder().encode(LARGE.slice(70_000, 10))) < 1000


def test_size_is_estimated() -> None:
    encoded = len(RecordBatchCoder().encode(LARGE))
    assert abs(RecordBatchCoder().estimate_size(LARGE) - encoded) < 0.1 * encoded
    [block] = read_blocks(framed(*RECORDS))
    encoded = len(RecordBlockCoder().encode(block))
    assert abs(RecordBlockCoder().estimate_size(block) - encoded) < 0.2 * encoded


def test_block_survives() -> None:
    data = framed(*RECORDS)
    [block] = read_blocks(data)
    block = block.until(500)
    coder = RecordBlockCoder()
    encoded = coder.encode(block)
    copy = coder.decode(encoded)
    assert list(copy.records()) == list(block.records())
    assert (copy.file, copy.first_record) == (FILE, 0)
    for index in range(block.num_records):
        assert copy.offset_of(index) == block.offset_of(index)
    assert len(encoded) < len(data)  # What does not belong to the block is left out.
    assert list(coder.decode(coder.encode(block.until(0))).records()) == []


@pytest.mark.parametrize(
    ("type_", "coder"), [(pa.RecordBatch, RecordBatchCoder), (RecordBlock, RecordBlockCoder)]
)
def test_coders_are_registered(type_: type, coder: type) -> None:
    found = beam.coders.registry.get_coder(type_)
    assert isinstance(found, coder)
    assert found.to_type_hint() is type_
    assert not found.is_deterministic()


@pytest.mark.skipif(
    tuple(map(int, beam.__version__.split(".")[:2])) < (2, 66),
    reason="before 2.66 Beam's Reshuffle does not use the coder of its elements' type",
)
def test_batches_are_encoded_by_it(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes(framed(*RECORDS))
    encoded: list[int] = []
    real = RecordBatchCoder.encode

    def encode(self: RecordBatchCoder, value: pa.RecordBatch) -> bytes:
        encoded.append(value.num_rows)
        return real(self, value)

    monkeypatch.setattr(RecordBatchCoder, "encode", encode)
    run(BeamSource(tmp_path, SCHEMA), beam.Reshuffle())
    assert len(RECORDS) in encoded


def test_pipeline_does_not_fall_back_to_pickling(tmp_path: pathlib.Path) -> None:
    (tmp_path / "f").write_bytes(framed(*RECORDS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batches = run(BeamSource(tmp_path, SCHEMA), beam.Reshuffle()).elements
        blocks = run(ReadRecordBlocks(tmp_path), beam.Reshuffle()).elements
    assert sum(batch.num_rows for batch in batches) == len(RECORDS)
    assert [record for block in blocks for record in block.records()] == RECORDS
