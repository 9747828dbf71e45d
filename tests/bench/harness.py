"""Measures cases in turn, so that what disturbs the machine disturbs them alike, and prints ratios.

A benchmark is a module `bench_NAME` with a function `measure(run)`, which calls `run.compare` for
each thing that it compares, and ends with ``harness.main(measure, __doc__)``. A `Case` is one way
to do a piece of work. `Run.compare` measures its cases A, B, A, B, ... and prints medians with
their range. The first case is the base: every ratio is another case's time per record over the
base's time per record in the same round, so above 1 the base is faster.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import functools
import gc
import importlib.metadata
import importlib.util
import json
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

PACKAGES = {
    "tfrecord_beam": "tfrecord-beam",
    "apache_beam": "apache-beam",
    "pyarrow": "pyarrow",
    "numpy": "numpy",
    "google.protobuf": "protobuf",
    "isal": "isal",
    "crc32c": "crc32c",
    "google_crc32c": "google-crc32c",
    "tfx_bsl": "tfx-bsl",
    "tensorflow": "tensorflow",
    "torch": "torch",
    "tfrecord": "tfrecord",
    "ray": "ray",
    "pyspark": "pyspark",
}
"""The import names of what is measured and of the peers, with the names of their distributions."""

_SAMPLE_SEC = 0.2  # A case is repeated for about so long: one measurement of a few ms is noise.


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One way to do the work.

    Attributes:
      name: how the table calls it.
      run: does the work and returns the number of records it handled. With `isolated` it must be
        picklable: `functools.partial` of a function of a module.
      records: the number that `run` must return; anything else is an error, not a fast result.
      bytes: size of the work.
      needs: import name of a peer. Where it is not installed the case is left out.
      warm_up: with `isolated`, what to do once before the measurements, or None to do nothing.
      series: with `x`, the line of a plot that the case is a point of.
      x: where it is on the comparison's axis.
    """

    name: str
    run: Callable[[], int]
    records: int
    bytes: int
    needs: str | None = None
    warm_up: Callable[[], object] | None = None
    series: str | None = None
    x: float | None = None


@dataclasses.dataclass(frozen=True)
class Sample:
    """One measurement. CPU time counts all threads, and worker processes that have ended."""

    wall_sec: float
    cpu_sec: float
    peak_rss_bytes: int


Samples = dict[Case, list[Sample]]
"""The samples of each case, in rounds; the cases in their order."""

_TIME_HEAD = (
    "case",
    "records",
    "seconds",
    "us / record",
    "CPU us / record",
    "GB/s",
    "ratio to first",
)
_MEMORY_HEAD = ("case", "records", "seconds", "peak RSS MB", "above first MB")


def is_installed(module: str) -> bool:
    """Returns whether `module` can be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    """Returns a parser with the options that all benchmarks share."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder that keeps the data from run to run")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each case")
    parser.add_argument("--scale", type=float, default=1.0, help="factor for the size of all data")
    parser.add_argument("--json", type=Path, help="file to write all measurements to")
    parser.set_defaults(about=description or "")
    return parser


