"""What workers write to their logs."""

from __future__ import annotations

import logging
import pathlib

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.error_handling import ErrorHandler

from tests.frames import framed
from tests.records.reading import flip, frame_starts
from tests.records.writing.folders import paths_in
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import run
from tfrecord_beam import BeamSource, WriteToTFRecord


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "tfrecord_beam")
    return caplog


def lines(log: pytest.LogCaptureFixture) -> list[str]:
    ours = (record for record in log.records if record.name.startswith("tfrecord_beam"))
    return sorted(record.getMessage() for record in ours)


def test_each_file_is_named_once(tmp_path: pathlib.Path, log: pytest.LogCaptureFixture) -> None:
    """Whatever the number of its ranges, blocks, batches and records."""
    (tmp_path / "in").mkdir()
    files = write_files(tmp_path / "in")
    source = BeamSource(tmp_path / "in", SCHEMA, batch_size=2, desired_bundle_bytes=100)
    written = run(source, WriteToTFRecord(f"{tmp_path}/out/", num_shards=2)).elements
    assert sum(file.num_records for file in written) == NUM_RECORDS
    assert {file.path for file in written} == {
        str(tmp_path / "out" / path) for path in paths_in(tmp_path / "out")
    }
    assert lines(log) == [
        *sorted(f"Reading {file}" for file in files),
        *sorted(f"Wrote {f.path}: {f.num_records} records, {f.num_bytes} bytes" for f in written),
    ]


def test_corrupt_records_are_not_named(
    tmp_path: pathlib.Path, log: pytest.LogCaptureFixture
) -> None:
    """They go to the error handler; there may be millions."""
    file = tmp_path / "a.tfrecord"
    data = framed(*RECORDS)
    for start in frame_starts(RECORDS)[1:9]:
        data = flip(data, start + 12)
    file.write_bytes(data)
    with beam.Pipeline(runner=FnApiRunner()) as pipeline, ErrorHandler(beam.Map(id)) as handler:
        _ = pipeline | BeamSource(file, error_handler=handler)
    assert lines(log) == [f"Reading {file}"]
