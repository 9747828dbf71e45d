"""Files that are looked for again and again, on Prism."""

from __future__ import annotations

import pathlib
import time

import apache_beam as beam
import pytest
from apache_beam.io.fileio import MatchContinuously

from tests.engines.engine import Collect, Engine, collected
from tests.frames import framed
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tfrecord_beam import BeamSource

POLLS = 3
POLL_SECONDS = 0.5


def read_matches(
    engine: Engine, folder: pathlib.Path, source: BeamSource, *, has_deduplication: bool
) -> list[int]:
    """Returns the column `id` of the files in a folder, which is looked at `POLLS` times."""
    start = time.time()

    def build(pipeline: beam.Pipeline) -> None:
        files = pipeline | MatchContinuously(
            str(folder / "*.tfrecord*"),
            interval=POLL_SECONDS,
            start_timestamp=start,
            stop_timestamp=start + POLLS * POLL_SECONDS,
            has_deduplication=has_deduplication,
        )
        assert not files.is_bounded
        _ = files | source | Collect(folder / "batches")

    engine.run(build, "--streaming")
    batches = collected(folder / "batches")
    return sorted(value for batch in batches for [value] in batch["id"].to_pylist())


@pytest.mark.parametrize(("has_deduplication", "times"), [(True, 1), (False, POLLS)])
def test_each_match_is_read_once(
    engine: Engine, tmp_path: pathlib.Path, has_deduplication: bool, times: int
) -> None:
    write_files(tmp_path)
    source = BeamSource(schema=SCHEMA, columns=["id"], desired_bundle_bytes=300)
    ids = read_matches(engine, tmp_path, source, has_deduplication=has_deduplication)
    assert ids == sorted(list(range(NUM_RECORDS)) * times)


def test_coverage_error(engine: Engine, tmp_path: pathlib.Path) -> None:
    # No CRC is looked at behind the first record of a range, so ...
    file = tmp_path / "nested.tfrecord"
    file.write_bytes(framed(framed(*RECORDS), *RECORDS))
    source = BeamSource(schema=SCHEMA, columns=["id"], desired_bundle_bytes=300)
    with pytest.raises(RuntimeError) as failure:
        read_matches(engine, tmp_path, source, has_deduplication=True)
    assert "CoverageError: Expected ranges that follow on each other, found " in str(failure.value)
