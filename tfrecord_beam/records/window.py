"""The part of a file's content that is in memory while it is read from front to back.

**Where the content ends.** An uncompressed file is read up to the size it had when it was opened,
so that reading ends even while a writer keeps appending; a file that shrinks while it is read is
reported as damaged. But a store that decompresses on the fly may report a smaller size than reads
return. So the size that the store reports (seek to the end) is trusted only if a read at that
offset returns nothing, or if the reported size has grown by then, because the file is being
appended to. Otherwise, and for compressed content, the end is where reads return nothing more.
"""

from __future__ import annotations

import os
import sys

from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError, Location
from tfrecord_beam.records.block import FOOTER_BYTES, HEADER_BYTES, MAX_FRAME_BYTES
from tfrecord_beam.records.compression import open_decompressed, read_codec
from tfrecord_beam.records.decompression import BinaryFile, read_exactly

NO_STOP = sys.maxsize

CHUNK_BYTES = 8 << 20
"""Size of a read: on an object store each read is a request, so small ones are slow."""

_MIN_READ_BYTES = 64 << 10


class Window:
    """A growing window on a file's content. An index counts from the start of `data`.

    Args:
      raw: the file, at its start.
      path: its name.
      codec: "auto" or one of `compression`'s.
      start: offset in the content to begin at. Compressed content always begins at 0.
      chunk_bytes: how much is read at a time; memory is about twice this, or the largest frame.
      first_bytes: size of the first read, for callers that may not need more; it doubles with each
        read up to `chunk_bytes`. None: `chunk_bytes`.

    Attributes:
      path: the file's name.
      codec: the codec of the file.
      data: the bytes in memory.
      begin: index of the next byte to look at; bytes before it may be dropped.
      end: offset of the end of the content, or None if it is only known once reading reaches it.
      ended: whether `data` reaches to the end of the content.
      failure: why the content ended early, or None.
      anchor: offset to which `move_to` will return, or None. If the content is not seekable, it is
        kept in memory from there on.
    """

    def __init__(
        self,
        raw: BinaryFile,
        path: str,
        *,
        codec: str,
        start: int,
        chunk_bytes: int,
        first_bytes: int | None = None,
    ) -> None:
        self._raw = raw
        self.path = path
        self._chunk_bytes = chunk_bytes
        self._step_bytes = min(first_bytes or chunk_bytes, chunk_bytes)
        if codec == "auto":
            codec = read_codec(raw, path)
        self.codec = codec
        self._position = 0
        self.end: int | None = None
        if codec == "none":
            self.end = _find_end(raw)
            raw.seek(start)
            self._position = start
        self._content = open_decompressed(raw, codec)
        self._buffer = memoryview(b"")
        self._filled = 0
        self.begin = 0
        self.ended = False
        self.failure: CorruptRecordError | None = None
        self.anchor: int | None = None

    @property
    def data(self) -> memoryview:
        return self._buffer[: self._filled]

    @property
    def position(self) -> int:
        """Offset in the content of ``data[0]``."""
        return self._position

    @property
    def offset(self) -> int:
        """Offset in the content of ``data[begin]``."""
        return self._position + self.begin

    @property
    def left(self) -> int:
        """How many bytes from `begin` on are in memory."""
        return self._filled - self.begin

    @property
    def consumed_bytes(self) -> int:
        """How far reading has got in the stored, possibly compressed, file."""
        return self._raw.tell()

    @property
    def seekable(self) -> bool:
        """Whether the content can be read at any offset; compressed content cannot."""
        return self.codec == "none"

    def fill(self, needed: int = 0, *, stop: int = NO_STOP) -> None:
        """Reads more, to get closer to `needed` bytes from `begin` on in memory.

        One call at most doubles the bytes kept, so a wrong `needed` cannot make memory grow far
        beyond what the file holds.

        Args:
          needed: bytes from `begin` on that the caller requires.
          stop: offset in the content beyond which the caller needs little.
        """
        keep = self.begin
        if self.anchor is not None and not self.seekable:
            keep = self.anchor - self._position
        kept = self.data[keep:]
        needed += self.begin - keep
        ahead = max(stop - (self._position + self._filled) + _MIN_READ_BYTES, _MIN_READ_BYTES)
        wanted = max(needed, min(self._step_bytes, len(kept) + ahead), len(kept) + 1)
        capacity = min(wanted, len(kept) + max(len(kept), self._step_bytes))
        self._step_bytes = min(2 * self._step_bytes, self._chunk_bytes)
        self._position += keep
        if self.end is not None:
            capacity = min(capacity, max(self.end - self._position, len(kept)))
        buffer = kernel.allocate(capacity)
        buffer[: len(kept)] = kept
        self.begin, self._filled, self._buffer = self.begin - keep, len(kept), buffer
        while self._filled < capacity and not self.ended:
            try:
                count = self._content.readinto(buffer[self._filled :])
            except CorruptRecordError as error:
                self.failure = error.located(file=self.path)
                count = 0
            self._filled += count or 0
            self.ended = not count
            if self.ended:
                self._check_size()
        if self.end is not None and self._position + self._filled >= self.end:
            self.ended = True

    def _check_size(self) -> None:
        """Sets `failure` if the file is smaller now than when it was opened."""
        if self.end is None or self._position + self._filled >= self.end:
            return
        size = self._raw.seek(0, os.SEEK_END)
        if size < self.end:
            self.failure = CorruptRecordError(
                f"Expected {self.end} bytes, which the file had when it was opened, "
                f"found {size} (was it truncated or rewritten while it was read?)",
                Location(self.path),
            )

    def require(self, size: int) -> bool:
        """Reads `size` bytes from `begin` on into memory; returns False if there are fewer."""
        while self.left < size and not self.ended:
            self.fill(size)
        return self.left >= size

    def move_to(self, offset: int) -> None:
        """Goes to an offset: any if the content is seekable, else one that is in memory."""
        if self._position <= offset <= self._position + self._filled:
            self.begin = offset - self._position
            return
        self._raw.seek(offset)
        self._buffer, self._position = memoryview(b""), offset
        self.begin = self._filled = 0
        self.ended = self.end is not None and offset >= self.end

    def skip_to(self, offset: int) -> None:
        """Goes forward to an offset, or to the end of the content if that comes first."""
        if self.end is not None:
            self.move_to(min(offset, self.end))
            return
        while self._position + self._filled < offset and not self.ended:
            self.begin = self._filled
            self.fill()
        self.begin = min(offset - self._position, self._filled)

    @property
    def length(self) -> int:
        """The bytes at `begin` read as the length field of a header."""
        return int.from_bytes(self.data[self.begin :][:8], "little")

    def has_right_length(self) -> bool:
        """Whether the bytes at `begin` are a header whose length matches its CRC."""
        header = self.data[self.begin :][:HEADER_BYTES]
        stored = int.from_bytes(header[8:], "little")
        return len(header) == HEADER_BYTES and stored == kernel.masked_crc32c(header[:8])

    def is_beyond_end(self, needed: int) -> bool:
        """Whether the content is known to end before `needed` bytes from `begin` on."""
        return self.end is not None and self.offset + needed > self.end

    def is_out_of_reach(self, needed: int) -> bool:
        """Whether `needed` bytes exceed the largest frame, or the known end of the content."""
        return needed > MAX_FRAME_BYTES or self.is_beyond_end(needed)

    def search_limit(self, most_bytes: int) -> int:
        """Returns the index by which a frame must end to lie within the content.

        Args:
          most_bytes: how far beyond `data` a frame may reach if the end of the content is unknown.
        """
        if self.ended:
            return self._filled
        if self.end is not None:
            return self.end - self._position
        return self._filled + most_bytes

    def is_far(self, needed: int) -> bool:
        """Whether a frame is so large that it is better to read it twice than to keep it."""
        return self.seekable and needed > max(self._chunk_bytes, HEADER_BYTES)

    def check_frame(self, frame_bytes: int) -> tuple[int, int]:
        """Returns the stored and the computed masked CRC of the payload of the frame at `begin`.

        The frame is read through a buffer of `chunk_bytes` and not kept. The content must be
        seekable.
        """
        here = self._raw.tell()
        self._raw.seek(self.offset + HEADER_BYTES)
        left = frame_bytes - HEADER_BYTES - FOOTER_BYTES
        scratch = kernel.allocate(min(left, self._chunk_bytes))
        crc = 0
        while left:
            count = self._raw.readinto(scratch[:left]) or 0
            if not count:
                break
            crc = kernel.crc32c(scratch[:count], crc)
            left -= count
        stored = read_exactly(self._raw, FOOTER_BYTES)
        self._raw.seek(here)
        return int.from_bytes(stored, "little"), kernel.masked_crc32c(b"", crc)


def _find_end(raw: BinaryFile) -> int | None:
    """Returns the current size of an open file; None if the size its store reports is wrong."""
    size = raw.seek(0, os.SEEK_END)
    is_more = bool(raw.read(1))
    return None if is_more and raw.seek(0, os.SEEK_END) == size else size
