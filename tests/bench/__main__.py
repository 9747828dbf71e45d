"""Runs the benchmarks one after the other, each in a process of its own, and makes the page of all.

    python -m tests.bench                    all of them, about half an hour
    python -m tests.bench decode gzip        some
    python -m tests.bench --quick            to see that they work: the figures mean nothing
    python -m tests.bench --page docs/benchmarks.md
    python -m tests.bench --from results.json --page docs/benchmarks.md     nothing measured

Nothing is installed: peers that cannot be imported are named and left out. The page needs
matplotlib (the extra `bench`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
BENCHMARKS = sorted(path.stem.removeprefix("bench_") for path in _FOLDER.glob("bench_*.py"))

_QUICK_OPTIONS = ["--scale", "0.01", "--rounds", "2"]


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("benchmarks", nargs="*", help=f"which: {', '.join(BENCHMARKS)}; all")
    parser.add_argument("--quick", action="store_true", help="few data, two rounds")
    parser.add_argument("--data", type=Path, help="folder that keeps the data from run to run")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each case")
    parser.add_argument("--scale", type=float, default=1.0, help="factor for the size of all data")
    parser.add_argument("--json", type=Path, help="file to write all measurements to")
    parser.add_argument("--page", type=Path, help="Markdown file to write, with plots beside it")
    parser.add_argument(
        "--from", type=Path, dest="source", help="such a JSON file: measures nothing"
    )
    options = parser.parse_args(arguments)
    unknown = sorted({*options.benchmarks} - {*BENCHMARKS})
    if unknown:
        parser.error(f"Expected benchmarks among {', '.join(BENCHMARKS)}, found {unknown[0]}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the options ask for; returns 1 if a benchmark failed."""
    options = _parse(arguments)
    if options.page is not None:
        from tests.bench import page  # first, so that a missing matplotlib is an error at once
    failed: list[str] = []
    if options.source is not None:
        report = json.loads(options.source.read_text("utf-8"))
    else:
        report = _measure_all(options, failed)
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    if options.page is not None:
        page.write_page(report, options.page)
    for name in failed:
        print(f"FAILED: {name}", file=sys.stderr)
    return 1 if failed else 0


def _measure_all(options: argparse.Namespace, failed: list[str]) -> dict[str, Any]:
    """Returns what all measured; adds the names of those that failed to `failed`."""
    report: dict[str, Any] = {"environment": {}, "benchmarks": []}
    with tempfile.TemporaryDirectory(prefix="tfrecord_beam_bench_") as temporary:
        result = Path(temporary) / "result.json"
        settings = ["--rounds", str(options.rounds), "--scale", str(options.scale)]
        if options.quick:
            settings = _QUICK_OPTIONS
        settings += ["--data", str(options.data or temporary), "--json", str(result)]
        for name in options.benchmarks or BENCHMARKS:
            print(f"\n=== {name} ===", flush=True)
            result.unlink(missing_ok=True)
            begin = time.monotonic()
            command = [sys.executable, "-m", f"tests.bench.bench_{name}", *settings]
            if subprocess.run(command, cwd=_FOLDER.parents[1]).returncode or not result.exists():
                failed.append(name)
                continue
            measured = json.loads(result.read_text("utf-8"))
            report["environment"] = measured["environment"]
            report["benchmarks"].append(
                {
                    "name": name,
                    "about": measured["about"],
                    "seconds": round(time.monotonic() - begin),
                    "comparisons": measured["comparisons"],
                }
            )
    return report


if __name__ == "__main__":
    sys.exit(main())
