"""What each mode of writing does to the files that are there."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest

from tests.contract.writing import (
    WAYS,
    Write,
    names,
    no_warnings,
    numbers,
    tree,
    visible,
    write_by_table,
    x_of,
)
from tests.tfxio.pipelines import run
from tfrecord_beam import BeamSource, WriteError, WriteToTFRecord, iter_batches, write_table

ID = "0123456789abcdef"
"""Looks like the id of a write."""

FOREIGN = [
    "notes.txt",
    "a",
    "a.tfrecord",
    "a.txt",
    "a-00000-of-00003",
    "a-00000-of-00003.csv",
    "a-00000-of-00003.tfrecord.bak",
    "a-0000x-of-00003.tfrecord",
    "xa-00000-of-00003.tfrecord",
    "a-small-00000-of-00003.tfrecord",
    "a-2-00000-of-00003.tfrecord",
    "a-2024-01-01-00000-of-00003.tfrecord",
    "a-20240101-00000-of-00003.tfrecord",
    "a--00000-of-00003.tfrecord",
    "a-00000-of-00003-00000-of-00003.tfrecord",
    "A-00000-of-00003.tfrecord",
    "ab-00000-of-00003.tfrecord",
    "b-00000-of-00003.tfrecord",
    ".notes",
    f".ab-temp-{ID}/left",
    f".b-temp-{ID}/left",
    "other/a-00000-of-00003.tfrecord",
]
"""Files that are none of those that a write to `a` makes."""

OURS = [
    "a-00000-of-00001.tfrecord",
    "a-00003-of-00007.tfrecord",
    "a-100000-of-100001.tfrecord",
    "a-00000-of-00002.tfrecord.gz",
    "a-00000-of-00002.tfrecord.deflate",
    "a-00000-of-00002.tfrecord.bz2",
    "a-00000-of-00002.tfrecord.zst",
    "a-00000-of-00002.tfrecord.lz4",
    "a-00000-of-00002.tfrecord.snappy",
]
"""Files that are."""


def fill(folder: pathlib.Path, *paths: str) -> dict[str, bytes | None]:
    """Makes files; returns what is in the folder."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"content of " + path.encode())
    return tree(folder)


def write_five(folder: pathlib.Path) -> None:
    """Writes 0 to 9 to five compressed files."""
    write_by_table([numbers(0, 10)], folder / "a", num_shards=5, compression="gzip")


@pytest.mark.parametrize("mode", ["error", "append", "overwrite", "ignore"])
def test_files_of_others_stay_and_are_no_hindrance(
    write: Write, tmp_path: pathlib.Path, mode: str
) -> None:
    before = fill(tmp_path, *FOREIGN)
    written = write([numbers(0, 9)], tmp_path / "a", num_shards=2, mode=mode)
    after = tree(tmp_path)
    assert {path: after.pop(path) for path in before} == before
    assert sorted(after) == sorted(pathlib.Path(file.path).name for file in written)
    assert sorted(x_of([file.path for file in written])) == list(range(9))


@pytest.mark.parametrize("name", OURS)
def test_error_refuses_where_one_file_is(write: Write, tmp_path: pathlib.Path, name: str) -> None:
    before = fill(tmp_path, name)
    with pytest.raises(WriteError, match=re.escape(name)):
        write([numbers(0, 9)], tmp_path / "a", num_shards=2)
    assert tree(tmp_path) == before


def test_error_names_the_file_and_is_an_os_error(tmp_path: pathlib.Path) -> None:
    write_table(numbers(0, 3), str(tmp_path / "a.tfrecord"))
    before = tree(tmp_path)
    with pytest.raises(OSError, match=r"a\.tfrecord"):
        write_table(numbers(0, 3), str(tmp_path / "a.tfrecord"), mode="error")
    assert tree(tmp_path) == before


def test_error_looks_again_when_the_pipeline_runs(tmp_path: pathlib.Path) -> None:
    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([numbers(0, 3)]) | WriteToTFRecord(str(tmp_path / "a"), num_shards=2)
    before = fill(tmp_path, "a-00001-of-00002.tfrecord")
    with pytest.raises(WriteError, match="a-00001-of-00002"):
        pipeline.run().wait_until_finish()
    assert tree(tmp_path).items() >= before.items()
    assert visible(tmp_path) == list(before)


