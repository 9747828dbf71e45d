"""schema-diff prints what changed, and its exit code says whether anything did."""

from __future__ import annotations

import json
import pathlib

import pyarrow as pa
import pyarrow.parquet
import pytest

from tfrecord_beam.cli.main import main


@pytest.fixture
def schemas(tmp_path: pathlib.Path) -> list[str]:
    texts = ["feature { name: 'a' type: INT }", "feature { name: 'a\\x1b' type: INT }"]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.pbtxt").write_text(text)
    return [str(tmp_path / f"{number}.pbtxt") for number in range(2)]


def test_difference(schemas: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema-diff", *schemas]) == 1
    removed, added = capsys.readouterr().out.splitlines()
    assert removed == "- feature 'a': { name: \"a\" type: INT }"
    assert added.startswith(r"+ feature 'a\x1b': ")
    assert main(["schema-diff", *schemas, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["changes"][0] == {
        "path": ["feature", "a"],
        "field": None,
        "old": '{ name: "a" type: INT }',
        "new": None,
    }


def test_no_difference(
    schemas: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow.parquet.write_table(pa.table({"a": [[1]]}), tmp_path / "a.parquet")
    assert main(["schema-diff", schemas[0], str(tmp_path / "a.parquet")]) == 0
    assert capsys.readouterr() == ("", "")


def test_missing_file(schemas: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema-diff", schemas[0], "lost.pbtxt"]) == 2
    assert "lost.pbtxt" in capsys.readouterr().err
