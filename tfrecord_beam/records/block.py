"""The unit of work of the library: many framed records in one buffer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfrecord_beam.errors import Location

HEADER_BYTES = 12
"""Size of a frame before its payload: the length and its CRC."""
FOOTER_BYTES = 4
"""Size of a frame after its payload: the payload's CRC."""
FRAME_BYTES = HEADER_BYTES + FOOTER_BYTES
"""Size of a frame besides its payload."""
MAX_RECORD_BYTES = (1 << 31) - 1
"""Limit of protobuf messages, and of values of Arrow's types with 32-bit offsets."""
MAX_FRAME_BYTES = MAX_RECORD_BYTES + FRAME_BYTES
"""Size of the frame of such a record."""


def frame_size(record: bytes) -> int:
    """Returns how many bytes a record takes in a file."""
    return len(record) + FRAME_BYTES


Int64Array = np.ndarray[Any, np.dtype[np.int64]]


@dataclasses.dataclass(frozen=True, eq=False)
class RecordBlock:
    """Consecutive whole records of one file, with their frames as stored in the file.

    Attributes:
      file: path or URL of the file.
      position: offset of ``data[0]`` in the file's (decompressed) content.
      data: the buffer that holds the frames; may hold other bytes, too.
      offsets: int64 [records], index in `data` of each payload's first byte.
      lengths: int64 [records], bytes of each payload.
      first_record: number of the first record in the file, from 0; None if it is not known, because
        reading began inside the file or skipped a corrupt part.
    """

    file: str
    position: int
    data: memoryview
    offsets: Int64Array
    lengths: Int64Array
    first_record: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        block = self.compact()
        return _restore, (
            block.file,
            block.position,
            bytes(block.data),
            block.offsets.tobytes(),
            block.lengths.tobytes(),
            block.first_record,
        )

    @property
    def num_records(self) -> int:
        return len(self.offsets)

    @property
    def num_bytes(self) -> int:
        """The sum of the payloads' lengths."""
        return int(self.lengths.sum())

    def offset_of(self, index: int) -> int:
        """Returns the offset in the file at which the record's frame starts."""
        return self.position + int(self.offsets[index]) - HEADER_BYTES

    def place_of(self, index: int) -> Location:
        """Returns where the record is: file, offset, and its number if known."""
        first = self.first_record
        return Location(self.file, self.offset_of(index), None if first is None else first + index)

    def payload(self, index: int) -> memoryview:
        """Returns one record's bytes without a copy."""
        start = int(self.offsets[index])
        return self.data[start : start + int(self.lengths[index])]

    def records(self) -> Iterator[bytes]:
        """Yields each record's bytes."""
        for start, length in zip(self.offsets.tolist(), self.lengths.tolist(), strict=True):
            yield bytes(self.data[start : start + length])

    def until(self, stop: int) -> RecordBlock:
        """Returns the records that start before the file offset `stop`, without a copy."""
        # Bounded, because for a stop beyond int64 numpy would search a copy converted to floats.
        bound = min(stop - self.position + HEADER_BYTES, len(self.data))
        keep = int(np.searchsorted(self.offsets, bound))
        return dataclasses.replace(self, offsets=self.offsets[:keep], lengths=self.lengths[:keep])

    def after(self, count: int) -> RecordBlock:
        """Returns the block without its first `count` records, without a copy."""
        first = self.first_record
        return dataclasses.replace(
            self,
            offsets=self.offsets[count:],
            lengths=self.lengths[count:],
            first_record=None if first is None else first + count,
        )

    def compact(self) -> RecordBlock:
        """Returns the block with `data` narrowed to its frames, without a copy."""
        if not self.num_records:
            return dataclasses.replace(self, data=self.data[:0])
        begin = int(self.offsets[0]) - HEADER_BYTES
        end = int(self.offsets[-1] + self.lengths[-1]) + FOOTER_BYTES
        return dataclasses.replace(
            self,
            position=self.position + begin,
            data=self.data[begin:end],
            offsets=self.offsets - begin,
        )


def _restore(
    file: str, position: int, data: bytes, offsets: bytes, lengths: bytes, first_record: int | None
) -> RecordBlock:
    return RecordBlock(
        file,
        position,
        memoryview(data),
        np.frombuffer(offsets, np.int64),
        np.frombuffer(lengths, np.int64),
        first_record,
    )
