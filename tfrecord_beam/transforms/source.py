"""The splittable source: files to byte ranges to blocks of records.

Why a splittable DoFn after a Reshuffle, and not a BoundedSource:

- Ranges must be distributed over the workers. Flink puts all initial splits of a source on one
  subtask; only a shuffle between splitting and reading moves them. So ranges must be elements.
- Beam's Python `Read` wraps every BoundedSource in a splittable DoFn anyway, with splits of 1 MiB
  by default, each of which carries the pickled source.
- A range must remain splittable while it is read, for runners that split stragglers (Dataflow,
  Prism). A splittable DoFn over an OffsetRange allows that; a plain DoFn does not.
- Reading outputs blocks, the coverage of each range, and corrupt parts: a DoFn can have several
  outputs.

**Splits at run time.** The reader claims the last record of a block before the block is emitted. If
`try_claim` fails, the runner has split the range: records at or after the new stop belong to the
residual and are dropped here, and the range ends. A tracker never splits at or before the last
claim, whether it succeeded or not. So records that were emitted never become part of a residual,
and the stop no longer changes after a failed claim.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.iobase import RestrictionTracker
from apache_beam.io.restriction_trackers import (
    OffsetRange,
    OffsetRestrictionTracker,
    UnsplittableRestrictionTracker,
)
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.util import ReshufflePerKey

from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import check_limit
from tfrecord_beam.records.index import read_index
from tfrecord_beam.records.paths import FileEntry, match_files, normalize_patterns
from tfrecord_beam.records.ranges import (
    MAX_RANGE_BYTES,
    FileRange,
    choose_range_bytes,
    split_file,
)
from tfrecord_beam.records.reader import ReadOptions, RecordReader
from tfrecord_beam.records.writing.plan import WrittenFile
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.corrupt import drain_corrupt
from tfrecord_beam.transforms.filesystem import BeamFileSystem
from tfrecord_beam.transforms.workers import LibraryDoFn

COVERED = "covered"
"""Tag of the output with the coverage of each range: (path, `CoveredRange` as tuple)."""


KeyedRange = tuple[tuple[str, int], FileRange]
"""A range with the key by which it is distributed."""


def with_key(file_range: FileRange) -> KeyedRange:
    """Returns the range with a key that is unique within a reading."""
    return (file_range.path, file_range.start), file_range


class SpreadRanges(beam.Reshuffle):
    """Beam's Reshuffle, by the keys of the ranges: PCollection[KeyedRange] -> the same.

    Adding and removing random keys would take two more steps: a tenth of a pipeline's startup time.
    """

    def expand(self, pcoll: beam.pvalue.PValue) -> beam.PCollection[KeyedRange]:
        return pcoll | "ByKey" >> ReshufflePerKey()


class SplitPatterns(LibraryDoFn):
    """Matches patterns and splits the files into ranges. Its element is an impulse.

    Args:
      patterns: all patterns of a source.
      range_bytes: size of a range; None: chosen from the total size of the files.
      compression: see `ReadOptions`.
    """

    def __init__(
        self, patterns: tuple[str, ...], range_bytes: int | None, compression: str | None
    ) -> None:
        self._patterns = patterns
        self._range_bytes = range_bytes
        self._compression = compression

    def process(self, _: bytes) -> Iterator[KeyedRange]:
        files = match_files(self._patterns, BeamFileSystem())
        chosen_bytes = choose_range_bytes(sum(file.size for file in files))
        for file in files:
            yield from _split(file, self._range_bytes, chosen_bytes, self._compression)


class SplitFiles(LibraryDoFn):
    """Splits files into ranges. Its elements are those that `find_files` accepts.

    Args:
      range_bytes: size of a range; None: `MAX_RANGE_BYTES`.
      compression: see `ReadOptions`.
    """

    def __init__(self, range_bytes: int | None, compression: str | None) -> None:
        self._range_bytes = range_bytes
        self._compression = compression

    def process(self, element: Any) -> Iterator[KeyedRange]:
        for file in find_files(element):
            yield from _split(file, self._range_bytes, MAX_RANGE_BYTES, self._compression)


def _split(
    file: FileEntry, range_bytes: int | None, chosen_bytes: int, compression: str | None
) -> Iterator[KeyedRange]:
    """Splits a file into ranges of `range_bytes` or, if that is None, `chosen_bytes`.

    If `range_bytes` covers the whole file, the user wants it to be read as one range to the end.
    """
    ranges = split_file(
        file.path,
        file.size,
        range_bytes=range_bytes or chosen_bytes,
        compression=compression,
        splittable=range_bytes is None or range_bytes < file.size,
    )
    return map(with_key, ranges)


def find_files(element: Any) -> Iterable[FileEntry]:
    """Returns the files for an element of a PCollection of files.

    Args:
      element: a path, a pattern, `FileMetadata`, `ReadableFile`, or the `WrittenFile` of a write.

    Raises:
      ValueError: an element of another type.
      NoMatchError: a pattern that matches no file.
    """
    if isinstance(element, WrittenFile):
        return [FileEntry(element.path, element.num_bytes)]
    metadata = getattr(element, "metadata", element)  # the output of fileio.ReadMatches has it
    if isinstance(metadata, FileMetadata):
        [path] = normalize_patterns(metadata.path)
        return [FileEntry(path, metadata.size_in_bytes)]
    return match_files(normalize_patterns(metadata), BeamFileSystem())


class _UnsplittableRange(OffsetRange):
    """A range that runners must not split."""


class _RangeProvider(RestrictionProvider):
    def initial_restriction(self, element: KeyedRange) -> OffsetRange:
        _, file_range = element
        kind = OffsetRange if file_range.splittable else _UnsplittableRange
        return kind(file_range.start, file_range.stop)  # type: ignore[no-untyped-call]  # of Beam

    def create_tracker(self, restriction: OffsetRange) -> RestrictionTracker:
        tracker = OffsetRestrictionTracker(restriction)
        if isinstance(restriction, _UnsplittableRange):
            return UnsplittableRestrictionTracker(tracker)
        return tracker

    def restriction_size(self, element: KeyedRange, restriction: OffsetRange) -> int:
        size: int = restriction.size()
        return size


class Claim:
    """Adapts Beam's tracker to the `claim` of a `RecordReader`."""

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker
        self._last = tracker.current_restriction().start - 1

    def __call__(self, offset: int) -> int | None:
        if offset <= self._last:  # already claimed: the start, or compressed input read ahead
            return None
        self._last = offset
        if self._tracker.try_claim(offset):
            return None
        stop: int = self._tracker.current_restriction().stop
        return stop

    def finish(self) -> None:
        """Claims the end of the range, to tell the tracker that all of it is done."""
        self(max(self._last + 1, self._tracker.current_restriction().stop))


