"""The harness counts what it should. No time is asserted."""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
from pathlib import Path

import pytest

from tests.bench import harness
from tfrecord_beam import kernel


def _arguments(folder: Path) -> argparse.Namespace:
    options = ["--data", str(folder / "data"), "--rounds", "2", "--json", str(folder / "out.json")]
    return harness.argument_parser("").parse_args(options)


def _process_id_is_not(parent: int, count: int) -> int:
    return count if os.getpid() != parent else 0


def test_compare_reports_every_round_of_every_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        harness.Case("first", lambda: len(bytes(10**6)) // 10**5, records=10, bytes=10**6),
        harness.Case("second", lambda: 5, records=5, bytes=0),
        harness.Case("third", lambda: 5, records=5, bytes=0, needs="no_such_module"),
    ]
    with harness.start(_arguments(tmp_path)) as run:
        run.compare("title", cases)
    report = json.loads((tmp_path / "out.json").read_text())
    (comparison,) = report["comparisons"]
    assert [case["name"] for case in comparison["cases"]] == ["first", "second"]
    first, second = comparison["cases"]
    assert first["ratios_to_first"] == [1.0, 1.0]
    for index in range(2):
        base_sec = first["samples"][index]["wall_sec"] / 10
        other_sec = second["samples"][index]["wall_sec"] / 5
        assert second["ratios_to_first"][index] == pytest.approx(other_sec / base_sec)
    assert report["environment"]["pyarrow"][0].isdigit()
    assert "| first " in capsys.readouterr().out


def test_reference_kernel_is_measured_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "implementation", "reference")
    monkeypatch.setenv("TFRECORD_BEAM_KERNEL", "auto")
    with pytest.raises(SystemExit, match="found none"), harness.start(_arguments(tmp_path)):
        pass
    monkeypatch.setenv("TFRECORD_BEAM_KERNEL", "reference")
    with harness.start(_arguments(tmp_path)) as run:
        assert run.environment["kernel"] == "reference"


def test_isolated_cases_run_in_processes_of_their_own(tmp_path: Path) -> None:
    case = harness.Case(
        "case", functools.partial(_process_id_is_not, os.getpid(), 3), records=3, bytes=0
    )
    with harness.start(_arguments(tmp_path)) as run:
        run.compare("title", [case], isolated=True)
        run.compare_memory("title", [case])
    for comparison in run.comparisons:
        samples = comparison["cases"][0]["samples"]
        assert len(samples) == (1 if comparison["subject"] == "memory" else 2)
        assert all(sample["peak_rss_bytes"] > 1e6 for sample in samples)


def test_nothing_installed_is_no_error(tmp_path: Path) -> None:
    case = harness.Case("case", lambda: 1, records=1, bytes=0, needs="no_such_module")
    with harness.start(_arguments(tmp_path)) as run:
        assert run.compare("title", [case]) == {}


def test_work_left_out_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match="Expected case to handle 3 records, found 2"),
        harness.start(_arguments(tmp_path)) as run,
    ):
        run.compare("title", [harness.Case("case", lambda: 2, records=3, bytes=0)])
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    "script", sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
)
def test_every_script_can_be_imported(script: str) -> None:
    module = importlib.import_module(f"tests.bench.{script}")
    assert module.__doc__
    assert callable(module.measure)


def test_measurements_without_the_start(tmp_path: Path) -> None:
    case = harness.Case("case", lambda: 1, records=1, bytes=0)
    whole = {case: [harness.Sample(5.0, 4.0, 3), harness.Sample(6.0, 5.0, 3)]}
    start = {case: [harness.Sample(1.0, 2.0, 3), harness.Sample(1.5, 2.0, 3)]}
    with harness.start(_arguments(tmp_path)) as run:
        run.report("title", harness.subtract(whole, start))
    [samples] = [case["samples"] for case in run.comparisons[0]["cases"]]
    assert [sample["wall_sec"] for sample in samples] == [4.0, 4.5]
    assert [sample["cpu_sec"] for sample in samples] == [2.0, 3.0]


def test_sizes_are_scaled(tmp_path: Path) -> None:
    run = harness.Run(tmp_path, 1, 0.01)
    assert [run.count(records) for records in (1000, 1)] == [10, 1]