@pytest.mark.parametrize("options", [{}, {"num_shards": 1}], ids=["path", "prefix"])
def test_error_leaves_what_appears_meanwhile(
    tmp_path: pathlib.Path, options: dict[str, Any]
) -> None:
    name = "a-00000-of-00001.tfrecord" if options else "a"

    def batches() -> Iterator[pa.RecordBatch]:
        yield numbers(0, 3)
        fill(tmp_path, name)

    with pytest.raises(WriteError, match=name):
        write_table(batches(), tmp_path / "a", **options)
    assert tree(tmp_path) == {name: b"content of " + name.encode()}


def test_error_lets_one_of_two_writes_win(tmp_path: pathlib.Path) -> None:
    pipeline = beam.Pipeline()
    for name in ("one", "two"):
        batches = pipeline | f"Create {name}" >> beam.Create([numbers(0, len(name))])
        _ = batches | name >> WriteToTFRecord(str(tmp_path / "a"), num_shards=1)
    with pytest.raises(WriteError, match="a-00000-of-00001"):
        pipeline.run().wait_until_finish()


@pytest.mark.parametrize("mode", ["error", "append", "overwrite", "ignore"])
def test_each_mode_makes_missing_folders(tmp_path: pathlib.Path, mode: str) -> None:
    write_by_table([numbers(0, 3)], tmp_path / "new" / "er" / "a", num_shards=1, mode=mode)
    assert x_of(tmp_path / "new") == [0, 1, 2]


def test_append(write: Write, tmp_path: pathlib.Path) -> None:
    write_five(tmp_path)
    before = fill(tmp_path, "a.txt", "b-00000-of-00001.tfrecord", f".a-temp-{ID}/left")
    for start in (10, 15):
        write([numbers(start, start + 5)], tmp_path / "a", num_shards=2, mode="append")
    after = tree(tmp_path)
    assert {path: after.pop(path) for path in before} == before
    assert len(after) == 4
    for name in after:
        assert re.fullmatch(r"a-.+-0000[01]-of-00002\.tfrecord", name)
    assert sorted(x_of(str(tmp_path / "a-*.tfrecord*"))) == list(range(20))


def test_append_to_files_that_were_appended_is_seen_by_the_others(tmp_path: pathlib.Path) -> None:
    """Files with the part that makes an appended name unique are as much ours as the others."""
    write_by_table([numbers(0, 5)], tmp_path / "a", num_shards=1, mode="append")
    before = tree(tmp_path)
    with pytest.raises(WriteError, match=re.escape(next(iter(before)))):
        write_by_table([numbers(5, 9)], tmp_path / "a", num_shards=1)
    assert write_by_table([numbers(5, 9)], tmp_path / "a", num_shards=1, mode="ignore") == []
    assert tree(tmp_path) == before
    write_by_table([numbers(5, 9)], tmp_path / "a", num_shards=1, mode="overwrite")
    assert names(tmp_path) == ["a-00000-of-00001.tfrecord"]


def test_append_beside_a_write_that_died_or_still_goes_on(
    write: Write, tmp_path: pathlib.Path
) -> None:
    [file] = write([numbers(0, 5)], tmp_path / "a", num_shards=1, mode="append")
    found = re.fullmatch(r"a-(.+)-00000-of-00001\.tfrecord", pathlib.Path(file.path).name)
    assert found
    before = fill(tmp_path, f".a-temp-{found[1]}/left")
    write([numbers(5, 9)], tmp_path / "a", num_shards=1, mode="append")
    assert tree(tmp_path).items() >= before.items()
    assert sorted(x_of(tmp_path)) == list(range(9))


def test_overwrite_leaves_nothing_of_the_old(write: Write, tmp_path: pathlib.Path) -> None:
    write_five(tmp_path)
    write_by_table([numbers(0, 5)], tmp_path / "a", num_shards=1, mode="append")
    foreign = fill(tmp_path, *OURS, *FOREIGN).keys() & set(FOREIGN)
    written = write([numbers(20, 27)], tmp_path / "a", num_shards=2, mode="overwrite")
    ours = {"a-00000-of-00002.tfrecord", "a-00001-of-00002.tfrecord"}
    assert set(names(tmp_path)) == ours | foreign
    assert {pathlib.Path(file.path).name for file in written} == ours
    assert sorted(x_of([file.path for file in written])) == list(range(20, 27))


