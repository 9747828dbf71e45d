"""The records of files as blocks, one file after the other, without Beam."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

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
"""What is called with (bytes read so far, bytes in all), as stored, from time to time."""

DIRECT = DirectFileSystem()


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
    files = match_files(normalize_patterns(path), file_system)  # at once, not when iterated
    return _iter_files(files, options, on_corrupt, progress, file_system)


def _iter_files(
    files: Sequence[FileEntry],
    options: ReadOptions,
    on_corrupt: OnCorrupt | None,
    progress: OnProgress | None,
    file_system: FileSystem,
) -> Iterator[RecordBlock]:
    total = sum(file.size for file in files)
    done = 0
    for file in files:
        reader = RecordReader(
            FileRange(file.path, size=file.size),
            file_system.open,
            options,
            collect_corrupt=on_corrupt is not None,
        )
        for part in reader:
            if isinstance(part, RecordBlock):
                yield part
            elif on_corrupt is not None:
                on_corrupt(part)
            if progress is not None:
                progress(min(done + reader.consumed_bytes, total), total)
        done += file.size
        if progress is not None:
            progress(done, total)


def limit_corrupt(
    error_handler: OnCorrupt | None, max_corrupt_records: int | None
) -> OnCorrupt | None:
    """Returns the error handler, which raises once it was called more often than allowed."""
    check_function("error_handler", error_handler)
    check_error_options(error_handler, max_corrupt_records)
    if error_handler is None or max_corrupt_records is None:
        return error_handler
    calls = itertools.count(1)

    def handle(record: CorruptRecord) -> None:
        error_handler(record)
        check_limit(next(calls), most=max_corrupt_records)

    return handle