class ReadRange(LibraryDoFn):
    """Reads ranges of files. Outputs: blocks; `CORRUPT`; `COVERED`.

    Args:
      options: how to read.
      collect_corrupt: send corrupt parts to the output `CORRUPT` instead of raising.
      max_corrupt_records: raise once a range has more of them; None: no limit.
    """

    def __init__(
        self,
        options: ReadOptions,
        *,
        collect_corrupt: bool,
        max_corrupt_records: int | None = None,
    ) -> None:
        self._options = options
        self._collect_corrupt = collect_corrupt
        self._max_corrupt_records = max_corrupt_records
        self._timer = metrics.Timer("read_msec")

    def process(
        self,
        element: KeyedRange,
        tracker: Any = beam.DoFn.RestrictionParam(_RangeProvider()),  # noqa: B008
    ) -> Iterator[Any]:
        restriction = tracker.current_restriction()
        claim = Claim(tracker)
        if claim(restriction.start) is None:  # else split at its start: all is in the residual
            _, file_range = element
            file_range = dataclasses.replace(
                file_range, start=restriction.start, stop=restriction.stop
            )
            yield from self._read(file_range, claim)

    def _read(self, file_range: FileRange, claim: Claim) -> Iterator[Any]:
        if file_range.start == 0:
            metrics.count_file(file_range.path)
        reader = RecordReader(
            file_range,
            BeamFileSystem().open,
            self._options,
            collect_corrupt=self._collect_corrupt,
            claim=claim,
            read_index=functools.partial(read_index, BeamFileSystem()),
        )
        corrupt_records = 0
        for part in self._timer.measure(reader):
            if isinstance(part, RecordBlock):
                _count_block(part)
                yield part
                continue
            yield from drain_corrupt([part])
            corrupt_records += 1
            if self._max_corrupt_records is not None:
                check_limit(corrupt_records, most=self._max_corrupt_records)
        claim.finish()
        metrics.count_kernel()
        yield beam.pvalue.TaggedOutput(COVERED, (file_range.path, tuple(reader.covered())))


def _count_block(block: RecordBlock) -> None:
    metrics.count("blocks")
    metrics.count("records", block.num_records)
    metrics.count("bytes", block.num_bytes)
