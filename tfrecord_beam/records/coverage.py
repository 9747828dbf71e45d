"""Verifies that the ranges of a file were read without gaps and overlaps.

A reader that starts in the middle of a file can only guess where a record begins, and the guess can
be wrong: a payload may contain TFRecord data. Each reader reports the interval that it actually
read; the ranges are right if and only if these intervals tile the content. A file that was read
several times is tiled several times: at each inner offset as many intervals end as begin.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import NamedTuple

from tfrecord_beam.errors import CoverageError, Location


class CoveredRange(NamedTuple):
    """The part of a file that one reader has read. Offsets count in the decompressed content.

    Attributes:
      starts_file: whether the reader's range begins at 0: one range in each reading of a file does.
      begin: offset of the first record (or damage).
      end: offset after the last one; equal to `begin` if the range held none.
      content_end: offset of the end of the content if the reader saw it, else None.
    """

    starts_file: bool
    begin: int
    end: int
    content_end: int | None


def check_coverage(file: str, ranges: Iterable[CoveredRange]) -> None:
    """Raises CoverageError if the ranges read of `file` do not tile it.

    >>> check_coverage("a", [CoveredRange(True, 0, 50, None), CoveredRange(False, 50, 80, 80)])
    """
    readings = 0
    balance: collections.Counter[int] = collections.Counter()
    ends = set()
    for covered in ranges:
        readings += covered.starts_file
        if covered.begin != covered.end:
            balance[covered.begin] += 1
            balance[covered.end] -= 1
        if covered.content_end is not None:
            ends.add(covered.content_end)
    # If the store reported too large a size, a range that begins beyond the end saw the end there.
    content_end = min(ends, default=0)
    if content_end:
        readings = max(readings, 1)
        balance[0] -= readings
        balance[content_end] += readings
    wrong = sorted(offset for offset, count in balance.items() if count)
    if not ends:
        _fail(file, "the end of the file", "none that reached it", 0)
    if wrong and len(ends) > 1:
        _fail(file, "one end of the file", f"ends at {sorted(ends)} (did it change?)", min(ends))
    if wrong:
        first = wrong[0]
        what = (
            "a range that ends there and none that begins"
            if balance[first] < 0
            else ("a range that begins there and none that ends")
        )
        _fail(file, "ranges that follow on each other", what, first)


def _fail(file: str, expected: str, found: str, offset: int) -> None:
    raise CoverageError(
        f"Expected {expected}, found {found}: records were lost or read twice",
        Location(file, offset),
        hint="the records may hold TFRecord data themselves, or have wrong CRCs: make its index "
        "(tfrecord-beam index), or read it as one range, with desired_bundle_bytes larger than it",
    )
