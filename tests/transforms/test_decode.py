"""Tests of tfrecord_beam.transforms.decode."""

from __future__ import annotations

import time
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.transforms.window import FixedWindows, IntervalWindow, Sessions, TimestampedValue

from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA
from tests.tfxio.pipelines import run
from tests.transforms.apart import run_apart
from tests.wire import bytes_list, entry, example
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.transforms import collect
from tfrecord_beam.transforms.decode import DecodeRecordBlocks, RawRecordToRecordBatch

BAD = example(entry("id", bytes_list(b"7")))


def ids(batches: list[pa.RecordBatch]) -> list[int]:
    return sorted(value for batch in batches for value in batch["id"].flatten().to_pylist())


@pytest.mark.parametrize("batch_size", [None, 1, 10, 1000])
def test_records_become_batches(batch_size: int | None) -> None:
    decode = RawRecordToRecordBatch(SCHEMA, batch_size=batch_size, raw_record_column_name="raw")
    batches = run(beam.Create(RECORDS, reshuffle=False), decode).elements
    assert ids(batches) == list(range(NUM_RECORDS))
    raw = [value for batch in batches for value in batch["raw"].flatten().to_pylist()]
    assert sorted(raw) == sorted(RECORDS)
    if batch_size is not None:
        counts = sorted(batch.num_rows for batch in batches)
        assert max(counts) <= batch_size
        assert counts[1:] == [batch_size] * (len(counts) - 1)


def test_batches_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "LIST_BYTES", 500)
    batches = run(beam.Create(RECORDS, reshuffle=False), RawRecordToRecordBatch(SCHEMA)).elements
    assert ids(batches) == list(range(NUM_RECORDS))
    assert len(batches) > 3


@pytest.mark.parametrize(("windows", "count"), [(FixedWindows(100), 1), (Sessions(100), 3)])
def test_sessions_make_batches_of_one_row(windows: Any, count: int) -> None:
    """Each record has a session window of its own until the sessions are grouped."""
    stamped: Any = beam.Map(lambda i: TimestampedValue(RECORDS[i], i))
    window_into: Any = beam.WindowInto(windows)
    source = beam.Create(range(3), reshuffle=False)
    batches = run(source, stamped, window_into, RawRecordToRecordBatch(SCHEMA)).elements
    assert (len(batches), ids(batches)) == (count, [0, 1, 2])


def test_no_records() -> None:
    assert run(beam.Create([]), RawRecordToRecordBatch(SCHEMA)).elements == []


def test_windows_do_not_mix() -> None:
    stamped: Any = beam.Map(lambda i: TimestampedValue(RECORDS[i], i * 10))
    windows: Any = beam.WindowInto(FixedWindows(100))
    source = beam.Create(range(30), reshuffle=False)
    batches = run(source, stamped, windows, RawRecordToRecordBatch(SCHEMA)).elements
    assert sorted(ids([batch]) for batch in batches) == [
        list(range(start, start + 10)) for start in (0, 10, 20)
    ]


def stamp(
    batch: pa.RecordBatch,
    timestamp: Any = beam.DoFn.TimestampParam,
    window: Any = beam.DoFn.WindowParam,
) -> tuple[int, list[int], Any]:
    return timestamp.seconds(), ids([batch]), window


def test_batches_have_the_earliest_time_of_their_records() -> None:
    stamped: Any = beam.Map(lambda i: TimestampedValue(RECORDS[i], 29 - i))
    windows: Any = beam.WindowInto(FixedWindows(20))
    source = beam.Create(range(5, 30), reshuffle=False)
    batches = run(source, stamped, windows, RawRecordToRecordBatch(SCHEMA), beam.Map(stamp))
    assert sorted(batches.elements) == [
        (0, [*range(10, 30)], IntervalWindow(0, 20)),
        (20, [*range(5, 10)], IntervalWindow(20, 40)),
    ]


def test_batches_of_an_unbounded_input_fall_into_windows_of_their_time() -> None:
    begin = time.time() // 10 * 10 - 20
    impulses = PeriodicImpulse(begin, begin + 4.5, fire_interval=1)
    take: Any = beam.Map(lambda moment: RECORDS[int(moment - begin)]).with_output_types(bytes)
    windows: Any = beam.WindowInto(FixedWindows(10))
    batches = run(impulses, take, RawRecordToRecordBatch(SCHEMA), windows, beam.Map(stamp)).elements
    assert sorted(number for _, numbers, _ in batches for number in numbers) == [*range(5)]
    for moment, numbers, window in batches:
        assert moment == begin + min(numbers)
        assert window.start == begin


def test_bad_record_is_an_error() -> None:
    with pytest.raises(DecodeError, match=r"Expected int64_list for feature 'id', found bytes_li"):
        run(beam.Create([*RECORDS, BAD]), RawRecordToRecordBatch(SCHEMA))


def test_bad_records_go_aside() -> None:
    good, corrupt, counters = run_apart(
        beam.Create([*RECORDS, BAD, b"\xff"], reshuffle=False),
        make=lambda handler: RawRecordToRecordBatch(SCHEMA, error_handler=handler),
    )
    assert ids(good) == list(range(NUM_RECORDS))
    assert sorted(each.sample for each in corrupt) == sorted([BAD, b"\xff"])
    assert {each.file for each in corrupt} == {None}
    assert counters["corrupt_records"] == 2


def test_batch_of_bad_records_only_is_none() -> None:
    good, corrupt, _ = run_apart(
        beam.Create([BAD, BAD]),
        make=lambda handler: RawRecordToRecordBatch(SCHEMA, error_handler=handler),
    )
    assert (good, len(corrupt)) == ([], 2)


@pytest.mark.parametrize("transform", [RawRecordToRecordBatch, DecodeRecordBlocks])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["lost"]}, "^Expected columns among 'name', 'id', .*, found 'lost'"),
        ({"raw_record_column_name": "id"}, "^Expected a raw-record column with a name of its own"),
        ({"max_corrupt_records": 1}, "^Expected error_handler beside max_corrupt_records"),
    ],
)
def test_options_are_checked_at_once(transform: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transform(SCHEMA, **options)


@pytest.mark.parametrize("batch_size", [0, -1, True, 1.0])
def test_batch_size_is_checked_at_once(batch_size: Any) -> None:
    with pytest.raises(ValueError, match=rf"^Expected batch_size .*found {batch_size!r}"):
        RawRecordToRecordBatch(SCHEMA, batch_size=batch_size)


def test_batches_of_empty_records_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record counts with its frame, in which it has 16 bytes more."""
    monkeypatch.setattr(collect, "LIST_BYTES", 160)
    source = beam.Create([b""] * 40, reshuffle=False)
    batches = run(source, RawRecordToRecordBatch(SCHEMA)).elements
    assert sum(batch.num_rows for batch in batches) == 40
    assert max(batch.num_rows for batch in batches) == 10


def test_batches_are_bounded_in_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfrecord_beam.records.decode.MAX_CELLS", 50)
    source = beam.Create(RECORDS, reshuffle=False)
    batches = run(source, RawRecordToRecordBatch(SCHEMA, batch_size=30)).elements
    assert ids(batches) == list(range(NUM_RECORDS))
    assert max(batch.num_rows * batch.num_columns for batch in batches) == 50
