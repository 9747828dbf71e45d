"""verify reports each corrupt record, and goes on."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from tests.cli.files import PEOPLE, damage, write, write_schema
from tests.frames import framed
from tests.wire import entry, example, floats
from tfrecord_beam.cli.main import main

SECOND = 16 + len(PEOPLE[0])
"""Where the second record starts."""


@pytest.fixture
def good(tmp_path: pathlib.Path) -> str:
    return write(tmp_path, "good.tfrecord.gz", *PEOPLE)


@pytest.fixture
def bad(tmp_path: pathlib.Path) -> str:
    """A file whose second record has a wrong CRC, and whose last one is cut short."""
    path = write(tmp_path, "bad.tfrecord", *PEOPLE, b"end")
    damage(path, SECOND + 12)
    content = pathlib.Path(path).read_bytes()
    pathlib.Path(path).write_bytes(content[:-1])
    return path


def read_json(capsys: pytest.CaptureFixture[str]) -> Any:
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_good_files(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", good, "--record-type=Example"]) == 0
    assert capsys.readouterr() == ("1 file, 3 good records, 0 corrupt\n", "")


def test_file_by_two_names_is_read_once(
    good: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(pathlib.Path(good).parent)
    name = pathlib.Path(good).name
    assert main(["verify", name, f"./{name}", good, f"file://{good}"]) == 0
    assert capsys.readouterr() == ("1 file, 3 good records, 0 corrupt\n", "")


def test_every_corrupt_record_is_shown(
    good: str, bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", bad, good, bad]) == 1
    captured = capsys.readouterr()
    first, second, summary = captured.out.splitlines()
    third = sum(16 + len(record) for record in PEOPLE)
    assert first.startswith("Payload CRC mismatch: stored 0x")
    assert first.endswith(f" - at {bad}:{SECOND}, record 1")
    assert second == (
        f"Expected a record of 19 bytes, found the end of the file after 18 - at {bad}:{third}"
    )
    assert summary == "2 files, 5 good records, 2 corrupt"
    assert captured.err == ""


def test_json(good: str, bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--json", bad, good]) == 1
    report = read_json(capsys)
    assert report["files"] == [{"file": bad, "records": 2}, {"file": good, "records": 3}]
    assert report["records"] == 5
    first, second = report["corrupt_records"]
    assert first.pop("reason").startswith("Payload CRC mismatch: stored 0x")
    assert first == {"file": bad, "offset": SECOND, "length": 16 + len(PEOPLE[1]), "record": 1}
    assert (second["length"], second["record"]) == (18, None)


def test_content_matters_only_on_request(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "a.tfrecord", PEOPLE[0], b"no example", PEOPLE[1])
    assert main(["verify", path]) == 0
    capsys.readouterr()
    assert main(["verify", path, "--record-type=Example", "--json"]) == 1
    report = read_json(capsys)
    assert report["records"] == 2
    assert report["corrupt_records"] == [
        {
            "file": path,
            "offset": SECOND,
            "length": len(b"no example"),
            "record": 1,
            "reason": "Expected a serialized tf.train.Example, found bytes that do not parse as "
            "one (are the records messages of another type, encrypted or compressed one by one?)",
        }
    ]


def test_schema(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE, example(entry("age", floats(1.5))))
    assert main(["verify", path, "--schema", write_schema(tmp_path), "--json"]) == 1
    report = read_json(capsys)
    assert report["records"] == 3
    [corrupt] = report["corrupt_records"]
    assert corrupt["record"] == 3
    assert corrupt["reason"] == "Expected int64_list for feature 'age', found float_list"


def test_missing_file_among_others(
    good: str, bad: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing" / "file")
    assert main(["verify", missing, bad, good]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"tfrecord-beam: error: Expected files at {missing!r}, found none\n"
    assert captured.out.splitlines()[-1] == "2 files, 5 good records, 2 corrupt"


SCHEMA = """
feature { name: "age" type: INT value_count { min: 1 max: 1 } int_domain { min: 18 } }
feature { name: "name" type: BYTES presence { min_fraction: 1 } }
"""


def test_records_that_do_not_fit_a_schema(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of a batch are those of its good records."""
    undecodable = example(entry("age", floats(1)))
    path = write(tmp_path, "a.tfrecord", undecodable, *PEOPLE)
    schema = write_schema(tmp_path, SCHEMA)
    assert main(["verify", path, "--schema", schema]) == 1
    first = len(framed(undecodable))
    second = first + len(framed(PEOPLE[0]))
    third = second + len(framed(PEOPLE[1]))
    assert capsys.readouterr().out.splitlines()[1:] == [
        "Expected 1 value for feature 'age', found another number in 2 records - at "
        f"{path}:{second}, record 2",
        "Expected values of at least 18 for feature 'age', found others in 1 record - at "
        f"{path}:{third}, record 3",
        "Expected a value for feature 'name', found none in 1 record - at "
        f"{path}:{second}, record 2",
        "1 file, 3 good records, 1 corrupt",
    ]


def test_records_that_do_not_fit_a_schema_as_json(
    good: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = write_schema(tmp_path, 'feature { name: "age" type: INT presence { min_count: 4 } }')
    assert main(["verify", good, "--schema", schema, "--json"]) == 1
    assert read_json(capsys)["anomalies"] == [
        {
            "feature": "age",
            "reason": "Expected values in 4 records for feature 'age', found some",
            "records": 3,
            "file": None,
            "offset": None,
            "record": None,
        }
    ]
