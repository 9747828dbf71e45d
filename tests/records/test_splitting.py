"""Every record exactly once, wherever a file is cut, before it is read or while it is."""

from __future__ import annotations

import gzip
import itertools
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from apache_beam.io import iobase, source_test_utils
from apache_beam.io.range_trackers import OffsetRangeTracker
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.runners.sdf_utils import ThreadsafeRestrictionTracker
from hypothesis import given, strategies as st

from tests import strategies
from tests.frames import framed
from tests.records.reading import (
    FILE,
    ODD_FILES,
    Claim,
    Reading,
    blocks_of,
    cut_file,
    flips,
    frame_starts,
    opener,
    read_file,
    read_range,
)
from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError, CoverageError
from tfrecord_beam.kernel.plan import Candidate
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions, RecordReader

OPTIONS = {
    "default": ReadOptions(),
    "small blocks": ReadOptions(batch_bytes=64),
    "tiny blocks": ReadOptions(batch_bytes=1),
    "batches of 1": ReadOptions(batch_size=1),
    "batches of 3": ReadOptions(batch_size=3),
    "batches of 2 in small blocks": ReadOptions(batch_size=2, batch_bytes=40),
    "no CRCs": ReadOptions(validate_crc=False, batch_bytes=64),
}
FRACTIONS = (0.0, 0.01, 0.3, 0.5, 0.9, 0.999)
RECORDS = ODD_FILES["records of many sizes"] + ODD_FILES["lengths as payloads"]
DATA = framed(*RECORDS)


@pytest.fixture(params=OPTIONS.values(), ids=list(OPTIONS))
def options(request: pytest.FixtureRequest) -> ReadOptions:
    """Ways to read in turn."""
    found: ReadOptions = request.param
    return found


# --- Ranges that are cut before they are read --------------------------------------------


@pytest.mark.parametrize("records", ODD_FILES.values(), ids=list(ODD_FILES))
def test_file_cut_in_two_at_every_offset(records: list[bytes], options: ReadOptions) -> None:
    data = framed(*records)
    for cut in range(len(data) + 1):
        assert read_file(data, [cut], options).records == records


@pytest.mark.parametrize("step", [1, 2, 3, 7, 16, 50])
def test_file_cut_in_many(step: int, options: ReadOptions) -> None:
    assert read_file(DATA, range(step, len(DATA), step), options).records == RECORDS


@pytest.mark.parametrize("records", ODD_FILES.values(), ids=list(ODD_FILES))
def test_record_belongs_to_the_range_in_which_it_starts(records: list[bytes]) -> None:
    data = framed(*records)
    starts = frame_starts(records)
    for cut in range(1, len(data) + 1):
        first, second = cut_file(len(data), [cut])
        before = [record for record, start in zip(records, starts) if start < cut]
        assert read_range(data, first).records == before
        assert read_range(data, second).records == records[len(before) :]


def test_every_pair_of_cuts() -> None:
    records = [b"", b"12345678", b"a" * 20, b"\0\0"]
    data = framed(*records)
    for cuts in itertools.combinations_with_replacement(range(len(data) + 1), 2):
        assert read_file(data, cuts).records == records


@given(
    strategies.payload_lists(),
    st.lists(st.floats(0, 1), max_size=6),
    st.one_of(st.none(), st.integers(1, 4)),
    st.one_of(st.none(), st.integers(1, 100)),
)
def test_any_file_cut_anywhere(
    records: list[bytes], cuts: list[float], batch_size: int | None, batch_bytes: int | None
) -> None:
    data = framed(*records)
    offsets = [round(cut * len(data)) for cut in cuts]
    options = ReadOptions(batch_size=batch_size, batch_bytes=batch_bytes)
    assert read_file(data, offsets, options).records == records


def test_ranges_beyond_the_content_hold_nothing() -> None:
    assert read_file(DATA, [len(DATA) + 5, len(DATA) + 900]).records == RECORDS


# --- Ranges that are split while they are read -------------------------------------------


