"""Several worker processes of one job: all of them read, and one of them dies."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import signal

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms.error_handling import ErrorHandler

from tests.engines.engine import Collect, Engine, collected
from tests.engines.holding import hold, when_held
from tests.frames import framed
from tests.records.reading import flip, frame_starts
from tests.records.writing.folders import paths_in, records_in
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tfrecord_beam import (
    BeamSource,
    InferSchema,
    ReadRecordBlocks,
    WriteToTFRecord,
    kernel,
    read_table,
)

RANGE_BYTES = 300


def with_process(batch: pa.RecordBatch) -> tuple[int, pa.RecordBatch]:
    return os.getpid(), batch


class Read(beam.PTransform):
    """Reads files in a process of its own: other resources are another environment."""

    def __init__(
        self, files: list[str], min_ram: str, error_handler: ErrorHandler | None = None
    ) -> None:
        super().__init__(f"Read {min_ram}")
        self._files = files
        self._error_handler = error_handler
        self.with_resource_hints(min_ram=min_ram)

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        source = BeamSource(
            self._files,
            SCHEMA,
            error_handler=self._error_handler,
            desired_bundle_bytes=RANGE_BYTES,
        )
        return pipeline | source | beam.Map(with_process)


def ids_of(batches: list[pa.RecordBatch]) -> list[int]:
    return sorted(value for batch in batches for [value] in batch["id"].to_pylist())


def test_two_processes_read_and_a_third_infers_and_writes(
    processes_engine: Engine, tmp_path: pathlib.Path
) -> None:
    files = [str(path) for path in write_files(tmp_path)]
    out, folders = tmp_path / "out", tmp_path / "folders"

    def build(pipeline: beam.Pipeline) -> None:
        parts = pipeline | Read(files[:1], "1MB"), pipeline | Read(files[1:], "2MB")
        read = parts | beam.Flatten()
        _ = read | "Processes" >> beam.Keys() | Collect(tmp_path / "processes")
        batches = read | beam.Values().with_output_types(pa.RecordBatch)
        _ = batches | Collect(tmp_path / "batches")
        _ = batches | InferSchema(int_domains=True) | Collect(tmp_path / "schemas")
        _ = batches | WriteToTFRecord(f"{out}/", SCHEMA, num_shards=3)
        by_id = WriteToTFRecord(f"{folders}/", SCHEMA, partition_by=["id"])
        _ = batches | "WriteFolders" >> by_id

    processes_engine.run(build)
    assert len({*collected(tmp_path / "processes"), os.getpid()}) >= 3
    ids = list(range(NUM_RECORDS))
    assert ids_of(collected(tmp_path / "batches")) == ids
    assert ids_of(read_table(out).to_batches()) == ids
    assert ids_of(read_table(folders, SCHEMA, partition_columns="hive").to_batches()) == ids
    assert len(paths_in(folders)) == NUM_RECORDS
    [schema] = collected(tmp_path / "schemas")
    [feature] = [feature for feature in schema.feature if feature.name == "id"]
    assert (feature.int_domain.min, feature.int_domain.max) == (0, NUM_RECORDS - 1)


def test_corrupt_records_of_two_processes(processes_engine: Engine, tmp_path: pathlib.Path) -> None:
    starts = frame_starts(RECORDS)
    damaged = flip(framed(*RECORDS), starts[7] + 12)
    files = [str(tmp_path / name) for name in ("a.tfrecord", "b.tfrecord")]
    for file in files:
        pathlib.Path(file).write_bytes(damaged)

    def build(pipeline: beam.Pipeline) -> None:
        with ErrorHandler(Collect(tmp_path / "corrupt")) as handler:
            parts = [
                pipeline | Read([file], min_ram, handler)
                for file, min_ram in zip(files, ("1MB", "2MB"))
            ]
            read = parts | "Both" >> beam.Flatten()
            _ = read | beam.Keys() | "Processes" >> Collect(tmp_path / "processes")
            _ = read | beam.Values() | "Batches" >> Collect(tmp_path / "batches")

    processes_engine.run(build)
    assert len({*collected(tmp_path / "processes"), os.getpid()}) >= 3
    assert sorted((found.file, found.offset) for found in collected(tmp_path / "corrupt")) == [
        (file, starts[7]) for file in files
    ]
    once = [i for i in range(len(RECORDS)) if i != 7]
    assert ids_of(collected(tmp_path / "batches")) == sorted(once * 2)


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
