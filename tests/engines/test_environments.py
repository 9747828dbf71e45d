"""Stages of one pipeline in worker processes of their own: everything between them is encoded."""

from __future__ import annotations

import os
import pathlib

import apache_beam as beam
import pyarrow as pa

from tests.engines.engine import Collect, Engine, collected
from tests.tfxio.example_files import NUM_RECORDS, SCHEMA, write_files
from tfrecord_beam import DecodeRecordBlocks, ReadRecordBlocks


def add_process(batch: pa.RecordBatch, column: str) -> pa.RecordBatch:
    """Adds a column with the number of the process that calls this."""
    numbers = pa.array([os.getpid()] * batch.num_rows)
    return pa.RecordBatch.from_arrays([*batch.columns, numbers], [*batch.schema.names, column])


def add_process_step(column: str) -> beam.PTransform:
    return f"Add {column}" >> beam.Map(add_process, column).with_output_types(pa.RecordBatch)


class Decode(beam.PTransform):
    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return blocks | DecodeRecordBlocks(SCHEMA, columns=["id"]) | add_process_step("decoder")


def test_processes_that_read_decode_and_collect(
    pool_engine: Engine, tmp_path: pathlib.Path
) -> None:
    # Other resources are another environment, for which Prism asks for another process.
    write_files(tmp_path)
    read = ReadRecordBlocks(tmp_path, desired_bundle_bytes=300)
    pool_engine.run(
        lambda pipeline: (
            pipeline
            | read.with_resource_hints(min_ram="1MB")
            | Decode().with_resource_hints(min_ram="2MB")
            | add_process_step("collector")
            | Collect(tmp_path / "batches")
        )
    )
    rows = [row for batch in collected(tmp_path / "batches") for row in batch.to_pylist()]
    assert sorted(row["id"] for row in rows) == [[i] for i in range(NUM_RECORDS)]
    [(decoder, collector)] = {(row["decoder"], row["collector"]) for row in rows}
    assert len({decoder, collector, os.getpid()}) == 3
