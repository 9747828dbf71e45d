"""Writes that fail: files are whole or not there, and what failed once does no harm."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from tests.records.writing.encodings import encoding_of
from tests.records.writing.faulty import ALWAYS, FaultyFileSystem
from tests.records.writing.folders import batch_of, paths_in, records_in
from tfrecord_beam import WriteError
from tfrecord_beam.records.writing import publish
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem, OutputFileSystem
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.plan import Cleanup, WrittenFile, name_files, plan_cleanup
from tfrecord_beam.records.writing.publish import finish
from tfrecord_beam.records.writing.segments import Destination
from tfrecord_beam.records.writing.shards import ShardFile
from tfrecord_beam.records.writing.start import start_write
from tfrecord_beam.records.writing.table import write_batches

pytestmark = pytest.mark.usefixtures("no_waiting")

RECORDS = [b"record %d" % i for i in range(10)]
NAMES = [f"a-0000{i}-of-00003.tfrecord" for i in range(3)]


def options_of(folder: pathlib.Path, **options: Any) -> WriteOptions:
    return WriteOptions(folder / "a", **{"num_shards": 3, **options})


def write(folder: pathlib.Path, file_system: OutputFileSystem, **options: Any) -> list[WrittenFile]:
    made = options_of(folder, **options)
    encoding = encoding_of(made, "ByteArray")
    batches = [batch_of(*RECORDS[:7]), batch_of(*RECORDS[7:])]
    return write_batches(batches, made, encoding, file_system, num_rows=10)


WAYS = [{}, {"num_shards": None, "max_records_per_shard": 4}, {"compression": "gzip"}]
"""Options by which bundles spill, or make files that are whole."""


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("method", ["rename", "remove_folder", "delete"])
@pytest.mark.parametrize("times", [1, 3])
def test_what_fails_a_few_times_is_done_in_the_end(
    tmp_path: pathlib.Path, plan: pathlib.Path, options: dict[str, Any], method: str, times: int
) -> None:
    (tmp_path / "a-00000-of-00009.tfrecord").touch()
    file_system = FaultyFileSystem(plan, fail={method: times})
    files = write(tmp_path, file_system, mode="overwrite", **options)
    assert sorted(records_in(*(file.path for file in files))) == RECORDS
    assert paths_in(tmp_path) == sorted(pathlib.Path(file.path).name for file in files)
    assert not list(plan.iterdir())


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("method", ["create", "write", "close", "rename"])
@pytest.mark.parametrize("mode", ["error", "append"])
def test_what_fails_for_good_leaves_nothing(
    tmp_path: pathlib.Path, plan: pathlib.Path, options: dict[str, Any], method: str, mode: str
) -> None:
    file_system = FaultyFileSystem(plan, fail={method: ALWAYS})
    with pytest.raises(WriteError, match=r"^Expected to "):
        write(tmp_path, file_system, mode=mode, **options)
    assert paths_in(tmp_path) == []


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("room", [0, 1, 100, 300, 450])
def test_full_disk_leaves_nothing(
    tmp_path: pathlib.Path, plan: pathlib.Path, options: dict[str, Any], room: int
) -> None:
    file_system = FaultyFileSystem(plan, room=min(room, 200) if "compression" in options else room)
    if options.get("num_shards", 3) is None and room >= 300:
        assert len(write(tmp_path, file_system, **options)) == 3
        return
    with pytest.raises(WriteError, match="No space left on device"):
        write(tmp_path, file_system, **options)
    assert paths_in(tmp_path) == []


@pytest.mark.parametrize("options", WAYS)
def test_short_writes_change_nothing(
    tmp_path: pathlib.Path, plan: pathlib.Path, options: dict[str, Any]
) -> None:
    files = write(tmp_path, FaultyFileSystem(plan, most_taken=3), **options)
    assert sorted(records_in(*(file.path for file in files))) == RECORDS
    assert [file.num_bytes for file in files] == [
        pathlib.Path(file.path).stat().st_size for file in files
    ]


@pytest.mark.parametrize("mode", ["overwrite", "error"])
def test_rename_of_one_file_that_fails_for_good(
    tmp_path: pathlib.Path, plan: pathlib.Path, mode: str
) -> None:
    old = "a-00000-of-00009.tfrecord"
    if mode == "overwrite":
        (tmp_path / old).touch()
    file_system = FaultyFileSystem(plan, fail={"rename": ALWAYS}, only="-00002-of")
    with pytest.raises(WriteError) as caught:
        write(tmp_path, file_system, mode=mode)
    assert caught.value.file == str(tmp_path / NAMES[2])
    if mode == "error":  # what was put in place is taken back
        assert caught.value.hint is None
        assert paths_in(tmp_path) == []
        return
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("3 whole files of this name: ")
    assert str(tmp_path / NAMES[0]) in caught.value.hint
    assert paths_in(tmp_path) == sorted([*NAMES[:2], old])  # of what was there no byte is lost


@pytest.mark.parametrize("method", ["create", "write", "rename"])
@pytest.mark.parametrize("mode", ["error", "append"])
def test_index_that_cannot_be_put_beside_its_file(
    tmp_path: pathlib.Path, method: str, mode: str
) -> None:
    class NoIndex(FaultyFileSystem):
        """Fails for what comes after the first file is in place: that is its index."""

        def rename(self, source: str, target: str, *, replace: bool = True) -> None:
            super().rename(source, target, replace=replace)
            self._always = {method}

    with pytest.raises(WriteError, match=r"^Expected to "):
        write(tmp_path, NoIndex(tmp_path / "no plan"), mode=mode, write_index=True)
    assert paths_in(tmp_path) == []


def shard_files(folder: pathlib.Path, count: int) -> list[ShardFile]:
    files = []
    for shard in range(count):
        path = folder / f".temporary-{shard}"
        path.write_bytes(b"x" * (shard + 1))
        files.append(ShardFile(str(path), Destination(shard=shard), 1, shard + 1))
    return files


def test_publishing_twice_is_publishing_once(tmp_path: pathlib.Path) -> None:
    file_system = DirectOutputFileSystem()
    options = options_of(tmp_path)
    write = start_write(options, file_system)
    publications = name_files(shard_files(tmp_path, 3), options, write)
    first = [publish.publish(each, options, write, file_system) for each in publications]
    again = [publish.publish(each, options, write, file_system) for each in publications]
    assert again == first
    assert [path for path in paths_in(tmp_path) if not path.startswith(".a-temp-")] == NAMES


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_publishing_an_empty_file_twice(tmp_path: pathlib.Path, compression: str | None) -> None:
    file_system = DirectOutputFileSystem()
    options = options_of(tmp_path, num_shards=1, compression=compression)
    write = start_write(options, file_system)
    [publication] = name_files([], options, write)
    for _ in range(2):
        file = publish.publish(publication, options, write, file_system, is_remade=True)
    assert [str(path) for path in tmp_path.glob("a*")] == [file.path]


@pytest.mark.parametrize("mode", ["error", "append", "overwrite"])
def test_publishing_what_another_attempt_made(tmp_path: pathlib.Path, mode: str) -> None:
    file_system = DirectOutputFileSystem()
    options = options_of(tmp_path, mode=mode)
    write = start_write(options, file_system)
    for _ in range(2):  # shard 1 is not published: each attempt makes an empty file
        publications = name_files(shard_files(tmp_path, 3)[::2], options, write)
        for each in publications:
            publish.publish(each, options, write, file_system, is_remade=True)
    names = [pathlib.Path(each.written.path).name for each in publications]
    contents = [(tmp_path / name).read_bytes() for name in names]
    assert contents == [b"x", b"", b"xxx"]
    assert [path.name for path in tmp_path.glob(".temporary-*")] == [".temporary-1"]


def test_temporary_file_that_is_gone(tmp_path: pathlib.Path) -> None:
    file_system = DirectOutputFileSystem()
    options = options_of(tmp_path)
    write = start_write(options, file_system)
    publication, *_ = name_files(shard_files(tmp_path, 1), options, write)
    (tmp_path / ".temporary-0").unlink()
    (tmp_path / NAMES[0]).write_bytes(b"of another size")
    with pytest.raises(WriteError, match=r"^Expected to rename "):
        publish.publish(publication, options, write, file_system)
    assert (tmp_path / NAMES[0]).read_bytes() == b"of another size"


@pytest.mark.parametrize("mode", ["error", "append", "overwrite"])
@pytest.mark.parametrize(
    ("content", "is_remade"), [(b"x", False), (b"y", False), (b"", False), (b"y", True)]
)
def test_file_of_another_write(
    tmp_path: pathlib.Path, mode: str, content: bytes, is_remade: bool
) -> None:
    file_system = DirectOutputFileSystem()
    options = options_of(tmp_path, mode=mode)
    write = start_write(options, file_system)
    publication, *_ = name_files(shard_files(tmp_path, 1), options, write)
    target = pathlib.Path(publication.written.path)
    target.write_bytes(content)
    if mode == "overwrite":
        publish.publish(publication, options, write, file_system, is_remade=is_remade)
        assert target.read_bytes() == b"x"
        return
    with pytest.raises(WriteError, match="File exists"):
        publish.publish(publication, options, write, file_system, is_remade=is_remade)
    assert target.read_bytes() == content


def test_write_whose_files_another_cleared_away(tmp_path: pathlib.Path) -> None:
    file_system = DirectOutputFileSystem()
    options = options_of(tmp_path, mode="overwrite")
    write = start_write(options, file_system)
    publication, *_ = name_files(shard_files(tmp_path, 1), options, write)
    (tmp_path / ".temporary-0").unlink()
    file_system.remove_folder(options.names.temporary_folder(write.id))
    pathlib.Path(publication.written.path).write_bytes(b"y")  # of the same size
    with pytest.raises(WriteError, match="No such file"):
        publish.publish(publication, options, write, file_system)


def test_renaming_that_stopped_in_the_middle(tmp_path: pathlib.Path) -> None:
    file_system = DirectOutputFileSystem()
    options = options_of(tmp_path)
    write = start_write(options, file_system)
    publication, *_ = name_files(shard_files(tmp_path, 1), options, write)
    pathlib.Path(publication.written.path).hardlink_to(tmp_path / ".temporary-0")
    assert publish.publish(publication, options, write, file_system) == publication.written


def test_files_that_come_in_between_are_not_replaced(tmp_path: pathlib.Path) -> None:
    options = options_of(tmp_path)
    write = start_write(options, DirectOutputFileSystem())
    publications = name_files(shard_files(tmp_path, 3), options, write)
    (tmp_path / "a-00000-of-00001.tfrecord").touch()
    with pytest.raises(WriteError, match=r"^Expected no files of this data set, found 1"):
        plan_cleanup(publications, options, write, DirectOutputFileSystem())


def test_finish_wants_all_files(tmp_path: pathlib.Path) -> None:
    written = [WrittenFile("a", 1, 1)]
    with pytest.raises(WriteError, match=r"^Expected 2 files in place, found 1$"):
        finish(written, Cleanup(2, (), ()), options_of(tmp_path), DirectOutputFileSystem())


def test_windows_and_partitions_have_files_of_their_own(tmp_path: pathlib.Path) -> None:
    options = options_of(tmp_path, num_shards=None)
    write = start_write(options, DirectOutputFileSystem())
    files = [
        ShardFile(f"{window}{value}", Destination(window, (("a", value),)), 1, 1)
        for window in ("-pane-0", "-pane-1")
        for value in ("x", "y")
    ]
    publications = name_files(files, options, write, is_windowed=True)
    assert len({publication.written.path for publication in publications}) == 4


@pytest.mark.parametrize("prefix", ["file/a", "file/"])
def test_folder_that_is_a_file(tmp_path: pathlib.Path, prefix: str) -> None:
    (tmp_path / "file").touch()
    options = WriteOptions(f"{tmp_path}/{prefix}")
    with pytest.raises(WriteError, match="Not a directory"):
        start_write(options, DirectOutputFileSystem())
