"""The file system interface for writing, and its implementations without Beam.

Every failure is a `WriteError` with the path and the system's reason. Nothing is retried here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import pyarrow as pa
import pyarrow.fs

from tfrecord_beam.errors import Location, WriteError
from tfrecord_beam.records.paths import DirectFileSystem, FileSystem
from tfrecord_beam.urls import has_scheme, resolve_url

if TYPE_CHECKING:
    from typing_extensions import Buffer

IS_FOLDER = "a folder of this name"
_IS_SPECIAL = "a pipe, a device or a socket of this name"
_TIMES_REMOVED = 2
"""How often a folder may be missing: `remove_empty_folder` may delete it just when it was made."""

_Result = TypeVar("_Result")

_PIECE_BYTES = 1 << 20
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
"""Error numbers of file systems without hard links."""


class RawFile(Protocol):
    """An open file of a store. `write` may take less than it is given; None means all of it."""

    def write(self, data: memoryview, /) -> int | None: ...
    def close(self) -> None: ...


class OutputFile:
    """A file that is being written: takes all bytes that it is given, or raises WriteError.

    Attributes:
      path: where it is.
      num_bytes: how many bytes it has taken.
    """

    def __init__(self, raw: RawFile, path: str) -> None:
        self._raw = raw
        self.path = path
        self.num_bytes = 0

    def write(self, data: Buffer) -> None:
        left = memoryview(data).cast("B")
        with reporting("write the file", self.path):
            while left:
                count = self._raw.write(left)
                count = len(left) if count is None else count
                if not count:
                    raise OSError(f"{len(left)} bytes were not taken")
                self.num_bytes += count
                left = left[count:]

    def close(self) -> None:
        """Ends the file. Only now is it known that its store has it."""
        with reporting("close the file", self.path):
            self._raw.close()


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


class OutputFileSystem(Protocol):
    """The file system operations that writing needs. Objects can be pickled."""

    def create(self, path: str) -> OutputFile:
        """Opens a new file, or one anew, and makes the folders on its way."""

    def rename(self, source: str, target: str, *, replace: bool = True) -> None:
        """Gives a file another name, and makes the folders on its way.

        A file that has the name is replaced, at once where the store can do that. With `replace`
        False it is an error: no other can take the name meanwhile on local disks; in stores
        without such a promise there is a moment between the look and the renaming.
        """

    def are_same(self, path: str, other: str) -> bool:
        """Returns whether a renaming that stopped in the middle left a file under two names.

        A store that renames by a copy cannot tell: there it is whether they are equal.
        """

    def are_equal(self, path: str, other: str) -> bool:
        """Returns whether two files hold the same bytes."""

    def delete(self, paths: Iterable[str]) -> None:
        """Deletes files; those that are not there are no error."""

    def find_size(self, path: str) -> int | None:
        """Returns the size of a file in bytes; None where there is none."""

    def list_folder(
        self,
        folder: str,
        *,
        enter: Callable[[str], bool] = enter_none,
        prefixes: Sequence[str] = ("",),
    ) -> Listing:
        """Returns what is in a folder, and in those below it whose names `enter` accepts.

        In the folder itself that is what has a name that begins with one of the prefixes: object
        stores then list nothing else. A folder that is not there is empty. "" is the working
        directory.
        """

    def remove_folder(self, folder: str) -> None:
        """Deletes a folder with all that is in it; one that is not there is no error."""

    def remove_empty_folder(self, folder: str) -> None:
        """Deletes a folder of a local disk if nothing is in it. No other store can do so safely."""


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


class DirectOutputFileSystem:
    """Files written without Beam: paths by the operating system, URLs through `pyarrow.fs`."""

    def create(self, path: str) -> OutputFile:
        store = self._store(path)
        with reporting("create the file", path):
            return OutputFile(_in_folder_of(path, store, lambda: store.open(path)), path)

    def rename(self, source: str, target: str, *, replace: bool = True) -> None:
        store = self._store(source)
        with reporting(f"rename {source!r}", target):
            _in_folder_of(target, store, lambda: store.rename(source, target, replace=replace))

    def are_same(self, path: str, other: str) -> bool:
        if has_scheme(path):
            return self.are_equal(path, other)
        with reporting("compare the file", path):
            return os.path.samefile(path, other)

    def are_equal(self, path: str, other: str) -> bool:
        if self.find_size(path) != self.find_size(other):
            return False
        open_file = self.reading().open
        with (
            reporting("compare the file", path),
            contextlib.closing(open_file(path)) as a,
            contextlib.closing(open_file(other)) as b,
        ):
            while piece := a.read(_PIECE_BYTES):
                if piece != b.read(len(piece)):
                    return False
        return True

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            with reporting("delete the file", path), contextlib.suppress(FileNotFoundError):
                self._store(path).delete(path)

    def find_size(self, path: str) -> int | None:
        with reporting("find the file", path):
            return self._store(path).find_size(path)

    def list_folder(
        self,
        folder: str,
        *,
        enter: Callable[[str], bool] = enter_none,
        prefixes: Sequence[str] = ("",),
    ) -> Listing:
        with reporting("list the folder", folder):
            listing = self._store(folder).list_folder(folder, enter, prefixes)
        begins = tuple(folder.rstrip("/") + "/" * bool(folder) + prefix for prefix in prefixes)
        return Listing(*([path for path in paths if path.startswith(begins)] for paths in listing))

    def remove_folder(self, folder: str) -> None:
        with reporting("delete the folder", folder), contextlib.suppress(FileNotFoundError):
            self._store(folder).remove_folder(folder)

    def remove_empty_folder(self, folder: str) -> None:
        if not has_scheme(folder):
            with contextlib.suppress(OSError):  # it is not empty, or gone already
                os.rmdir(folder)

    def _store(self, path: str) -> Store:
        return self.store_of_urls() if has_scheme(path) else _LocalStore()

    def store_of_urls(self) -> Store:
        return _ArrowStore()

    def reading(self) -> FileSystem:
        """Returns what reads the files that are written here."""
        return DirectFileSystem()


def _in_folder_of(path: str, store: Store, action: Callable[[], _Result]) -> _Result:
    """Returns the result of an action; creates the folder of a file if it may be missing."""
    for _ in range(_TIMES_REMOVED):
        try:
            return action()
        except FileNotFoundError:
            store.make_folder(path.rpartition("/")[0])
    return action()


def discard(file: OutputFile, file_system: OutputFileSystem) -> None:
    """Deletes an incomplete file, if its store allows it."""
    with contextlib.suppress(WriteError):
        file.close()
    with contextlib.suppress(WriteError):
        file_system.delete([file.path])


@contextlib.contextmanager
def reporting(action: str, path: str) -> Iterator[None]:
    """Turns the errors of a store into WriteError, with the operation, the path and the reason."""
    try:
        yield
    except WriteError:
        raise
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WriteError(f"Expected to {action}, found {reason!r}", Location(path)) from error


def refuse_if(is_taken: bool) -> None:
    """Raises the system's error for a name that is taken."""
    if is_taken:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


class _LocalStore:
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


class _ArrowStore:
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
