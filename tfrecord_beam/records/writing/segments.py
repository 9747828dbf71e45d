"""Locations of the records of each destination in spill files, and reading them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError, Location, WriteError
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.hive import Partition

MAX_OPEN_FILES = 64
"""Maximum number of spill files that a merge has open at once."""


class Destination(NamedTuple):
    """What a final file, or those that one becomes, is for.

    Attributes:
      window: the part of file names that gives the window; "" where there are none.
      partition: the values of the partition columns.
      shard: number of the shard.
    """

    window: str = ""
    partition: Partition = ()
    shard: int = 0


class Segment(NamedTuple):
    """Records of one destination, one after the other in a spill file.

    Attributes:
      path: of the spill file.
      begin: where they begin in it.
      end: where they end.
      num_records: how many there are.
      content: what the file would hold, where they are so few that none was made; else None.
    """

    path: str
    begin: int
    end: int
    num_records: int
    content: bytes | None = None


Segments = dict[Destination, list[Segment]]


def find_spills(all_segments: Iterable[Segments]) -> list[str]:
    """Returns the paths of the spill files of several bundles."""
    segments = itertools.chain.from_iterable(
        pieces for by_destination in all_segments for pieces in by_destination.values()
    )
    return sorted({segment.path for segment in segments if segment.content is None})


def read_segments(
    segments: Iterable[Segment], open_file: Callable[[str], BinaryFile]
) -> Iterator[FramedRecords]:
    """Yields the records of segments in their order.

    Raises:
      WriteError: a spill file does not hold what was written to it.
    """
    with SpillFiles(open_file) as files:
        yield from map(files.read_frames, segments)


class SpillFiles:
    """Files that are read here and there: few of them open at once."""

    def __init__(self, open_file: Callable[[str], BinaryFile]) -> None:
        self._open_file = open_file
        self._files: dict[str, BinaryFile] = {}

    def __enter__(self) -> SpillFiles:
        return self

    def __exit__(self, *error: object) -> None:
        while self._files:
            self._close_one()

    def read_frames(self, segment: Segment) -> FramedRecords:
        """Returns the records of a segment that has nothing else.

        Raises:
          WriteError: there is something else in the file.
        """
        size = segment.end - segment.begin
        data = self.read(segment)
        try:
            frames = FramedRecords.from_frames(data)
            found = f"{frames.num_records} of {len(data)}"
        except CorruptRecordError:
            found = f"{len(data)} bytes that are no whole records"
        if found != f"{segment.num_records} of {size}":
            raise WriteError(
                f"Expected {segment.num_records} records of {size} bytes, found {found}",
                Location(segment.path, segment.begin),
            )
        return frames

    def read(self, segment: Segment) -> memoryview:
        """Returns what a file holds there; less than a segment has only at the file's end."""
        path, begin, end, _, content = segment
        if content is not None:
            return memoryview(content)[begin:end]
        if path not in self._files:
            if len(self._files) == MAX_OPEN_FILES:
                self._close_one()
            self._files[path] = self._open_file(path)
        file = self._files[path]
        file.seek(begin)
        target = kernel.allocate(end - begin)
        done = 0
        while done < len(target) and (count := file.readinto(target[done:])):
            done += count
        return target[:done]

    def _close_one(self) -> None:
        self._files.pop(next(iter(self._files))).close()
