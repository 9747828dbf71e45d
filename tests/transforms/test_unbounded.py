"""Names of files that come one after another, without an end: each file is read and checked.

Of Beam's local runners only this one runs splittable functions in an unbounded pipeline.
"""

from __future__ import annotations

import pathlib
import time
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.transforms.window import FixedWindows, SlidingWindows

from tests.frames import framed
from tests.records.reading import flip
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA
from tests.tfxio.pipelines import run
from tests.transforms.apart import run_apart
from tfrecord_beam.errors import CoverageError, TFRecordBeamError
from tfrecord_beam.records.reader import RecordReader
from tfrecord_beam.transforms.read import BeamSource, RawRecordBeamSource

TIMES = 3


def arrivals(path: pathlib.Path) -> list[beam.PTransform[Any, Any]]:
    """Returns what names a file three times, a second apart, in an unbounded PCollection."""
    start = time.time() - 10
    impulses = PeriodicImpulse(start, start + TIMES - 0.5, fire_interval=1)
    return [impulses, beam.Map(lambda _, path: path, str(path))]


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "f").write_bytes(framed(*RECORDS))
    return tmp_path / "f"


def test_input_is_unbounded(file: pathlib.Path) -> None:
    head, name = arrivals(file)
    records = beam.Pipeline() | head | name | RawRecordBeamSource()
    assert not records.is_bounded


def test_each_arrival_is_read(file: pathlib.Path) -> None:
    raw = RawRecordBeamSource(desired_bundle_bytes=200)
    assert sorted(run(*arrivals(file), raw).elements) == sorted(RECORDS * TIMES)
    batches = run(*arrivals(file), BeamSource(schema=SCHEMA)).elements
    assert sum(batch.num_rows for batch in batches) == NUM_RECORDS * TIMES


@pytest.mark.parametrize(
    ("windows", "times"), [(FixedWindows(1), 1), (FixedWindows(100), 1), (SlidingWindows(4, 2), 2)]
)
def test_input_may_have_windows(file: pathlib.Path, windows: Any, times: int) -> None:
    raw = RawRecordBeamSource(desired_bundle_bytes=200)
    elements = run(*arrivals(file), beam.WindowInto(windows), raw).elements
    assert set(elements) == set(RECORDS)
    assert len(elements) in (NUM_RECORDS * TIMES, NUM_RECORDS * TIMES * times)


def test_coverage_is_checked(file: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = RecordReader.covered
    monkeypatch.setattr(
        RecordReader, "covered", lambda reader: real(reader)._replace(begin=1, end=50)
    )
    with pytest.raises(CoverageError, match=rf" - at {file}:\d+ "):
        run(*arrivals(file), RawRecordBeamSource())


def test_corrupt_records_go_aside(file: pathlib.Path) -> None:
    file.write_bytes(flip(file.read_bytes(), 0))
    good, corrupt, _ = run_apart(
        *arrivals(file), make=lambda handler: RawRecordBeamSource(error_handler=handler)
    )
    assert sorted(good) == sorted(RECORDS[1:] * TIMES)
    assert len(corrupt) == TIMES
    with pytest.raises(TFRecordBeamError, match=r"Expected at most 0 corrupt records, found \d"):
        run_apart(
            *arrivals(file),
            make=lambda handler: RawRecordBeamSource(error_handler=handler, max_corrupt_records=0),
        )
