"""Tests of tfrecord_beam.transforms.filesystem on a store whose listings hold one level."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet
import pytest
from apache_beam.io.filesystem import BeamIOError, FileMetadata
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.records.writing.beam_urls import (
    FOLDERS_SCHEME,
    SCHEME,
    LocalFilesByUrl,
    LocalFoldersByUrl,
)
from tests.tfxio.pipelines import run
from tfrecord_beam import (
    BeamSource,
    DecodeRecordBlocks,
    FromRows,
    NoMatchError,
    ReadRecordBlocks,
    ToRows,
    WriteToTFRecord,
)
from tfrecord_beam.records.paths import match_files
from tfrecord_beam.schema.tfmd import serialize_schema
from tfrecord_beam.tfxio.parquet_tfxio import ParquetTFXIO
from tfrecord_beam.transforms.filesystem import BeamFileSystem, BeamOutputFileSystem, fetch_schema


def test_overwrite_leaves_nothing_of_the_old_partitions(tmp_path: pathlib.Path) -> None:
    folder = f"{FOLDERS_SCHEME}{tmp_path}/out/"
    for ids in ([1, 2, 3], [4]):
        batch = pa.record_batch({"id": ids, "k": ["a", "b", "c"][: len(ids)]})
        run(beam.Create([batch]), WriteToTFRecord(folder, partition_by=["k"], mode="overwrite"))
        read = run(BeamSource(folder, columns=["id"])).elements
        assert sorted(id for each in read for [id] in each.column("id").to_pylist()) == ids


def test_folder_that_cannot_be_listed_is_no_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a").write_bytes(b"1")
    list_level = LocalFoldersByUrl._list

    def fail_below(self: LocalFoldersByUrl, folder: str) -> object:
        if folder.endswith("day=1"):
            raise BeamIOError("List operation failed", {folder: OSError("connection reset")})
        return list_level(self, folder)

    monkeypatch.setattr(LocalFoldersByUrl, "_list", fail_below)
    with pytest.raises(BeamIOError, match="connection reset"):
        match_files([f"{FOLDERS_SCHEME}{tmp_path}/"], BeamFileSystem())


def test_folder_whose_name_would_be_a_pattern(tmp_path: pathlib.Path) -> None:
    (tmp_path / "[1]").mkdir()
    with pytest.raises(ValueError, match=r"^Expected folders without \*, \? and \[ in their names"):
        match_files([f"{FOLDERS_SCHEME}{tmp_path}/"], BeamFileSystem())


def test_pattern_at_the_root_of_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    found = FileMetadata(f"{FOLDERS_SCHEME}/a.tfrecord", 5)
    monkeypatch.setattr(LocalFoldersByUrl, "_list", lambda self, folder: iter([found]))
    [entry] = match_files([f"{FOLDERS_SCHEME}/*.tfrecord"], BeamFileSystem())
    assert entry == (found.path, 5)


def test_only_folders_that_may_hold_a_match_are_listed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.tfrecord", "day=1/a.tfrecord", "day=1/_temporary/deep/a.tfrecord"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1")
    listed = []
    list_level = LocalFoldersByUrl._list

    def note(self: LocalFoldersByUrl, folder: str) -> object:
        listed.append(folder.rpartition("/")[2])
        return list_level(self, folder)

    monkeypatch.setattr(LocalFoldersByUrl, "_list", note)
    url = f"{FOLDERS_SCHEME}{tmp_path}"
    assert len(match_files([f"{url}/*.tfrecord"], BeamFileSystem())) == 1
    assert "_temporary" not in listed
    assert len(match_files([f"{url}/"], BeamFileSystem())) == 2
    assert "deep" not in listed


@pytest.mark.parametrize(
    ("prefix", "options", "listed"),
    [
        ("train", {}, ["train", ".train"]),
        ("out/train", {}, ["out/train", "out/.train"]),
        ("out/train", {"partition_by": ["id"]}, ["out/"]),
        ("out/", {}, ["out/"]),
    ],
)
def test_write_lists_what_may_be_its_own(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    prefix: str,
    options: dict[str, Any],
    listed: list[str],
) -> None:
    match = LocalFilesByUrl.match
    patterns: set[str] = set()

    def note(self: LocalFilesByUrl, given: list[str], limits: Any = None) -> Any:
        patterns.update(given)
        return match(self, given, limits)

    monkeypatch.setattr(LocalFilesByUrl, "match", note)
    folder = f"{SCHEME}{tmp_path}"
    batches = beam.Create([pa.record_batch({"id": [1]})])
    run(batches, WriteToTFRecord(f"{folder}/{prefix}", **options))
    # Each write deletes its own temporary folder, whose name it knows.
    found = {pattern for pattern in patterns if "-temp-" not in pattern}
    assert found == {f"{folder}/{name}**" for name in listed}


def test_prefixes_of_a_listing(tmp_path: pathlib.Path) -> None:
    for name in ("a", "ab/c", ".a-temp-1/x", "b", "k=1/a"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    for root in (str(tmp_path), *(scheme + str(tmp_path) for scheme in (SCHEME, FOLDERS_SCHEME))):
        for folder in (root, f"{root}/"):
            listing = BeamOutputFileSystem().list_folder(folder, prefixes=["a", ".a"])
            assert listing == ([f"{root}/a"], [f"{root}/.a-temp-1", f"{root}/ab"])


# --- Schemas ------------------------------------------------------------------------------

SCHEMA = schema_pb2.Schema(feature=[{"name": "id", "type": "INT"}])


@pytest.mark.parametrize("name", ["schema.pbtxt", "schema.json", "schema.parquet"])
def test_schema_at_a_url_that_only_beam_knows(tmp_path: pathlib.Path, name: str) -> None:
    url = f"{SCHEME}{tmp_path}/{name}"
    if name.endswith(".parquet"):
        pyarrow.parquet.write_table(pa.table({"id": [1]}), tmp_path / name)
    else:
        (tmp_path / name).write_bytes(serialize_schema(SCHEMA, name))
    fetched: Any = fetch_schema(url)
    assert [each.name for each in fetched.feature] == ["id"]
    assert ParquetTFXIO("unused", schema=url).ArrowSchema().names == ["id"]
    records = f"{SCHEME}{tmp_path}/a"
    batch = pa.record_batch({"id": [1, 2]})
    run(beam.Create([batch]), WriteToTFRecord(records, url, num_shards=1))
    for decode in (
        [BeamSource(f"{records}*", url)],
        [ReadRecordBlocks(f"{records}*"), DecodeRecordBlocks(url)],
        [
            BeamSource(f"{records}*"),
            ToRows(url),
            beam.Map(lambda row: row._asdict()),
            FromRows(url),
        ],
    ):
        [read] = run(*decode).elements
        assert read.column("id").to_pylist() == [[1], [2]]


def test_schema_that_is_not_at_a_url(tmp_path: pathlib.Path) -> None:
    url = f"{SCHEME}{tmp_path}/schema.pbtxt"
    with pytest.raises(NoMatchError, match=f"^Expected a schema at '{url}', found no file$"):
        BeamSource(f"{tmp_path}/*", url)
    assert fetch_schema(SCHEMA) is SCHEMA
    assert fetch_schema(None) is None
