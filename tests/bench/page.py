"""Makes the page of all benchmarks: tables of ratios, and plots as SVG files beside it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.bench import plots

_PREFACE = """\
# Benchmarks

Made by `python -m tests.bench --page docs/benchmarks.md`. What the figures mean, and what not, is
in [tests/bench/README.md](../tests/bench/README.md). Ratios are times per record over that of the
first case, the library's, in the same round: above 1 the library is faster. All are medians of the
rounds with the lowest and the highest.
"""


def write_page(report: dict[str, Any], path: Path) -> None:
    """Writes the page and its plots, which go to a folder of its name.

    Args:
      report: all measurements, as the command writes them to JSON.
      path: the Markdown file.
    """
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_PREFACE, _table(("", "version"), report["environment"].items())]
    for benchmark in report["benchmarks"]:
        title, _, about = benchmark["about"].partition("\n")
        name = benchmark["name"]
        parts.append(f"## {title}\n\n`python -m tests.bench.bench_{name}`. {about.strip()}\n")
        for number, figure in enumerate(plots.plot(benchmark["comparisons"])):
            file = folder / f"{name}{number or ''}.svg"
            file.write_bytes(figure)
            parts.append(f"![{title}]({folder.name}/{file.name})\n")
        for comparison in benchmark["comparisons"]:
            head, rows = _rows(comparison)
            parts.append(f"### {comparison['title']}\n\n{_table(head, rows)}")
    path.write_text("\n".join(parts), "utf-8")


def _rows(comparison: dict[str, Any]) -> tuple[Sequence[str], Iterator[Sequence[str]]]:
    if comparison["subject"] == "memory":
        return ("case", "peak memory, MB"), _memory_rows(comparison["cases"])
    head = ("case", "us a record", "CPU us a record", "GB/s", "ratio")
    return head, _time_rows(comparison["cases"])


def _time_rows(cases: Sequence[dict[str, Any]]) -> Iterator[Sequence[str]]:
    for case in cases:
        wall_sec = [sample["wall_sec"] for sample in case["samples"]]
        cpu_sec = statistics.median(sample["cpu_sec"] for sample in case["samples"])
        yield (
            case["name"],
            _spread([value / case["records"] * 1e6 for value in wall_sec]),
            f"{cpu_sec / case['records'] * 1e6:.3g}",
            f"{case['bytes'] / statistics.median(wall_sec) / 1e9:.3g}",
            _spread(case["ratios_to_first"]),
        )


def _memory_rows(cases: Sequence[dict[str, Any]]) -> Iterator[Sequence[str]]:
    for case in cases:
        yield case["name"], _spread([s["peak_rss_bytes"] / 1e6 for s in case["samples"]])


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def _table(head: Sequence[str], rows: Any) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"
