"""Writes the records of one destination to temporary files, each a complete shard."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from tfrecord_beam.errors import WriteError
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.index import IndexBuilder
from tfrecord_beam.records.writing.file_system import OutputFileSystem
from tfrecord_beam.records.writing.frame_file import FrameFile
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.routing import shuffle
from tfrecord_beam.records.writing.runs import merge_runs
from tfrecord_beam.records.writing.segments import (
    Destination,
    Segment,
    Segments,
    read_segments,
)
from tfrecord_beam.records.writing.start import StartedWrite


class ShardFile(NamedTuple):
    """A complete file under a temporary name.

    Attributes:
      path: the temporary name. Of several files for one destination the names give the order.
      destination: what it is for.
      num_records: how many are in it.
      num_bytes: its size as stored.
      index_data: what its index holds, if it is to have one.
    """

    path: str
    destination: Destination
    num_records: int
    num_bytes: int
    index_data: bytes | None = None


def make_temporary_path(folder: str) -> str:
    """Returns a path in a folder that is unique to this attempt."""
    return f"{folder}/{uuid.uuid4().hex}"


class ShardWriter:
    """Writes records to a file and, where it is full by the options, to further ones.

    Args:
      options: the codec, and when a file is full.
      file_system: where the files are.
      folder: of temporary files.
      destination: what the files are for.
    """

    def __init__(
        self,
        options: WriteOptions,
        file_system: OutputFileSystem,
        folder: str,
        destination: Destination,
    ) -> None:
        self._options = options
        self._file_system = file_system
        self._stem = make_temporary_path(folder)
        self._destination = destination
        self._done: list[ShardFile] = []
        self._file: FrameFile | None = None
        self._frame_bytes = 0
        self._index = IndexBuilder()

    def write(self, frames: FramedRecords) -> None:
        start = 0
        while start < frames.num_records:
            count = self._count_fitting(frames.slice(start, frames.num_records))
            if not count:
                self._end_file()
                continue
            self._write(frames.slice(start, start + count))
            start += count

    def close(self) -> list[ShardFile]:
        """Ends the files and returns them, none where there was no record."""
        self._end_file()
        return self._done

    def discard(self) -> None:
        """Deletes what has been written, as far as its store lets it."""
        if self._file is not None:
            self._file.discard()
            self._file = None
        with contextlib.suppress(WriteError):
            self._file_system.delete(file.path for file in self._done)

    def _count_fitting(self, frames: FramedRecords) -> int:
        """Returns how many of the records the file at hand takes; a new one takes one at least."""
        count = frames.num_records
        is_new = self._file is None
        if self._options.max_records_per_shard is not None:
            taken = 0 if self._file is None else self._file.num_records
            count = min(count, self._options.max_records_per_shard - taken)
        if self._options.max_bytes_per_shard is not None:
            room = self._options.max_bytes_per_shard - (0 if is_new else self._frame_bytes)
            end = np.searchsorted(frames.offsets, frames.offsets[0] + room, side="right")
            count = min(count, max(int(end) - 1, int(is_new)))
        return count

    def _write(self, frames: FramedRecords) -> None:
        if self._file is None:
            path = f"{self._stem}-{len(self._done):08}"
            self._file = FrameFile(self._file_system, path, self._options.codec)
            self._frame_bytes = 0
            self._index = IndexBuilder()
        self._file.write(frames)
        if self._options.write_index:
            self._index.add(frames.offsets)
        self._frame_bytes += frames.num_bytes

    def _end_file(self) -> None:
        if self._file is not None:
            file = self._file
            file.close()
            self._file = None
            index = self._index.build().dump() if self._options.write_index else None
            self._done.append(
                ShardFile(file.path, self._destination, file.num_records, file.num_bytes, index)
            )


class Merge(NamedTuple):
    """The pieces in spill files that become the file of one destination, or several."""

    destination: Destination
    segments: list[Segment]


def plan_merges(all_segments: Iterable[Segments], window: str | None = None) -> list[Merge]:
    """Returns what is to be merged: the segments of several bundles by destination.

    Args:
      all_segments: where each bundle's records are.
      window: the window of all destinations; None: as it stands in them.
    """
    merges: dict[Destination, list[Segment]] = {}
    for segments in all_segments:
        for destination, pieces in segments.items():
            if window is not None:
                destination = destination._replace(window=window)
            merges.setdefault(destination, []).extend(pieces)
    return list(map(Merge._make, merges.items()))


def merge(
    pieces: Merge,
    options: WriteOptions,
    write: StartedWrite,
    file_system: OutputFileSystem,
    open_file: Callable[[str], BinaryFile],
) -> list[ShardFile]:
    """Returns the temporary files that hold all records of a destination.

    They stand in the order of their places in spill files, unless the options say another: a second
    attempt gives the same files as the first. Memory holds a piece at a time, or the blocks of the
    runs with `options.ordered`, and with `options.shuffle` the whole shard.

    Args:
      pieces: what to put together.
      options: order, codec, and when a file is full.
      write: the write.
      file_system: where files are written.
      open_file: opens spill files.
    """
    folder = options.names.temporary_folder(write.id)
    writer = ShardWriter(options, file_system, folder, pieces.destination)
    read = merge_runs if options.ordered else read_segments
    try:
        parts: Iterable[FramedRecords] = read(sorted(pieces.segments), open_file)
        if options.shuffle:
            shard = FramedRecords.from_frames(b"".join(part.frames for part in parts))
            parts = [shuffle(shard, write.seed)]
        for frames in parts:
            writer.write(frames)
        return writer.close()
    except BaseException:
        writer.discard()
        raise
