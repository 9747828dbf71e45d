"""Tests of tfrecord_beam.report.histogram: exact counts that merge in any order."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.report import histogram as histogram_module
from tfrecord_beam.report.histogram import MAX_INTERVALS, Histogram

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


def state(histogram: Histogram) -> tuple[int, list[int], list[int]]:
    return histogram.shift, histogram.keys.tolist(), histogram.counts.tolist()


def of(numbers: list[float]) -> Histogram:
    histogram = Histogram()
    histogram.add(np.array(numbers, np.float64))
    return histogram


@given(st.lists(st.lists(DOUBLES, max_size=20), max_size=5), st.randoms())
def test_parts_are_the_whole(parts: list[list[float]], chance: random.Random) -> None:
    whole = of(list(itertools.chain(*parts)))
    merged = Histogram()
    for part in chance.sample(parts, len(parts)):
        merged.merge(of(part))
    assert state(merged) == state(whole)
    assert whole.counts.sum() == sum(map(len, parts))


def test_parts_are_the_whole_where_it_is_coarser() -> None:
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=20_000) * np.exp(rng.normal(size=20_000) * 20)
    whole = of(numbers.tolist())
    assert whole.shift > 0
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


@given(
    st.lists(st.floats(1, 1000).flatmap(lambda x: st.sampled_from([x, -x, 0.0])), max_size=99),
    st.sampled_from([MAX_INTERVALS, 50, 21]),  # of powers of two and zero there are 21
)
def test_bounds(numbers: list[float], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram_module, "MAX_INTERVALS", most)
        histogram = of(numbers)
    starts, stops = histogram.bounds()
    assert len(starts) <= most
    for start, stop, count in zip(starts, stops, histogram.counts):
        assert sum(start <= number < stop for number in numbers) == count


def test_few_numbers_are_exact() -> None:
    numbers = [17_031_030_101.0 + number for number in range(-MAX_INTERVALS // 2, 0)]
    numbers += [-number for number in numbers]
    assert of(numbers * 3).bounds()[0].tolist() == sorted(numbers)


def test_negative_zero_is_zero() -> None:
    assert state(of([0.0, -0.0])) == state(of([0.0, 0.0]))


def test_one_number_many_times() -> None:
    histogram = of([1.0])
    histogram.add(np.array([2.5]), 3)
    assert state(histogram) == state(of([1.0, 2.5, 2.5, 2.5]))