def claiming(tracker: Any) -> Claim:
    """Returns the `claim` of a reader whose range is Beam's `tracker`."""

    def claim(offset: int) -> int | None:
        if tracker.try_claim(offset):
            return None
        stop: int = tracker.current_restriction().stop
        return stop

    return claim


def read_restriction(
    data: bytes, restriction: OffsetRange, options: ReadOptions, claim: Claim, collect: bool = False
) -> Reading:
    file_range = FileRange(FILE, restriction.start, restriction.stop, len(data))
    return read_range(data, file_range, options, claim=claim, collect=collect)


def read_splitting(
    data: bytes,
    restriction: OffsetRange,
    options: ReadOptions,
    splits: Mapping[int, float],
    depth: int = 2,
    collect: bool = False,
) -> Reading:
    """Reads a range that is split at some claims, and then what was split off.

    Args:
      data: the file.
      restriction: the range.
      options: how to read.
      splits: fraction of the remainder at which to split, by moment: 2 i is right before claim i,
        2 i + 1 right after it.
      depth: how often what was split off may be split again.
      collect: what is corrupt goes aside.
    """
    tracker = OffsetRestrictionTracker(restriction)
    claim_part = claiming(tracker)
    residuals: list[OffsetRange] = []
    moments = itertools.count()

    def split() -> None:
        fraction = splits.get(next(moments))
        if fraction is not None and (parts := tracker.try_split(fraction)):
            residuals.append(parts[1])

    def claim(offset: int) -> int | None:
        split()
        stop = claim_part(offset)
        split()
        return stop

    reading = read_restriction(data, restriction, options, claim, collect)
    for residual in reversed(residuals):  # The one split off last is the next in the file.
        again = splits if depth else {}
        part = read_splitting(data, residual, options, again, depth - 1, collect)
        reading.records += part.records
        reading.corrupt += part.corrupt
        reading.covered += part.covered
    return reading


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_split_at_every_moment(fraction: float, options: ReadOptions) -> None:
    # Moment 0 is left out: whoever drives a reader claims the start of the range first.
    for moment in range(1, 2 * len(RECORDS) + 2):
        reading = read_splitting(DATA, OffsetRange(0, len(DATA)), options, {moment: fraction})
        assert reading.records == RECORDS
        reading.check_coverage()


@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize("name", ["batches of 1", "batches of 3", "small blocks", "default"])
def test_split_at_all_moments(fraction: float, name: str) -> None:
    splits = dict.fromkeys(range(1, 100), fraction)
    for start in range(0, len(DATA), 11):
        reading = read_splitting(DATA, OffsetRange(0, start), OPTIONS[name], splits, depth=20)
        rest = read_splitting(DATA, OffsetRange(start, len(DATA)), OPTIONS[name], splits, depth=20)
        assert reading.records + rest.records == RECORDS


@given(
    strategies.payload_lists(),
    st.dictionaries(st.integers(1, 12), st.floats(0, 1), max_size=4),
    st.one_of(st.none(), st.integers(1, 4)),
    st.one_of(st.none(), st.integers(1, 100)),
)
def test_any_file_split_at_any_moment(
    records: list[bytes],
    splits: dict[int, float],
    batch_size: int | None,
    batch_bytes: int | None,
) -> None:
    data = framed(*records)
    options = ReadOptions(batch_size=batch_size, batch_bytes=batch_bytes)
    reading = read_splitting(data, OffsetRange(0, max(len(data), 1)), options, splits)
    assert reading.records == records
    reading.check_coverage()


