"""The start of a write: the decisions that are made once for all workers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import NamedTuple

from tfrecord_beam.caller import warn_caller
from tfrecord_beam.errors import Location, WriteError, render_place
from tfrecord_beam.records.writing import retries
from tfrecord_beam.records.writing.file_system import OutputFileSystem
from tfrecord_beam.records.writing.folder import OutputFolder, open_folder
from tfrecord_beam.records.writing.names import make_id
from tfrecord_beam.records.writing.options import WriteOptions


class StartedWrite(NamedTuple):
    """The decisions that are made once for all workers.

    Attributes:
      id: no other write has it, not even a second run of the same pipeline.
      seed: of the shuffle.
      is_skipped: there are files already, and the mode is "ignore".
      has_mark: there is a file at `mark_path` until it ends.
    """

    id: str
    seed: int
    is_skipped: bool = False
    has_mark: bool = False


def check_mode(
    options: WriteOptions, file_system: OutputFileSystem, write_id: str | None = None
) -> None:
    """Raises WriteError if the mode does not allow a write to the folder in its current state.

    Args:
      options: the mode, and how files are called.
      file_system: where they are.
      write_id: of a write that runs already, whose files do not count.
    """
    if options.mode == "error":  # the others allow any, which may be long to list
        open_folder(options, file_system, write_id)


def start_write(
    options: WriteOptions, file_system: OutputFileSystem, *, has_end: bool = True
) -> StartedWrite:
    """Returns a new write; one that appends warns of earlier ones that may have died.

    Args:
      options: where it goes.
      file_system: where files are.
      has_end: whether there is a step that comes after all others, and clears away.

    Raises:
      WriteError: as `check_mode`.
    """
    is_skipped = False
    if options.mode in ("error", "ignore") or options.names.is_exact:  # that may be a folder
        own_files = open_folder(options, file_system).own_files
        is_skipped = options.mode == "ignore" and bool(own_files)
    if options.mode == "append":
        _warn_of_unfinished(options, file_system)
    write_id = make_id()
    seed = int(write_id, 16) if options.seed is None else options.seed
    has_mark = not is_skipped and options.write_locality == "distributed" and has_end
    if has_mark:
        try:
            file_system.create(mark_path(options, write_id)).close()
        except WriteError:
            with contextlib.suppress(WriteError):
                file_system.remove_folder(options.names.temporary_folder(write_id))
            raise
    return StartedWrite(write_id, seed, is_skipped, has_mark)


def _warn_of_unfinished(options: WriteOptions, file_system: OutputFileSystem) -> None:
    """Warns of writes that have put only some of their files in place, and do not go on.

    If one died and its records are appended again, they are there twice. It may also still run, for
    writes may append at the same time: so it is no error.
    """
    unfinished = _find_unfinished(options, file_system)
    for wait_sec in retries.WAITS_SEC:
        if not unfinished:
            return
        time.sleep(wait_sec)
        unfinished &= _find_unfinished(options, file_system)
    for write_id in sorted(unfinished):
        place = render_place(Location(options.names.temporary_folder(write_id)))
        warn_caller(
            f"Expected all files of an earlier write in place or none, found some - at {place} (if "
            f"it is not running, delete this folder and the files with {write_id} in their names: "
            "else its records are there twice once they are written again)"
        )


def _find_unfinished(options: WriteOptions, file_system: OutputFileSystem) -> set[str]:
    """Returns the ids of writes with an end that have files in place and have not ended."""
    names = options.names
    folders = file_system.list_folder(names.folder, prefixes=[f".{names.base}-temp-"]).folders
    found = [path.removeprefix(names.folder) for path in folders]
    begin = names.temporary_folder("").removeprefix(names.folder)
    ids = {name.removeprefix(begin) for name in found if names.is_temporary_folder(name)}
    ids = {each for each in ids if file_system.find_size(mark_path(options, each)) is not None}
    if not ids:
        return ids
    own_files = OutputFolder(options, file_system).own_files
    return {each for each in ids if any(each in path for path in own_files)}


def mark_path(options: WriteOptions, write_id: str) -> str:
    """Returns the path of a file that is there as long as a write is under way that has an end."""
    return f"{options.names.temporary_folder(write_id)}/started"


@contextlib.contextmanager
def explain_removed_files(
    options: WriteOptions, write: StartedWrite, file_system: OutputFileSystem
) -> Iterator[None]:
    """Says, where files of a write are missing, that another write has cleared them away.

    Raises:
      WriteError: instead of the OSError of the body, if the mark of the write is gone.
    """
    try:
        yield
    except OSError as error:
        removed = False
        with contextlib.suppress(WriteError):  # the first error is the one to report
            removed = write.has_mark and file_system.find_size(mark_path(options, write.id)) is None
        if not removed:
            raise
        raise WriteError(
            "Expected the temporary files of a write until it ends, found them removed",
            Location(options.names.temporary_folder(write.id)),
            "another write of the same name ended meanwhile; only those of mode='append' may run "
            "at the same time",
        ) from error
