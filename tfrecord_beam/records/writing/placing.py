"""A single file that is put in its place once it is whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tfrecord_beam.errors import Location, WriteError
from tfrecord_beam.records.writing.file_system import OutputFile, OutputFileSystem


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