@pytest.mark.parametrize("codec", ["gzip", "zlib", "zstd", None])
def test_overwrite_by_any_codec_leaves_no_file_of_another(
    tmp_path: pathlib.Path, codec: str | None
) -> None:
    write_five(tmp_path)
    with no_warnings():
        write_by_table(
            [numbers(20, 27)], tmp_path / "a", num_shards=3, mode="overwrite", compression=codec
        )
    assert len(names(tmp_path)) == 3
    assert sorted(x_of(tmp_path)) == list(range(20, 27))


@pytest.mark.parametrize(
    ("way", "mode"), [("beam", "overwrite"), ("table", "overwrite"), ("table", "append")]
)
def test_a_write_that_fails_leaves_the_old_files(
    tmp_path: pathlib.Path, way: str, mode: str
) -> None:
    write = WAYS[way]
    write_five(tmp_path)
    before = tree(tmp_path)
    bad = pa.record_batch({"x": pa.array([[1, None]], pa.list_(pa.int64())), "s": ["a"]})
    with pytest.raises(ValueError, match="'x'"):
        write([numbers(0, 500), bad], tmp_path / "a", num_shards=2, mode=mode, write_success=True)
    assert tree(tmp_path).items() >= before.items()
    assert visible(tmp_path) == sorted(before)
    if write is write_by_table:
        assert tree(tmp_path) == before
    written = write([numbers(5, 9)], tmp_path / "a", num_shards=1, mode="overwrite")
    assert list(tree(tmp_path)) == [pathlib.Path(file.path).name for file in written]


def test_ignore(write: Write, tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"num_shards": 2, "mode": "ignore", "write_success": True}
    before = fill(tmp_path, "a-00001-of-00005.tfrecord.gz")
    assert write([numbers(0, 9)], tmp_path / "a", **options) == []
    assert tree(tmp_path) == before
    assert len(write([numbers(0, 9)], tmp_path / "b", **options)) == 2
    assert sorted(x_of(str(tmp_path / "b*"))) == list(range(9))


@pytest.mark.parametrize(
    ("way", "mode"), [("beam", "overwrite"), ("table", "error"), ("table", "ignore")]
)
def test_leftovers_of_dead_writes_go(tmp_path: pathlib.Path, way: str, mode: str) -> None:
    write = WAYS[way]
    foreign = [f".ab-temp-{ID}/x", f".b-temp-{ID}/x"]
    fill(tmp_path, f".a-temp-{ID}/x", f".a-temp-{ID}/y/z", *foreign)
    write([numbers(0, 9)], tmp_path / "a", num_shards=1, mode=mode)
    assert names(tmp_path) == [*foreign, "a-00000-of-00001.tfrecord"]
    assert not (tmp_path / f".a-temp-{ID}").exists()


def test_overwrite_what_is_being_read(tmp_path: pathlib.Path) -> None:
    write_five(tmp_path)
    source = BeamSource(str(tmp_path / "a*"))
    run(source, WriteToTFRecord(str(tmp_path / "a"), num_shards=2, mode="overwrite"))
    assert sorted(x_of(tmp_path)) == list(range(10))
    assert len(list(tree(tmp_path))) == 2
    path = tmp_path / "one.tfrecord"
    write_table(numbers(0, 500), str(path))
    write_table(iter_batches(path, batch_size=7), str(path), mode="overwrite")
    assert x_of(path) == list(range(500))


@pytest.mark.parametrize("mode", ["errors", "OVERWRITE", "", None, 1, "a"])
def test_modes_that_are_none(tmp_path: pathlib.Path, mode: Any) -> None:
    with pytest.raises(ValueError, match="mode"):
        WriteToTFRecord(str(tmp_path / "a"), mode=mode)
    with pytest.raises(ValueError, match="mode"):
        write_table(numbers(0, 1), str(tmp_path / "a.tfrecord"), mode=mode)
    assert names(tmp_path) == []


def test_exact_path(tmp_path: pathlib.Path) -> None:
    """A table without shards is one file, and no other name counts as its own."""
    path = str(tmp_path / "a.tfrecord")
    before = fill(tmp_path, "a-00000-of-00001.tfrecord", "a", "a.tfrecord.bak")
    write_table(numbers(0, 3), path)
    write_table(numbers(3, 5), path, mode="overwrite")
    assert x_of(path) == [3, 4]
    assert write_table(numbers(5, 9), path, mode="ignore") == []
    assert x_of(path) == [3, 4]
    after = tree(tmp_path)
    del after["a.tfrecord"]
    assert after == before
