"""report writes an HTML page."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.files import PEOPLE, SCHEMA, damage, write, write_schema
from tfrecord_beam import write_report
from tfrecord_beam.cli.main import main

BEAM = "--runner=apache_beam.runners.portability.fn_api_runner.FnApiRunner"


@pytest.fixture
def people(tmp_path: pathlib.Path) -> str:
    return write(tmp_path, "a.tfrecord", *PEOPLE)


@pytest.mark.parametrize("beam", [[], [BEAM]], ids=["in this process", "pipeline"])
def test_writes(
    people: str, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], beam: list[str]
) -> None:
    page, expected = tmp_path / "page.html", tmp_path / "expected.html"
    schema = write_schema(tmp_path, SCHEMA + 'feature { name: "unseen" type: INT }')
    write_report(people, expected, schema)
    assert main(["report", people, "-o", str(page), "--schema", schema, *beam]) == 0
    assert capfd.readouterr() == (f"3 records in {page}, 0 corrupt, 0 anomalies\n", "")
    assert page.read_bytes() == expected.read_bytes()


def test_json(people: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main(["report", people, "--output", str(page), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(page), "records": 3, "bytes": page.stat().st_size,
        "corrupt": 0, "anomalies": 0,
    }  # fmt: skip


@pytest.mark.parametrize("beam", [[], [BEAM]], ids=["in this process", "pipeline"])
def test_corrupt_places_are_counted(
    people: str, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], beam: list[str]
) -> None:
    damage(people, 20)
    page = tmp_path / "page.html"
    assert main(["report", people, "-o", str(page), *beam]) == 1
    assert capfd.readouterr() == (f"2 records in {page}, 1 corrupt\n", "")
    assert 'id="corrupt"' in page.read_text()


def test_anomalies_are_counted(
    people: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    schema = write_schema(tmp_path, 'feature { name: "age" type: BYTES }')
    assert main(["report", people, "-o", str(page), "--schema", schema]) == 1
    assert capsys.readouterr().out == f"3 records in {page}, 0 corrupt, 1 anomaly\n"


@pytest.mark.parametrize("beam", [[], [BEAM]], ids=["in this process", "pipeline"])
def test_existing_page(
    people: str, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], beam: list[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert main(["report", people, "-o", str(page), *beam]) == 2
    assert "Expected no file of this name, found one" in capfd.readouterr().err
    assert page.read_text() == "mine"
    assert main(["report", people, "-o", str(page), "--mode", "overwrite", *beam]) == 0


@pytest.mark.parametrize("words", [["x"], ["x", "-o", "p", "--mode", "append"]])
def test_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["report", *words])
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err
