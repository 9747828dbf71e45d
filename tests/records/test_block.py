"""Tests of tfrecord_beam.records.block."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.frames import framed
from tests.records.reading import check_block, frame_starts
from tfrecord_beam import kernel
from tfrecord_beam.records.block import RecordBlock

RECORDS = [b"zero", b"", b"second", b"3", b"", b"fifth"]
DATA = framed(*RECORDS)
STARTS = frame_starts(RECORDS)
POSITION = 1000


def block_of(first: int, last: int) -> RecordBlock:
    """Returns the block of some of the records, in memory that holds them all and more."""
    scan = kernel.scan(DATA)
    return RecordBlock(
        file="a.tfrecord",
        position=POSITION - 3,
        data=memoryview(b"???" + DATA + b"???"),
        offsets=np.array(scan.offsets[first:last], np.int64) + 3,
        lengths=np.array(scan.lengths[first:last], np.int64),
        first_record=first,
    )


@pytest.mark.parametrize(("first", "last"), [(0, 6), (0, 2), (2, 5), (5, 6), (3, 3)])
def test_records_of_a_block(first: int, last: int) -> None:
    block = block_of(first, last)
    assert list(block.records()) == RECORDS[first:last]
    assert block.num_records == last - first
    assert block.num_bytes == sum(map(len, RECORDS[first:last]))
    for index in range(block.num_records):
        assert bytes(block.payload(index)) == RECORDS[first + index]
        assert block.offset_of(index) == POSITION + STARTS[first + index]


def test_payload_is_no_copy() -> None:
    data = bytearray(b"???" + DATA + b"???")
    block = block_of(0, 6)
    block = RecordBlock("a", 0, memoryview(data), block.offsets, block.lengths)
    data[3 + 12 : 3 + 16] = b"ZERO"
    assert bytes(block.payload(0)) == b"ZERO"


def test_until_keeps_what_starts_before_an_offset() -> None:
    block = block_of(0, 6)
    for stop in range(POSITION - 20, POSITION + len(DATA) + 20):
        kept = block.until(stop)
        starts = [start for start in STARTS[:-1] if POSITION + start < stop]
        assert list(kept.records()) == RECORDS[: len(starts)]
        assert (kept.file, kept.first_record) == ("a.tfrecord", 0)


@pytest.mark.parametrize(("first", "last"), [(0, 6), (2, 5), (5, 6), (3, 3)])
def test_compact_block_holds_its_frames_only(first: int, last: int) -> None:
    block = block_of(first, last)
    compact = block.compact()
    assert bytes(compact.data) == framed(*RECORDS[first:last])
    assert list(compact.records()) == RECORDS[first:last]
    assert compact.first_record == first
    for index in range(block.num_records):
        assert compact.offset_of(index) == block.offset_of(index)
    if first == 0:
        check_block(
            RecordBlock("a", 0, compact.data, compact.offsets, compact.lengths),
            bytes(compact.data),
        )


@pytest.mark.parametrize(("first", "last"), [(0, 6), (2, 5), (3, 3)])
def test_pickled_block_has_its_frames_only(first: int, last: int) -> None:
    """Where Beam does not know an element's type it pickles it."""
    block = block_of(first, last)
    copy = pickle.loads(pickle.dumps(block))
    assert list(copy.records()) == RECORDS[first:last]
    assert bytes(copy.data) == framed(*RECORDS[first:last])
    assert [copy.offset_of(i) for i in range(last - first)] == [
        block.offset_of(i) for i in range(last - first)
    ]
    assert (copy.file, copy.first_record) == (block.file, block.first_record)