@pytest.mark.parametrize("fraction", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("batch_size", [1, 2])
def test_damaged_file_that_is_split(fraction: float, batch_size: int) -> None:
    records = [b"one", b"", b"12345678", b"four", b"five"]
    data = framed(*records)
    starts = frame_starts(records)
    options = ReadOptions(batch_size=batch_size)
    for offset, damaged in flips(data):
        index = max(number for number, start in enumerate(starts) if start <= offset)
        for moment in range(1, 2 * len(records) + 1):
            reading = read_splitting(
                damaged, OffsetRange(0, len(data)), options, {moment: fraction}, collect=True
            )
            assert reading.records == records[:index] + records[index + 1 :]
            assert reading.damage() == [(starts[index], 16 + len(records[index]))]
            reading.check_coverage()


class SplittingThread:
    """Splits a tracker now and then while another thread reads."""

    def __init__(self, tracker: ThreadsafeRestrictionTracker, fraction: float) -> None:
        self.residuals: list[OffsetRange] = []
        self._tracker = tracker
        self._fraction = fraction
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._split)

    def _split(self) -> None:
        pauses = random.Random(str(self._fraction))
        while not self._stopped.wait(pauses.random() * 1e-3):
            parts = self._tracker.try_split(self._fraction)
            if parts is not None:
                self.residuals.append(parts[1])

    def __enter__(self) -> SplittingThread:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stopped.set()
        self._thread.join()


def threadsafe_tracker(restriction: OffsetRange) -> ThreadsafeRestrictionTracker:
    """Returns a tracker as Beam's workers have it."""
    return ThreadsafeRestrictionTracker(OffsetRestrictionTracker(restriction))


