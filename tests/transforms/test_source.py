"""Tests of tfrecord_beam.transforms.source: ranges as Beam hands them out and splits them."""

from __future__ import annotations

import gzip
import itertools
import os
import pathlib
import pickle
import queue
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.io import fileio
from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.runners.portability.fn_api_runner import FnApiRunner, fn_runner
from apache_beam.runners.sdf_utils import RestrictionTrackerView, ThreadsafeRestrictionTracker
from apache_beam.transforms.environments import EmbeddedPythonGrpcEnvironment

from tests.frames import framed
from tests.records.reading import ODD_FILES, flip, frame_starts
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import NoMatchError, TFRecordBeamError
from tfrecord_beam.records import damage, reader
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.coverage import CoveredRange, check_coverage
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.writing.index import write_index
from tfrecord_beam.records.writing.plan import WrittenFile
from tfrecord_beam.transforms import source
from tfrecord_beam.transforms.read import RawRecordBeamSource, ReadRecordBlocks
from tfrecord_beam.transforms.source import (
    COVERED,
    Claim,
    ReadRange,
    SplitFiles,
    SplitPatterns,
    find_files,
    with_key,
)

RECORDS = ODD_FILES["records of many sizes"] + [b"%d" % i * i for i in range(12)]
DATA = framed(*RECORDS)
FRACTIONS = (0.0, 0.1, 0.5, 0.9)


def write(folder: pathlib.Path, data: bytes, name: str = "a.tfrecord") -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


# --- The DoFn, with Beam's tracker -------------------------------------------------------


class DoFnRun:
    """Drives `ReadRange` over one file, splits its tracker, and reads what was split off.

    Attributes:
      records: what came, in the order of the file.
      corrupt: what went aside.
      covered: what the ranges told.
    """

    def __init__(self, path: str, size: int, options: ReadOptions, *, collect: bool) -> None:
        self.records: list[bytes] = []
        self.corrupt: list[CorruptRecord] = []
        self.covered: list[CoveredRange] = []
        self._element = with_key(FileRange(path, 0, max(size, 1), size))
        self._do_fn = ReadRange(options, collect_corrupt=collect)

    def read(self, restriction: OffsetRange, splits: Sequence[tuple[int, float]]) -> None:
        """Reads a range; splits at (number of elements seen before, fraction) one after another."""
        tracker = OffsetRestrictionTracker(restriction)
        residuals = []
        elements = self._do_fn.process(self._element, tracker)
        for moment in itertools.count():
            for at, fraction in splits:
                if at == moment and (parts := tracker.try_split(fraction)):
                    residuals.append(parts[1])
            element = next(elements, None)
            if element is None:
                break
            self._take(element)
        tracker.check_done()
        for residual in reversed(residuals):
            self.read(residual, splits[1:])

    def _take(self, element: Any) -> None:
        if isinstance(element, RecordBlock):
            self.records += element.records()
        elif element.tag == COVERED:
            file, covered = element.value
            assert file == self._element[1].path
            self.covered.append(CoveredRange(*covered))
        else:
            self.corrupt.append(element.value)


def drive(
    path: str,
    splits: Sequence[tuple[int, float]] = (),
    options: ReadOptions = ReadOptions(batch_size=3),
    *,
    collect: bool = False,
) -> DoFnRun:
    size = pathlib.Path(path).stat().st_size
    done = DoFnRun(path, size, options, collect=collect)
    done.read(OffsetRange(0, max(size, 1)), splits)
    check_coverage(path, done.covered)
    return done


@pytest.mark.parametrize("records", ODD_FILES.values(), ids=list(ODD_FILES))
def test_whole_file(records: list[bytes], tmp_path: pathlib.Path) -> None:
    done = drive(write(tmp_path, framed(*records)))
    assert done.records == records
    assert len(done.covered) == 1


