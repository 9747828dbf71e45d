"""Gives complete temporary files their final names.

Before `publish` nothing has changed for readers. Every step is idempotent and may be retried: a
file that already has its final name keeps it.
"""

from __future__ import annotations

import contextlib
import functools
import socket
from collections.abc import Iterable, Sequence

from tfrecord_beam.errors import WriteError
from tfrecord_beam.options import count_of
from tfrecord_beam.records.index import index_path
from tfrecord_beam.records.writing.file_system import OutputFileSystem, discard
from tfrecord_beam.records.writing.folder import OutputFolder
from tfrecord_beam.records.writing.frame_file import FrameFile
from tfrecord_beam.records.writing.names import SUCCESS_NAME, make_id
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.plan import Cleanup, Publication, WrittenFile
from tfrecord_beam.records.writing.retries import retry
from tfrecord_beam.records.writing.shards import ShardFile, make_temporary_path
from tfrecord_beam.records.writing.start import StartedWrite, mark_path

_SHOWN = 3
"""How many files an error text names."""


def publish(
    publication: Publication,
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
    *,
    is_remade: bool = False,
) -> WrittenFile:
    """Puts a file in its place, with its index, and returns it.

    Args:
      publication: the file.
      options: the mode, and where the file is.
      write: the write.
      file_system: where files are.
      is_remade: whether each attempt makes the temporary file again, from the same records: a file
        of equal bytes that is in the place is then that of an earlier one, which nobody knows of.

    Raises:
      WriteError: it cannot be renamed, also when that is tried again.
    """
    written = publish_file(publication, options, write, file_system, is_remade=is_remade)
    publish_index(publication, file_system)
    return written


def publish_file(
    publication: Publication,
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
    *,
    is_remade: bool = False,
) -> WrittenFile:
    """Like `publish`, but without the index."""
    temporary, written, _ = publication
    if temporary is None:
        temporary = make_temporary_path(options.names.temporary_folder(write.id))
        with FrameFile(file_system, temporary, options.codec) as empty:
            pass
        written = written._replace(num_bytes=empty.num_bytes)

    def rename() -> None:
        try:
            file_system.rename(temporary, written.path, replace=options.replaces)
        except WriteError:
            if not _is_in_place(temporary, written, options, write, file_system, is_remade):
                raise
            file_system.delete([temporary])

    retry(rename)
    return written


def publish_index(publication: Publication, file_system: OutputFileSystem) -> None:
    """Puts the index of a file that is in its place beside it, if it is to have one.

    Raises:
      WriteError: as `publish`.
    """
    temporary, written, index_data = publication
    if temporary is None or index_data is None:
        return
    folder = temporary.rpartition("/")[0]
    retry(functools.partial(_put_index, index_data, written.path, folder, file_system))


def _put_index(index_data: bytes, path: str, folder: str, file_system: OutputFileSystem) -> None:
    file = file_system.create(make_temporary_path(folder))
    try:
        file.write(index_data)
        file.close()
        file_system.rename(file.path, index_path(path))
    except BaseException:
        discard(file, file_system)
        raise


def _is_in_place(
    temporary: str,
    written: WrittenFile,
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
    is_remade: bool,
) -> bool:
    """Returns whether an earlier attempt has put the file in its place."""
    size = file_system.find_size(written.path)
    if size is None or file_system.find_size(temporary) is None:
        # When another write of this prefix ends, it removes our temporary files and our mark.
        # Writes of unbounded inputs have no mark: each attempt makes the temporary file again.
        is_alive = options.write_locality == "local" or (
            file_system.find_size(mark_path(options, write.id)) is not None
        )
        return size == written.num_bytes and is_alive
    # Else it stopped in the middle of a renaming, or it made a temporary file of its own.
    compare = file_system.are_equal if is_remade else file_system.are_same
    return compare(temporary, written.path)


def with_files_in_place(
    error: WriteError, options: WriteOptions, file_system: OutputFileSystem
) -> WriteError:
    """Returns the error of a `publish` that failed, with a hint at the files that are in place."""
    there: list[str] = []
    with contextlib.suppress(WriteError):  # the first error is the one to report
        there = OutputFolder(options, file_system).own_files
    if not there:
        return error
    shown = ", ".join(map(repr, there[:_SHOWN])) + ", ..." * (len(there) > _SHOWN)
    hints = [error.hint, f"{count_of(len(there), 'whole file')} of this name: {shown}"]
    return WriteError(error.message, error.location, "; ".join(filter(None, hints)))


def finish(
    written: Sequence[WrittenFile],
    cleanup: Cleanup,
    options: WriteOptions,
    file_system: OutputFileSystem,
) -> None:
    """Removes what the files replace and what is temporary, and marks the folder if asked to.

    Raises:
      WriteError: that cannot be done, also when it is tried again; or files are missing.
    """
    if len(written) != cleanup.num_files:
        raise WriteError(
            f"Expected {count_of(cleanup.num_files, 'file')} in place, found {len(written)}"
        )
    retry(lambda: file_system.delete(cleanup.stale_files))
    if options.write_success:
        retry(lambda: file_system.create(options.names.folder + SUCCESS_NAME).close())
    for folder in cleanup.stale_folders:
        retry(functools.partial(file_system.remove_folder, folder))


def publish_locally(
    files: Iterable[ShardFile],
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
) -> list[WrittenFile]:
    """Puts the files of a bundle in place under names that no other bundle has, and returns them.

    Raises:
      WriteError: as `publish`.
    """
    host = socket.gethostname()
    written = []
    for file in files:
        part = f"{file.destination.window}-{write.id}-{make_id()}"
        path = options.names.path(0, 1, part=part)
        final = Publication(
            file.path,
            WrittenFile(path, file.num_records, file.num_bytes, host=host),
            file.index_data,
        )
        written.append(publish(final, options, write, file_system))
    return written