def read_beside_splits(
    restriction: OffsetRange, options: ReadOptions, fraction: float, depth: int = 1
) -> Reading:
    tracker = threadsafe_tracker(restriction)
    assert tracker.try_claim(restriction.start)
    claim_part = claiming(tracker)

    def claim(offset: int) -> int | None:
        time.sleep(1e-4)  # So that the other thread comes in between.
        return None if offset == restriction.start else claim_part(offset)

    with SplittingThread(tracker, fraction) as thread:
        reading = read_restriction(DATA, restriction, options, claim)
    for residual in reversed(thread.residuals):
        if depth:
            part = read_beside_splits(residual, options, fraction, depth - 1)
        else:
            part = read_splitting(DATA, residual, options, {})
        reading.records += part.records
        reading.covered += part.covered
    return reading


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_splits_from_another_thread(fraction: float, batch_size: int) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(8):
            options = ReadOptions(batch_size=batch_size)
            reading = read_beside_splits(OffsetRange(0, len(DATA)), options, fraction)
            assert reading.records == RECORDS
            reading.check_coverage()
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("compress", [gzip.compress, None], ids=["compressed", "plain"])
def test_claims_are_never_taken_back(compress: Callable[[bytes], bytes] | None) -> None:
    data = DATA if compress is None else compress(DATA)
    claims: list[int] = []

    def claim(offset: int) -> None:
        claims.append(offset)

    reading = read_range(
        data, FileRange(FILE, size=len(data)), ReadOptions(batch_size=2), claim=claim
    )
    assert reading.records == RECORDS
    if compress is None:  # The last record of each block.
        ends = [*range(1, len(RECORDS), 2), len(RECORDS) - 1][: (len(RECORDS) + 1) // 2]
        assert claims == [frame_starts(RECORDS)[end] for end in ends]
    else:  # How far the file was read.
        assert claims == sorted(claims)
        assert claims[-1] == len(data)


# --- Beam's own tests of sources ---------------------------------------------------------


class RecordSource(iobase.BoundedSource):
    """A `RecordReader` as the sources that Beam's harness tests."""

    def __init__(self, data: bytes, options: ReadOptions) -> None:
        self._data = data
        self._options = options

    def estimate_size(self) -> int:
        return len(self._data)

    def split(
        self, desired_bundle_size: int, start: int | None = None, stop: int | None = None
    ) -> Iterator[iobase.SourceBundle]:
        first, end = start or 0, len(self._data) if stop is None else stop
        for begin in range(first, end, desired_bundle_size):
            size = min(desired_bundle_size, end - begin)
            yield iobase.SourceBundle(size, self, begin, begin + size)

    def get_range_tracker(self, start: int | None, stop: int | None) -> OffsetRangeTracker:
        return OffsetRangeTracker(start or 0, len(self._data) if stop is None else stop)

    def read(self, range_tracker: OffsetRangeTracker) -> Iterator[bytes]:
        def claim(offset: int) -> int | None:
            if range_tracker.try_claim(offset):
                return None
            stop: int = range_tracker.stop_position()
            return stop

        size = len(self._data)
        reader = RecordReader(
            FileRange(FILE, range_tracker.start_position(), range_tracker.stop_position(), size),
            opener(self._data),
            self._options,
            claim=claim,
        )
        for block in blocks_of(reader):
            yield from block.records()


@pytest.mark.parametrize("name", ["default", "batches of 1", "batches of 3", "small blocks"])
def test_beams_harness_for_sources(name: str) -> None:
    source = RecordSource(DATA, OPTIONS[name])
    for bundle_bytes in (1, 10, 100, 1000):
        bundles = [
            (bundle.source, bundle.start_position, bundle.stop_position)
            for bundle in source.split(bundle_bytes)
        ]
        source_test_utils.assert_sources_equal_reference_source((source, None, None), bundles)


def test_beams_harness_for_splits() -> None:
    records = [b"0", b"11", b"", b"3" * 30, b"4" * 8, b"55"]
    source = RecordSource(framed(*records), ReadOptions(batch_size=1))
    source_test_utils.assert_split_at_fraction_exhaustive(source)


def test_beams_harness_for_splits_of_blocks() -> None:
    source = RecordSource(framed(*[b"record %d" % i for i in range(9)]), ReadOptions(batch_size=2))
    source_test_utils.assert_split_at_fraction_exhaustive(source, perform_multi_threaded_test=False)


# --- What no search can tell -------------------------------------------------------------

INNER = framed(b"one", b"two", b"")
NESTED = [b"before", INNER, b"between", INNER[:-1], b"after"]


def test_file_in_a_file_is_exact_or_an_error() -> None:
    data = framed(*NESTED)
    outcomes = set()
    for cut in range(len(data) + 1):
        try:
            reading = read_file(data, [cut], collect=True)
            assert (reading.records, reading.corrupt) == (NESTED, [])
            outcomes.add("exact")
        except CoverageError as error:
            outcomes.add("error")
            assert error.file == FILE
            assert error.offset in range(len(data))
    assert outcomes == {"exact", "error"}


@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize("batch_size", [1, 2])
def test_file_in_a_file_that_is_split(fraction: float, batch_size: int) -> None:
    data = framed(*NESTED)
    options = ReadOptions(batch_size=batch_size)
    for moment in range(1, 2 * len(NESTED) + 2):
        try:
            reading = read_splitting(data, OffsetRange(0, len(data)), options, {moment: fraction})
            reading.check_coverage()
        except (CoverageError, CorruptRecordError):
            continue
        assert reading.records == NESTED


def test_search_that_fails_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    real = kernel.find_record

    def find_second(data: memoryview, *, start: int, stop: int, limit: int) -> Candidate:
        found = real(data, start=start, stop=stop, limit=limit)
        if not found.found:
            return found
        return real(data, start=found.position + 1, stop=stop, limit=limit)

    monkeypatch.setattr(kernel, "find_record", find_second)
    starts = frame_starts(RECORDS)
    with pytest.raises(CoverageError, match=rf"lost or read twice - at {FILE}:{starts[5]} "):
        read_file(DATA, [starts[4] + 1])


def test_wrong_payload_crc_at_the_start_of_a_range_is_found_out() -> None:
    """Without CRCs the range before does not look at what the search passes over."""
    starts = frame_starts(RECORDS)
    data = bytearray(DATA)
    data[starts[5] - 1] ^= 1
    with pytest.raises(CoverageError, match=rf"{FILE}:{starts[4]} \(.*or have wrong CRCs"):
        read_file(bytes(data), [starts[4]], ReadOptions(validate_crc=False))
    reading = read_file(bytes(data), [], ReadOptions(validate_crc=False))
    assert reading.records == RECORDS
