"""read runs a pipeline and shows what it gave."""

from __future__ import annotations

import json
import pathlib
import re
import tempfile
from typing import Any

import pytest

from tests.cli.files import PEOPLE, write, write_schema
from tests.wire import entry, example, int64
from tfrecord_beam import count
from tfrecord_beam.cli.main import main

pytest.importorskip("apache_beam")
from apache_beam.options.pipeline_options import PipelineOptions

from tfrecord_beam.cli import pipeline


def read(capfd: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Returns what ``read --json`` prints."""
    assert main(["read", "--json", *arguments]) == 0
    return json.loads(capfd.readouterr().out)


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[str]:
    return [
        write(tmp_path, "a.tfrecord", *PEOPLE * 2),
        write(tmp_path, "b.tfrecord.gz", *PEOPLE),
        write(tmp_path, "c.tfrecord"),
    ]


def test_columns(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "day=1").mkdir()
    path = write(tmp_path / "day=1", "a.tfrecord", *PEOPLE)
    command = ["read", path, "--json", "--partition-columns", "hive", "--columns"]
    assert main([*command, "day,nam"]) == 0
    out, err = capfd.readouterr()
    assert [column["name"] for column in json.loads(out)["columns"]] == ["day", "nam"]
    assert err.startswith("tfrecord-beam: warning: Expected columns among 'age', 'day', ")
    assert err.endswith("found 'nam', which no record has (did you mean 'name'?)\n")
    assert err.count("which no record has") == 1
    assert main([*command, "day,name"]) == 0
    assert not capfd.readouterr().err


def test_json(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    summary = read(capfd, *files, "--columns", "name,age")
    assert (summary["rows"], summary["batches"]) == (9, 2)
    assert summary["columns"] == [
        {
            "name": "name",
            "type": "large_list<item: large_binary>",
            "present": 6,
            "null": 3,
            "min_values": 1,
            "max_values": 1,
        },
        {
            "name": "age",
            "type": "large_list<item: int64>",
            "present": 9,
            "null": 0,
            "min_values": 0,
            "max_values": 2,
        },
    ]
    rows = [
        {"name": ["Ada"], "age": [39]},
        {"name": None, "age": []},
        {"name": ["Zoë"], "age": [17, 18]},
    ]
    assert summary["samples"] == [
        {"file": files[0], "rows": 6, "first_rows": rows},
        {"file": files[1], "rows": 3, "first_rows": rows},
    ]
    counters = summary["counters"]
    assert (counters["files"], counters["records"], counters["batches"]) == (3, 9, 2)


def test_batch_size_and_schema(
    files: list[str], tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    schema = write_schema(tmp_path)
    summary = read(capfd, files[0], "--schema", schema, "--batch-size", "4")
    assert (summary["rows"], summary["batches"]) == (6, 2)
    assert [column["name"] for column in summary["columns"]] == ["scores", "age", "name"]
    assert [sample["rows"] for sample in summary["samples"]] == [4, 2]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--runer=DirectRunner"], "found --runer (did you mean '--runner'?)"),
        (
            ["--direct_num_wrokers", "4", "--streaming"],
            "found --direct_num_wrokers (did you mean '--direct_num_workers'?)",
        ),
        (
            ["--direct-num-workers=4"],
            "found --direct-num-workers (did you mean '--direct_num_workers'?)",
        ),
        (["--xyzzy"], "found --xyzzy"),
    ],
)
def test_options_that_beam_does_not_know(
    words: list[str], text: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = write(tmp_path, "people.tfrecord", *PEOPLE)
    assert main(["read", people, *words]) == 2
    assert capsys.readouterr().err == f"tfrecord-beam: error: Expected options of Beam, {text}\n"


def test_options_of_job_servers_are_left_to_them() -> None:
    unknown = "--xyzzy=1"
    words = ["--runner=FlinkRunner", unknown]
    pipeline.check_options(PipelineOptions(words), words)
    words = ["--runner=DirectRunner", unknown]
    with pytest.raises(ValueError, match=r"^Expected options of Beam, found --xyzzy$"):
        pipeline.check_options(PipelineOptions(words), words)


def test_schema_of_other_records(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    schema = write_schema(tmp_path)
    others = write(tmp_path, "others.tfrecord", example(entry("nam", int64(1))))
    assert main(["read", others, "--json", "--schema", schema]) == 0
    assert capfd.readouterr().err == (
        "tfrecord-beam: warning: Expected features of the schema among 'nam', found 'scores', "
        "'age', 'name', which no record has (did you mean 'nam'?)\n"
    )
    people = write(tmp_path, "people.tfrecord", *PEOPLE[1:])
    assert main(["read", people, "--json", "--schema", schema]) == 0
    assert not capfd.readouterr().err


def test_no_records(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    summary = read(capfd, files[2])
    assert summary["rows"] == summary["batches"] == 0
    assert summary["columns"] == summary["samples"] == []


def test_demo_without_arguments(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["read"]) == 0
    captured = capfd.readouterr()
    assert captured.err == ""
    assert "columns of 15000 rows in 3 batches\n" in captured.out
    assert re.search(
        r"census-00000-of-00003\.tfrecord: the first 3 of a batch of 5000 rows\n", captured.out
    )
    assert re.search(r"^age +large_list<int64> +15000 +0 +1 *$", captured.out, re.MULTILINE)
    assert re.search(r"^records +15000 *$", captured.out, re.MULTILINE)


def test_demo_by_name(capfd: pytest.CaptureFixture[str]) -> None:
    summary = read(capfd, "--demo", "--columns", "age")
    assert summary["rows"] == 15_000
    assert [column["name"] for column in summary["columns"]] == ["age"]


def test_pipeline_options(
    files: list[str], tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """They go to Beam, in both spellings."""
    folder = tmp_path / "shared"
    summary = read(capfd, *files, "--direct_num_workers", "2", f"--temp_location={folder}")
    assert summary["rows"] == 9
    assert folder.is_dir()  # the summary came by there
    assert not any(path.is_file() for path in folder.rglob("*"))


def test_unknown_runner(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["read", *files, "--runner=NoSuchRunner"]) == 2
    error = capfd.readouterr().err
    assert error.startswith("tfrecord-beam: error: Unexpected pipeline runner: NoSuchRunner.")


def test_error_in_the_pipeline(
    files: list[str], tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    schema = write_schema(tmp_path, 'feature { name: "age" type: FLOAT }')
    assert main(["read", files[0], "--schema", schema]) == 2
    error = capfd.readouterr().err
    assert error.startswith(
        "tfrecord-beam: error: Expected float_list for feature 'age', found int64_list - at "
        f"{files[0]}:0, record 0"
    )
    assert error.count("\n") == 1  # no traceback, no log


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["a", "--schema", "s", "b"], "Expected FILES side by side, found 'b' elsewhere"),
        (["a", "--demo"], "Expected FILES or --demo, found both"),
        (["a", "--keep-demo", "b"], "Expected FILES or --keep-demo, found both"),
        (["--keep-demo", "gs://b/d"], "Expected a local folder for demo data, found 'gs://b/d'"),
    ],
)
def test_ambiguous_arguments(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", *arguments]) == 2
    assert capsys.readouterr().err == f"tfrecord-beam: error: {text}\n"


def test_demo_that_is_kept(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "demo"
    assert main(["read", "--keep-demo", str(folder)]) == 0
    told = f"demo data: {folder}/data/census-*, {folder}/schema.pbtxt\n"
    assert capfd.readouterr().out.endswith(told)
    assert count(folder / "data") == 15_000
    assert main(["read", "--keep-demo", str(folder)]) == 2
    text = f"Expected an empty folder for demo data, found files - at {folder}"
    assert capfd.readouterr().err == f"tfrecord-beam: error: {text}\n"


def test_demo_leaves_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["read", "--columns", "nothing"]) == 2
    assert "Expected columns among 'age'" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
