"""Files that are looked for again and again, on Prism."""

from __future__ import annotations

import pathlib
import time

import apache_beam as beam
import pytest
from apache_beam.io.fileio import MatchContinuously
from apache_beam.transforms.error_handling import ErrorHandler

from tests.engines.engine import Collect, Engine, collected
from tests.frames import framed
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tfrecord_beam import BeamSource

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
