"""Tests of tfrecord_beam.transforms.corrupt: where corrupt records go, and how many may."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.transforms.error_handling import ErrorHandler

from tests.frames import framed, header
from tests.records.reading import flip, frame_starts
from tests.tfxio.example_files import RECORDS, SCHEMA
from tests.transforms.apart import run_apart
from tests.wire import bytes_list, entry, example
from tfrecord_beam.errors import TFRecordBeamError
from tfrecord_beam.transforms.read import BeamSource, RawRecordBeamSource, ReadRecordBlocks

BAD = example(entry("id", bytes_list(b"7")))
MIXED = [*RECORDS[:5], BAD, *RECORDS[5:10]]
STARTS = frame_starts(MIXED)


@pytest.fixture
def files(tmp_path: pathlib.Path) -> pathlib.Path:
    """The folder of a good file and two damaged ones; each holds a record of another kind."""
    good = framed(*MIXED)
    (tmp_path / "a").write_bytes(good)
    (tmp_path / "b").write_bytes(flip(flip(good, STARTS[2]), STARTS[7] + 20))
    (tmp_path / "c.gz").write_bytes(gzip.compress(good[:-3]))
    return tmp_path


def ids(batches: list[Any]) -> list[int]:
    return sorted(value for batch in batches for value in batch["id"].flatten().to_pylist())


@pytest.mark.parametrize("desired_bundle_bytes", [None, 50, 200])
def test_frame_damage_and_undecodable_records_go_aside(
    files: pathlib.Path, desired_bundle_bytes: int | None
) -> None:
    good, corrupt, counters = run_apart(
        make=lambda handler: BeamSource(
            files, SCHEMA, error_handler=handler, desired_bundle_bytes=desired_bundle_bytes
        )
    )
    a, b, c = (str(files / name) for name in ("a", "b", "c.gz"))
    assert [(each.file, each.offset) for each in corrupt] == [
        (a, STARTS[5]),
        (b, STARTS[2]),
        (b, STARTS[5]),
        (b, STARTS[7]),
        (c, STARTS[5]),
        (c, STARTS[10]),
    ]
    reasons = [each.reason.split(" ")[0] for each in corrupt]
    assert reasons == ["Expected", "Length", "Expected", "Payload", "Expected", "Expected"]
    assert [each.length for each in corrupt[:4]] == [
        len(BAD),
        16 + len(MIXED[2]),
        len(BAD),
        16 + len(MIXED[7]),
    ]
    # Of file b the records 2 and 7 are missing, the latter of which is that of id 6; of c the last.
    assert ids(good) == sorted([*range(10), *(set(range(10)) - {2, 6}), *range(9)])
    assert counters["corrupt_records"] == 6


@pytest.mark.parametrize("source", [RawRecordBeamSource, ReadRecordBlocks])
def test_other_sources_set_frame_damage_aside(files: pathlib.Path, source: Any) -> None:
    good, corrupt, counters = run_apart(
        make=lambda handler: source(files, error_handler=handler, desired_bundle_bytes=100)
    )
    records = (
        good
        if source is RawRecordBeamSource
        else [record for block in good for record in block.records()]
    )
    kept = [record for i, record in enumerate(MIXED) if i not in (2, 7)]
    assert sorted(records) == sorted(MIXED + kept + MIXED[:-1])
    assert [each.offset for each in corrupt] == [STARTS[2], STARTS[7], STARTS[10]]
    assert counters["corrupt_records"] == 3


def test_nothing_goes_aside_of_good_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(framed(*RECORDS))
    good, corrupt, counters = run_apart(
        make=lambda handler: BeamSource(
            tmp_path, SCHEMA, error_handler=handler, max_corrupt_records=0
        )
    )
    assert (len(ids(good)), corrupt) == (len(RECORDS), [])
    assert "corrupt_records" not in counters


@pytest.mark.parametrize("most", [6, 7, 100])
def test_so_many_corrupt_records_are_allowed(files: pathlib.Path, most: int) -> None:
    _, corrupt, _ = run_apart(
        make=lambda handler: BeamSource(
            files, SCHEMA, error_handler=handler, max_corrupt_records=most
        )
    )
    assert len(corrupt) == 6


@pytest.mark.parametrize("most", [4, 5])
def test_more_corrupt_records_than_allowed_fail_the_pipeline(
    files: pathlib.Path, most: int
) -> None:
    expected = rf"Expected at most {most} corrupt records, found 6 \(the error handler got them"
    with pytest.raises(TFRecordBeamError, match=expected):
        run_apart(
            make=lambda handler: BeamSource(
                files, SCHEMA, error_handler=handler, max_corrupt_records=most
            )
        )


def test_range_with_more_corrupt_records_than_allowed_is_not_read_to_its_end(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "f").write_bytes(flip(flip(framed(b"a") * 50, 16), 16 + 17) + b"cut")
    with pytest.raises(TFRecordBeamError, match="Expected at most 1 corrupt record, found 2 "):
        run_apart(
            make=lambda handler: RawRecordBeamSource(
                tmp_path, error_handler=handler, max_corrupt_records=1
            )
        )


def test_length_that_is_not_there(tmp_path: pathlib.Path) -> None:
    (tmp_path / "f").write_bytes(framed(b"a") + header(2**40) + framed(b"b"))
    good, corrupt, _ = run_apart(
        make=lambda handler: RawRecordBeamSource(tmp_path, error_handler=handler)
    )
    assert sorted(good) == [b"a", b"b"]
    assert [(each.offset, each.length) for each in corrupt] == [(17, 12)]
    assert f"found a length of {2**40}" in corrupt[0].reason


def test_several_sources_may_share_a_handler(files: pathlib.Path) -> None:
    class Both(beam.PTransform[Any, Any]):
        def __init__(self, handler: ErrorHandler) -> None:
            super().__init__()
            self._handler = handler

        def expand(self, input_or_inputs: Any) -> Any:
            first = RawRecordBeamSource(
                files / "b", error_handler=self._handler, max_corrupt_records=2
            )
            second = RawRecordBeamSource(files / "c.gz", error_handler=self._handler)
            return (
                input_or_inputs | "First" >> first,
                input_or_inputs | "Second" >> second,
            ) | beam.Flatten()

    _, corrupt, _ = run_apart(make=Both)
    assert len(corrupt) == 3


@pytest.mark.parametrize("value", [-1, True, 1.5, "3"])
def test_limit_out_of_range(files: pathlib.Path, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^Expected max_corrupt_records .*, found {value!r}$"):
        BeamSource(files, error_handler=ErrorHandler(beam.Map(print)), max_corrupt_records=value)
