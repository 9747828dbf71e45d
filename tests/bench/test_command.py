"""The command that runs the benchmarks, and the page that it makes. No time is asserted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.bench import __main__ as command


def case(name: str, seconds: list[float], **rest: Any) -> dict[str, Any]:
    samples = [{"wall_sec": s, "cpu_sec": s, "peak_rss_bytes": 5_000_000} for s in seconds]
    ratios = [s / 2.0 for s in seconds]
    return {
        "name": name,
        "records": 1_000_000,
        "bytes": 10**9,
        "series": None,
        "x": None,
        "samples": samples,
        "ratios_to_first": ratios,
    } | rest


REPORT = {
    "environment": {"pyarrow": "16.0"},
    "benchmarks": [
        {
            "name": "a",
            "about": "What is asked.\n\nSize: little.\n",
            "seconds": 5,
            "comparisons": [
                {
                    "title": "read",
                    "subject": "time",
                    "axis": None,
                    "cases": [case("ours", [2.0, 2.0]), case("theirs", [6.0, 10.0])],
                },
                {
                    "title": "growth",
                    "subject": "memory",
                    "axis": "file size, MB",
                    "cases": [case("1", [2.0], series="ours", x=1.0)],
                },
            ],
        }
    ],
}


def test_page(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the page needs matplotlib, the extra `bench`")
    page = tmp_path / "benchmarks.md"
    (tmp_path / "in.json").write_text(json.dumps(REPORT))
    options = ["--from", str(tmp_path / "in.json"), "--page", str(page)]
    assert command.main(options) == 0
    text = page.read_text()
    assert "## What is asked.\n\n`python -m tests.bench.bench_a`. Size: little.\n" in text
    assert "| theirs | 8 (6 to 10) | 8 | 0.125 | 4 (3 to 5) |" in text
    assert "| 1 | 5 (5 to 5) |" in text
    plots = {name: (tmp_path / name).read_bytes() for name in re.findall(r"\]\((.*?\.svg)\)", text)}
    assert [*plots] == ["benchmarks/a.svg", "benchmarks/a1.svg"]
    assert all(b"ours" in plot and len(plot) < 50_000 for plot in plots.values())
    assert command.main(options) == 0
    assert {name: (tmp_path / name).read_bytes() for name in plots} == plots


@pytest.mark.slow
def test_benchmarks_are_run(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    options = ["limits", "--quick", "--data", str(tmp_path), "--json", str(file)]
    assert command.main(options) == 0
    [benchmark] = json.loads(file.read_text())["benchmarks"]
    assert benchmark["name"] == "limits"
    assert benchmark["about"].startswith("How far reading is")
    assert [len(each["cases"]) for each in benchmark["comparisons"]] == [6, 6]


def test_one_that_fails_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "BENCHMARKS", ["lost", "sequence"])
    file = tmp_path / "out.json"
    assert command.main(["--quick", "--json", str(file)]) == 1
    assert [each["name"] for each in json.loads(file.read_text())["benchmarks"]] == ["sequence"]
    assert "FAILED: lost" in capfd.readouterr().err


def test_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["lost"])
    assert "Expected benchmarks among arrow, beam_source, " in capsys.readouterr().err
