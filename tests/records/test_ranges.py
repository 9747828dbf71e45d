"""Tests of tfrecord_beam.records.ranges: how files are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.records.ranges import (
    MAX_RANGE_BYTES,
    MIN_RANGE_BYTES,
    FileRange,
    choose_range_bytes,
    split_file,
)


@given(st.integers(0, 10_000), st.integers(1, 3000))
def test_ranges_tile_the_file(size: int, range_bytes: int) -> None:
    ranges = list(split_file("a.tfrecord", size, range_bytes=range_bytes))
    assert ranges[0].start == 0
    for before, after in itertools.pairwise(ranges):
        assert before.stop == after.start
    assert ranges[-1].stop == max(size, 1)
    assert all(part.size == size for part in ranges)
    sizes = [(part.stop or 0) - part.start for part in ranges]
    assert all(each == range_bytes for each in sizes[:-1])
    assert 0 < sizes[-1] <= range_bytes * 3 / 2
    if len(sizes) > 1:
        assert sizes[-1] >= range_bytes // 2


@pytest.mark.parametrize("name", ["a.gz", "a.TFRECORD.GZ", "a.zst", "gs://b/a.bz2", "a.snappy"])
def test_compressed_file_is_one_range(name: str) -> None:
    assert list(split_file(name, 1000, range_bytes=10)) == [
        FileRange(name, 0, 1000, 1000, splittable=False)
    ]


@pytest.mark.parametrize(
    ("compression", "count"), [("gzip", 1), ("none", 10), (None, 10), ("auto", 10), ("ZLIB", 1)]
)
def test_option_decides_before_the_name(compression: str | None, count: int) -> None:
    ranges = list(split_file("a", 1000, range_bytes=100, compression=compression))
    assert len(ranges) == count
    assert all(each.splittable == (count > 1) for each in ranges)


def test_plain_file_that_is_named_like_a_compressed_one() -> None:
    ranges = list(split_file("a.gz", 1000, range_bytes=100, compression=None))
    assert len(ranges) == 10


def test_empty_file_has_a_range() -> None:
    assert list(split_file("a", 0, range_bytes=10)) == [FileRange("a", 0, 1, 0)]


def test_range_size_is_chosen_by_the_size_of_all_files() -> None:
    assert choose_range_bytes(0) == choose_range_bytes(1 << 30) == MIN_RANGE_BYTES
    assert choose_range_bytes(1 << 50) == MAX_RANGE_BYTES
    between = choose_range_bytes(10 << 30)
    assert MIN_RANGE_BYTES < between < MAX_RANGE_BYTES
    assert choose_range_bytes(12 << 30) > between
