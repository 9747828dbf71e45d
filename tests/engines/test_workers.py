"""Several worker processes of one job: all of them read, and one of them dies."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import signal

import apache_beam as beam
import pyarrow as pa

from tests.engines.engine import Collect, Engine, collected
from tests.engines.holding import hold, when_held
from tests.records.writing.folders import paths_in, records_in
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tfrecord_beam import BeamSource, ReadRecordBlocks, WriteToTFRecord, kernel, read_table

RANGE_BYTES = 300


def with_process(batch: pa.RecordBatch) -> tuple[int, pa.RecordBatch]:
    return os.getpid(), batch


class Read(beam.PTransform):
    """Reads files in a process of its own: other resources are another environment."""

    def __init__(self, files: list[str], min_ram: str) -> None:
        super().__init__(f"Read {min_ram}")
        self._files = files
        self.with_resource_hints(min_ram=min_ram)

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        source = BeamSource(self._files, SCHEMA, desired_bundle_bytes=RANGE_BYTES)
        return pipeline | source | beam.Map(with_process)


def test_two_processes_read_and_a_third_writes(
    processes_engine: Engine, tmp_path: pathlib.Path
) -> None:
    files = [str(path) for path in write_files(tmp_path)]
    out = tmp_path / "out"

    def build(pipeline: beam.Pipeline) -> None:
        parts = pipeline | Read(files[:1], "1MB"), pipeline | Read(files[1:], "2MB")
        read = parts | beam.Flatten()
        _ = read | "Processes" >> beam.Keys() | Collect(tmp_path / "processes")
        batches = read | beam.Values().with_output_types(pa.RecordBatch)
        _ = batches | Collect(tmp_path / "batches")
        _ = batches | WriteToTFRecord(f"{out}/", SCHEMA, num_shards=3)

    processes_engine.run(build)
    assert len({*collected(tmp_path / "processes"), os.getpid()}) >= 3
    ids = [
        value for batch in collected(tmp_path / "batches") for [value] in batch["id"].to_pylist()
    ]
    assert sorted(ids) == list(range(NUM_RECORDS))
    assert sorted(read_table(out).column("id").to_pylist()) == [[i] for i in range(NUM_RECORDS)]


def kill(processes: list[int]) -> None:
    os.kill(processes[0], signal.SIGKILL)


def test_process_that_is_killed(processes_engine: Engine, tmp_path: pathlib.Path) -> None:
    file, out = tmp_path / "a.tfrecord", tmp_path / "out"
    file.write_bytes(kernel.frame(RECORDS))
    hold_each = functools.partial(hold, folder=str(tmp_path / "holding"))

    def build(pipeline: beam.Pipeline) -> None:
        read = ReadRecordBlocks(file, batch_size=5, desired_bundle_bytes=RANGE_BYTES)
        records = pipeline | read | beam.FlatMap(hold_each).with_output_types(bytes)
        _ = records | WriteToTFRecord(f"{out}/", num_shards=2)

    with when_held(tmp_path / "holding", 1, kill):
        try:
            processes_engine.run(build)
        except RuntimeError as error:
            # Prism 2.77 starts no worker a second time: the job fails and has written nothing. If
            # it just sends to the worker that is gone, it fails by a fault of its own.
            assert re.search("SDK worker disconnected|send on closed channel", str(error))
            assert not [path for path in paths_in(out) if not path.startswith(".")]
            processes_engine.run(build)
    assert len(paths_in(out)) == 2
    assert sorted(records_in(out)) == sorted(RECORDS)
