"""Tests of tfrecord_beam.records.coverage: only ranges that tile a file pass."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.errors import CoverageError
from tfrecord_beam.records.coverage import CoveredRange, check_coverage

FIRST = CoveredRange(True, 0, 40, None)
SECOND = CoveredRange(False, 40, 70, None)
LAST = CoveredRange(False, 70, 100, 100)
NOTHING = CoveredRange(False, 0, 0, None)
NOTHING_TO_THE_END = CoveredRange(False, 0, 0, 100)
TILES = [FIRST, SECOND, LAST]


@pytest.mark.parametrize(
    "ranges",
    [
        [CoveredRange(True, 0, 0, 0)],
        [CoveredRange(True, 0, 100, 100)],
        TILES,
        [*TILES, NOTHING],
        [*TILES, NOTHING_TO_THE_END, NOTHING_TO_THE_END],
        [CoveredRange(True, 0, 100, None), NOTHING_TO_THE_END],
        [*TILES, *TILES],
        [*TILES, CoveredRange(True, 0, 70, None), LAST],
    ],
)
def test_tiles_pass_in_any_order(ranges: list[CoveredRange]) -> None:
    for order in itertools.islice(itertools.permutations(ranges), 200):
        check_coverage("a", order)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([], "Expected the end of the file, found none that reached it: records were lost or r"),
        ([FIRST], "Expected the end of the file, found none"),
        ([FIRST, SECOND], "Expected the end of the file, found none"),
        ([FIRST, LAST], "found a range that ends there and none that begins: .* - at a:40 "),
        ([SECOND, LAST], "found a range that ends there and none that begins: .* - at a:0 "),
        ([*TILES, SECOND], "found a range that begins there .* - at a:40 "),
        ([*TILES, LAST], "begins there .* - at a:70 "),
        ([*TILES, FIRST], " - at a:40 "),
        ([FIRST, CoveredRange(False, 50, 100, 100)], "ends there and none that begins.* a:40 "),
        ([FIRST, CoveredRange(False, 30, 100, 100)], "begins there and none that ends.* a:30 "),
        ([FIRST, SECOND, CoveredRange(False, 70, 90, None), NOTHING_TO_THE_END], "at a:90 "),
        ([*TILES, CoveredRange(False, 100, 130, 130)], r"one end .* ends at \[100, 130\] \(did it"),
        ([*TILES, *TILES, SECOND], " - at a:40 "),
        ([NOTHING_TO_THE_END], "ends there and none that begins: .* - at a:0 "),
    ],
)
def test_other_ranges_fail(ranges: list[CoveredRange], message: str) -> None:
    for order in itertools.permutations(ranges[:5]):
        with pytest.raises(CoverageError, match=message) as caught:
            check_coverage("a", [*order, *ranges[5:]])
        assert caught.value.file == "a"
        assert caught.value.hint is not None


def test_range_beyond_the_end_of_a_shorter_file_passes() -> None:
    """The store told 200 bytes: the range from 150 on found the end at once."""
    check_coverage("a", [*TILES, CoveredRange(False, 0, 0, 150)])


@st.composite
def tilings(draw: st.DrawFn) -> list[CoveredRange]:
    edges = [0, *sorted(draw(st.sets(st.integers(1, 50), min_size=1, max_size=6)))]
    return [
        CoveredRange(start == 0, start, stop, stop if stop == edges[-1] else None)
        for start, stop in itertools.pairwise(edges)
    ]


def covered_bytes(ranges: Sequence[CoveredRange]) -> list[int]:
    return sorted(offset for part in ranges for offset in range(part.begin, part.end))


@given(tilings(), st.data())
def test_passes_if_and_only_if_each_byte_is_covered_once(
    ranges: list[CoveredRange], data: st.DataObject
) -> None:
    check_coverage("a", ranges)
    whole = covered_bytes(ranges)
    changed = list(ranges)
    index = data.draw(st.integers(0, len(ranges) - 1))
    part = ranges[index]
    begin = data.draw(st.integers(0, part.end))
    end = data.draw(st.integers(begin, 60))
    changed[index] = part._replace(begin=begin, end=end)
    if covered_bytes(changed) == whole:
        check_coverage("a", changed)
    else:
        with pytest.raises(CoverageError):
            check_coverage("a", changed)
