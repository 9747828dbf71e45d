"""Tests of tfrecord_beam.report.numbers: exact, whatever the numbers are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import example, given, strategies as st

from tests.report.test_histogram import state
from tfrecord_beam.report.numbers import NumberSummary

INT64 = st.integers(-(2**63), 2**63 - 1)
FLOAT32 = st.floats(width=32)


def facts(summary: NumberSummary) -> tuple[Any, ...]:
    fields = (summary.count, summary.zeros, summary.nans, summary.infinities)
    numbers = summary.extremes, summary.total, summary.mean
    return (*fields, *numbers, state(summary.histogram))


def of(numbers: list[Any], dtype: Any) -> NumberSummary:
    summary = NumberSummary()
    summary.add(np.array(numbers, dtype))
    return summary


@given(st.lists(INT64))
@example([2**63 - 1] * 3)
@example([-(2**63), 2**63 - 1])
def test_of_ints(numbers: list[int]) -> None:
    summary = of(numbers, np.int64)
    assert summary.count == summary.num_finite == summary.histogram.counts.sum() == len(numbers)
    assert summary.zeros == numbers.count(0)
    assert summary.extremes == ((min(numbers), max(numbers)) if numbers else None)
    assert summary.total == sum(numbers)
    assert summary.mean == (sum(numbers) / len(numbers) if numbers else None)


@given(st.lists(FLOAT32))
@example([1e-45, 3.4028235e38, -1e-45])
@example([0.0, -0.0])
@example([math.nan, math.inf, -math.inf])
def test_of_floats(numbers: list[float]) -> None:
    summary = of(numbers, np.float32)
    finite = [float(np.float32(number)) for number in numbers if math.isfinite(number)]
    assert summary.count == len(numbers)
    assert summary.nans == sum(map(math.isnan, numbers))
    assert summary.infinities == sum(map(math.isinf, numbers))
    assert summary.zeros == finite.count(0)
    assert summary.num_finite == summary.histogram.counts.sum() == len(finite)
    assert summary.extremes == ((min(finite), max(finite)) if finite else None)
    assert summary.total == sum(map(Fraction, finite))


def test_negative_zero_is_zero() -> None:
    assert repr(facts(of([-0.0], np.float32))) == repr(facts(of([0.0], np.float32)))


@given(st.lists(st.lists(FLOAT32, max_size=10), max_size=4))
def test_parts_are_the_whole(parts: list[list[float]]) -> None:
    merged = NumberSummary()
    for part in reversed(parts):
        merged.merge(of(part, np.float32))
    assert facts(merged) == facts(of([number for part in parts for number in part], np.float32))
