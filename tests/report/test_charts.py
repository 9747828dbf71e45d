"""Tests of tfrecord_beam.report.charts: bars that show what there is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.report.test_numbers import FLOAT32, INT64, of
from tfrecord_beam.report.charts import HEIGHT, WIDTH, Chart, draw

BAR = re.compile(r"M([\d.]+) (\d+)v-([\d.]+)h([\d.]+)v([\d.]+)z")


def bars(chart: Chart) -> list[tuple[float, float]]:
    """Returns where each bar begins, and how high it is."""
    found = BAR.findall(chart.path)
    assert "".join(f"M{x} {y}v-{up}h{w}v{down}z" for x, y, up, w, down in found) == chart.path
    assert all(up == down and y == str(HEIGHT) for _, y, up, _, down in found)
    assert all(float(x) + float(w) <= WIDTH for x, _, _, w, _ in found)
    return [(float(x), float(height)) for x, _, height, _, _ in found]


def make(numbers: list[Any], dtype: Any = np.int64) -> Chart:
    chart = draw(of(numbers, dtype))
    assert chart is not None
    return chart


@pytest.mark.parametrize("numbers", [[], [3, 3, 3]])
def test_nothing_to_draw(numbers: list[int]) -> None:
    assert draw(of(numbers, np.int64)) is None


def test_a_bar_for_each_integer() -> None:
    chart = make([1, 2, 2, 2, 2, 4])
    assert bars(chart) == [(0, 12), (60, 48), (180, 12)]
    assert (chart.minimum, chart.maximum, chart.is_log) == ("1", "4", False)
    assert chart.description == ("4 bars from 1 to 4; the highest, at 2, holds 4 of 6")


@pytest.mark.parametrize("first", [2**63 - 9, -(2**63)])
def test_nothing_to_draw_of_numbers_that_are_one_double(first: int) -> None:
    assert draw(of([first, first + 1, first + 8], np.int64)) is None


def test_ends_can_be_told_apart() -> None:
    chart = make([-1, -0.9999999], np.float32)
    assert (chart.minimum, chart.maximum) == ("-1", "-0.999999881")
    chart = make([2**62, 2**63 - 1])
    assert (chart.minimum, chart.maximum) == (
        "4,611,686,018,427,387,904",
        "9,223,372,036,854,775,807",
    )


def test_the_last_bar_is_used() -> None:
    heights = [height for _, height in bars(make(list(range(101))))]
    assert heights == [HEIGHT] * 16 + [40]


def test_as_many_integers_in_each_bar() -> None:
    heights = [height for _, height in bars(make(list(range(100))))]
    assert heights == [HEIGHT] * 20
    assert make(list(range(100))).description.endswith("the highest, from 0 to 4, holds 5 of 100")


def test_numbers_that_are_close_beside_their_size() -> None:
    first = 17_031_030_101
    assert bars(make([first, first + 1, first + 1, first + 2])) == [(0, 24), (80, 48), (160, 24)]
    of_many = bars(make([first + 10 * number for number in range(5000)]))
    assert len(of_many) == 24
    assert min(height for _, height in of_many[:-1]) > 0.98 * HEIGHT


def test_bars_share_wide_intervals() -> None:
    rng = np.random.default_rng(3)
    uniform = np.append(rng.random(200_000), [0, 1])
    heights = [height for _, height in bars(make(uniform.tolist(), np.float32))]
    assert min(heights) > 0.95 * HEIGHT


def test_no_bar_of_what_rounding_leaves() -> None:
    numbers = (np.random.default_rng(1339).normal(size=3000) * 1000).astype(np.int64)
    assert [x for x, _ in bars(make(numbers.tolist()))][:3] == [0, 20, 30]  # none at 10


def test_below_zero() -> None:
    assert bars(make([-3, -3, -3, -3, -1, 0])) == [(0, 48), (120, 12), (180, 12)]


def test_by_ratio_where_most_would_be_in_one_bar() -> None:
    chart = make([1] * 50 + [0] * 7 + [10**3, 10**6])
    assert chart.is_log
    assert (chart.minimum, chart.maximum) == ("1", "1,000,000")
    assert [round(x) for x, _ in bars(chart)] == [0, 120, 230]
    assert "each of the same ratio" in chart.description


def test_not_by_ratio_below_zero() -> None:
    assert not make([1] * 50 + [-1, 10**6]).is_log


@given(st.lists(INT64, min_size=2).filter(lambda numbers: len({*numbers}) > 1))
def test_of_any_integers(numbers: list[int]) -> None:
    chart = draw(of(numbers, np.int64))
    if chart is not None or len({*map(float, numbers)}) > 1:
        assert chart is not None
        assert len(bars(chart)) > 1
        assert max(height for _, height in bars(chart)) == HEIGHT


@given(st.lists(FLOAT32, min_size=2))
def test_of_any_floats(numbers: list[float]) -> None:
    chart = draw(of(numbers, np.float32))
    if chart is not None:
        assert max(height for _, height in bars(chart)) == HEIGHT
