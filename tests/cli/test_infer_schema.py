"""infer-schema prints or writes the schema of all records."""

from __future__ import annotations

import json
import pathlib

import pytest
from google.protobuf import json_format, text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.cli.files import PEOPLE, write
from tests.schema.schemas import parse_schema
from tests.sequence_files import write_files
from tests.wire import entry, example, floats, int64
from tfrecord_beam.cli.main import main
from tfrecord_beam.records.inference import infer_schema
from tfrecord_beam.schema.tfmd import load_schema

BEAM = "--direct_num_workers=1"
SCHEMA = parse_schema(
    """
    feature { name: "age" type: INT presence { min_fraction: 1 min_count: 1 } }
    feature { name: "name" type: BYTES presence { min_count: 1 } value_count { min: 1 max: 1 } }
    feature { name: "photo" type: BYTES presence { min_count: 1 } value_count { min: 1 max: 1 } }
    feature { name: "scores" type: FLOAT presence { min_count: 1 } value_count { min: 1 } }
    """
)


@pytest.fixture
def people(tmp_path: pathlib.Path) -> str:
    return write(tmp_path, "a.tfrecord", *PEOPLE)


@pytest.mark.parametrize("beam", [[], [BEAM]], ids=["in this process", "pipeline"])
def test_prints(people: str, capfd: pytest.CaptureFixture[str], beam: list[str]) -> None:
    assert main(["infer-schema", people, *beam]) == 0
    out, err = capfd.readouterr()
    assert text_format.Parse(out, schema_pb2.Schema()) == SCHEMA
    assert err == ""


@pytest.mark.parametrize("beam", [[], [BEAM]], ids=["in this process", "pipeline"])
def test_options(people: str, capfd: pytest.CaptureFixture[str], beam: list[str]) -> None:
    flags = ["--shape", "--int-domains", "--string-domains", "2", "--content-domains"]
    assert main(["infer-schema", people, "--json", *flags, *beam]) == 0
    found = json_format.ParseDict(json.loads(capfd.readouterr().out), schema_pb2.Schema())
    assert found == infer_schema(
        people, infer_shape=True, int_domains=True, string_domains=2, content_domains=True
    )


@pytest.mark.parametrize("name", ["s.pbtxt", "s.pb", "s.json", "s"])
def test_writes(
    people: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = tmp_path / name
    assert main(["infer-schema", people, "-o", str(path)]) == 0
    assert capsys.readouterr() == (f"4 features in {path}\n", "")
    assert load_schema(path) == SCHEMA
    content = path.read_bytes()
    assert content.startswith(b"{") == (name == "s.json")
    assert content.startswith(b"feature") == (name in ("s", "s.pbtxt"))


def test_record_type(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = list(map(str, write_files(tmp_path)))
    assert main(["infer-schema", *files, "--record-type=SequenceExample", "--json"]) == 0
    names = [feature["name"] for feature in json.loads(capsys.readouterr().out)["feature"]]
    assert names == ["id", "##SEQUENCE##"]


@pytest.mark.parametrize("beam", [[], [BEAM]], ids=["in this process", "pipeline"])
def test_conflict(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], beam: list[str]
) -> None:
    records = [example(entry("x", values), entry("y", int64(7))) for values in (int64(1), floats())]
    path = write(tmp_path, "a.tfrecord", *records)
    text = (
        f"Expected int64_list for feature 'x' as at {path}:0, record 0, found float_list - at "
        f"{path}:{16 + len(records[0])}, record 1"
    )
    assert main(["infer-schema", path, *beam]) == 2
    assert f"{text} (--drop-conflicts leaves such features out)\n" in capfd.readouterr().err
    assert main(["infer-schema", path, "--drop-conflicts", *beam]) == 0
    out, err = capfd.readouterr()
    assert err == f"tfrecord-beam: warning: Left out a feature: {text}\n"
    assert [each.name for each in text_format.Parse(out, schema_pb2.Schema()).feature] == ["y"]


def test_file_that_cannot_be_written(
    people: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["infer-schema", people, "-o", str(tmp_path)]) == 2
    text = "Expected to find the file, found 'a folder of this name'"
    assert capsys.readouterr().err == f"tfrecord-beam: error: {text} - at {tmp_path}\n"


def test_misspelt_option(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["infer-schema", people, "--shape", "x", "--runner"]) == 2
    assert capsys.readouterr().err
