"""index writes where records begin."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.files import PEOPLE, damage, write
from tfrecord_beam.cli.main import main
from tfrecord_beam.records.index import FileIndex


def test_text(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [write(tmp_path, "a.tfrecord", *PEOPLE), write(tmp_path, "b.tfrecord")]
    assert main(["index", str(tmp_path)]) == 0
    indexes = [f"{tmp_path}/.{name}.tfrecord.index" for name in "ab"]
    assert capsys.readouterr() == ("".join(f"{index}\n" for index in indexes), "")
    size = pathlib.Path(paths[0]).stat().st_size
    found = [FileIndex.parse(pathlib.Path(index).read_bytes()) for index in indexes]
    assert found == [FileIndex(size, [0]), FileIndex(0, [])]
    assert main(["count", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("3 in all\n")


def test_json(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    assert main(["index", "--json", path]) == 0
    index = f"{tmp_path}/.a.tfrecord.index"
    assert json.loads(capsys.readouterr().out) == {"files": [{"file": path, "index": index}]}


def test_compressed_file_among_others(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "a.tfrecord.gz", *PEOPLE)
    write(tmp_path, "b.tfrecord", *PEOPLE)
    assert main(["index", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{tmp_path}/.b.tfrecord.index\n"
    assert f"{path} is compressed, so never split" in captured.err


def test_compressed_file(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord.gz", *PEOPLE)
    assert main(["index", path]) == 2
    error = "tfrecord-beam: error: Expected a plain file, found one compressed with gzip - at "
    assert capsys.readouterr().err.startswith(f"{error}{path} (")


def test_damaged_file_gets_none(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    damage(path, 12)
    assert main(["index", path]) == 2
    assert "Payload CRC mismatch" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [pathlib.Path(path)]
