"""Draws histograms as SVG paths."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from tfrecord_beam.report.formats import format_number, format_range
from tfrecord_beam.report.histogram import DoubleArray
from tfrecord_beam.report.numbers import NumberSummary

WIDTH = 240
HEIGHT = 48
"""Size of a chart, in the units of its path."""

_MAX_BARS = 24
_GAP = 0.12
"""Gap between bars, as a fraction of their width."""

_MIN_HEIGHT = 1.0
"""Minimum height of a bar that is not empty, so that it is visible."""

_DECIMALS = 3
"""Decimals of a fraction of a count. The rest are rounding errors, which would show as bars."""

_LOG_RATIO = 1000
_LOG_SHARE = 0.6
"""Bars are logarithmic if numbers span this ratio and one linear bar would hold this share."""


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart of numbers.

    Attributes:
      path: the bars, as the attribute `d` of an SVG path in a box of `WIDTH` by `HEIGHT`.
      minimum: text for the start of the first bar.
      maximum: text for the end of the last bar.
      is_log: whether all bars span the same ratio, rather than the same difference.
      description: the chart in words.
    """

    path: str
    minimum: str
    maximum: str
    is_log: bool
    description: str


class _Bars(NamedTuple):
    counts: DoubleArray  # may be fractions: bars that share an interval divide its count
    edges: DoubleArray  # [bars + 1]
    of_integers: bool = False
    is_log: bool = False


def draw(summary: NumberSummary) -> Chart | None:
    """Returns the chart of numbers; None if all are equal, at least as doubles."""
    if summary.extremes is None:
        return None
    minimum, maximum = summary.extremes
    if minimum == maximum:
        return None
    bars = _choose_bars(summary, minimum, maximum)
    if np.count_nonzero(bars.counts) == 1:
        return None
    start, end = format_range(bars.edges[0] if bars.is_log else minimum, maximum)
    ratio = ", each of the same ratio" if bars.is_log else ""
    description = f"{len(bars.counts)} bars from {start} to {end}{ratio}; {_describe_top(bars)}"
    return Chart(_draw_path(bars.counts), start, end, bars.is_log, description)


def _describe_top(bars: _Bars) -> str:
    top = int(bars.counts.argmax())
    start, stop = bars.edges[top], bars.edges[top + 1] - (1 if bars.of_integers else 0)
    where = "from {} to {}".format(*format_range(start, stop))
    if start == stop:
        where = f"at {format_number(start)}"
    count, total = bars.counts[top], bars.counts.sum()
    about = "" if count.is_integer() else "about "
    return f"the highest, {where}, holds {about}{count:,.0f} of {total:,.0f}"


def _choose_bars(summary: NumberSummary, minimum: float, maximum: float) -> _Bars:
    linear = _make_bars(summary, minimum, maximum, _linear_edges(minimum, maximum))
    linear = linear._replace(of_integers=isinstance(minimum, int))
    positive = summary.histogram.keys > 0
    if minimum < 0 or not positive.any():
        return linear
    smallest = max(float(summary.histogram.bounds()[0][positive][0]), minimum)
    if maximum / smallest < _LOG_RATIO or linear.counts.max() < _LOG_SHARE * linear.counts.sum():
        return linear
    edges = np.geomspace(smallest, maximum, _MAX_BARS + 1)
    return _make_bars(summary, minimum, maximum, edges)._replace(is_log=True)


def _linear_edges(minimum: float, maximum: float) -> DoubleArray:
    if isinstance(minimum, int):
        # Each bar has the same number of integers, or some would be higher for that reason alone.
        # Of the possible widths, the one that leaves the smallest part of the last bar unused.
        count = int(maximum - minimum) + 1
        narrowest = -(-count // _MAX_BARS)
        widths = range(narrowest, narrowest + min(narrowest, _MAX_BARS))
        width = min(widths, key=lambda width: -count % width / width)
        return minimum + width * np.arange(-(-count // width) + 1, dtype=np.float64)
    return np.linspace(minimum, maximum, _MAX_BARS + 1)


def _make_bars(summary: NumberSummary, minimum: float, maximum: float, edges: DoubleArray) -> _Bars:
    """Returns the bars between edges, from how many numbers are below each edge."""
    bounds = np.stack(summary.histogram.bounds(), axis=1).ravel()
    bounds = np.clip(bounds, minimum, np.nextafter(float(maximum), np.inf))
    sums = np.append(0.0, np.cumsum(summary.histogram.counts))
    below = np.interp(edges, bounds, np.stack((sums[:-1], sums[1:]), axis=1).ravel())
    below[-1] = sums[-1]
    return _Bars(np.diff(below.round(_DECIMALS)), edges)


def _draw_path(counts: DoubleArray) -> str:
    step = WIDTH / len(counts)
    width = _format(step * (1 - _GAP))
    heights = np.maximum(HEIGHT * counts / counts.max(), _MIN_HEIGHT).tolist()
    return "".join(
        f"M{_format(index * step)} {HEIGHT}v-{_format(height)}h{width}v{_format(height)}z"
        for index, (height, count) in enumerate(zip(heights, counts.tolist(), strict=True))
        if count
    )


def _format(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
