"""Schemas that are saved: in each form, and whole or not at all."""

from __future__ import annotations

import pathlib

import pytest

from tests.schema.schemas import parse_schema
from tfrecord_beam.errors import WriteError
from tfrecord_beam.records.writing import file_system
from tfrecord_beam.records.writing.schema_file import save_schema
from tfrecord_beam.schema.tfmd import load_schema

SCHEMA = parse_schema('feature { name: "age" type: INT } feature { name: "\u00e9" type: BYTES }')


@pytest.mark.parametrize("name", ["schema.pbtxt", "schema.pb", "schema.json", "schema"])
def test_schema_is_saved_in_a_new_folder(name: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "new" / name
    save_schema(SCHEMA, path)
    assert load_schema(path) == SCHEMA
    assert [each.name for each in path.parent.iterdir()] == [name]


def test_schema_that_cannot_be_saved_is_an_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch()
    for target in (tmp_path / "file" / "schema.pbtxt", tmp_path):
        with pytest.raises(WriteError, match=r"^Expected to .*, found "):
            save_schema(SCHEMA, target)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_schema_before_stays_until_the_new_one_is_whole(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "schema.pbtxt"
    save_schema(SCHEMA, path)

    def write_half(file: file_system.OutputFile, data: bytes) -> None:
        with open(file.path, "wb") as opened:
            opened.write(data[: len(data) // 2])
        raise WriteError("Expected to write the file, found 'No space left on device'")

    monkeypatch.setattr(file_system.OutputFile, "write", write_half)
    with pytest.raises(WriteError, match="No space left"):
        save_schema(parse_schema('feature { name: "other" type: INT }'), path)
    assert load_schema(path) == SCHEMA
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_only_hidden_files_of_the_same_name_are_removed(tmp_path: pathlib.Path) -> None:
    """Those of processes that died; the others belong to a file `a-temp-b.tfrecord`."""
    others = [".a-temp-b.tfrecord.index", ".a-temp-b.tfrecord-temp-0123456789abcdef"]
    for name in [".a-temp-0123456789abcdef", *others]:
        (tmp_path / name).touch()
    save_schema(SCHEMA, tmp_path / "a")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["a", *others])
