"""Writes a single file that gets its name once it is complete."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfrecord_beam.errors import Location, WriteError
from tfrecord_beam.records.index import index_path, side_car_path
from tfrecord_beam.records.writing.file_system import OutputFile, OutputFileSystem, discard
from tfrecord_beam.records.writing.names import checksum_path, is_id, make_id
from tfrecord_beam.records.writing.retries import retry

if TYPE_CHECKING:
    from typing_extensions import Buffer


def check_free(path: str, file_system: OutputFileSystem, *, overwrite: bool) -> None:
    """Raises WriteError if the file exists and must not be replaced."""
    if file_system.find_size(path) is not None and not overwrite:
        hint = "mode='overwrite' replaces it"
        raise WriteError("Expected no file of this name, found one", Location(path), hint)


def make_hidden_path(path: str) -> str:
    """Returns the hidden path, in the same folder, that a file has until it is complete."""
    return _hidden_prefix(path) + make_id()


def put_in_place(
    hidden: str,
    path: str,
    file_system: OutputFileSystem,
    *,
    overwrite: bool,
    is_remade: bool = False,
) -> None:
    """Gives a whole file its own name, and deletes what belongs to the one before.

    That is its index, and the checksum that Hadoop keeps.

    Args:
      hidden: the path that it has.
      path: its own.
      file_system: where it is.
      overwrite: replace what is there; False: it is an error.
      is_remade: whether each attempt makes the file again: one of equal bytes that is in the place
        is then that of an earlier one, and no error.

    Raises:
      WriteError: there is a file, or this one cannot be renamed: then nothing has changed. Or it is
        in place, and what belongs to the one before cannot be deleted, also when that is tried
        again.
    """
    try:
        check_free(path, file_system, overwrite=overwrite)
        file_system.rename(hidden, path, replace=overwrite)
    except WriteError as error:
        if file_system.find_size(hidden) is None:
            raise WriteError(
                "Expected the file under its temporary name until it is whole, found it removed",
                Location(path),
                "another write of the same file ended meanwhile",
            ) from error
        if not (is_remade and file_system.are_equal(hidden, path)):
            raise
        file_system.delete([hidden])
    retry(lambda: file_system.delete([index_path(path), checksum_path(path)]))


@contextlib.contextmanager
def new_file(
    path: str, file_system: OutputFileSystem, *, overwrite: bool, is_remade: bool = False
) -> Iterator[OutputFile]:
    """Gives a new file, which gets its own name if the body, which closes it, has no error.

    What processes that died while they wrote the same file have left is removed then.

    Args:
      path: its own name; until then it has a hidden one.
      file_system: as for `put_in_place`, as are the others.
      overwrite: as well.
      is_remade: as well.

    Raises:
      WriteError: as `put_in_place`; or the file cannot be written. Then nothing is left of it.
    """
    check_free(path, file_system, overwrite=overwrite or is_remade)
    file = file_system.create(make_hidden_path(path))
    try:
        yield file
        put_in_place(file.path, path, file_system, overwrite=overwrite, is_remade=is_remade)
    except BaseException:
        discard(file, file_system)
        raise
    with contextlib.suppress(WriteError):
        file_system.delete(_find_hidden(path, file_system))


def write_new_file(
    path: str,
    data: Buffer,
    file_system: OutputFileSystem,
    *,
    overwrite: bool,
    is_remade: bool = False,
) -> None:
    """Writes a file of these bytes; arguments and errors are those of `new_file`."""
    with new_file(path, file_system, overwrite=overwrite, is_remade=is_remade) as file:
        file.write(data)
        file.close()


def _find_hidden(path: str, file_system: OutputFileSystem) -> list[str]:
    """Returns the files with a name from `make_hidden_path`; others may begin in the same way."""
    folder, prefix = os.path.split(_hidden_prefix(path))
    files = file_system.list_folder(folder, prefixes=[prefix]).files
    return [file for file in files if is_id(os.path.basename(file).removeprefix(prefix))]


def _hidden_prefix(path: str) -> str:
    return side_car_path(path, "-temp-")
