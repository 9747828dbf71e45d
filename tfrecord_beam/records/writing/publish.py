"""From whole files under temporary names to the files of a write, by the rules of its mode.

Until `publish` nothing that a reader sees has changed. Each step may be run again, after it failed
or although it was done: a file that has its name keeps it.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tfrecord_beam.errors import WriteError
from tfrecord_beam.options import count_of
from tfrecord_beam.records.hive import Partition, format_path
from tfrecord_beam.records.index import index_path
from tfrecord_beam.records.writing.file_system import OutputFileSystem, write_file
from tfrecord_beam.records.writing.folder import OutputFolder
from tfrecord_beam.records.writing.frame_file import FrameFile
from tfrecord_beam.records.writing.names import SUCCESS_NAME, make_id
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.shards import ShardFile, StartedWrite, make_temporary_path

RETRY_WAITS_SEC = (0.1, 0.5, 2.0)
"""Before the second, the third and the last attempt to rename or to delete."""

_LASTING = (FileExistsError, IsADirectoryError, NotADirectoryError)
"""What no further attempt would change."""

_SHOWN = 3
"""Files that an error text names."""


class WrittenFile(NamedTuple):
    """A file that is written and in its place.

    Attributes:
      path: its path or URL.
      num_records: how many are in it.
      num_bytes: its size as stored, compressed if it is.
      partition: (column, value) pairs, None for null; empty where there are no partitions.
      host: name of the machine that has the file, with ``write_locality="local"``.
    """

    path: str
    num_records: int
    num_bytes: int
    partition: tuple[tuple[str, str | None], ...] = ()
    host: str | None = None


class Publication(NamedTuple):
    """A file to be put in its place.

    Attributes:
      temporary: its temporary name; None: an empty file is to be made.
      written: what it is then.
      index_data: what its index holds, if it is to have one.
    """

    temporary: str | None
    written: WrittenFile
    index_data: bytes | None = None


class Ending(NamedTuple):
    """What is left to do once all files are in their places.

    Attributes:
      num_files: how many these are.
      stale_files: what they replace, and what belonged to that.
      stale_folders: temporary folders, of this write and of those that died.
    """

    num_files: int
    stale_files: tuple[str, ...]
    stale_folders: tuple[str, ...]


def check_mode(
    options: WriteOptions, file_system: OutputFileSystem, write: StartedWrite | None = None
) -> None:
    """Raises WriteError where the mode does not allow a write to the folder as it is.

    Args:
      options: the mode, and how files are called.
      file_system: where they are.
      write: one that runs already, whose files do not count.
    """
    if options.mode in ("error", "append"):  # the others allow any, which may be long to list
        OutputFolder(options.names, file_system).check(options.mode, write)


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


def start_write(options: WriteOptions, file_system: OutputFileSystem) -> StartedWrite:
    """Returns a new write.

    Raises:
      WriteError: as `check_mode`.
    """
    folder = OutputFolder(options.names, file_system)
    folder.check(options.mode)
    write_id = make_id()
    seed = int(write_id, 16) if options.seed is None else options.seed
    is_skipped = options.mode == "ignore" and bool(folder.own_files)
    write = StartedWrite(write_id, seed, is_skipped)
    if not is_skipped and options.write_locality == "distributed":
        try:
            file_system.create(_mark_path(options, write)).close()
        except WriteError:
            with contextlib.suppress(WriteError):
                file_system.remove_folder(options.names.temporary_folder(write_id))
            raise
    return write


def name_files(
    files: Iterable[ShardFile],
    options: WriteOptions,
    write: StartedWrite,
    *,
    is_windowed: bool = False,
) -> list[Publication]:
    """Returns what becomes of all temporary files of a write.

    Args:
      files: the files.
      options: how files are called.
      write: the write.
      is_windowed: whether files are for windows. Without, a write of no record makes a file too.

    Raises:
      WriteError: two files would have one name.
    """
    groups: dict[tuple[str, Partition], list[ShardFile]] = {}
    for file in files:
        groups.setdefault((file.destination.window, file.destination.partition), []).append(file)
    if not (groups or options.partition_by or is_windowed):
        groups["", ()] = []
    publications = [
        publication
        for (window, partition), group in groups.items()
        for publication in _name_group(group, window, partition, options, write)
    ]
    if len({publication.written.path for publication in publications}) < len(publications):
        raise WriteError("Expected a name for each file, found windows that share theirs")
    return publications


def plan_ending(
    publications: Sequence[Publication],
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
) -> Ending:
    """Returns what is to be done once all files are in place. To be found before any of them is.

    Raises:
      WriteError: as `check_mode`: meanwhile there are files.
    """
    folder = OutputFolder(options.names, file_system)
    folder.check(options.mode)
    finals = {publication.written.path for publication in publications}
    folder.check_paths(finals)
    replaced = folder.find_replaced(finals, options.mode)
    side_cars = folder.find_side_cars(replaced, finals, options)
    folders = {options.names.temporary_folder(write.id)}
    if options.mode in ("error", "overwrite", "ignore"):
        folders.update(folder.temporary_folders.values())
    return Ending(len(publications), (*replaced, *side_cars), tuple(sorted(folders)))


def _name_group(
    files: Sequence[ShardFile],
    window: str,
    partition: Partition,
    options: WriteOptions,
    write: StartedWrite,
) -> list[Publication]:
    """Returns the publications of the files of one window and partition, shard by shard."""
    in_order: list[ShardFile | None] = [*sorted(files, key=lambda file: file.path)]
    if options.num_shards is not None:
        by_shard = {file.destination.shard: file for file in files}
        in_order = [by_shard.get(shard) for shard in range(options.num_shards)]
    part = f"-{write.id}{window}" if options.mode == "append" else window
    below = format_path(partition)
    publications = []
    for shard, file in enumerate(in_order or [None]):
        path = options.names.path(shard, len(in_order) or 1, partition=below, part=part)
        if file is None:
            publications.append(Publication(None, WrittenFile(path, 0, 0, partition)))
        else:
            written = WrittenFile(path, file.num_records, file.num_bytes, partition)
            publications.append(Publication(file.path, written, file.index_data))
    return publications


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
      is_remade: whether each attempt makes the temporary file anew, from the same records: a file
        of equal bytes that is in the place is then that of an earlier one, which nobody knows of.

    Raises:
      WriteError: it cannot be renamed, also when that is tried again.
    """
    written = place_file(publication, options, write, file_system, is_remade=is_remade)
    place_index(publication, options, write, file_system)
    return written


