"""head prints the first rows, and reads no more than that takes."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.files import PEOPLE, write, write_schema
from tests.wire import bytes_list, entry, example, int64
from tfrecord_beam.cli.main import main
from tfrecord_beam.records.paths import DirectFileSystem


def read_json(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    captured = capsys.readouterr()
    assert captured.err == ""
    return [json.loads(line) for line in captured.out.splitlines()]


def test_json_is_exact(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", write(tmp_path, "a.tfrecord", *PEOPLE), "--json"]) == 0
    assert read_json(capsys) == [
        {
            "age": [39],
            "name": ["Ada"],
            "photo": [{"base64": "/9g="}],
            "scores": [0.10000000149011612, "Infinity", "NaN"],  # of 0.1 the nearest 32-bit float
        },
        {"age": [], "name": None, "photo": None, "scores": [-2.5]},
        {"age": [17, 18], "name": ["Zoë"], "photo": None, "scores": None},
    ]


def test_columns_of_different_files(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A batch shows only the features of its records, the output those of all."""
    first = write(tmp_path, "1.tfrecord", example(entry("b", int64(1))))
    second = write(tmp_path, "2.tfrecord", example(entry("a", int64(2))))
    assert main(["head", first, second, "--json"]) == 0
    rows = read_json(capsys)
    assert rows == [{"a": None, "b": [1]}, {"a": [2], "b": None}]
    assert [list(row) for row in rows] == [["a", "b"], ["a", "b"]]


def test_schema_and_columns(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, schema = write(tmp_path, "a.tfrecord", *PEOPLE), write_schema(tmp_path)
    assert main(["head", path, "--schema", schema, "--json", "-n", "1"]) == 0
    assert [list(row) for row in read_json(capsys)] == [["scores", "age", "name"]]
    assert main(["head", path, "--schema", schema, "--json", "--columns", "name,age"]) == 0
    rows = read_json(capsys)
    assert [list(row) for row in rows] == [["name", "age"]] * 3
    assert rows[0] == {"name": ["Ada"], "age": [39]}


def test_unknown_column(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, schema = write(tmp_path, "a.tfrecord", *PEOPLE), write_schema(tmp_path)
    assert main(["head", path, "--schema", schema, "--columns", "nam"]) == 2
    assert capsys.readouterr().err == (
        "tfrecord-beam: error: Expected columns among 'scores', 'age', 'name', found 'nam' "
        "(did you mean 'name'?)\n"
    )


def test_columns_that_no_record_has(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "day=1").mkdir()
    path = write(tmp_path / "day=1", "a.tfrecord", *PEOPLE)
    command = ["head", path, "--json", "--partition-columns", "hive", "--columns"]
    for count in ("1", "9"):
        assert main([*command, "day,nam,age", "-n", count]) == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out.splitlines()[0]) == {"day": ["1"], "nam": None, "age": [39]}
        assert shown.err == (
            "tfrecord-beam: warning: Expected columns among 'age', 'day', 'name', 'photo', "
            "'scores', found 'nam', which none of these records has (did you mean 'name'?)\n"
        )
    assert main([*command, "name,age"]) == 0
    assert not capsys.readouterr().err


def test_schema_of_other_records(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said where no feature of the schema is in the records, not where some are missing."""
    schema = write_schema(tmp_path)
    others = write(tmp_path, "a.tfrecord", example(entry("nam", int64(1))))
    assert main(["head", others, "--schema", schema, "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"scores": None, "age": None, "name": None}
    assert shown.err == (
        "tfrecord-beam: warning: Expected features of the schema among 'nam', found 'scores', "
        "'age', 'name', which none of these records has (did you mean 'nam'?)\n"
    )
    some = write(tmp_path, "b.tfrecord", example(entry("age", int64(1))))
    assert main(["head", some, "--schema", schema, "--json"]) == 0
    assert not capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 100])
def test_how_many(count: int, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write(tmp_path, f"{i}.tfrecord.gz", example(entry("i", int64(i)))) for i in range(4)]
    assert main(["head", *files, "-n", str(count), "--json"]) == 0
    assert read_json(capsys) == [{"i": [i]} for i in range(min(count, 4))]


def test_table(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", write(tmp_path, "a.tfrecord", *PEOPLE)]) == 0
    header, line, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["age", "name", "photo", "scores"]
    assert set(line) == {"─"}
    assert [row.split(maxsplit=3)[0:2] for row in rows[:2]] == [["39", "Ada"], ["[]", "null"]]
    assert rows[0].split("  ")[-1].strip() == "[0.1, Infinity, NaN]"
    assert "<2 bytes>" in rows[0]
    assert len(rows) == 3


def test_no_records(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", write(tmp_path, "a.tfrecord"), "--json"]) == 0
    assert read_json(capsys) == []
    assert main(["head", write(tmp_path, "a.tfrecord")]) == 0
    assert capsys.readouterr().out == "no records\n"


class _CountedFiles:
    """Opens files and counts the bytes that are read of them."""

    def __init__(self) -> None:
        self.bytes_read: dict[str, int] = {}

    def open(self, _: DirectFileSystem, path: str) -> _CountedFile:
        self.bytes_read[path] = 0
        return _CountedFile(path, self.bytes_read)


class _CountedFile:
    def __init__(self, path: str, bytes_read: dict[str, int]) -> None:
        self._path = path
        self._bytes_read = bytes_read
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115
        self.seek, self.tell, self.close = self._file.seek, self._file.tell, self._file.close

    def read(self, size: int) -> bytes:
        data = self._file.read(size) or b""
        self._bytes_read[self._path] += len(data)
        return data

    def readinto(self, target: memoryview) -> int:
        count = self._file.readinto(target) or 0
        self._bytes_read[self._path] += count
        return count


@pytest.mark.parametrize("schema", [False, True])
def test_stops_early(
    schema: bool,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = example(entry("name", bytes_list(b"x" * 1000)))
    first = write(tmp_path, "a.tfrecord", *[record] * 5000)
    second = write(tmp_path, "b.tfrecord", record)
    files = _CountedFiles()
    monkeypatch.setattr(DirectFileSystem, "open", lambda self, path: files.open(self, path))
    options = ["--schema", write_schema(tmp_path)] if schema else []
    assert main(["head", first, second, *options, "--json", "-n", "20"]) == 0
    assert len(read_json(capsys)) == 20
    assert list(files.bytes_read) == [first]
    assert 20_000 < files.bytes_read[first] <= 2 * (64 << 10)
