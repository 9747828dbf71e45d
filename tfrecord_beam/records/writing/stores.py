"""Stores of files to be written: the local disk, and those that `pyarrow.fs` knows."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple, Protocol

import pyarrow.fs

from tfrecord_beam.urls import resolve_url

IS_FOLDER = "a folder of this name"
_IS_SPECIAL = "a pipe, a device or a socket of this name"

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
"""Error numbers of file systems without hard links."""


class RawFile(Protocol):
    """An open file of a store. `write` may take less than it is given; None means all of it."""

    def write(self, data: memoryview, /) -> int | None: ...
    def close(self) -> None: ...


class Listing(NamedTuple):
    """What is in a folder, hidden names too.

    Attributes:
      files: paths of the files.
      folders: paths of the folders, also of those whose files are listed. Object stores have no
        folders but those that hold a file.
    """

    files: list[str]
    folders: list[str]


def enter_none(name: str) -> bool:
    """The `enter` of a listing that stays in the folder itself."""
    return False


def enter_all(name: str) -> bool:
    """The `enter` of a listing of every level."""
    return True


class Store(Protocol):
    """The operations of a store behind an OutputFileSystem. Errors are those of the store."""

    def open(self, path: str) -> RawFile:
        """Opens a file for writing; FileNotFoundError if its folder must be made first."""

    def make_folder(self, folder: str) -> None: ...
    def rename(self, source: str, target: str, *, replace: bool) -> None: ...
    def delete(self, path: str) -> None: ...
    def find_size(self, path: str) -> int | None: ...
    def list_folder(
        self, folder: str, enter: Callable[[str], bool], prefixes: Sequence[str]
    ) -> Listing:
        """Returns what `OutputFileSystem.list_folder` does, or more than the prefixes mean."""

    def remove_folder(self, folder: str) -> None: ...


def refuse_if(is_taken: bool) -> None:
    """Raises the system's error for a name that is taken."""
    if is_taken:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


class LocalStore:
    """The local disk. Paths are those of the operating system."""

    def open(self, path: str) -> RawFile:
        return open(path, "wb", buffering=0)

    def make_folder(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)

    def rename(self, source: str, target: str, *, replace: bool) -> None:
        if replace:
            self.find_size(target)  # which fails where there is what no file may replace
            os.replace(source, target)
            return
        try:
            os.link(source, target)  # unlike a renaming, it fails where there is such a file
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            refuse_if(os.path.lexists(target))
            os.rename(source, target)
        else:
            os.unlink(source)

    def delete(self, path: str) -> None:
        os.unlink(path)

    def find_size(self, path: str) -> int | None:
        try:
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(IS_FOLDER)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(_IS_SPECIAL)
        return status.st_size

    def list_folder(
        self, folder: str, enter: Callable[[str], bool], prefixes: Sequence[str]
    ) -> Listing:
        listing = Listing([], [])
        above = folder if folder.endswith("/") or not folder else f"{folder}/"
        with contextlib.suppress(FileNotFoundError), os.scandir(folder or os.curdir) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = above + entry.name
                if not entry.is_dir():
                    listing.files.append(path)
                    continue
                listing.folders.append(path)
                if enter(entry.name):
                    below = self.list_folder(path, enter, prefixes)
                    listing.files.extend(below.files)
                    listing.folders.extend(below.folders)
        return listing

    def remove_folder(self, folder: str) -> None:
        shutil.rmtree(folder)


class ArrowStore:
    """The stores of `pyarrow.fs`. Paths are URLs."""

    def open(self, path: str) -> RawFile:
        file_system, key = resolve_url(path)
        raw: RawFile = file_system.open_output_stream(key)
        return raw

    def make_folder(self, folder: str) -> None:
        file_system, key = resolve_url(folder)
        file_system.create_dir(key, recursive=True)

    def rename(self, source: str, target: str, *, replace: bool) -> None:
        if not replace:
            refuse_if(self.find_size(target) is not None)
        file_system, key = resolve_url(source)
        file_system.move(key, resolve_url(target)[1])

    def delete(self, path: str) -> None:
        file_system, key = resolve_url(path)
        file_system.delete_file(key)

    def find_size(self, path: str) -> int | None:
        file_system, key = resolve_url(path)
        info = file_system.get_file_info(key)
        if info.type == pyarrow.fs.FileType.Directory:
            raise IsADirectoryError(IS_FOLDER)
        return info.size if info.is_file else None

    def list_folder(
        self, folder: str, enter: Callable[[str], bool], prefixes: Sequence[str]
    ) -> Listing:
        folder = folder.rstrip("/")
        file_system, key = resolve_url(folder)
        selector = pyarrow.fs.FileSelector(
            key, allow_not_found=True, recursive=enter is not enter_none
        )
        below: dict[bool, list[str]] = {True: [], False: []}
        for info in file_system.get_file_info(selector):
            below[info.is_file].append(info.path.removeprefix(key).lstrip("/"))
        return select_entered(folder, below[True], enter, folders=below[False])

    def remove_folder(self, folder: str) -> None:
        file_system, key = resolve_url(folder)
        file_system.delete_dir(key)


def select_entered(
    folder: str,
    files: Iterable[str],
    enter: Callable[[str], bool],
    *,
    folders: Iterable[str] = (),
) -> Listing:
    """Returns the listing of a folder in a store that lists every level at once.

    Args:
      folder: its URL, without a slash at its end.
      files: paths of all files below it, relative to it.
      enter: as for `OutputFileSystem.list_folder`.
      folders: paths of the folders below it, as far as known: those of the files may be missing.
    """
    files = sorted(files)
    above = (str(parent) for file in files for parent in PurePosixPath(file).parents)
    folders = sorted({*folders, *above} - {"."})
    return Listing(
        *(
            [f"{folder}/{name}" for name in names if all(map(enter, name.split("/")[:-1]))]
            for names in (files, folders)
        )
    )