def place_file(
    publication: Publication,
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
    *,
    is_remade: bool = False,
) -> WrittenFile:
    """Does what `publish` does, but for the index."""
    temporary, written, _ = publication
    if temporary is None:
        temporary = make_temporary_path(options.names.temporary_folder(write.id))
        with FrameFile(file_system, temporary, options.codec) as empty:
            pass
        written = written._replace(num_bytes=empty.num_bytes)

    def rename() -> None:
        try:
            file_system.rename(temporary, written.path, replace=replace)
        except WriteError:
            if not _is_in_place(temporary, written, options, write, file_system, is_remade):
                raise

    replace = options.mode.startswith("overwrite")
    _retry(rename)
    return written


def place_index(
    publication: Publication,
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
) -> None:
    """Puts the index of a file that is in its place beside it, if it is to have one.

    Raises:
      WriteError: as `publish`.
    """
    _, written, index_data = publication
    if index_data is not None:
        folder = options.names.temporary_folder(write.id)
        _retry(functools.partial(_put_index, index_data, written.path, folder, file_system))


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
        # Another write of this prefix that ends clears away what is temporary, its mark too.
        is_alive = options.write_locality == "local" or (
            file_system.find_size(_mark_path(options, write)) is not None
        )
        return size == written.num_bytes and is_alive
    # Else it stopped in the middle of a renaming, or it made a temporary file of its own.
    compare = file_system.are_equal if is_remade else file_system.are_same
    return compare(temporary, written.path)


def tell_what_is_there(
    error: WriteError, options: WriteOptions, file_system: OutputFileSystem
) -> WriteError:
    """Returns the error of a `publish` that failed, with a hint at the files that are in place."""
    there: list[str] = []
    with contextlib.suppress(WriteError):  # the first error is the one to tell
        there = OutputFolder(options.names, file_system).own_files
    if not there:
        return error
    shown = ", ".join(map(repr, there[:_SHOWN])) + ", ..." * (len(there) > _SHOWN)
    hint = f"{count_of(len(there), 'whole file')} of this name: {shown}"
    return WriteError(error.message, error.location, hint)


def _mark_path(options: WriteOptions, write: StartedWrite) -> str:
    """Returns the path of a file that is there as long as the write is under way."""
    return f"{options.names.temporary_folder(write.id)}/started"


def _put_index(index_data: bytes, path: str, folder: str, file_system: OutputFileSystem) -> None:
    temporary = make_temporary_path(folder)
    write_file(file_system, temporary, index_data)
    file_system.rename(temporary, index_path(path))


def finish(
    written: Sequence[WrittenFile],
    ending: Ending,
    options: WriteOptions,
    file_system: OutputFileSystem,
) -> None:
    """Removes what the files replace and what is temporary, and marks the folder if asked to.

    Raises:
      WriteError: that cannot be done, also when it is tried again; or files are missing.
    """
    if len(written) != ending.num_files:
        raise WriteError(f"Expected {ending.num_files} files in place, found {len(written)}")
    _retry(lambda: file_system.delete(ending.stale_files))
    if options.write_success:
        _retry(lambda: file_system.create(options.names.folder + SUCCESS_NAME).close())
    for folder in ending.stale_folders:
        _retry(functools.partial(file_system.remove_folder, folder))


def _retry(action: Callable[[], object]) -> None:
    for wait_sec in RETRY_WAITS_SEC:
        try:
            action()
            return
        except WriteError as error:
            if isinstance(error.__cause__, _LASTING):
                raise
            time.sleep(wait_sec)
    action()
