"""Tests of tfrecord_beam.records.writing.file_system, on paths and on URLs alike."""

from __future__ import annotations

import errno
import os
import pickle
import stat
from pathlib import Path

import numpy as np
import pytest
from apache_beam.io.filesystems import FileSystems

from tests.records.writing.beam_urls import (
    FOLDERS_SCHEME,
    SCHEME,
    LocalFilesByUrl,
    LocalFoldersByUrl,
)
from tests.records.writing.faulty import ALWAYS, FaultyFileSystem
from tfrecord_beam.errors import WriteError
from tfrecord_beam.records.writing.file_system import (
    DirectOutputFileSystem,
    OutputFile,
    OutputFileSystem,
)
from tfrecord_beam.records.writing.stores import enter_all
from tfrecord_beam.transforms.filesystem import BeamOutputFileSystem
from tfrecord_beam.urls import has_scheme

Place = tuple[OutputFileSystem, str]


_BEAM_SCHEMES = {"beam path": "", "beam files": SCHEME, "beam folders": FOLDERS_SCHEME}


@pytest.fixture(params=["path", "arrow", *_BEAM_SCHEMES])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A file system, and how it calls the folder `tmp_path`."""
    if request.param in _BEAM_SCHEMES:
        return BeamOutputFileSystem(), f"{_BEAM_SCHEMES[request.param]}{tmp_path}"
    # As a URL the folder is reached by way of pyarrow.fs, as object stores are.
    return DirectOutputFileSystem(), f"{'file://' * (request.param == 'arrow')}{tmp_path}"


def write(file_system: OutputFileSystem, path: str, data: bytes) -> None:
    file = file_system.create(path)
    file.write(data)
    file.close()
    assert file.num_bytes == len(data)


def test_file_in_a_folder_that_was_not_there(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    write(file_system, f"{root}/a/b/c", b"first")
    write(file_system, f"{root}/a/b/c", b"2nd")
    assert (tmp_path / "a/b/c").read_bytes() == b"2nd"
    assert file_system.find_size(f"{root}/a/b/c") == 3
    assert file_system.find_size(f"{root}/a/b/d") is None


def test_name_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(DirectOutputFileSystem(), "a", b"1")
    assert DirectOutputFileSystem().list_folder("").files == ["a"]


def test_rename_replaces(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    write(file_system, f"{root}/new", b"new")
    write(file_system, f"{root}/old", b"old")
    file_system.rename(f"{root}/new", f"{root}/old")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"old": b"new"}
    with pytest.raises(WriteError, match=f"^Expected to rename '{root}/new', found .*{root}/old$"):
        file_system.rename(f"{root}/new", f"{root}/old")


def test_rename_refuses_to_replace(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    write(file_system, f"{root}/new", b"new")
    write(file_system, f"{root}/old", b"old")
    with pytest.raises(WriteError, match=f"found 'File exists' - at {root}/old$"):
        file_system.rename(f"{root}/new", f"{root}/old", replace=False)
    file_system.rename(f"{root}/new", f"{root}/folder/other", replace=False)
    assert (tmp_path / "folder" / "other").read_bytes() == b"new"
    assert (tmp_path / "old").read_bytes() == b"old"
    assert not (tmp_path / "new").exists()


def test_rename_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    test_rename_refuses_to_replace((DirectOutputFileSystem(), str(tmp_path)), tmp_path)


def test_same_file_by_two_names(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    for name, content in (("a", b"same"), ("b", b"same"), ("c", b"some"), ("d", b"")):
        write(file_system, f"{root}/{name}", content)
    (tmp_path / "link").hardlink_to(tmp_path / "a")
    assert file_system.are_same(f"{root}/a", f"{root}/link")
    assert not file_system.are_same(f"{root}/a", f"{root}/c")
    assert not file_system.are_same(f"{root}/a", f"{root}/d")
    assert file_system.are_equal(f"{root}/a", f"{root}/b")
    assert not file_system.are_equal(f"{root}/a", f"{root}/c")
    assert not file_system.are_equal(f"{root}/a", f"{root}/d")
    # Equal content is all that stores of URLs can tell.
    assert file_system.are_same(f"{root}/a", f"{root}/b") == has_scheme(root)


def test_what_is_not_there_is_deleted(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    write(file_system, f"{root}/a", b"")
    file_system.delete([f"{root}/missing", f"{root}/a"])
    file_system.remove_folder(f"{root}/no/folder")
    assert list(tmp_path.iterdir()) == []


def test_folder_is_removed_with_hidden_files(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    for name in ("x", ".hidden", "below/.x"):
        write(file_system, f"{root}/folder/{name}", b"1")
    file_system.remove_folder(f"{root}/folder")
    assert list(tmp_path.iterdir()) == []


def test_only_an_empty_folder_is_removed(tmp_path: Path) -> None:
    file_system = DirectOutputFileSystem()
    write(file_system, f"{tmp_path}/folder/x", b"1")
    file_system.remove_empty_folder(f"{tmp_path}/folder")
    assert (tmp_path / "folder" / "x").exists()
    (tmp_path / "folder" / "x").unlink()
    for _ in range(2):
        file_system.remove_empty_folder(f"{tmp_path}/folder")
        assert list(tmp_path.iterdir()) == []


def test_folder_that_is_gone_just_when_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def make_folder(folder: str, exist_ok: bool) -> None:
        made.append(folder)
        if len(made) > 1:
            os.mkdir(folder)

    monkeypatch.setattr(os, "makedirs", make_folder)
    write(DirectOutputFileSystem(), f"{tmp_path}/folder/x", b"1")
    assert made == [f"{tmp_path}/folder"] * 2


def test_listing(place: Place) -> None:
    file_system, root = place
    files = [".hidden", "_x/a", "a", "b=1/c=2/f", "b=1/d/f", "b=1/f", "other/b=1/f"]
    for name in files:
        write(file_system, f"{root}/{name}", b"")

    here = file_system.list_folder(root)
    assert here.files == [f"{root}/{name}" for name in (".hidden", "a")]
    if SCHEME not in root:  # object stores list files
        assert here.folders == [f"{root}/{name}" for name in ("_x", "b=1", "other")]

    some = file_system.list_folder(root, enter=lambda name: "=" in name)
    assert sorted(some.files) == [
        f"{root}/{name}" for name in (".hidden", "a", "b=1/c=2/f", "b=1/f")
    ]
    assert sorted(some.folders) == [
        f"{root}/{name}" for name in ("_x", "b=1", "b=1/c=2", "b=1/d", "other")
    ]
    every = file_system.list_folder(root, enter=enter_all)
    assert sorted(every.files) == [f"{root}/{name}" for name in files]
    assert file_system.list_folder(f"{root}/missing") == ([], [])


def test_empty_folder_is_listed(tmp_path: Path) -> None:
    (tmp_path / ".x-temp-1").mkdir()
    for root in (str(tmp_path), f"file://{tmp_path}"):
        for enter in (enter_all, lambda name: False):
            listing = DirectOutputFileSystem().list_folder(root, enter=enter)
            assert listing == ([], [f"{root}/.x-temp-1"])


def test_folder_in_the_place_of_a_file(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    (tmp_path / "folder").mkdir()
    with pytest.raises(WriteError) as caught:
        file_system.create(f"{root}/folder")
    assert caught.value.file == f"{root}/folder"
    if SCHEME not in root:
        with pytest.raises(WriteError, match="found 'a folder of this name'"):
            file_system.find_size(f"{root}/folder")


@pytest.mark.parametrize("replace", [True, False])
def test_pipe_in_the_place_of_a_file(tmp_path: Path, replace: bool) -> None:
    pipe, other = str(tmp_path / "pipe"), str(tmp_path / "other")
    os.mkfifo(pipe)
    file_system = DirectOutputFileSystem()
    write(file_system, other, b"")
    with pytest.raises(WriteError, match="found 'a pipe, a device or a socket of this name'"):
        file_system.find_size(pipe)
    with pytest.raises(WriteError):
        file_system.rename(other, pipe, replace=replace)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_file_in_the_place_of_a_folder(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteError, match=r"^Expected to create the file, found .+ - at ") as error:
        file_system.create(f"{root}/file/a")
    assert error.value.file == f"{root}/file/a"
    assert file_system.find_size(f"{root}/file/a") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_nobody_may_write(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(WriteError, match="Permission denied"):
        file_system.create(f"{root}/a")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the device is Linux's")
def test_full_disk() -> None:
    file = DirectOutputFileSystem().create("/dev/full")
    text = "^Expected to write the file, found 'No space left on device' - at /dev/full$"
    with pytest.raises(WriteError, match=text) as caught:
        file.write(b"data")
    file.close()
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.file, error.hint, str(error)) == ("/dev/full", None, str(caught.value))
    assert isinstance(error, OSError)


def test_memory_of_any_shape_is_written(place: Place, tmp_path: Path) -> None:
    file_system, root = place
    file = file_system.create(f"{root}/a")
    file.write(np.arange(3, dtype=np.int16))
    file.write(memoryview(b"xyz")[1:])
    file.close()
    assert (tmp_path / "a").read_bytes() == b"\0\0\1\0\2\0yz"


class _Slow:
    """Takes three bytes at a time; after so many no more."""

    def __init__(self, room: int) -> None:
        self.data = b""
        self._room = room

    def write(self, data: memoryview, /) -> int:
        taken = min(3, len(data), self._room - len(self.data))
        self.data += data[:taken]
        return taken

    def close(self) -> None:
        pass


def test_short_writes_go_on() -> None:
    raw = _Slow(room=100)
    file = OutputFile(raw, "a")
    file.write(b"0123456789")
    assert (raw.data, file.num_bytes) == (b"0123456789", 10)


def test_write_of_nothing_does_not_go_on_for_ever() -> None:
    file = OutputFile(_Slow(room=4), "a")
    with pytest.raises(WriteError, match=r"^Expected to write the file, found '6 bytes were not"):
        file.write(b"0123456789")


@pytest.mark.parametrize("file_system", [DirectOutputFileSystem(), BeamOutputFileSystem()])
def test_url_that_nobody_knows(file_system: OutputFileSystem) -> None:
    with pytest.raises(ValueError, match=r"Expected a URL that .* knows.*, found 'nonsense://a/b'"):
        file_system.create("nonsense://a/b")


def test_faults_come_as_often_as_planned(tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    plan.mkdir()
    file_system = FaultyFileSystem(plan, fail={"rename": 2, "delete": ALWAYS}, only="final")
    copy = pickle.loads(pickle.dumps(file_system))
    write(copy, f"{tmp_path}/new", b"data")
    for each in (copy, file_system):
        with pytest.raises(WriteError, match="Input/output error"):
            each.rename(f"{tmp_path}/new", f"{tmp_path}/final")
        with pytest.raises(WriteError, match="Permission denied"):
            each.delete([f"{tmp_path}/final"])
    copy.rename(f"{tmp_path}/new", f"{tmp_path}/final")
    copy.delete([f"{tmp_path}/other"])
    assert (tmp_path / "final").read_bytes() == b"data"


def test_faulty_disk_is_full_and_slow(tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    plan.mkdir()
    file_system = FaultyFileSystem(plan, room=10, most_taken=4)
    write(file_system, f"{tmp_path}/a", b"012345")
    file = file_system.create(f"{tmp_path}/b")
    with pytest.raises(WriteError, match="No space left") as caught:
        file.write(b"012345")
    file.close()
    assert caught.value.file == f"{tmp_path}/b"
    assert (tmp_path / "b").read_bytes() == b"0123"
    assert os.strerror(errno.ENOSPC) in str(caught.value)


def test_file_systems_can_be_pickled() -> None:
    for file_system in (DirectOutputFileSystem(), BeamOutputFileSystem()):
        assert type(pickle.loads(pickle.dumps(file_system))) is type(file_system)


def test_beam_file_systems_are_registered() -> None:
    for scheme, kind in ((SCHEME, LocalFilesByUrl), (FOLDERS_SCHEME, LocalFoldersByUrl)):
        assert type(FileSystems.get_filesystem(f"{scheme}/a")) is kind
