"""The reading path on Prism: each record once and as it was written, with workers here or apart."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import pyarrow as pa

from tests.engines.engine import Collect, Engine, collected
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tfrecord_beam import (
    BeamSource,
    DecodeRecordBlocks,
    RawRecordBeamSource,
    RawRecordToRecordBatch,
    ReadRecordBlocks,
)

RANGE_BYTES = 300
"""Makes more than twenty ranges of the plain files."""

COLUMNS = ["score", "id", "name"]

ROWS: list[dict[str, Any]] = [
    {
        "score": [i / 2] * (i % 3) if i % 5 else None,
        "id": [i],
        "name": [b"name %d" % i] * (i % 4 - 1) if i % 4 else None,
        "raw": [RECORDS[i]],
    }
    for i in range(NUM_RECORDS)
]
"""What the columns hold, and the raw-record column `raw`, record by record."""

LARGE_BINARY = pa.large_list(pa.large_binary())
TYPES = [pa.large_list(pa.float32()), pa.large_list(pa.int64()), LARGE_BINARY, LARGE_BINARY]


def check_batches(batches: list[pa.RecordBatch], most_rows: int) -> None:
    """Checks that the batches hold `ROWS`."""
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert sorted(rows, key=lambda row: row["id"]) == ROWS
    for batch in batches:
        assert batch.schema.names == [*COLUMNS, "raw"]
        assert batch.schema.types == TYPES
        assert 0 < batch.num_rows <= most_rows


def test_batches_of_plain_and_compressed_files(engine: Engine, tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    source = BeamSource(
        tmp_path / "*.tfrecord*",
        SCHEMA,
        columns=COLUMNS,
        raw_record_column_name="raw",
        batch_size=4,
        desired_bundle_bytes=RANGE_BYTES,
    )
    engine.run(lambda pipeline: pipeline | source | Collect(tmp_path / "batches"))
    check_batches(collected(tmp_path / "batches"), 4)


def test_batches_of_files_named_by_elements(engine: Engine, tmp_path: pathlib.Path) -> None:
    paths = [str(path) for path in write_files(tmp_path)]
    source = BeamSource(
        schema=SCHEMA,
        columns=COLUMNS,
        raw_record_column_name="raw",
        desired_bundle_bytes=RANGE_BYTES,
    )
    engine.run(
        lambda pipeline: pipeline | beam.Create(paths) | source | Collect(tmp_path / "batches")
    )
    check_batches(collected(tmp_path / "batches"), NUM_RECORDS)


def test_raw_records(engine: Engine, tmp_path: pathlib.Path) -> None:
    paths = [str(path) for path in write_files(tmp_path)]
    source = RawRecordBeamSource(paths, with_filename=True, desired_bundle_bytes=RANGE_BYTES)
    engine.run(lambda pipeline: pipeline | source | Collect(tmp_path / "records"))
    files = [*[paths[0]] * 30, *[paths[1]] * 20, *[paths[3]] * 7]
    assert sorted(collected(tmp_path / "records")) == sorted(zip(files, RECORDS))


def test_raw_records_to_batches(engine: Engine, tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    decode = RawRecordToRecordBatch(
        SCHEMA, columns=COLUMNS, raw_record_column_name="raw", batch_size=5
    )
    engine.run(
        lambda pipeline: (
            pipeline
            | RawRecordBeamSource(tmp_path, desired_bundle_bytes=RANGE_BYTES)
            | "Shuffle" >> beam.Reshuffle()
            | decode
            | Collect(tmp_path / "batches")
        )
    )
    check_batches(collected(tmp_path / "batches"), 5)


def test_blocks_and_batches_cross_between_stages(engine: Engine, tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    engine.run(
        lambda pipeline: (
            pipeline
            | ReadRecordBlocks(tmp_path, batch_size=3, desired_bundle_bytes=RANGE_BYTES)
            | "ShuffleBlocks" >> beam.Reshuffle()
            | DecodeRecordBlocks(SCHEMA, columns=COLUMNS, raw_record_column_name="raw")
            | "ShuffleBatches" >> beam.Reshuffle()
            | Collect(tmp_path / "batches")
        )
    )
    check_batches(collected(tmp_path / "batches"), 3)
