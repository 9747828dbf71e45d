"""What grows with the number of files: time and peak memory of reading and of writing many.

Size: 1,000 to 100,000 files of ten census records are read, 100 to 10,000 shards of one record are
written. The first table is of the process that makes a pipeline: it must not grow with the files.
Each measurement is a new process.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

import tfrecord_beam
from tests.bench import beam_readers, generate_data, harness

_FILES = (1_000, 10_000, 100_000)
_SHARDS = (100, 1_000, 10_000)
_RECORDS = 10
"""Of each file that is read."""


def build(folder: Path) -> int:
    """Makes a pipeline that reads the files of a folder, and does not run it."""
    pipeline = beam.Pipeline(runner=FnApiRunner())
    _ = pipeline | tfrecord_beam.BeamSource(folder)
    pipeline.to_runner_api()
    return 1


def read(folder: Path) -> int:
    """Reads the files of a folder with `BeamSource`, and returns the number of records."""
    return beam_readers.count(tfrecord_beam.BeamSource(folder))


def iterate(folder: Path) -> int:
    """Reads the files of a folder with `iter_batches`, and returns the number of records."""
    return sum(batch.num_rows for batch in tfrecord_beam.iter_batches(folder))


def write(shards: int) -> int:
    """Writes so many shards with `WriteToTFRecord`, and returns their number."""
    with tempfile.TemporaryDirectory(prefix="tfrecord_beam_bench_") as folder:
        with beam.Pipeline(runner=FnApiRunner()) as pipeline:
            _ = (
                pipeline
                | beam.Impulse()
                | beam.FlatMap(_make_records, shards).with_output_types(bytes)
                | tfrecord_beam.WriteToTFRecord(f"{folder}/", num_shards=shards)
            )
        return sum(1 for _ in Path(folder).iterdir())


def _make_records(_: bytes, count: int) -> list[bytes]:
    return [b"%08d" % number for number in range(count)]


def _write_files(folder: Path, count: int) -> Path:
    """Writes so many files of `_RECORDS` records, and returns their folder."""
    files = folder / f"{count}-files"
    if not files.exists():
        data = generate_data.write_dataset("census", _RECORDS, folder).read_bytes()
        files.mkdir()
        for number in range(count):
            (files / f"{number:06}.tfrecord").write_bytes(data)
    return files


def measure(run: harness.Run) -> None:
    jobs: list[tuple[str, Callable[[Path], int], int]] = [
        ("make a pipeline that reads files", build, 0),
        ("read files with BeamSource", read, _RECORDS),
        ("read files with iter_batches", iterate, _RECORDS),
    ]
    for title, job, records in jobs:
        cases = []
        for count in dict.fromkeys(map(run.count, _FILES)):
            folder = _write_files(run.folder, count)
            size = sum(file.stat().st_size for file in folder.iterdir())
            cases.append(_case("files", count, functools.partial(job, folder), records, size))
        run.compare_memory(title, cases, axis="files")
    shards = dict.fromkeys(map(run.count, _SHARDS))
    writes = [_case("shards", count, functools.partial(write, count), 1, 0) for count in shards]
    run.compare_memory("write shards with WriteToTFRecord", writes, axis="shards")


def _case(
    unit: str, count: int, job: Callable[[], int], records_each: int, size: int
) -> harness.Case:
    name = f"{unit}: {count:,}"
    return harness.Case(name, job, count * records_each or 1, size, series=unit, x=count)


if __name__ == "__main__":
    harness.main(measure, __doc__)
