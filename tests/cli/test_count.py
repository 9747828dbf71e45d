"""count tells how many records there are."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.files import PEOPLE, damage, write
from tfrecord_beam.cli.main import main


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[str]:
    return [
        write(tmp_path, "a.tfrecord", *PEOPLE * 4),
        write(tmp_path, "b.tfrecord.gz", b"any", b"content"),
        write(tmp_path, "c.tfrecord"),
    ]


def test_text(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", *files]) == 0
    a, b, c = files
    assert capsys.readouterr() == (f"12 {a}\n 2 {b}\n 0 {c}\n14 in all\n", "")


def test_one_file(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", files[1]]) == 0
    assert capsys.readouterr().out == f"2 {files[1]}\n"


def test_folder_as_json(
    files: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["count", "--json", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "files": [{"file": file, "records": count} for file, count in zip(files, [12, 2, 0])],
        "records": 14,
    }


def test_file_named_like_a_pattern(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "[ab].tfrecord", *PEOPLE)
    write(tmp_path, "a.tfrecord", *PEOPLE)
    assert main(["count", path]) == 0
    assert capsys.readouterr().out == f"3 {path}\n"


def test_corrupt_record(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    damage(files[0], len(PEOPLE[0]) + 16 + 12)
    assert main(["count", *files]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tfrecord-beam: error: Payload CRC mismatch: stored 0x")
    assert captured.err.endswith(f" - at {files[0]}:{len(PEOPLE[0]) + 16}, record 1\n")
