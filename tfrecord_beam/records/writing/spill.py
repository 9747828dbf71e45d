"""Records on their way to many files: each bundle puts its own into one file, sorted into pieces.

So few files are open however many destinations there are, no record passes through the shuffle of
an engine, and memory does not grow with the data: what is in memory is written whenever it has
reached `BUFFER_BYTES`. What goes from worker to worker is where the pieces are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tfrecord_beam.errors import CorruptRecordError, EncodeError, Location, WriteError
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.hive import Partition
from tfrecord_beam.records.writing.file_system import OutputFile, OutputFileSystem
from tfrecord_beam.records.writing.frames import FramedRecords

BUFFER_BYTES = 32 << 20
"""Bytes of frames that a bundle holds back. With 1,000 destinations pieces of 32 kB come of it."""

_PART_BYTES = 300
"""What holding some frames back takes besides their bytes; with keys, for every record."""

MAX_OPEN_FILES = 64
"""Spill files that a merge has open at once."""


class Destination(NamedTuple):
    """What a final file, or those that one becomes, is for.

    Attributes:
      window: what file names tell of the window; "" where there are none.
      partition: the values of the partition columns.
      shard: number of the shard.
    """

    window: str = ""
    partition: Partition = ()
    shard: int = 0


class Segment(NamedTuple):
    """Frames of one destination, one after the other in a spill file.

    Attributes:
      path: of the spill file.
      begin: where they begin in it.
      end: where they end.
      num_records: how many there are.
      key: what they are ordered by; None where nothing was said.
    """

    path: str
    begin: int
    end: int
    num_records: int
    key: Any = None


Segments = dict[Destination, list[Segment]]


class SpillWriter:
    """Writes frames of many destinations to one file, which is made once there is something.

    Args:
      file_system: where it is.
      path: of the file.
    """

    def __init__(self, file_system: OutputFileSystem, path: str) -> None:
        self._file_system = file_system
        self._path = path
        self._file: OutputFile | None = None
        self._pending: dict[Destination, list[tuple[FramedRecords, Any]]] = {}
        self._pending_bytes = 0
        self._segments: Segments = {}

    def add(self, destination: Destination, frames: FramedRecords, key: Any = None) -> None:
        """Adds records. Those without a key that come together share a segment."""
        self._pending.setdefault(destination, []).append((frames, key))
        self._pending_bytes += frames.num_bytes + _PART_BYTES
        if self._pending_bytes >= BUFFER_BYTES:
            self._flush()

    def close(self) -> Segments:
        """Ends the file and returns where everything is."""
        self._flush()
        if self._file is not None:
            self._file.close()
        return self._segments

    def discard(self) -> None:
        """Deletes the file, as far as its store lets it."""
        if self._file is not None:
            with contextlib.suppress(WriteError):
                self._file.close()
            with contextlib.suppress(WriteError):
                self._file_system.delete([self._path])

    def _flush(self) -> None:
        if not self._pending:
            return
        if self._file is None:
            self._file = self._file_system.create(self._path)
        file = self._file
        for destination, parts in self._pending.items():
            segments = self._segments.setdefault(destination, [])
            segments += _join(_write(file, frames, key) for frames, key in parts)
        self._pending.clear()
        self._pending_bytes = 0


def _write(file: OutputFile, frames: FramedRecords, key: Any) -> Segment:
    begin = file.num_bytes
    file.write(frames.frames)
    return Segment(file.path, begin, file.num_bytes, frames.num_records, key)


def _join(segments: Iterable[Segment]) -> list[Segment]:
    """Returns segments that follow one another, those without a key as one."""
    joined: list[Segment] = []
    for segment in segments:
        if joined and joined[-1].key is None and segment.key is None:
            num_records = joined[-1].num_records + segment.num_records
            joined[-1] = joined[-1]._replace(end=segment.end, num_records=num_records)
        else:
            joined.append(segment)
    return joined


def sort_segments(segments: Iterable[Segment], *, ordered: bool) -> list[Segment]:
    """Returns segments in the order in which their records stand in the final file.

    Args:
      segments: of one destination.
      ordered: by their keys. Those of one key stand, as all do otherwise, in the order of their
        places: a second attempt gives the same file as the first.

    Raises:
      EncodeError: keys that have no order among them.
    """
    places = sorted(segments, key=lambda segment: (segment.path, segment.begin))
    if not ordered:
        return places
    try:
        return sorted(places, key=lambda segment: segment.key)
    except (TypeError, ValueError) as error:  # numpy's arrays
        raise EncodeError(f"Expected keys that can be sorted, found others: {error}") from error


def read_segments(
    segments: Iterable[Segment], open_file: Callable[[str], BinaryFile]
) -> Iterator[FramedRecords]:
    """Yields the records of segments in their order.

    Raises:
      WriteError: a spill file does not hold what was written to it.
    """
    with _OpenFiles(open_file) as files:
        for segment in segments:
            size = segment.end - segment.begin
            data = files.read(segment.path, segment.begin, size)
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
            yield frames


class _OpenFiles:
    """Files that are read here and there: few of them open at once."""

    def __init__(self, open_file: Callable[[str], BinaryFile]) -> None:
        self._open_file = open_file
        self._files: dict[str, BinaryFile] = {}

    def __enter__(self) -> _OpenFiles:
        return self

    def __exit__(self, *error: object) -> None:
        while self._files:
            self._close_one()

    def read(self, path: str, begin: int, size: int) -> memoryview:
        """Returns what a file holds there; less than `size` bytes only at its end."""
        if path not in self._files:
            if len(self._files) == MAX_OPEN_FILES:
                self._close_one()
            self._files[path] = self._open_file(path)
        file = self._files[path]
        file.seek(begin)
        target = memoryview(bytearray(size))
        done = 0
        while done < size and (count := file.readinto(target[done:])):
            done += count
        return target[:done]

    def _close_one(self) -> None:
        self._files.pop(next(iter(self._files))).close()
