"""Tables show rows: a line each, or where that is too wide a column each."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from tfrecord_beam.cli.rows import print_rows, to_rows


def show(rows: list[dict[str, object]], capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Returns the lines of a table, as cells, without the line below its header."""
    print_rows(list(rows[0]), rows)
    header, _, *lines = capsys.readouterr().out.splitlines()
    return [line.split() for line in (header, *lines)]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        ([], "[]"),
        ([7], "7"),
        ([1, 2], "[1, 2]"),
        ([1, 2, 3, 4, 5], "[1, 2, 3, 4, 5]"),
        ([1, 2, 3, 4, 5, 6], "[1, 2, 3, 4, 5, ... 6 in all]"),
        ([0.10000000149011612], "0.1"),
        (["NaN"], "NaN"),
        (["[red]text[/red]"], "[red]text[/red]"),
        (["two\nlines\x1b"], "two\\nlines\\x1b"),
        (["x" * 40], "x" * 40),
        (["x" * 41], "x" * 37 + "..."),
        ([{"base64": "/9g="}], "<2 bytes>"),
    ],
)
def test_cells(value: object, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert show([{"a": value}], capsys) == [["a"], shown.split()]


def test_wide_output_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, object]] = [{f"column{i}": ["value"] for i in range(100)}]
    header, values = show(rows, capsys)
    assert header == [f"column{i}" for i in range(100)]
    assert values == ["value"] * 100


def test_too_wide_for_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "xterm")
    names = ["a", "b", "c", "d", "e"]
    rows = [{name: [f"{name * 8}{row}"] for name in names} for row in range(3)]
    print_rows(names, rows)
    printed = re.sub(r"\x1b\[[0-9]*m", "", capsys.readouterr().out)
    lines = [line.split() for line in printed.splitlines() if not line.startswith("─")]
    assert lines == [
        ["record", "0", "record", "1"],
        *([name, f"{name * 8}0", f"{name * 8}1"] for name in names),
        ["record", "2"],
        *([name, f"{name * 8}2"] for name in names),
    ]


def test_rows_of_a_batch() -> None:
    batch = pa.record_batch(
        {
            "text": pa.array([[b"a", "ä".encode(), b"\xff"]], pa.large_list(pa.large_binary())),
            "float": pa.array([[float("-inf"), 0.5]], pa.large_list(pa.float32())),
            "nothing": pa.nulls(1),
        }
    )
    assert to_rows(batch) == [
        {"text": ["a", "ä", {"base64": "/w=="}], "float": ["-Infinity", 0.5], "nothing": None}
    ]