class Run:
    """One run of a benchmark. Made by `start`.

    Attributes:
      folder: where the data are.
      rounds: how often each case is measured.
      scale: factor for the size of all data.
      environment: versions and machine.
      comparisons: all that was measured, as JSON has it.
    """

    def __init__(self, folder: Path, rounds: int, scale: float = 1.0) -> None:
        self.folder = folder
        self.rounds = rounds
        self.scale = scale
        self.environment = _describe_environment()
        self.comparisons: list[dict[str, Any]] = []

    def count(self, records: float) -> int:
        """Returns how many records to take where the usual number is `records`."""
        return max(1, round(records * self.scale))

    def compare(
        self,
        title: str,
        cases: Sequence[Case],
        *,
        isolated: bool = False,
        axis: str | None = None,
    ) -> Samples:
        """Measures the cases round by round, prints a table and returns the measurements.

        Args:
          title: what the work is, with its size.
          cases: the first one that is installed is the base of the ratios.
          isolated: measure each case in a process of its own. For work that depends on what a
            process did before: pipelines and thread pools.
          axis: what the cases' `x` is, with its unit.
        """
        samples = self._measure_all(cases, isolated=isolated)
        self.report(title, samples, axis=axis)
        return samples

    def report(self, title: str, samples: Samples, *, axis: str | None = None) -> None:
        """Prints a table of measurements, and keeps them for the JSON file."""
        self._keep(title, samples, "time", axis)
        _print_table(title, _TIME_HEAD, _time_rows(samples))

    def _keep(self, title: str, samples: Samples, subject: str, axis: str | None) -> None:
        self.comparisons.append(
            {"title": title, "subject": subject, "axis": axis, "cases": _describe(samples)}
        )

    def compare_memory(self, title: str, cases: Sequence[Case], *, axis: str | None = None) -> None:
        """Measures the cases once, each in a new process, and prints a table of their memory.

        Args:
          title: what the work is.
          cases: the first one that is installed is what the others are compared with.
          axis: what the cases' `x` is, with its unit.
        """
        samples: Samples = {}
        for case in cases:
            if case.needs is None or is_installed(case.needs):
                with _isolate(case) as measure:
                    samples[case] = [measure()]
        self._keep(title, samples, "memory", axis)
        _print_table(title, _MEMORY_HEAD, _memory_rows(samples))

    def _measure_all(self, cases: Sequence[Case], *, isolated: bool) -> Samples:
        present = [case for case in cases if case.needs is None or is_installed(case.needs)]
        samples: Samples = {case: [] for case in present}
        with contextlib.ExitStack() as processes:
            measures: dict[Case, Callable[[], Sample]] = {
                case: processes.enter_context(_isolate(case))
                if isolated
                else functools.partial(_measure, case, _repeats(case))
                for case in present
            }
            for _ in range(self.rounds):
                for case, taken in samples.items():
                    taken.append(measures[case]())
        return samples


def main(measure: Callable[[Run], object], description: str | None) -> None:
    """Runs a benchmark by itself, by the options of the command line."""
    with start(argument_parser(description).parse_args()) as run:
        measure(run)


def subtract(samples: Samples, start: Samples) -> Samples:
    """Returns measurements without what starting takes, which the same cases were measured for."""
    return {
        case: [
            Sample(one.wall_sec - other.wall_sec, one.cpu_sec - other.cpu_sec, one.peak_rss_bytes)
            for one, other in zip(taken, started)
        ]
        for (case, taken), started in zip(samples.items(), start.values())
    }


