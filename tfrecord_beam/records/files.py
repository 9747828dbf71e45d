"""The records of files as blocks, one file after the other, without Beam."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

from tfrecord_beam.options import check_function
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord, check_error_options, check_limit
from tfrecord_beam.records.decode import OnCorrupt
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FileEntry,
    FilePattern,
    FileSystem,
    match_files,
    normalize_patterns,
)
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions, RecordReader

OnProgress = Callable[[int, int], None]
"""Called from time to time with (bytes read so far, total bytes), as stored."""

DIRECT = DirectFileSystem()


class Part(NamedTuple):
    """The next part of the files being read.

    Attributes:
      content: records, or a part that cannot be read as such; None: the end of a file.
      read_bytes: bytes read so far, as stored.
      total_bytes: bytes of all files.
    """

    content: RecordBlock | CorruptRecord | None
    read_bytes: int
    total_bytes: int

    def report(self, on_corrupt: OnCorrupt | None, progress: OnProgress | None) -> None:
        """Calls the callbacks for this part, once its records have been used."""
        if isinstance(self.content, CorruptRecord) and on_corrupt is not None:
            on_corrupt(self.content)
        if progress is not None:
            progress(self.read_bytes, self.total_bytes)


def iter_blocks(
    path: FilePattern,
    options: ReadOptions = ReadOptions(),
    *,
    on_corrupt: OnCorrupt | None = None,
    progress: OnProgress | None = None,
    file_system: FileSystem = DIRECT,
) -> Iterator[RecordBlock]:
    """Yields the records of files, in the order of the files, as blocks.

    Args:
      path: path, pattern or folder, or several, see `tfrecord_beam.records.paths`.
      options: how to read.
      on_corrupt: called with each part that cannot be read; None: raise.
      progress: called after each block and each file.
      file_system: where the files are.
    """
    check_function("progress", progress)
    collect = on_corrupt is not None
    parts = read_parts(path, options, collect_corrupt=collect, file_system=file_system)
    return _take_blocks(parts, on_corrupt, progress)


def _take_blocks(
    parts: Iterable[Part], on_corrupt: OnCorrupt | None, progress: OnProgress | None
) -> Iterator[RecordBlock]:
    for part in parts:
        if isinstance(part.content, RecordBlock):
            yield part.content
        part.report(on_corrupt, progress)


def read_parts(
    path: FilePattern,
    options: ReadOptions,
    *,
    collect_corrupt: bool,
    file_system: FileSystem = DIRECT,
) -> Generator[Part]:
    """Yields the parts of files, in the order of the files.

    Args:
      path: as for `iter_blocks`.
      options: how to read.
      collect_corrupt: yield what cannot be read as parts, too. False: raise.
      file_system: where the files are.
    """
    files = match_files(normalize_patterns(path), file_system)  # at once, not when iterated
    return _read_parts(files, options, collect_corrupt, file_system)


def _read_parts(
    files: Sequence[FileEntry],
    options: ReadOptions,
    collect_corrupt: bool,
    file_system: FileSystem,
) -> Generator[Part]:
    total = sum(file.size for file in files)
    done = 0
    for file in files:
        reader = RecordReader(
            FileRange(file.path, size=file.size),
            file_system.open,
            options,
            collect_corrupt=collect_corrupt,
        )
        for content in reader:
            yield Part(content, min(done + reader.consumed_bytes, total), total)
        done += file.size
        yield Part(None, done, total)


def limit_corrupt(
    error_handler: OnCorrupt | None, max_corrupt_records: int | None
) -> OnCorrupt | None:
    """Returns an error handler that raises once it has been called more often than allowed."""
    check_function("error_handler", error_handler)
    check_error_options(error_handler, max_corrupt_records)
    if error_handler is None or max_corrupt_records is None:
        return error_handler
    calls = itertools.count(1)

    def handle(record: CorruptRecord) -> None:
        error_handler(record)
        check_limit(next(calls), most=max_corrupt_records)

    return handle