@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
def test_split_at_every_moment(fraction: float, compressed: bool, tmp_path: pathlib.Path) -> None:
    """Moment 0 is before the first claim."""
    path = write(tmp_path, gzip.compress(DATA) if compressed else DATA)
    for moment in range(len(RECORDS) // 3 + 3):
        done = drive(path, [(moment, fraction)])
        assert done.records == RECORDS
        assert done.corrupt == []


@pytest.mark.parametrize("fractions", list(itertools.product(FRACTIONS, repeat=2)))
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
def test_split_twice(
    fractions: tuple[float, float], compressed: bool, tmp_path: pathlib.Path
) -> None:
    path = write(tmp_path, gzip.compress(DATA) if compressed else DATA)
    for moments in itertools.combinations_with_replacement(range(5), 2):
        assert drive(path, list(zip(moments, fractions))).records == RECORDS


def test_split_of_records_that_hold_tfrecord_data(tmp_path: pathlib.Path) -> None:
    """With an index each is exact; without one some fail, and none is wrong."""
    inner = framed(*[b"inner %d" % number for number in range(20)])
    records = [b"before", inner, b"between", inner * 3, inner[:-1], *[inner] * 10, b"after"]
    path = write(tmp_path, framed(*records))
    splits = list(itertools.product(range(len(records)), FRACTIONS))
    failed = 0
    for split in splits:
        try:
            assert drive(path, [split], ReadOptions(batch_size=1)).records == records
        except TFRecordBeamError:
            failed += 1
    assert failed
    write_index(path)
    for split in splits:
        assert drive(path, [split], ReadOptions(batch_size=1)).records == records
    found = run(RawRecordBeamSource(path, desired_bundle_bytes=100)).elements
    assert sorted(found) == sorted(records)


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_damaged_file_that_is_split(fraction: float, tmp_path: pathlib.Path) -> None:
    starts = frame_starts(RECORDS)
    for index in (0, 3, 7, len(RECORDS) - 1):
        path = write(tmp_path, flip(DATA, starts[index]))
        for moment in range(len(RECORDS) // 2):
            done = drive(path, [(moment, fraction)], ReadOptions(batch_size=2), collect=True)
            assert done.records == RECORDS[:index] + RECORDS[index + 1 :]
            assert [each.offset for each in done.corrupt] == [starts[index]]


def test_corrupt_parts_come_as_they_are_found(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are before the next good record: they are not held in memory."""
    found: list[CorruptRecord] = []

    def step_over(*arguments: Any) -> CorruptRecord:
        found.append(damage.step_over(*arguments))
        return found[-1]

    monkeypatch.setattr(reader, "step_over", step_over)
    data = framed(*[b"same"] * 10)
    for index in range(5):
        data = flip(data, 20 * index + 12)
    tracker = OffsetRestrictionTracker(OffsetRange(0, len(data)))
    do_fn = ReadRange(ReadOptions(), collect_corrupt=True)
    path = write(tmp_path, data)
    elements = do_fn.process(with_key(FileRange(path, 0, len(data), len(data))), tracker)
    assert [next(elements).value.offset for _ in range(3)] == [0, 20, 40]
    assert len(found) == 3


def test_range_with_too_many_corrupt_parts_is_not_read_to_its_end(tmp_path: pathlib.Path) -> None:
    data = flip(flip(framed(*[b"same"] * 10), 12), 32) + b"cut"
    tracker = OffsetRestrictionTracker(OffsetRange(0, len(data)))
    do_fn = ReadRange(ReadOptions(), collect_corrupt=True, max_corrupt_records=1)
    path = write(tmp_path, data)
    elements = do_fn.process(with_key(FileRange(path, 0, len(data), len(data))), tracker)
    assert next(elements).value.offset == 0
    assert next(elements).value.offset == 20
    with pytest.raises(TFRecordBeamError, match=r"^Expected at most 1 corrupt record, found 2 "):
        next(elements)


def test_range_that_was_given_away_is_not_opened(tmp_path: pathlib.Path) -> None:
    tracker = OffsetRestrictionTracker(OffsetRange(0, 100))
    assert tracker.try_split(0.0) == (OffsetRange(0, 0), OffsetRange(0, 100))
    do_fn = ReadRange(ReadOptions(), collect_corrupt=False)
    lost = with_key(FileRange(str(tmp_path / "lost"), 0, 100, 100))
    assert list(do_fn.process(lost, tracker)) == []
    tracker.check_done()


def test_content_beyond_the_size_that_was_told(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, DATA)
    for size in (1, 50, len(DATA) - 1, len(DATA) + 1, 3 * len(DATA)):
        for moment, fraction in itertools.product(range(6), FRACTIONS):
            done = DoFnRun(path, size, ReadOptions(batch_size=3), collect=False)
            done.read(OffsetRange(0, size), [(moment, fraction)])
            check_coverage(path, done.covered)
            assert done.records == RECORDS


def test_claim_speaks_in_the_terms_of_the_reader() -> None:
    tracker = OffsetRestrictionTracker(OffsetRange(10, 100))
    claim = Claim(tracker)
    assert [claim(10), claim(10), claim(30), claim(20)] == [None] * 4
    assert tracker.try_split(0.5) == (OffsetRange(10, 65), OffsetRange(65, 100))
    assert claim(64) is None
    assert claim(70) == 65
    claim.finish()
    tracker.check_done()


# --- A real runner that splits -----------------------------------------------------------

_claims: queue.SimpleQueue[int] = queue.SimpleQueue()
_permits: queue.SimpleQueue[None] = queue.SimpleQueue()


class _HeldClaim(Claim):
    """A claim that waits until the runner has asked for a split."""

    def __call__(self, offset: int) -> int | None:
        _claims.put(offset)
        _permits.get(timeout=60)
        return super().__call__(offset)


@pytest.fixture
def held_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each claim tells of itself by `_claims`, and waits for one of `_permits`."""
    monkeypatch.setattr(source, "Claim", _HeldClaim)
    for name in ("_claims", "_permits"):
        monkeypatch.setattr(sys.modules[__name__], name, queue.SimpleQueue())


def _offset_and_records(block: RecordBlock) -> tuple[int, list[bytes]]:
    return block.offset_of(0), list(block.records())


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("num_splits", [1, 3])
def test_runner_that_splits_at_run_time(
    fraction: float, num_splits: int, tmp_path: pathlib.Path, held_claims: None
) -> None:
    path = write(tmp_path, DATA)
    splits: list[Any] = []

    def split(num_elements: int) -> Iterator[float | None]:
        """Asks for splits between the claims of the first bundle, and then holds none any more."""
        yield None  # Now the bundle starts.
        while len(splits) < num_splits:
            _claims.get(timeout=60)
            splits.append((yield fraction))
            _permits.put(None)
        for _ in range(1000):
            _permits.put(None)

    # Its worker is another thread, so that a split can come while it reads.
    runner = FnApiRunner(default_environment=EmbeddedPythonGrpcEnvironment.default())
    with fn_runner.split_manager("ReadRecordBlocks/ReadRanges/ParDo(ReadRange)", split):
        read = ReadRecordBlocks(path, batch_size=2)
        blocks = run(read, beam.Map(_offset_and_records), runner=runner).elements
    assert [record for _, records in sorted(blocks) for record in records] == RECORDS
    assert all(splits[:1])
    assert len(splits) == num_splits


def _offset_and_records_slowly(block: RecordBlock) -> tuple[int, list[bytes]]:
    time.sleep(0.01)
    return _offset_and_records(block)


def test_slow_consumer_while_splits_are_asked_for_all_the_time(
    tmp_path: pathlib.Path, held_claims: None
) -> None:
    records = [b"%03d" % number * (number % 7) for number in range(150)]
    path = write(tmp_path, framed(*records))
    fractions = random.Random(5)
    granted: list[Any] = []

    def split(num_elements: int) -> Iterator[float | None]:
        """Splits each bundle, also those of what was split off, until nothing is left to split."""
        yield None  # Now the bundle starts.
        while len(granted) < 4:  # the first bundle, however slow this thread is
            _claims.get(timeout=60)
            granted.append((yield 0.8))
            _permits.put(None)
        for _ in range(1000):
            _permits.put(None)
        while result := (yield fractions.random()):
            granted.append(result)

    runner = FnApiRunner(default_environment=EmbeddedPythonGrpcEnvironment.default())
    with fn_runner.split_manager("ReadRecordBlocks/ReadRanges/ParDo(ReadRange)", split):
        read = ReadRecordBlocks(path, batch_size=5)
        blocks = run(read, beam.Map(_offset_and_records_slowly), runner=runner).elements
    assert [record for _, found in sorted(blocks) for record in found] == records
    assert all(granted)


# --- Cutting and matching ----------------------------------------------------------------


def test_patterns_are_cut_into_ranges(tmp_path: pathlib.Path) -> None:
    for name, size in (("a", 100), ("b.gz", 100), ("c", 0)):
        write(tmp_path, bytes(size), name)
    patterns = (str(tmp_path / "*"), str(tmp_path / "a"))
    ranges = list(SplitPatterns(patterns, 40, "auto").process(b""))
    a, b, c = (str(tmp_path / name) for name in ("a", "b.gz", "c"))
    assert ranges == [
        ((a, 0), FileRange(a, 0, 40, 100)),
        ((a, 40), FileRange(a, 40, 100, 100)),
        ((b, 0), FileRange(b, 0, 100, 100, splittable=False)),
        ((c, 0), FileRange(c, 0, 1, 0, splittable=False)),
    ]
    assert len(list(SplitPatterns((a,), None, "auto").process(b""))) == 1


def test_files_of_a_pcollection_are_cut_each_by_itself(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, bytes(100))
    assert list(SplitFiles(60, None).process(FileMetadata(path, 100))) == [
        ((path, 0), FileRange(path, 0, 60, 100)),
        ((path, 60), FileRange(path, 60, 100, 100)),
    ]


@pytest.mark.parametrize("range_bytes", [None, len(DATA) - 1, len(DATA)])
@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz"])
def test_file_that_is_wanted_as_one_range_is_never_split(
    name: str, range_bytes: int | None, tmp_path: pathlib.Path
) -> None:
    """Nor is a compressed one."""
    path = write(tmp_path, gzip.compress(DATA) if name.endswith("gz") else DATA, name)
    options = ReadOptions(batch_size=3)
    [element] = SplitFiles(range_bytes, "auto").process(FileMetadata(path, os.path.getsize(path)))
    do_fn = ReadRange(options, collect_corrupt=False)
    provider = beam.runners.common.DoFnSignature(do_fn).get_restriction_provider()
    restriction = pickle.loads(pickle.dumps(provider.initial_restriction(element)))
    tracker = ThreadsafeRestrictionTracker(provider.create_tracker(restriction))
    elements = do_fn.process(element, RestrictionTrackerView(tracker))
    records = list(next(elements).records())
    progress = tracker.current_progress().fraction_completed
    parts = tracker.try_split(0.5)
    for part in elements:
        records += part.records() if isinstance(part, RecordBlock) else ()
    tracker.check_done()
    assert progress > 0 or name.endswith("gz")  # all of that one's bytes are read at once
    assert bool(parts) == (name == "a.tfrecord" and range_bytes != len(DATA))
    assert bool(parts) == (len(records) < len(RECORDS))


def test_elements_that_mean_files(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, b"12345")
    metadata = FileMetadata(path, 5)
    for element in (
        path,
        pathlib.Path(path),
        str(tmp_path / "*"),
        tmp_path,
        metadata,
        fileio.ReadableFile(metadata),
        WrittenFile(path, 1, 5),
    ):
        assert [tuple(file) for file in find_files(element)] == [(path, 5)]


@pytest.mark.parametrize("element", [5, None, b"bytes", ("a", 1), object()])
def test_elements_that_mean_no_files(element: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected .*(path|file)"):
        find_files(element)


def test_element_that_matches_nothing(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NoMatchError, match=r"^Expected files at '.*lost\*', found none"):
        list(SplitFiles(10, "auto").process(str(tmp_path / "lost*")))


def test_ranges_of_a_random_size_cover_a_file(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, DATA)
    sizes = random.Random(3)
    for _ in range(10):
        range_bytes = sizes.randint(1, 200)
        read: list[bytes] = []
        covered: list[CoveredRange] = []
        for _, file_range in SplitFiles(range_bytes, "auto").process(path):
            assert file_range.stop is not None
            done = DoFnRun(path, len(DATA), ReadOptions(), collect=False)
            done.read(OffsetRange(file_range.start, file_range.stop), [])
            read += done.records
            covered += done.covered
        check_coverage(path, covered)
        assert read == RECORDS


def test_do_fn_is_small_when_pickled(tmp_path: pathlib.Path) -> None:
    do_fn = beam.ParDo(ReadRange(ReadOptions(), collect_corrupt=False)).dofn
    assert len(beam.internal.pickler.dumps(do_fn)) < 1000
