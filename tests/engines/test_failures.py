"""Errors and corrupt records on Prism: they reach the user, with the place that they speak of."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable

import apache_beam as beam
import pytest
from apache_beam.transforms.error_handling import ErrorHandler

from tests.engines.engine import Collect, Engine, collected
from tests.frames import framed
from tests.records.reading import flip, frame_starts
from tests.tfxio.example_files import RECORDS, SCHEMA
from tests.wire import bytes_list, entry, example
from tfrecord_beam import BeamSource, CorruptRecord, RawRecordBeamSource

RANGE_BYTES = 300
STARTS = frame_starts(RECORDS)
DAMAGED = (5, 40)
"""Records whose payloads are damaged in `write_damaged`."""

OF_ANOTHER_KIND = example(entry("id", bytes_list(b"seven")))


def write_damaged(path: pathlib.Path) -> None:
    data = framed(*RECORDS)
    for record in DAMAGED:
        data = flip(data, STARTS[record] + 12)
    path.write_bytes(data)


def read_ids(
    engine: Engine, file: pathlib.Path, *, max_corrupt_records: int | None = None
) -> tuple[list[int], list[CorruptRecord], dict[str, int]]:
    """Returns the column `id`, what the error handler got, and the counters."""

    def build(pipeline: beam.Pipeline) -> None:
        with ErrorHandler(Collect(corrupt)) as error_handler:
            _ = (
                pipeline
                | BeamSource(
                    file,
                    SCHEMA,
                    columns=["id"],
                    error_handler=error_handler,
                    max_corrupt_records=max_corrupt_records,
                    desired_bundle_bytes=RANGE_BYTES,
                )
                | Collect(batches)
            )

    corrupt, batches = file.with_suffix(".corrupt"), file.with_suffix(".batches")
    counters = engine.run(build)
    ids = [value for batch in collected(batches) for [value] in batch["id"].to_pylist()]
    return sorted(ids), sorted(collected(corrupt), key=lambda found: found.offset), counters


def without(missing: Iterable[int]) -> list[int]:
    return sorted(set(range(len(RECORDS))) - set(missing))


def test_corrupt_records_go_aside(engine: Engine, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "damaged.tfrecord"
    write_damaged(file)
    ids, corrupt, _ = read_ids(engine, file, max_corrupt_records=len(DAMAGED))
    assert ids == without(DAMAGED)
    assert [(found.file, found.offset) for found in corrupt] == [
        (str(file), STARTS[record]) for record in DAMAGED
    ]
    for found in corrupt:
        assert found.reason.startswith("Payload CRC mismatch: stored 0x")


def test_undecodable_records_go_aside(engine: Engine, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "mixed.tfrecord"
    file.write_bytes(framed(*RECORDS, OF_ANOTHER_KIND))
    ids, corrupt, counters = read_ids(engine, file)
    assert ids == without([])
    [found] = corrupt
    assert found.offset == STARTS[-1]
    assert found.reason == "Expected int64_list for feature 'id', found bytes_list"
    assert found.sample == OF_ANOTHER_KIND
    assert counters["corrupt_records"] == 1


def test_too_many_corrupt_records(engine: Engine, tmp_path: pathlib.Path) -> None:
    write_damaged(tmp_path / "damaged.tfrecord")
    with pytest.raises(RuntimeError, match=r"TFRecordBeamError: Expected at most 1 corrupt "):
        read_ids(engine, tmp_path / "damaged.tfrecord", max_corrupt_records=1)


def test_corrupt_record_error(engine: Engine, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "damaged.tfrecord"
    write_damaged(file)
    source = RawRecordBeamSource(file)
    with pytest.raises(RuntimeError) as failure:
        engine.run(lambda pipeline: pipeline | source)
    assert "CorruptRecordError: Payload CRC mismatch: stored 0x" in str(failure.value)
    assert f" - at {file}:{STARTS[DAMAGED[0]]}" in str(failure.value)


def test_decode_error(engine: Engine, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "mixed.tfrecord"
    file.write_bytes(framed(*RECORDS, OF_ANOTHER_KIND))
    source = BeamSource(file, SCHEMA)
    with pytest.raises(RuntimeError) as failure:
        engine.run(lambda pipeline: pipeline | source)
    assert (
        "DecodeError: Expected int64_list for feature 'id', found bytes_list - at "
        f"{file}:{STARTS[-1]}" in str(failure.value)
    )


def test_coverage_error(engine: Engine, tmp_path: pathlib.Path) -> None:
    # Ranges that begin in the first record find the records in it and read them once more. Its CRC
    # behind them is no record, but that goes aside: only the coverage tells.
    file = tmp_path / "nested.tfrecord"
    file.write_bytes(framed(framed(*RECORDS), *RECORDS))
    with pytest.raises(RuntimeError) as failure:
        read_ids(engine, file)
    assert "CoverageError: Expected ranges that follow on each other, found " in str(failure.value)
    assert f"records were lost or read twice - at {file}:" in str(failure.value)
