"""convert makes TFRecord of other formats, and back."""

from __future__ import annotations

import json
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.files import PEOPLE, write, write_schema
from tests.wire import entry, example, int64
from tfrecord_beam import count, read_table
from tfrecord_beam.cli.main import main

TABLE = pa.table({"n": [1, 2, 3], "p": ["a", "b", "a"]})


@pytest.fixture
def parquet(tmp_path: pathlib.Path) -> str:
    path = str(tmp_path / "a.parquet")
    pq.write_table(TABLE, path)
    return path


def test_parquet_to_records(
    parquet: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "out.tfrecord.gz")
    assert main(["convert", parquet, target]) == 0
    assert capsys.readouterr() == (f"3 {target}\n", "")
    assert read_table(target).to_pydict() == {"n": [[1], [2], [3]], "p": [[b"a"], [b"b"], [b"a"]]}
    assert main(["convert", parquet, target]) == 2
    assert target in capsys.readouterr().err
    assert main(["convert", parquet, target, "--mode", "overwrite"]) == 0


def test_records_to_json_lines(tmp_path: pathlib.Path) -> None:
    people = [write(tmp_path, "a.tfrecord", *PEOPLE), write(tmp_path, "b.tfrecord", *PEOPLE)]
    target = tmp_path / "out.jsonl"
    assert main(["convert", *people, str(target), "--columns", "name,age"]) == 0
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert rows[0] == {"name": "Ada", "age": [39]}
    assert len(rows) == 6


def test_shards_and_partitions_as_json(
    parquet: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["convert", parquet, str(tmp_path / "out" / "part"), "--json"]
    assert main([*arguments, "--partition-by", "p", "--num-shards", "1"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["records"] == 3
    assert [file["records"] for file in shown["files"]] == [2, 1]
    assert [pathlib.Path(file["file"]).parent.name for file in shown["files"]] == ["p=a", "p=b"]
    back = str(tmp_path / "back.csv")
    assert main(["convert", str(tmp_path / "out"), back, "--partition-columns", "hive"]) == 0
    assert sorted(pathlib.Path(back).read_text().splitlines()) == [
        '"n","p"',
        '1,"a"',
        '2,"b"',
        '3,"a"',
    ]


def test_shards_of_a_number_of_records(
    parquet: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "out" / "part")
    assert main(["convert", parquet, target, "--max-records-per-shard", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "1", "3"]
    assert count(tmp_path / "out") == 3


def test_forms_of_columns(tmp_path: pathlib.Path) -> None:
    records = str(tmp_path / "a.tfrecord")
    pq.write_table(TABLE, tmp_path / "a.parquet")
    assert main(["convert", str(tmp_path / "a.parquet"), records]) == 0
    target = str(tmp_path / "out.parquet")
    assert main(["convert", records, target, "--strings", "p"]) == 0
    assert pq.read_schema(target).types == [pa.int64(), pa.large_string()]
    assert main(["convert", records, target, "--lists", "--mode", "overwrite"]) == 0
    assert [str(each).split("<")[0] for each in pq.read_schema(target).types] == ["large_list"] * 2
    assert main(["convert", records, target, "--scalars", "n", "--mode", "overwrite"]) == 0
    assert pq.read_schema(target).field("n").type == pa.int64()
    assert "large_list" in str(pq.read_schema(target).field("p").type)
    assert main(["convert", records, target, "--scalars", "n", "--lists"]) == 2


def test_formats_that_no_suffix_tells(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_text("x\n1\n")
    target = str(tmp_path / "b.out")
    arguments = ["convert", str(tmp_path / "a.txt"), target, "--from", "csv", "--to", "tfrecord"]
    assert main(arguments) == 0
    assert read_table(target).to_pydict() == {"x": [[1]]}


def test_schema(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("scores,age,name\n1,2,03\n")
    target = str(tmp_path / "a.tfrecord")
    assert (
        main(["convert", str(tmp_path / "a.csv"), target, "--schema", write_schema(tmp_path)]) == 0
    )
    assert read_table(target).to_pydict() == {"age": [[2]], "name": [[b"03"]], "scores": [[1.0]]}


@pytest.mark.filterwarnings("default")
def test_csv_without_names(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("Ada,39\nBob,7\n")
    command = ["convert", str(tmp_path / "a.csv"), str(tmp_path / "a.tfrecord")]
    assert main(command) == 0
    assert capsys.readouterr().err == (
        "tfrecord-beam: warning: Expected names of columns in the first line of a CSV file, found "
        f"the number '39' - at {tmp_path}/a.csv, line 1 (if that line is data, give "
        "--column-names)\n"
    )
    assert main([*command, "--column-names", "name,age", "--mode", "overwrite"]) == 0
    assert not capsys.readouterr().err
    assert count(tmp_path / "a.tfrecord") == 2


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("beam", [[], ["--beam"]])
def test_schema_of_other_records(
    tmp_path: pathlib.Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    beam: list[str],
) -> None:
    records = write(tmp_path, "in.tfrecord", example(entry("nam", int64(1))))
    target = str(tmp_path / "out.tfrecord")
    assert main(["convert", records, target, "--schema", write_schema(tmp_path), *beam]) == 0
    assert (
        "Expected features of the schema among 'nam', found 'scores', 'age', 'name', which no "
        "record has (did you mean 'nam'?)"
    ) in capfd.readouterr().err + caplog.text


def test_unknown_format(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", write(tmp_path, "a.tfrecord"), str(tmp_path / "b.orc")]) == 2
    error = capsys.readouterr().err
    assert "Expected a file name whose suffix names the format" in error
    assert "tfrecord, parquet, csv, json, arrow, arrow-stream" in error


def test_error_leaves_nothing(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    assert main(["convert", path, str(tmp_path / "b.csv")]) == 2
    assert "Expected at most one value for feature 'age', found 2" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["a.tfrecord"]


def test_pipeline(parquet: str, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    records = str(tmp_path / "out" / "a.tfrecord")
    assert main(["convert", parquet, records, "--beam", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["records"] == 3
    assert [pathlib.Path(file["file"]).name for file in shown["files"]] == [
        "a-00000-of-00001.tfrecord"
    ]
    target = str(tmp_path / "b.csv")
    arguments = ["convert", str(tmp_path / "out"), target, "--direct_num_workers=1"]
    assert main(arguments) == 0
    assert capfd.readouterr().out == f"3 {target}\n"
    assert pathlib.Path(target).read_text() == '"n","p"\n1,"a"\n2,"b"\n3,"a"\n'
    assert main(arguments) == 2
    assert "Expected no file of this name, found one" in capfd.readouterr().err
    target = str(tmp_path / "c.parquet")
    assert main(["convert", str(tmp_path / "out"), target, "--beam"]) == 0
    assert pq.read_schema(target).types == [pa.int64(), pa.large_string()]
