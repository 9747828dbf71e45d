"""schema prints the columns of a TFMD schema, or of records."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.files import PEOPLE, write, write_schema
from tests.wire import entry, example, floats, int64
from tfrecord_beam.cli.main import main

INT64 = "large_list<item: int64>"
FLOAT = "large_list<item: float>"
BYTES = "large_list<item: large_binary>"


def column(name: str, *values: object) -> dict[str, object]:
    keys = ("type", "present", "null", "min_values", "max_values")
    return {"name": name, **dict(zip(keys, values, strict=True))}


def test_of_a_schema(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = write_schema(tmp_path)
    assert main(["schema", "--schema", schema, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "columns": [
            {"name": "scores", "type": FLOAT},
            {"name": "age", "type": INT64},
            {"name": "name", "type": BYTES},
        ]
    }
    assert main(["schema", "--schema", schema]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[2:]] == [
        ["scores", "large_list<float>"],
        ["age", "large_list<int64>"],
        ["name", "large_list<large_binary>"],
    ]


def test_of_records(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    assert main(["schema", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "records": 3,
        "columns": [
            column("age", INT64, 3, 0, 0, 2),
            column("name", BYTES, 2, 1, 1, 1),
            column("photo", BYTES, 1, 2, 1, 1),
            column("scores", FLOAT, 2, 1, 1, 3),
        ],
    }
    assert main(["schema", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "records: 3"
    assert lines[3].split() == ["age", "large_list<int64>", "3", "0", "0", "to", "2"]
    assert lines[4].split() == ["name", "large_list<large_binary>", "2", "1", "1"]


def test_of_the_first_records(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE[1:])
    assert main(["schema", path, "-n", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "records": 1,
        "columns": [
            column("age", INT64, 1, 0, 0, 0),
            column("name", "null", 0, 1, None, None),
            column("scores", FLOAT, 1, 0, 1, 1),
        ],
    }


def test_of_records_against_a_schema(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, schema = write(tmp_path, "a.tfrecord", PEOPLE[1]), write_schema(tmp_path)
    assert main(["schema", path, "--schema", schema, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == [
        column("scores", FLOAT, 1, 0, 1, 1),
        column("age", INT64, 1, 0, 0, 0),
        column("name", BYTES, 0, 1, None, None),
    ]


def test_files_that_differ(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write(tmp_path, "1.tfrecord", example(entry("b", int64(1)), entry("c", int64())))
    second = write(tmp_path, "2.tfrecord", example(entry("b", floats(1, 2)), entry("a", floats())))
    assert main(["schema", first, second, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == [
        column("a", FLOAT, 1, 1, 0, 0),
        column("b", f"{FLOAT} or {INT64}", 2, 0, 1, 2),
        column("c", INT64, 1, 1, 0, 0),
    ]


def test_nothing_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 2
    assert capsys.readouterr().err == (
        "tfrecord-beam: error: Expected FILES or --schema, found neither\n"
    )
