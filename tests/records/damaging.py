"""What tests of damaged files share: a file, ways to read it, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence

from tests.frames import framed
from tests.records.reading import FILE, Reading, frame_starts, read_file
from tfrecord_beam.records.corruption import MAX_SAMPLE_BYTES
from tfrecord_beam.records.reader import ReadOptions

RECORDS = [b"first", b"", b"third record", b"4"]
DATA = framed(*RECORDS)
STARTS = frame_starts(RECORDS)

TOO_LONG = "Expected a record of at most 2147483647 bytes, found a length of"

OPTIONS = {
    "default": ReadOptions(),
    "tiny blocks": ReadOptions(batch_bytes=1),
    "batches of 2": ReadOptions(batch_size=2),
}


def frame_at(offset: int, starts: Sequence[int] = STARTS) -> int:
    """Returns the number of the record in whose frame an offset is."""
    return max(index for index, start in enumerate(starts) if start <= offset)


def without(index: int, records: Sequence[bytes] = RECORDS) -> list[bytes]:
    return [*records[:index], *records[index + 1 :]]


def read_aside(
    data: bytes, cuts: Sequence[int] = (), options: ReadOptions = ReadOptions()
) -> Reading:
    reading = read_file(data, cuts, options, collect=True)
    for record in reading.corrupt:
        assert record.file == FILE
        assert record.offset is not None
        assert data[record.offset :].startswith(record.sample)
        wanted = min(record.length, MAX_SAMPLE_BYTES)
        # Where blocks are small, little more than the header may be in memory.
        assert min(wanted, options.batch_bytes or wanted, 12) <= len(record.sample) <= wanted
    return reading
