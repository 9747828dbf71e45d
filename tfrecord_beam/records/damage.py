"""Diagnoses what is wrong where no record can be read, and finds where reading resumes.

**Lengths.** A length is right if it matches its own CRC, or if the CRC found at the end of that
many bytes matches the payload. It then gives the end of the damaged record, and everything up to
there belongs to it: `search.find_record_behind` defines what counts as a record inside. Any other
length means nothing: reading resumes at the first record found.

**Records that are too long** are damage, and are skipped by their length. Compressed content cannot
be read twice, and no more of it is kept than the longest record takes. So if such a length points
beyond the end of compressed content, nothing is found after it: the corrupt part extends to the
end.
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
"""Reading more is not worthwhile for a length that does not match its own CRC."""

_MAY_BE_PART = "the records that follow may be part of it"


def find_damage(window: Window, scan: Scan) -> CorruptRecordError | None:
    """Returns what is wrong at `begin`, or None if nothing is, as far as the window shows.

    Args:
      window: where to look.
      scan: the result of a scan from `begin` on that found no record.
    """
    if scan.status in (ScanStatus.BAD_LENGTH_CRC, ScanStatus.BAD_PAYLOAD_CRC):
        part = "Length" if scan.status == ScanStatus.BAD_LENGTH_CRC else "Payload"
        message = f"{part} CRC mismatch: stored {scan.stored:#010x}, computed {scan.computed:#010x}"
    elif window.ended and window.failure is not None:
        failure, window.failure = window.failure, None  # reported once
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
    """Goes to the next readable record, and returns the corrupt part before it as a value.

    Args:
      window: where to resume; `begin` is where the damage is.
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
    """Returns the size of the damaged frame at `begin`, or None if its length may be wrong."""
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
