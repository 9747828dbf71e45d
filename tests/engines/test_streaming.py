"""Files that are looked for again and again, on Prism."""

from __future__ import annotations

import pathlib
import time

import apache_beam as beam
import pytest
from apache_beam.io.fileio import MatchContinuously
from apache_beam.transforms.error_handling import ErrorHandler
from apache_beam.transforms.window import FixedWindows

from tests.engines.engine import Collect, Engine, collected
from tests.frames import framed
from tests.records.reading import flip, frame_starts
from tests.records.writing.folders import paths_in
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tfrecord_beam import BeamSource, WriteToTFRecord, read_table

POLLS = 3
POLL_SECONDS = 0.5
RANGE_BYTES = 300


def match(folder: pathlib.Path, *, has_deduplication: bool = True) -> MatchContinuously:
    """Gives the files in a folder, which it looks at `POLLS` times."""
    start = time.time()
    return MatchContinuously(
        str(folder / "*.tfrecord*"),
        interval=POLL_SECONDS,
        start_timestamp=start,
        stop_timestamp=start + POLLS * POLL_SECONDS,
        has_deduplication=has_deduplication,
    )


@pytest.mark.parametrize(("has_deduplication", "times"), [(True, 1), (False, POLLS)])
def test_each_match_is_read_once(
    prism_engine: Engine, tmp_path: pathlib.Path, has_deduplication: bool, times: int
) -> None:
    write_files(tmp_path)

    def build(pipeline: beam.Pipeline) -> None:
        files = pipeline | match(tmp_path, has_deduplication=has_deduplication)
        assert not files.is_bounded
        source = BeamSource(schema=SCHEMA, columns=["id"], desired_bundle_bytes=RANGE_BYTES)
        _ = files | source | Collect(tmp_path / "batches")

    prism_engine.run(build, "--streaming")
    ids = [
        value for batch in collected(tmp_path / "batches") for [value] in batch["id"].to_pylist()
    ]
    assert sorted(ids) == sorted([*range(NUM_RECORDS)] * times)


def test_what_is_read_is_written_in_windows(prism_engine: Engine, tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    damaged = flip(framed(*RECORDS[:3]), frame_starts(RECORDS)[1] + 12)
    (tmp_path / "damaged.tfrecord").write_bytes(damaged)

    def build(pipeline: beam.Pipeline) -> None:
        with ErrorHandler(Collect(tmp_path / "corrupt")) as error_handler:
            source = BeamSource(
                schema=SCHEMA, error_handler=error_handler, desired_bundle_bytes=RANGE_BYTES
            )
            _ = (
                pipeline
                | match(tmp_path)
                | source
                | beam.WindowInto(FixedWindows(POLL_SECONDS))
                | WriteToTFRecord(tmp_path / "out" / "a", SCHEMA, num_shards=2)
                | Collect(tmp_path / "written")
            )

    prism_engine.run(build, "--streaming")
    ids = read_table(tmp_path / "out", columns=["id"])["id"].to_pylist()
    assert sorted(ids) == sorted([[i] for i in [*range(NUM_RECORDS), 0, 2]])
    written = collected(tmp_path / "written")
    assert {file.path for file in written} == {
        str(tmp_path / "out" / path) for path in paths_in(tmp_path / "out")
    }
    assert sum(file.num_records for file in written) == NUM_RECORDS + 2
    [corrupt] = collected(tmp_path / "corrupt")
    assert corrupt.offset == frame_starts(RECORDS)[1]


def test_coverage_error(prism_engine: Engine, tmp_path: pathlib.Path) -> None:
    # See the test of this name in test_failures.py.
    file = tmp_path / "nested.tfrecord"
    file.write_bytes(framed(framed(*RECORDS), *RECORDS))

    def build(pipeline: beam.Pipeline) -> None:
        with ErrorHandler(Collect(tmp_path / "corrupt")) as error_handler:
            source = BeamSource(error_handler=error_handler, desired_bundle_bytes=RANGE_BYTES)
            _ = pipeline | match(tmp_path) | source

    with pytest.raises(RuntimeError) as failure:
        prism_engine.run(build, "--streaming")
    assert "CoverageError: Expected ranges that follow on each other, found " in str(failure.value)
    assert f"records were lost or read twice - at {file}:" in str(failure.value)
