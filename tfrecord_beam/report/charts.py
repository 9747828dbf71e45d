"""Draws histograms: the bars of a chart, as the path of an SVG in a template."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from tfrecord_beam.report.formats import format_number, format_range
from tfrecord_beam.report.histogram import DoubleArray
from tfrecord_beam.report.numbers import NumberSummary

WIDTH = 240
HEIGHT = 48
"""Of a chart, in the units of its path."""

_MAX_BARS = 24
_GAP = 0.12
"""Gap between bars, as a fraction of their width."""

_LEAST_HEIGHT = 1.0
"""Of a bar that holds something, so that it is seen."""

_DECIMALS = 3
"""Of a part of a count: more is what rounding leaves, which would show as a bar of nothing."""

_LOG_RATIO = 1000
_LOG_SHARE = 0.6
"""Bars become logarithmic if numbers span this ratio and this share of them falls into one bar."""


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart of numbers.

    Attributes:
      path: the bars, as the `d` of an SVG path in a box of `WIDTH` and `HEIGHT`.
      least: text of where they begin.
      most: text of where they end.
      is_log: whether each bar spans the same ratio, instead of the same difference.
      description: what is seen, in words.
    """

    path: str
    least: str
    most: str
    is_log: bool
    description: str


class _Bars(NamedTuple):
    counts: DoubleArray  # of an interval that several bars share each has a part
    edges: DoubleArray  # [bars + 1]
    of_integers: bool = False
    is_log: bool = False


def draw(summary: NumberSummary) -> Chart | None:
    """Returns the chart of numbers; None if they are all equal, or equal as doubles."""
    if summary.least is None or summary.most is None or summary.least == summary.most:
        return None
    bars = _choose_bars(summary, summary.least, summary.most)
    if np.count_nonzero(bars.counts) == 1:
        return None
    least, most = format_range(bars.edges[0] if bars.is_log else summary.least, summary.most)
    ratio = ", each of the same ratio" if bars.is_log else ""
    description = f"{len(bars.counts)} bars from {least} to {most}{ratio}; {_describe_top(bars)}"
    return Chart(_draw_path(bars.counts), least, most, bars.is_log, description)


def _describe_top(bars: _Bars) -> str:
    top = int(bars.counts.argmax())
    start, stop = bars.edges[top], bars.edges[top + 1] - (1 if bars.of_integers else 0)
    where = "from {} to {}".format(*format_range(start, stop))
    if start == stop:
        where = f"at {format_number(start)}"
    count, total = bars.counts[top], bars.counts.sum()
    about = "" if count.is_integer() else "about "
    return f"the highest, {where}, holds {about}{count:,.0f} of {total:,.0f}"


def _choose_bars(summary: NumberSummary, least: float, most: float) -> _Bars:
    linear = _make_bars(summary, least, most, _linear_edges(least, most))
    linear = linear._replace(of_integers=isinstance(least, int))
    positive = summary.histogram.keys > 0
    if least < 0 or not positive.any():
        return linear
    smallest = max(float(summary.histogram.bounds()[0][positive][0]), least)
    if most / smallest < _LOG_RATIO or linear.counts.max() < _LOG_SHARE * linear.counts.sum():
        return linear
    edges = np.geomspace(smallest, most, _MAX_BARS + 1)
    return _make_bars(summary, least, most, edges)._replace(is_log=True)


def _linear_edges(least: float, most: float) -> DoubleArray:
    if isinstance(least, int):
        # As many integers in each bar, lest some be higher for holding more of them; of widths the
        # one by which the last bar is used most, lest that be lower.
        count = int(most - least) + 1
        narrowest = -(-count // _MAX_BARS)
        widths = range(narrowest, narrowest + min(narrowest, _MAX_BARS))
        width = min(widths, key=lambda width: -count % width / width)
        return least + width * np.arange(-(-count // width) + 1, dtype=np.float64)
    return np.linspace(least, most, _MAX_BARS + 1)


def _make_bars(summary: NumberSummary, least: float, most: float, edges: DoubleArray) -> _Bars:
    """Returns bars of what is from the first edge on, by how many numbers are below each edge."""
    bounds = np.stack(summary.histogram.bounds(), axis=1).ravel()
    bounds = np.clip(bounds, least, np.nextafter(float(most), np.inf))
    sums = np.append(0.0, np.cumsum(summary.histogram.counts))
    below = np.interp(edges, bounds, np.stack((sums[:-1], sums[1:]), axis=1).ravel())
    below[-1] = sums[-1]
    return _Bars(np.diff(below.round(_DECIMALS)), edges)


def _draw_path(counts: DoubleArray) -> str:
    step = WIDTH / len(counts)
    width = _format(step * (1 - _GAP))
    heights = np.maximum(HEIGHT * counts / counts.max(), _LEAST_HEIGHT).tolist()
    return "".join(
        f"M{_format(index * step)} {HEIGHT}v-{_format(height)}h{width}v{_format(height)}z"
        for index, (height, count) in enumerate(zip(heights, counts.tolist(), strict=True))
        if count
    )


def _format(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