@contextlib.contextmanager
def start(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yields a `Run` by the options of `argument_parser`; at the end writes the JSON file.

    Without `--data` the folder is a temporary one.

    Raises:
      SystemExit: the extension is missing, so that the reference kernel, which is hundreds of
        times slower, would be measured. Ask for it by TFRECORD_BEAM_KERNEL=reference.
    """
    # For the peers that load TensorFlow: no GPU, and no log between the tables.
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory(prefix="tfrecord_beam_bench_") as temporary:
        run = Run(arguments.data or Path(temporary), arguments.rounds, arguments.scale)
        asked_kernel = os.environ.get("TFRECORD_BEAM_KERNEL")
        if run.environment["kernel"] == "reference" != asked_kernel:
            raise SystemExit(
                "Expected the compiled extension of tfrecord_beam, found none (install with "
                "`pip install -e .`, or set TFRECORD_BEAM_KERNEL=reference to measure the "
                "reference kernel)"
            )
        run.folder.mkdir(parents=True, exist_ok=True)
        for key, value in run.environment.items():
            print(f"{key}: {value}")
        yield run
        if arguments.json is not None:
            report = {
                "about": arguments.about,
                "environment": run.environment,
                "comparisons": run.comparisons,
            }
            arguments.json.write_text(json.dumps(report, indent=2) + "\n")


def _repeats(case: Case) -> int:
    """Runs a case once, to warm up, and returns how often it fits into one measurement."""
    return max(1, round(_SAMPLE_SEC / _measure(case).wall_sec))


def _measure(case: Case, repeats: int = 1) -> Sample:
    gc.collect()
    cpu_start, wall_start = _cpu_sec(), time.perf_counter()
    for _ in range(repeats):
        done = case.run()
        if done != case.records:
            raise RuntimeError(
                f"Expected {case.name} to handle {case.records} records, found {done}"
            )
    wall_sec, cpu_sec = time.perf_counter() - wall_start, _cpu_sec() - cpu_start
    return Sample(wall_sec / repeats, cpu_sec / repeats, _peak_rss_bytes())


@contextlib.contextmanager
def _isolate(case: Case) -> Iterator[Callable[[], Sample]]:
    """Yields what measures a case in a process of its own, which has warmed up."""
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        if case.warm_up is not None:
            pool.submit(case.warm_up).result()
        yield lambda: pool.submit(_measure, case).result()


def _cpu_sec() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _peak_rss_bytes() -> int:
    # A new process takes over the ru_maxrss of the one that started it; VmHWM starts afresh.
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes


def _median_sec(taken: Sequence[Sample]) -> float:
    return statistics.median(sample.wall_sec for sample in taken)


def _ratios(case: Case, samples: Samples) -> list[float]:
    """Returns the time per record of `case` over that of the first case, round by round."""
    base = next(iter(samples))
    return [
        (sample.wall_sec / case.records) / (base_sample.wall_sec / base.records)
        for sample, base_sample in zip(samples[case], samples[base])
    ]


def _time_rows(samples: Samples) -> Iterator[list[str]]:
    for case, taken in samples.items():
        wall_sec = _median_sec(taken)
        cpu_sec = statistics.median(sample.cpu_sec for sample in taken)
        yield [
            case.name,
            f"{case.records:,}",
            f"{wall_sec:.3g}",
            _spread([sample.wall_sec / case.records * 1e6 for sample in taken]),
            f"{cpu_sec / case.records * 1e6:.3g}",
            f"{case.bytes / wall_sec / 1e9:.3g}",
            _spread(_ratios(case, samples)),
        ]


def _memory_rows(samples: Samples) -> Iterator[list[str]]:
    base_bytes: float | None = None
    for case, taken in samples.items():
        peak_bytes = statistics.median(sample.peak_rss_bytes for sample in taken)
        base_bytes = peak_bytes if base_bytes is None else base_bytes
        yield [
            case.name,
            f"{case.records:,}",
            f"{_median_sec(taken):.3g}",
            _spread([sample.peak_rss_bytes / 1e6 for sample in taken], ".0f"),
            f"{(peak_bytes - base_bytes) / 1e6:+.0f}",
        ]


def _spread(values: Sequence[float], form: str = ".3g") -> str:
    return f"{statistics.median(values):{form}} [{min(values):{form}} - {max(values):{form}}]"


def _print_table(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    rows = [head, *lines]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows.insert(1, ["-" * width for width in widths])
    print(f"\n{title}")
    for row in rows:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
    sys.stdout.flush()


def _describe(samples: Samples) -> list[dict[str, Any]]:
    return [
        {
            "name": case.name,
            "records": case.records,
            "bytes": case.bytes,
            "series": case.series,
            "x": case.x,
            "samples": [dataclasses.asdict(sample) for sample in taken],
            "ratios_to_first": _ratios(case, samples),
        }
        for case, taken in samples.items()
    ]


def _describe_environment() -> dict[str, str]:
    from tfrecord_beam import kernel

    return {
        "machine": f"{_cpu_model()}, {os.cpu_count()} CPUs, {platform.platform()}",
        "python": platform.python_version(),
        "kernel": kernel.implementation,
        **{name: _version(name) for name in PACKAGES},
    }


def _version(module: str) -> str:
    if not is_installed(module):
        return "not installed: left out"
    try:
        return importlib.metadata.version(PACKAGES[module])
    except importlib.metadata.PackageNotFoundError:
        return "imported from a source tree"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()
