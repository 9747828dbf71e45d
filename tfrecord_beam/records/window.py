"""The part of a file's content that is in memory while it is read from front to back."""

from __future__ import annotations

import sys

from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.records.block import FOOTER_BYTES, HEADER_BYTES
from tfrecord_beam.records.compression import HEAD_BYTES, detect_codec, open_decompressed
from tfrecord_beam.records.decompression import BinaryFile

NO_STOP = sys.maxsize
_MIN_READ_BYTES = 64 << 10


class Window:
    """A growing window on a file's content. Indexes count in `data`.

    Args:
      raw: the file, at its start.
      path: its name.
      codec: "auto" or one of `compression`'s.
      start: offset in the content to begin at. Compressed content always begins at 0.
      chunk_bytes: how much is read at a time; memory is about twice this, or the largest frame.
      size: the size that the file's store tells, or None.

    Attributes:
      codec: the codec that the file has.
      data: the bytes in memory.
      begin: index of the next byte to look at; what is before it may be dropped.
      ended: whether `data` reaches to the end of the content.
      failure: why the content ended before its end, or None.
    """

    def __init__(
        self,
        raw: BinaryFile,
        path: str,
        *,
        codec: str,
        start: int,
        chunk_bytes: int,
        size: int | None,
    ) -> None:
        self._raw = raw
        self._path = path
        self._chunk_bytes = chunk_bytes
        self._size = size
        if codec == "auto":
            codec = detect_codec(_read_exactly(raw, HEAD_BYTES), path)
            raw.seek(0)
        self.codec = codec
        self._content = open_decompressed(raw, codec)
        self._position = 0
        if codec == "none" and start:
            raw.seek(start)
            self._position = start
        self._buffer = memoryview(b"")
        self._filled = 0
        self.begin = 0
        self.ended = False
        self.failure: CorruptRecordError | None = None

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
        """How far reading got in the file as it is stored."""
        return self._raw.tell()

    @property
    def seekable(self) -> bool:
        """Whether the content can be read at any offset: that of a compressed file cannot."""
        return self.codec == "none"

    def fill(self, needed: int = 0, *, stop: int = NO_STOP) -> None:
        """Reads on, towards `needed` bytes from `begin` on in memory.

        One call at most doubles what is kept, so memory never grows far beyond what is there.

        Args:
          needed: bytes from `begin` on that the caller cannot do without.
          stop: offset in the content beyond which little is wanted.
        """
        kept = self.data[self.begin :]
        ahead = max(stop - (self._position + self._filled) + _MIN_READ_BYTES, _MIN_READ_BYTES)
        wanted = max(needed, min(self._chunk_bytes, len(kept) + ahead), len(kept) + 1)
        capacity = min(wanted, len(kept) + max(len(kept), self._chunk_bytes))
        buffer = kernel.allocate(capacity)
        buffer[: len(kept)] = kept
        self._position += self.begin
        self.begin, self._filled, self._buffer = 0, len(kept), buffer
        while self._filled < capacity and not self.ended:
            try:
                count = self._content.readinto(buffer[self._filled :])
            except CorruptRecordError as error:
                self.failure = error.located(file=self._path)
                count = 0
            self._filled += count or 0
            self.ended = not count

    def move_to(self, offset: int) -> None:
        """Goes to an offset: one in memory, or, in a seekable content, any."""
        if self._position <= offset <= self._position + self._filled:
            self.begin = offset - self._position
            return
        self._raw.seek(offset)
        self._buffer, self._position = memoryview(b""), offset
        self.begin = self._filled = 0
        self.ended = False

    def is_beyond_end(self, needed: int) -> bool:
        """Whether the content is known to end before `needed` bytes from `begin` on.

        Says so only if the size that the store tells is true: the content is read there.
        """
        if self._size is None or not self.seekable or self.offset + needed <= self._size:
            return False
        here = self._raw.tell()
        if here >= self._size:
            return False
        self._raw.seek(self._size)
        beyond = not self._raw.read(1)
        self._raw.seek(here)
        return beyond

    def search_limit(self, most_bytes: int) -> int:
        """Returns the index at which a frame must end at the latest to lie in the content.

        Args:
          most_bytes: how far beyond `data` to look where the end of the content is not known.
        """
        if self.ended:
            return self._filled
        if self.seekable and self._size is not None and self._size >= self._position + self._filled:
            return self._size - self._position
        return self._filled + most_bytes

    def is_far(self, needed: int) -> bool:
        """Whether a frame is so large that it is better read twice than kept in memory."""
        return self.seekable and needed > max(self._chunk_bytes, HEADER_BYTES)

    def check_frame(self, frame_bytes: int) -> tuple[int, int]:
        """Returns the stored and the computed masked CRC of the payload of the frame at `begin`.

        The frame is read through a buffer of `chunk_bytes` and not kept. Needs a seekable content.
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
        stored = _read_exactly(self._raw, FOOTER_BYTES)
        self._raw.seek(here)
        return int.from_bytes(stored, "little"), kernel.masked_crc32c(b"", crc)


def _read_exactly(raw: BinaryFile, size: int) -> bytes:
    """Returns the next `size` bytes, fewer only at the end."""
    parts = []
    while size:
        part = raw.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
