"""Plots of measurements as SVG: small, of the same bytes for the same figures."""

from __future__ import annotations

import io
import itertools
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib

matplotlib.use("svg")
# Text stays text: a tenth of the size of its outlines. A fixed salt: the same names each time.
matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "tfrecord_beam",
        "font.size": 9,
        "axes.axisbelow": True,
    }
)

from matplotlib.figure import Figure  # noqa: E402

_WIDTH = 8.0
_ROW_HEIGHT = 0.24
_MOST_ROWS = 40
"""In one plot."""


def plot(comparisons: Sequence[dict[str, Any]]) -> Iterator[bytes]:
    """Yields the plots of a benchmark: one of what grows for each, one of the others together."""
    others = [each for each in comparisons if each["axis"] is None and each["subject"] == "time"]
    for start in range(0, len(others), _MOST_ROWS):
        yield _plot_rows(others[start : start + _MOST_ROWS])
    for comparison in comparisons:
        if comparison["axis"] is not None:
            yield _plot_growth(comparison)


def _plot_rows(comparisons: Sequence[dict[str, Any]]) -> bytes:
    """A row for each comparison, in it a mark for each case with its range."""
    figure = Figure((_WIDTH, 1.3 + _ROW_HEIGHT * len(comparisons)), layout="constrained")
    axes = figure.add_subplot()
    names = dict.fromkeys(case["name"] for each in comparisons for case in each["cases"])
    markers = itertools.cycle("osD^v<>PX*")
    for name, marker in zip(names, markers):
        points = [
            (row, _spread_of(case, "wall_sec"))
            for row, each in enumerate(comparisons)
            for case in each["cases"]
            if case["name"] == name
        ]
        _mark(axes, [spread for _, spread in points], [row for row, _ in points], name, marker)
    axes.set_yticks(range(len(comparisons)), [each["title"] for each in comparisons])
    axes.set_ylim(len(comparisons) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xlabel("us a record")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return _to_svg(figure)


def _mark(
    axes: Any, spreads: Sequence[Sequence[float]], rows: Sequence[int], name: str, marker: str
) -> None:
    low, middle, high = zip(*spreads)
    ranges = [[m - x for m, x in zip(middle, low)], [x - m for m, x in zip(middle, high)]]
    axes.errorbar(middle, rows, xerr=ranges, fmt=marker, markersize=5, label=name)


def _plot_growth(comparison: dict[str, Any]) -> bytes:
    """A line for each series: time per record, or memory, by what grows."""
    is_memory = comparison["subject"] == "memory"
    figure = Figure((_WIDTH, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for series in dict.fromkeys(case["series"] for case in comparison["cases"]):
        cases = [case for case in comparison["cases"] if case["series"] == series]
        key = "peak_rss_bytes" if is_memory else "wall_sec"
        low, middle, high = zip(*(_spread_of(case, key) for case in cases))
        x = [case["x"] for case in cases]
        [line] = axes.plot(x, middle, marker="o", markersize=4, label=series)
        axes.fill_between(x, low, high, alpha=0.2, color=line.get_color())
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(comparison["axis"])
    axes.set_ylabel("peak memory, MB" if is_memory else "us a record")
    axes.set_title(comparison["title"], fontsize=9)
    axes.grid(alpha=0.3, which="both")
    axes.legend(frameon=False)
    return _to_svg(figure)


def _spread_of(case: dict[str, Any], key: str) -> tuple[float, float, float]:
    """Returns lowest, median and highest: in microseconds a record, or in MB."""
    unit = 1e-6 if key == "peak_rss_bytes" else 1e6 / case["records"]
    values = [sample[key] * unit for sample in case["samples"]]
    return min(values), statistics.median(values), max(values)


def _to_svg(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()
