"""Records that hold TFRecord data: none of it is taken for records of the file."""

from __future__ import annotations

import gzip
import itertools
import struct

import pytest

from tests.frames import framed, masked_crc32c
from tests.records.damaging import frame_at, read_aside, without
from tests.records.reading import EIGHT, cut_file, flip, frame_starts, read_file, read_range
from tfrecord_beam.errors import CorruptRecordError, CoverageError
from tfrecord_beam.records.reader import ReadOptions

HOLDER = [b"before", framed(b"one", b"two", b"", b"three"), b"after", b"last"]
HOLDER_DATA = framed(*HOLDER)
HOLDER_STARTS = frame_starts(HOLDER)
HELD = range(HOLDER_STARTS[1], HOLDER_STARTS[2])
CAN_BE_SKIPPED = [offset for offset in HELD if offset >= HELD.start + 8]
"""Bytes of the second frame but those of its length, which may be wrong without a trace."""


@pytest.mark.parametrize("batch_bytes", [None, 1, 20, 60])
def test_no_record_comes_out_of_a_damaged_one(batch_bytes: int | None) -> None:
    options = ReadOptions(batch_bytes=batch_bytes)
    for offset in CAN_BE_SKIPPED:
        reading = read_aside(flip(HOLDER_DATA, offset, offset % 8), (), options)
        assert reading.records == without(1, HOLDER)
        assert reading.damage() == [(HELD.start, len(HELD))]


@pytest.mark.parametrize("batch_bytes", [None, 1, 20, 60])
def test_no_record_comes_out_of_a_damaged_one_unnoticed(batch_bytes: int | None) -> None:
    """Where a range begins inside of it the check of coverage tells, if not the reader."""
    options = ReadOptions(batch_bytes=batch_bytes)
    outcomes = set()
    for offset, cut in itertools.product(CAN_BE_SKIPPED[::5], range(len(HOLDER_DATA) + 1)):
        try:
            reading = read_aside(flip(HOLDER_DATA, offset), [cut], options)
        except CoverageError:
            assert 0 < cut < HELD.stop
            outcomes.add("error")
            continue
        assert reading.records == without(1, HOLDER)
        assert reading.damage() == [(HELD.start, len(HELD))]
        outcomes.add("exact")
    assert outcomes == {"exact", "error"}


@pytest.mark.parametrize("batch_bytes", [None, 1, 20, 60])
def test_damaged_record_behind_a_range_is_told_whole(batch_bytes: int | None) -> None:
    """Where it is larger than a block, it is read for its CRC and not kept."""
    options = ReadOptions(batch_bytes=batch_bytes)
    for offset, cut in itertools.product(CAN_BE_SKIPPED, (1, HELD.start)):
        first, _ = cut_file(len(HOLDER_DATA), [cut])
        reading = read_range(flip(HOLDER_DATA, offset), first, options, collect=True)
        assert reading.records == [b"before"]
        assert reading.damage() == [(HELD.start, len(HELD))]
        assert reading.covered[0].end == HELD.stop


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
def test_file_in_a_file_is_skipped_whole_where_its_length_is_right(
    compressed: bool, options: ReadOptions
) -> None:
    """No record inside it is taken for one of the file."""
    records = [b"before", framed(b"one", EIGHT, b""), b"after"]
    starts = frame_starts(records)
    header_crc = range(starts[1] + 8, starts[1] + 12)
    payload_crc = range(starts[2] - 4, starts[2])
    for offset in (*header_crc, *payload_crc):
        data = flip(framed(*records), offset)
        reading = read_file(gzip.compress(data) if compressed else data, (), options, collect=True)
        assert reading.records == [b"before", b"after"]
        assert reading.damage() == [(starts[1], starts[2] - starts[1])]


def test_damage_in_a_file_in_a_file_is_not_silent() -> None:
    records = [b"before", framed(b"one", EIGHT, b""), b"after"]
    starts = frame_starts(records)
    data = framed(*records)
    for offset, cut in itertools.product(range(len(data)), range(0, len(data), 5)):
        try:
            reading = read_file(flip(data, offset), [cut], collect=True)
        except CoverageError:
            continue
        index = frame_at(offset, starts)
        assert reading.corrupt
        assert without(index, records) == [
            record for record in reading.records if record in records
        ]


def test_payload_that_has_the_crc_of_other_bytes() -> None:
    """Each CRC is that of its own part: none may be taken for the other's."""
    swapped = struct.pack("<QI", 3, masked_crc32c(b"abc")) + b"abc"
    swapped += struct.pack("<I", masked_crc32c(struct.pack("<Q", 3)))
    with pytest.raises(CorruptRecordError, match=r"^Length CRC mismatch"):
        read_file(swapped)
