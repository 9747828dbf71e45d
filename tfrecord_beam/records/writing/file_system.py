"""The file system interface for writing, and its implementations without Beam.

Every failure is a `WriteError` with the path and the system's reason. Nothing is retried here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow as pa

from tfrecord_beam.errors import Location, WriteError
from tfrecord_beam.records.paths import DirectFileSystem, FileSystem
from tfrecord_beam.records.writing.stores import (
    ArrowStore,
    Listing,
    LocalStore,
    RawFile,
    Store,
    enter_none,
)
from tfrecord_beam.urls import has_scheme

if TYPE_CHECKING:
    from typing_extensions import Buffer

_TIMES_REMOVED = 2
"""How often a folder may be missing: `remove_empty_folder` may delete it just when it was made."""

_Result = TypeVar("_Result")

_PIECE_BYTES = 1 << 20


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


class OutputFileSystem(Protocol):
    """The file system operations that writing needs. Objects can be pickled."""

    def create(self, path: str) -> OutputFile:
        """Opens a file for writing, empty, and creates its folders."""

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
        return self.store_of_urls() if has_scheme(path) else LocalStore()

    def store_of_urls(self) -> Store:
        return ArrowStore()

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
