"""Plans the final names of a write's temporary files, and which files they replace.

Nothing is changed here; `tfrecord_beam.records.writing.publish` executes the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tfrecord_beam.errors import WriteError
from tfrecord_beam.records.hive import Partition, format_path
from tfrecord_beam.records.writing.file_system import OutputFileSystem
from tfrecord_beam.records.writing.folder import open_folder
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.shards import ShardFile
from tfrecord_beam.records.writing.start import StartedWrite


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


class Cleanup(NamedTuple):
    """The cleanup to do once all files are in place.

    Attributes:
      num_files: how many these are.
      stale_files: what they replace, and what belonged to that.
      stale_folders: temporary folders, of this write and of those that died.
    """

    num_files: int
    stale_files: tuple[str, ...]
    stale_folders: tuple[str, ...]


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


def plan_cleanup(
    publications: Sequence[Publication],
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
) -> Cleanup:
    """Returns what is to be done once all files are in place. To be found before any of them is.

    Raises:
      WriteError: as `check_mode`: meanwhile there are files.
    """
    temporary = options.names.temporary_folder(write.id)
    if options.mode == "append":  # it touches nothing but files with its own id in their names
        return Cleanup(len(publications), (), (temporary,))
    folder = open_folder(options, file_system)
    finals = {publication.written.path for publication in publications}
    folder.check_paths(finals)
    replaced = folder.find_replaced(finals, options)
    side_cars = folder.find_side_cars(replaced, finals, options)
    folders = {temporary}
    if options.mode in ("error", "overwrite", "ignore"):
        folders.update(folder.temporary_folders)
    return Cleanup(len(publications), (*replaced, *side_cars), tuple(sorted(folders)))
