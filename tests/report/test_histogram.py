"""Tests of tfrecord_beam.report.histogram: exact counts that merge in any order."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.report.histogram import MAX_INTERVALS, Histogram

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


def state(histogram: Histogram) -> tuple[int, list[int], list[int]]:
    return histogram.shift, histogram.keys.tolist(), histogram.counts.tolist()


def of(numbers: list[float]) -> Histogram:
    histogram = Histogram()
    histogram.add(np.array(numbers, np.float64))
    return histogram


@given(st.lists(st.lists(DOUBLES, max_size=20), max_size=5), st.randoms())
def test_parts_are_the_whole(parts: list[list[float]], random: object) -> None:
    whole = of(list(itertools.chain(*parts)))
    merged = Histogram()
    for part in sorted(parts, key=repr):
        merged.merge(of(part))
    assert state(merged) == state(whole)
    assert whole.counts.sum() == sum(map(len, parts))


def test_parts_are_the_whole_where_it_is_coarser() -> None:
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=20_000) * np.exp(rng.normal(size=20_000) * 20)
    whole = of(numbers.tolist())
    assert whole.shift > Histogram().shift
    assert MAX_INTERVALS / 2 < len(whole.keys) <= MAX_INTERVALS
    for count in (2, 7, 301):
        parts = [of(part.tolist()) for part in np.array_split(numbers, count)]
        left, right = Histogram(), Histogram()
        for part in parts[: count // 2]:
            left.merge(part)
        for part in reversed(parts[count // 2 :]):
            right.merge(part)
        right.merge(left)
        assert state(right) == state(whole)


@given(st.lists(DOUBLES, min_size=1, max_size=50))
def test_numbers_are_near(numbers: list[float]) -> None:
    histogram = of(numbers)
    found = np.repeat(histogram.numbers(), histogram.counts)
    assert found.tolist() == sorted(found.tolist())
    for number, nearest in zip(sorted(numbers), found.tolist()):
        assert abs(nearest) <= abs(number)
        assert math.isclose(number, nearest, rel_tol=1 / 1024, abs_tol=1e-307)


@pytest.mark.parametrize("sign", [1, -1])
def test_small_integers_are_exact(sign: int) -> None:
    numbers = [float(sign * number) for number in range(MAX_INTERVALS)]
    assert of(numbers).numbers().tolist() == sorted(numbers)


def test_negative_zero_is_zero() -> None:
    assert state(of([0.0, -0.0])) == state(of([0.0, 0.0]))


def test_one_number_many_times() -> None:
    histogram = of([1.0])
    histogram.add(np.array([2.5]), 3)
    assert state(histogram) == state(of([1.0, 2.5, 2.5, 2.5]))
