"""A file system that fails when it is told to, for tests of what writes files."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
from collections.abc import Callable, Iterable, Sequence

from tfrecord_beam.records.writing.file_system import (
    DirectOutputFileSystem,
    OutputFile,
    OutputFileSystem,
    reporting,
)
from tfrecord_beam.records.writing.stores import Listing, enter_none

ALWAYS = -1


class FaultyFileSystem:
    """Passes everything on to another file system, but for the faults that are planned.

    It can be pickled; all copies of it, in whatever process, share the number of faults to come.

    Args:
      plan: an empty folder, where that number is kept.
      inner: where files really go.
      fail: how often each of the methods fails before it works: ``{"rename": 1}``, or `ALWAYS`.
        "write" and "close" are those of open files; what a "close" that fails wrote is there.
      only: what the paths that fail contain; a rename's is its target.
      room: how many bytes each copy can write before the disk is full; None: no bound.
      most_taken: how many bytes of a write are taken at a time; None: all.
    """

    def __init__(
        self,
        plan: pathlib.Path,
        inner: OutputFileSystem | None = None,
        *,
        fail: dict[str, int] | None = None,
        only: str = "",
        room: int | None = None,
        most_taken: int | None = None,
    ) -> None:
        self._plan = plan
        self._inner = inner or DirectOutputFileSystem()
        self._always = {method for method, times in (fail or {}).items() if times == ALWAYS}
        self._only = only
        self._most_taken = most_taken
        self._room = room
        for method, times in (fail or {}).items():
            for number in range(times):
                (plan / f"{method}-{number}").touch()

    def create(self, path: str) -> OutputFile:
        self.meet("create", path, errno.EACCES)
        return OutputFile(_FaultyFile(self, self._inner.create(path)), path)

    def rename(self, source: str, target: str, *, replace: bool = True) -> None:
        self.meet("rename", target, errno.EIO)
        self._inner.rename(source, target, replace=replace)

    def are_same(self, path: str, other: str) -> bool:
        return self._inner.are_same(path, other)

    def are_equal(self, path: str, other: str) -> bool:
        return self._inner.are_equal(path, other)

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.meet("delete", path, errno.EACCES)
            self._inner.delete([path])

    def find_size(self, path: str) -> int | None:
        self.meet("find_size", path, errno.EIO)
        return self._inner.find_size(path)

    def list_folder(
        self,
        folder: str,
        *,
        enter: Callable[[str], bool] = enter_none,
        prefixes: Sequence[str] = ("",),
    ) -> Listing:
        self.meet("list_folder", folder, errno.EIO)
        return self._inner.list_folder(folder, enter=enter, prefixes=prefixes)

    def remove_folder(self, folder: str) -> None:
        self.meet("remove_folder", folder, errno.EACCES)
        self._inner.remove_folder(folder)

    def remove_empty_folder(self, folder: str) -> None:
        self._inner.remove_empty_folder(folder)

    def take(self, size: int) -> int:
        """Returns how many of `size` bytes are taken, and uses up as much of the room."""
        size = size if self._most_taken is None else min(size, self._most_taken)
        if self._room is None:
            return size
        size = min(size, self._room)
        if not size:
            raise _system_error(errno.ENOSPC)
        self._room -= size
        return size

    def meet(self, method: str, path: str, number: int) -> None:
        """Raises the system's error of this number if the method is to fail for the path."""
        if self._only in path and (method in self._always or self._use_up(method)):
            with reporting(method, path):
                raise _system_error(number)

    def _use_up(self, method: str) -> bool:
        """Whether one of the faults planned was left; now there is one less."""
        for token in self._plan.glob(f"{method}-*"):
            with contextlib.suppress(FileNotFoundError):  # another was faster
                token.unlink()
                return True
        return False


class _FaultyFile:
    """An open file of a `FaultyFileSystem`."""

    def __init__(self, file_system: FaultyFileSystem, file: OutputFile) -> None:
        self._file_system = file_system
        self._file = file

    def write(self, data: memoryview, /) -> int:
        self._file_system.meet("write", self._file.path, errno.EIO)
        taken = self._file_system.take(len(data))
        self._file.write(data[:taken])
        return taken

    def close(self) -> None:
        self._file.close()
        self._file_system.meet("close", self._file.path, errno.EIO)


def _system_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
