"""The unit that is written: many framed records in one piece of memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError, Location
from tfrecord_beam.records.block import FOOTER_BYTES, HEADER_BYTES, Int64Array

if TYPE_CHECKING:
    from typing_extensions import Buffer


@dataclasses.dataclass(frozen=True, eq=False)
class FramedRecords:
    """Records in their frames, one after the other, as they stand in a file.

    >>> frames = FramedRecords.from_records([b"one", b"", b"three"])
    >>> list(frames.slice(1, 3).records()), frames.num_bytes
    ([b'', b'three'], 56)

    Attributes:
      data: the memory that holds the frames; may hold more than these.
      offsets: int64 [records + 1]; frame i is ``data[offsets[i] : offsets[i + 1]]``.
    """

    data: memoryview
    offsets: Int64Array

    @classmethod
    def from_records(cls, records: Sequence[Buffer]) -> FramedRecords:
        """Returns the frames of records that are objects of their own."""
        return cls.from_frames(kernel.frame(records))

    @classmethod
    def from_frames(cls, frames: Buffer) -> FramedRecords:
        """Returns what the bytes of a file hold, uncopied. Their CRCs are not checked.

        Raises:
          CorruptRecordError: the last frame is not whole.
        """
        data = memoryview(frames).cast("B")
        scan = kernel.scan(data, validate_crc=False)
        if scan.end != len(data):
            raise CorruptRecordError(
                "Expected whole frames, found one that is cut short", Location(offset=scan.end)
            )
        starts = np.asarray(scan.offsets) - HEADER_BYTES
        return cls(data, np.append(starts, np.int64(scan.end)))

    def __reduce__(self) -> tuple[Any, ...]:
        return FramedRecords.from_frames, (bytes(self.frames),)

    @property
    def num_records(self) -> int:
        return len(self.offsets) - 1

    @property
    def num_bytes(self) -> int:
        """The size of all frames in a file."""
        return int(self.offsets[-1] - self.offsets[0])

    @property
    def frames(self) -> memoryview:
        """The bytes of all frames, uncopied."""
        return self.data[int(self.offsets[0]) : int(self.offsets[-1])]

    @property
    def sizes(self) -> Int64Array:
        """int64 [records], what each frame takes: 16 bytes more than its record."""
        return np.diff(self.offsets)

    def records(self) -> Iterator[bytes]:
        """Yields each record's bytes."""
        for start, size in zip(self.offsets.tolist(), self.sizes.tolist(), strict=False):
            yield bytes(self.data[start + HEADER_BYTES : start + size - FOOTER_BYTES])

    def slice(self, start: int, stop: int) -> FramedRecords:
        """Returns the records from `start` on up to `stop`, without a copy.

        Args:
          start: index of the first record, from 0 to `num_records`.
          stop: index after the last record, from `start` to `num_records`.
        """
        return FramedRecords(self.data, self.offsets[start : stop + 1])

    def take(self, order: npt.NDArray[np.integer]) -> FramedRecords:
        """Returns a copy of the records with these indexes, in the order of these."""
        # pyarrow moves binary values at half the speed of a memcpy.
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        frames = pa.Array.from_buffers(pa.large_binary(), self.num_records, buffers)
        _, offsets, data = frames.take(pa.array(order)).buffers()
        return FramedRecords(memoryview(data).cast("B"), np.frombuffer(offsets, np.int64))
