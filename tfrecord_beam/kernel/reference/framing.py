"""TFRecord frames: finding the records in the bytes of a file, and putting records into frames."""

from __future__ import annotations

import array
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrecord_beam.kernel.faults import encode_error
from tfrecord_beam.kernel.plan import Candidate, EncodeFailure, EncodeFault, Scan, ScanStatus
from tfrecord_beam.kernel.reference.crc32c import masked_crc32c

if TYPE_CHECKING:
    from typing_extensions import Buffer

_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_HEADER_BYTES = _LENGTH.size + _CRC.size
_OVERHEAD_BYTES = _HEADER_BYTES + _CRC.size  # Size of a frame besides its payload.
_MAX_NEEDED = 2**63 - 1
_MAX_RECORD_SIZE = 2**31 - 1


def scan(
    data: Buffer,
    *,
    start: int = 0,
    stop: int | None = None,
    max_records: int | None = None,
    max_bytes: int | None = None,
    validate_crc: bool = True,
) -> Scan:
    """Finds the whole frames in `data`, the first of which starts at `start`.

    >>> found = scan(frame([b"one", b"three"]))
    >>> found.offsets.tolist(), found.lengths.tolist(), found.end
    ([12, 31], [3, 5], 40)
    """
    view = _view_bytes(data)
    if not 0 <= start <= len(view):
        raise ValueError(f"Expected start from 0 to {len(view)}, found {start}")
    if max_records is not None and max_records < 1:
        raise ValueError(f"Expected max_records of at least 1, found {max_records}")
    offsets, lengths = array.array("q"), array.array("q")
    position = start

    def end(status: ScanStatus, needed: int = 0, stored: int = 0, computed: int = 0) -> Scan:
        spans = memoryview(offsets), memoryview(lengths)
        return Scan(*spans, position, status, min(needed, _MAX_NEEDED), stored, computed)

    while True:
        if stop is not None and position >= stop:
            return end(ScanStatus.LIMIT)
        if max_records is not None and len(offsets) >= max_records:
            return end(ScanStatus.LIMIT)
        if position + _HEADER_BYTES > len(view):
            return end(ScanStatus.MORE, _HEADER_BYTES)
        length, stored, computed = _read_header(view, position)
        if (validate_crc or not length) and stored != computed:
            return end(ScanStatus.BAD_LENGTH_CRC, 0, stored, computed)
        size = _OVERHEAD_BYTES + length
        if max_bytes is not None and offsets and position + size - start > max_bytes:
            return end(ScanStatus.LIMIT)
        if position + size > len(view):
            return end(ScanStatus.MORE, size)
        if validate_crc:
            stored, computed = _read_payload_crc(view, position, length)
            if stored != computed:
                return end(ScanStatus.BAD_PAYLOAD_CRC, size, stored, computed)
        offsets.append(position + _HEADER_BYTES)
        lengths.append(length)
        position += size


def find_record(data: Buffer, *, start: int, stop: int, limit: int) -> Candidate:
    """Finds the first index p, start <= p < stop, at which a valid frame starts.

    >>> frames = frame([b"one", b"three"])
    >>> find_record(frames, start=1, stop=len(frames), limit=len(frames))
    Candidate(position=19, found=True, needed=0)
    """
    view = _view_bytes(data)
    if start < 0:
        raise ValueError(f"Expected start of at least 0, found {start}")
    for position in range(start, stop):
        if position + _HEADER_BYTES > len(view):
            return Candidate(position, False, 0)
        length, stored, computed = _read_header(view, position)
        size = _OVERHEAD_BYTES + length
        if stored != computed or position + size > limit:
            continue
        if position + size > len(view):
            return Candidate(position, True, size)
        stored, computed = _read_payload_crc(view, position, length)
        if stored == computed:
            return Candidate(position, True, 0)
    return Candidate(stop, False, 0)


def frame(records: Sequence[Buffer]) -> bytes:
    """Returns the frames of `records`, one after the other.

    >>> len(frame([b"one", b""]))
    35
    """
    views = [_view_bytes(record) for record in records]
    for index, view in enumerate(views):
        check_size(index, len(view))
    return b"".join(map(_frame_record, views))


def check_size(record: int, size: int) -> None:
    """Raises EncodeError if a record of `size` bytes is larger than protobuf can read."""
    if size > _MAX_RECORD_SIZE:
        raise encode_error(EncodeFailure(EncodeFault.TOO_LARGE, record))


def _frame_record(payload: memoryview) -> bytes:
    length = _LENGTH.pack(len(payload))
    crcs = _CRC.pack(masked_crc32c(length)), _CRC.pack(masked_crc32c(payload))
    return b"".join((length, crcs[0], payload, crcs[1]))


def _read_header(view: memoryview, position: int) -> tuple[int, int, int]:
    """Returns the length, the stored and the computed CRC of the header at `position`."""
    (length,) = _LENGTH.unpack_from(view, position)
    (stored,) = _CRC.unpack_from(view, position + _LENGTH.size)
    return length, stored, masked_crc32c(view[position : position + _LENGTH.size])


def _read_payload_crc(view: memoryview, position: int, length: int) -> tuple[int, int]:
    """Returns the stored and the computed payload CRC of the frame at `position`."""
    begin = position + _HEADER_BYTES
    (stored,) = _CRC.unpack_from(view, begin + length)
    return stored, masked_crc32c(view[begin : begin + length])


def _view_bytes(data: Buffer) -> memoryview:
    return memoryview(data).cast("B")


def allocate(size: int) -> memoryview:
    """Returns writable memory of `size` bytes."""
    return memoryview(bytearray(size))
