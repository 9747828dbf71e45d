"""Divides files among workers that do not communicate, and verifies that no record is lost.

The workers of a training job do not exchange what they read, so none of them can check the coverage
of all, as a pipeline does. But the search that finds the beginning of a byte range gives the same
result in every worker. So the reader of each range, which knows where its last record ends, repeats
the search of the next range and fails unless that begins right there. The range at 0 is right;
hence, if no reader fails, every range begins where the one before it ended, and together they hold
each record once.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tfrecord_beam.errors import CoverageError, Location
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.coverage import CoveredRange
from tfrecord_beam.records.decode import OnCorrupt
from tfrecord_beam.records.index import read_index
from tfrecord_beam.records.paths import DirectFileSystem, FileEntry
from tfrecord_beam.records.ranges import MAX_RANGE_BYTES, FileRange, split_file
from tfrecord_beam.records.reader import ReadOptions, RecordReader

_RANGES_EACH = 16
"""Minimum number of ranges per share, if files can be split: shares differ by a few percent."""

_SEARCHED_BYTES = 1 << 20
"""Size of the first read of a repeated search, which mostly ends after the record it begins in."""


class Piece(NamedTuple):
    """One byte range of a file.

    Attributes:
      ranges: all ranges of the file.
      position: which of them it is.
    """

    ranges: Sequence[FileRange]
    position: int


def share_files(
    files: Sequence[FileEntry], num_shares: int, *, compression: str | None = "auto"
) -> list[list[Piece]]:
    """Returns the pieces of files in shares of nearly equal size, each in the order of the files.

    The same arguments give the same shares. Compressed files are not split, and with a single share
    no files are.

    >>> [[piece]] = share_files([FileEntry("a.tfrecord", 100)], 1)
    >>> piece.ranges[piece.position]
    FileRange(path='a.tfrecord', start=0, stop=100, size=100, splittable=True)

    Args:
      files: what to share.
      num_shares: how many shares; some are empty if there are fewer pieces.
      compression: as for `split_file`.
    """
    total = sum(file.size for file in files)
    range_bytes = min(total // (num_shares * _RANGES_EACH), MAX_RANGE_BYTES)
    if num_shares == 1:
        range_bytes = total
    pieces = []
    for file in files:
        ranges = [*split_file(*file, range_bytes=max(range_bytes, 1), compression=compression)]
        pieces += [Piece(ranges, position) for position in range(len(ranges))]
    return _deal(pieces, num_shares)


def _deal(pieces: Sequence[Piece], num_shares: int) -> list[list[Piece]]:
    """Assigns the pieces, largest first, each to the share that has the fewest bytes so far."""
    sizes = [_size(piece.ranges[piece.position]) for piece in pieces]
    shares: list[list[int]] = [[] for _ in range(num_shares)]
    loads = [(0, share) for share in range(num_shares)]
    for number in sorted(range(len(pieces)), key=lambda number: -sizes[number]):
        load, share = loads[0]
        shares[share].append(number)
        heapq.heapreplace(loads, (load + sizes[number], share))
    return [[pieces[number] for number in sorted(share)] for share in shares]


def _size(file_range: FileRange) -> int:
    return (file_range.stop or 0) - file_range.start


def read_piece(
    piece: Piece, options: ReadOptions = ReadOptions(), *, on_corrupt: OnCorrupt | None = None
) -> Iterator[RecordBlock]:
    """Yields the records of a piece as blocks, then verifies that the next piece begins at its end.

    Args:
      piece: what to read.
      options: how to read; must be the same for all pieces of a file, except `batch_size`.
      on_corrupt: called with each part that cannot be read; None: raise.

    Raises:
      CorruptRecordError: a part cannot be read.
      CoverageError: the next piece would not begin where this one ended.
    """
    reader = _open(piece.ranges[piece.position], options, collect_corrupt=on_corrupt is not None)
    for part in reader:
        if isinstance(part, RecordBlock):
            yield part
        elif on_corrupt is not None:
            on_corrupt(part)
    covered = reader.covered()
    if covered.end > covered.begin:  # else the piece before this one checks beyond it, too
        _check_following(covered, piece.ranges[piece.position + 1 :], options)


def _check_following(
    covered: CoveredRange, following: Sequence[FileRange], options: ReadOptions
) -> None:
    """Raises CoverageError unless the next range with records begins where `covered` ends."""
    for file_range in following:
        is_there = covered.content_end is None and covered.end < (file_range.stop or 0)
        expected = covered.end if is_there else None
        found = _find_first(file_range, options)
        if found != expected:
            raise CoverageError(
                f"Expected {_describe(expected)} in the range that begins at {file_range.start}, "
                f"found {_describe(found)}",
                Location(file_range.path, covered.end),
                "the records may hold TFRecord data themselves, or have wrong CRCs: read the file "
                "with one worker, or make its index (tfrecord-beam index)",
            )
        if is_there:
            return


def _find_first(file_range: FileRange, options: ReadOptions) -> int | None:
    """Returns the offset of the first record that a reader of the range finds, None without one."""
    options = dataclasses.replace(options, batch_size=1, batch_bytes=_SEARCHED_BYTES)
    reader = _open(file_range, options, collect_corrupt=True)
    next(iter(reader), None)
    return reader.covered().begin or None


def _open(file_range: FileRange, options: ReadOptions, *, collect_corrupt: bool) -> RecordReader:
    files = DirectFileSystem()
    return RecordReader(
        file_range,
        files.open,
        options,
        collect_corrupt=collect_corrupt,
        read_index=functools.partial(read_index, files),
    )


def _describe(offset: int | None) -> str:
    return "no record" if offset is None else f"the first record at {offset}"
