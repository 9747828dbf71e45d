"""What is wrong where no record can be read, and where reading goes on behind it.

**Lengths.** One whose own CRC fits, or at whose end the payload's CRC fits, is right. It tells
where the damaged record ends, and that what it holds belongs to it: `search.find_record_behind`
says what counts as a record there. Any other length tells nothing: reading goes on with the first
record that is found.

**Too long records** are damage, and are skipped by their length. Compressed content cannot be read
twice, and no more of it is kept than the longest record takes. So where such a length points beyond
its end nothing is found behind it: the corrupt part reaches to the end, as its length tells.
"""

from __future__ import annotations

from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError, Location
from tfrecord_beam.kernel.plan import Scan, ScanStatus
from tfrecord_beam.records.block import (
    FOOTER_BYTES,
    FRAME_BYTES,
    HEADER_BYTES,
    MAX_FRAME_BYTES,
    MAX_RECORD_BYTES,
)
from tfrecord_beam.records.compression import HEAD_BYTES
from tfrecord_beam.records.corruption import MAX_SAMPLE_BYTES, CorruptRecord
from tfrecord_beam.records.search import find_record, find_record_behind
from tfrecord_beam.records.signature import describe_content
from tfrecord_beam.records.window import Window

_MAX_TRIED_BYTES = 8 << 20
"""It is not worth reading more on the word of a length whose own CRC is wrong."""

_MAY_BE_PART = "the records that follow may be part of it"


def find_damage(window: Window, scan: Scan) -> CorruptRecordError | None:
    """Returns what is wrong at `begin`, or None where nothing is, as far as can be seen.

    Args:
      window: where to look.
      scan: what was told by a scan from `begin` on that found no record.
    """
    if scan.status in (ScanStatus.BAD_LENGTH_CRC, ScanStatus.BAD_PAYLOAD_CRC):
        part = "Length" if scan.status == ScanStatus.BAD_LENGTH_CRC else "Payload"
        message = f"{part} CRC mismatch: stored {scan.stored:#010x}, computed {scan.computed:#010x}"
    elif window.ended and window.failure is not None:
        failure, window.failure = window.failure, None  # to be told once
        return failure.located(offset=window.offset)
    elif scan.needed > MAX_FRAME_BYTES:
        message = (
            f"Expected a record of at most {MAX_RECORD_BYTES} bytes, "
            f"found a length of {window.length}"
        )
    elif scan.needed > HEADER_BYTES and (window.ended or window.is_beyond_end(scan.needed)):
        end = window.offset + window.left if window.end is None else window.end
        message = (
            f"Expected a record of {scan.needed} bytes, "
            f"found the end of the file after {end - window.offset}"
        )
    elif window.ended and window.left:
        message = (
            f"Expected the {HEADER_BYTES} bytes of a record's header, "
            f"found the end of the file after {window.left}"
        )
    else:
        return None
    if window.offset == 0 and not window.has_right_length():
        content = describe_content(bytes(window.data[:HEAD_BYTES]))
        message = message if content is None else f"Expected a TFRecord file, found {content}"
    return CorruptRecordError(message, Location(window.path, window.offset))


def step_over(window: Window, error: CorruptRecordError) -> CorruptRecord:
    """Goes to the next record that can be read, and returns the part before it as a value.

    Args:
      window: where to go on; `begin` is where the damage is.
      error: what is wrong there.
    """
    begin = window.offset
    window.require(MAX_SAMPLE_BYTES)
    sample = bytes(window.data[window.begin :][:MAX_SAMPLE_BYTES])
    frame_bytes = _find_frame_size(window)
    may_be_part = False
    if frame_bytes is None:
        window.begin = min(window.begin + 1, len(window.data))
        find_record(window)
    elif frame_bytes > MAX_FRAME_BYTES and not window.is_beyond_end(frame_bytes):
        window.skip_to(begin + frame_bytes)
        find_record(window)
    else:
        window.begin += HEADER_BYTES
        may_be_part = find_record_behind(window, begin + frame_bytes)
    if may_be_part:
        hint = f"{error.hint}; {_MAY_BE_PART}" if error.hint else _MAY_BE_PART
        error = CorruptRecordError(error.message, error.location, hint)
    length = window.offset - begin
    return CorruptRecord.from_error(error, length=length, sample=sample[:length])


def _find_frame_size(window: Window) -> int | None:
    """Returns the size of the damaged frame at `begin`, or None where its length may be wrong."""
    if not window.require(HEADER_BYTES):
        return None
    size = window.length + FRAME_BYTES
    if window.has_right_length():
        return size
    if size > _MAX_TRIED_BYTES or not window.require(size):
        return None
    frame = window.data[window.begin :][:size]
    stored = int.from_bytes(frame[-FOOTER_BYTES:], "little")
    fits = stored == kernel.masked_crc32c(frame[HEADER_BYTES:-FOOTER_BYTES])
    return size if fits else None
