"""A single file that is put in its place once it is whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from tfrecord_beam.errors import Location, WriteError
from tfrecord_beam.records.index import side_car_path
from tfrecord_beam.records.writing.file_system import OutputFile, OutputFileSystem
from tfrecord_beam.records.writing.names import checksum_path, make_id


def check_free(path: str, file_system: OutputFileSystem, *, overwrite: bool) -> None:
    """Raises WriteError if there is a file that may not be replaced."""
    if file_system.find_size(path) is not None and not overwrite:
        hint = "mode='overwrite' replaces it"
        raise WriteError("Expected no file of this name, found one", Location(path), hint)


@contextlib.contextmanager
def placed_file(
    hidden: str, path: str, file_system: OutputFileSystem, *, overwrite: bool
) -> Iterator[OutputFile]:
    """Gives a new file, which gets its own name if the body, which closes it, has no error.

    Args:
      hidden: the name that it has until then.
      path: its own name.
      file_system: where it is.
      overwrite: replace what is there; False: it is an error.

    Raises:
      WriteError: it cannot be written. Then nothing is left of it.
    """
    file = file_system.create(hidden)
    try:
        yield file
        file_system.rename(hidden, path, replace=overwrite)
    except BaseException:
        with contextlib.suppress(WriteError):  # the first error is the one to tell
            file.close()
        with contextlib.suppress(WriteError):
            file_system.delete([hidden])
        raise


@contextlib.contextmanager
def new_file(path: str, file_system: OutputFileSystem, *, overwrite: bool) -> Iterator[OutputFile]:
    """Gives a new file, as `placed_file`, under a hidden name beside its place.

    What processes that died while they wrote the same file have left is removed then, and the
    checksum that Hadoop keeps of the file before.
    """
    check_free(path, file_system, overwrite=overwrite)
    prefix = side_car_path(path, "-temp-")
    hidden = prefix + make_id()
    with placed_file(hidden, path, file_system, overwrite=overwrite) as file:
        yield file
        check_free(path, file_system, overwrite=overwrite)
        file_system.delete([checksum_path(path)])
    with contextlib.suppress(WriteError):
        beside = file_system.list_folder(os.path.dirname(path)).files
        file_system.delete(each for each in beside if each.startswith(prefix))
