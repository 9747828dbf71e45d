"""Stages of one pipeline in worker processes of their own: everything between them is encoded."""

from __future__ import annotations

import os
import pathlib

import apache_beam as beam
import pyarrow as pa

from tests.engines.engine import Collect, Engine, collected
from tests.tfxio.example_files import NUM_RECORDS, SCHEMA, write_files
from tfrecord_beam import DecodeRecordBlocks, ReadRecordBlocks


def with_pid(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Adds a column with the number of the process that calls this."""
    pids = pa.array([os.getpid()] * batch.num_rows)
    return pa.RecordBatch.from_arrays(
        [*batch.columns, pids], [*batch.schema.names, str(batch.num_columns)]
    )


def test_processes_that_read_decode_and_collect(
    pool_engine: Engine, tmp_path: pathlib.Path
) -> None:
    # Each resource hint makes an environment of its own, for which Prism asks for a process.
    write_files(tmp_path)
    reading = ReadRecordBlocks(tmp_path, desired_bundle_bytes=300)
    decoding = DecodeRecordBlocks(SCHEMA, columns=["id"])
    pool_engine.run(
        lambda pipeline: pipeline
        | reading.with_resource_hints(min_ram="1MB")
        | decoding.with_resource_hints(min_ram="2MB")
        | "Decoded" >> beam.Map(with_pid).with_output_types(pa.RecordBatch).with_resource_hints(min_ram="2MB")
        | "Collected" >> beam.Map(with_pid).with_output_types(pa.RecordBatch)
        | Collect(tmp_path / "batches")
    )
    rows = [row for batch in collected(tmp_path / "batches") for row in batch.to_pylist()]
    assert sorted(row["id"] for row in rows) == [[i] for i in range(NUM_RECORDS)]
    print({(row["1"],row["2"]) for row in rows}, os.getpid())
    assert 0
