"""The existing files in the folder of a write, and those that its mode allows it to replace."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tfrecord_beam.errors import Location, WriteError
from tfrecord_beam.records.index import index_path
from tfrecord_beam.records.writing.file_system import OutputFileSystem
from tfrecord_beam.records.writing.names import SUCCESS_NAME, checksum_path
from tfrecord_beam.records.writing.options import WriteOptions


class OutputFolder:
    """The content of the folder of a write, before the write changes anything.

    Attributes:
      own_files: paths of the files that a write of the same names made.
      temporary_folders: paths of those of writes that run or died.
    """

    def __init__(self, options: WriteOptions, file_system: OutputFileSystem) -> None:
        self._names = names = options.names
        listing = (
            file_system.list_folder(names.folder, enter=_is_partition)
            if options.owns_partitions
            else file_system.list_folder(names.folder, prefixes=[names.base, f".{names.base}"])
        )
        self._files = listing.files
        self._folders = frozenset(listing.folders)
        relative = [path.removeprefix(names.folder) for path in listing.files]
        self.own_files = names.own(relative)
        self.temporary_folders = [
            path
            for path in listing.folders
            if names.is_temporary_folder(path.removeprefix(names.folder))
        ]

    def check(self, mode: str, write_id: str | None = None) -> None:
        """Raises WriteError where the mode does not allow a write; one's own files do not count."""
        if self._names.is_exact:
            self.check_paths([self._names.path(0, 1)])
        others = [path for path in self.own_files if write_id is None or write_id not in path]
        if mode == "error" and others:
            if self._names.is_exact:
                found, hint = "no file of this name, found one", "mode='overwrite' replaces it"
            else:
                found = f"no files of this data set, found {len(others)}"
                hint = "mode='overwrite' replaces them, 'append' adds to them"
            raise WriteError(f"Expected {found}", Location(others[0]), hint)

    def check_paths(self, finals: Iterable[str]) -> None:
        """Raises WriteError if one of the paths of new files is that of a folder."""
        for path in finals:
            if path in self._folders:
                raise WriteError(
                    "Expected a file of this name or none, found a folder", Location(path)
                )

    def find_replaced(self, finals: Collection[str], options: WriteOptions) -> list[str]:
        """Returns the files that are to go once those of the write are in place."""
        if not options.replaces:
            return []
        partitions = {path.rpartition("/")[0] for path in finals}
        return [
            path
            for path in self.own_files
            if path not in finals
            and (options.mode == "overwrite" or path.rpartition("/")[0] in partitions)
        ]

    def find_side_cars(
        self, replaced: Iterable[str], finals: Iterable[str], options: WriteOptions
    ) -> list[str]:
        """Returns what belongs to files that are replaced: Hadoop's checksums, and indexes."""
        stale = {checksum_path(path) for path in (*replaced, *finals)}
        if not options.write_index:  # else those of new files are new
            replaced = (*replaced, *finals)
        stale |= {index_path(path) for path in replaced}
        found = [path for path in self._files if path in stale]
        if options.write_success:  # whose name begins otherwise: there may be none
            found.append(checksum_path(self._names.folder + SUCCESS_NAME))
        return found


def open_folder(
    options: WriteOptions, file_system: OutputFileSystem, write_id: str | None = None
) -> OutputFolder:
    """Returns what there is in the folder of a write, where the mode allows that.

    Args:
      options: the mode, and how files are called.
      file_system: where they are.
      write_id: of a write that runs already, whose files do not count.

    Raises:
      WriteError: it does not.
    """
    folder = OutputFolder(options, file_system)
    folder.check(options.mode, write_id)
    return folder


def _is_partition(folder: str) -> bool:
    return "=" in folder and folder[0] not in "._"
