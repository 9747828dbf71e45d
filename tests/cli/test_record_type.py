"""``--record-type`` of each verb that decodes records."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.files import write
from tests.sequence_files import EXAMPLE_LISTS, RECORDS, SCHEMA
from tfrecord_beam.cli.main import main


def test_head(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *RECORDS)
    columns = ["--columns", "##SEQUENCE##.ids,id"]
    command = ["head", path, "-n", "3", "--record-type", "SequenceExample", *columns]
    assert main([*command, "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        {"id": [0], "##SEQUENCE##.ids": None},
        {"id": [1], "##SEQUENCE##.ids": [None]},
        {"id": [2], "##SEQUENCE##.ids": [None, [0]]},
    ]
    assert main(command) == 0
    assert "[null, [0]]" in capsys.readouterr().out


def test_schema(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = tmp_path / "schema.pb"
    schema.write_bytes(SCHEMA.SerializeToString())
    command = ["schema", "--schema", str(schema), "--record-type", "SequenceExample", "--json"]
    assert main(command) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert [column["name"] for column in columns] == ["id", "label", "##SEQUENCE##"]
    path = write(tmp_path, "a.tfrecord", *EXAMPLE_LISTS)
    assert main(["schema", path, "--record-type", "ExampleListWithContext", "--json"]) == 0
    summary = {each["name"]: each for each in json.loads(capsys.readouterr().out)["columns"]}
    ids = summary["##SEQUENCE##.ids"]
    assert ids["type"] == "large_list<item: large_list<item: int64>>"
    assert (ids["present"], ids["min_values"], ids["max_values"]) == (10, 0, 3)


def test_read(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *RECORDS)
    assert main(["read", path, "--record-type", "SequenceExample", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["rows"] == len(RECORDS)
    names = [column["name"] for column in summary["columns"]]
    assert names == ["id", *(f"##SEQUENCE##.{name}" for name in ("beyond", "ids", "words"))]


@pytest.mark.parametrize("with_schema", [False, True])
def test_verify(
    with_schema: bool, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "schema.pb"
    schema.write_bytes(SCHEMA.SerializeToString())
    path = write(tmp_path, "a.tfrecord", *RECORDS, b"\xff")
    command = ["verify", path, "--record-type", "SequenceExample", "--json"]
    assert main([*command, *["--schema", str(schema)] * with_schema]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["records"] == len(RECORDS)
    [corrupt] = report["corrupt_records"]
    assert corrupt["reason"].startswith("Expected a serialized tf.train.SequenceExample, found")


def test_records_of_another_type(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["head", write(tmp_path, "a.tfrecord", *RECORDS)]) == 2
    assert "--record-type SequenceExample" in capsys.readouterr().err
