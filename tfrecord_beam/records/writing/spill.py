"""Spill files: each bundle writes its records for all destinations to one file, in segments.

So few files are open however many destinations there are, records do not pass through the engine's
shuffle, and memory does not grow with the data: buffered records are written whenever they reach
`BUFFER_BYTES`. Only the locations of the segments are passed between workers.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

from tfrecord_beam.errors import WriteError
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.writing.file_system import OutputFile, OutputFileSystem
from tfrecord_beam.records.writing.runs import Pair, write_run
from tfrecord_beam.records.writing.segments import Destination, Segment, Segments

BUFFER_BYTES = 32 << 20
"""Bytes of frames that a bundle holds back. With 1,000 destinations pieces of 32 kB come of it."""

_PART_BYTES = 300
"""What holding some frames back takes besides their bytes; with keys, for every record."""


class SpillWriter:
    """Writes frames of many destinations to one file, which is made once there is something.

    Args:
      file_system: where it is.
      path: of the file.
      ordered: whether segments are runs: records in the order of keys, with these.
      small_bytes: if there are no more at the end, the segments hold them, and no file is made.
    """

    def __init__(
        self,
        file_system: OutputFileSystem,
        path: str,
        *,
        ordered: bool = False,
        small_bytes: int = 0,
    ) -> None:
        self._file_system = file_system
        self._path = path
        self._ordered = ordered
        self._small_bytes = small_bytes
        self._file: OutputFile | None = None
        self._pending: dict[Destination, list[Pair]] = {}
        self._pending_bytes = 0
        self._segments: Segments = {}

    def add(self, destination: Destination, frames: FramedRecords, key: Any = None) -> None:
        """Adds records.

        Raises:
          EncodeError: with `ordered`, keys that have no order among them.
          WriteError: the file cannot be written.
        """
        self._pending.setdefault(destination, []).append((key, frames))
        self._pending_bytes += frames.num_bytes + _PART_BYTES
        if self._pending_bytes >= BUFFER_BYTES:
            self._flush()

    def close(self) -> Segments:
        """Ends the file and returns where everything is."""
        if self._file is None and self._pending_bytes <= self._small_bytes:
            return {to: [self._hold(pairs)] for to, pairs in self._pending.items()}
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
        for destination, pairs in self._pending.items():
            segment = self._put(pairs, self._file)
            self._segments.setdefault(destination, []).append(segment)
        self._pending.clear()
        self._pending_bytes = 0

    def _hold(self, pairs: list[Pair]) -> Segment:
        """Returns records in memory."""
        memory = io.BytesIO()
        segment = self._put(pairs, OutputFile(memory, self._path))
        return segment._replace(content=memory.getvalue())

    def _put(self, pairs: list[Pair], file: OutputFile) -> Segment:
        """Writes records and returns where they are."""
        begin = file.num_bytes
        if self._ordered:
            write_run(file, pairs)
        else:
            for _, frames in pairs:
                file.write(frames.frames)
        num_records = sum(frames.num_records for _, frames in pairs)
        return Segment(self._path, begin, file.num_bytes, num_records)
