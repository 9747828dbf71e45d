"""Tests of tfrecord_beam.records.frames."""

from __future__ import annotations

import pickle
from array import array

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from typing_extensions import Buffer

from tests.frames import framed
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.frames import FramedRecords

RECORDS = [b"one", b"", b"\xff" * 300, b"four"]
FRAMES = FramedRecords.from_records(RECORDS)


def check(frames: FramedRecords, records: list[bytes]) -> None:
    """Checks that `frames` are those of `records`, in every way to look at them."""
    assert list(frames.records()) == records
    assert frames.num_records == len(records)
    assert frames.frames == framed(*records)
    assert frames.num_bytes == len(framed(*records))
    assert frames.sizes.tolist() == [16 + len(record) for record in records]
    assert frames.offsets.dtype == np.int64
    each = [frames.data[a:b] for a, b in zip(frames.offsets, frames.offsets[1:], strict=False)]
    assert each == [framed(record) for record in records]


@pytest.mark.parametrize("records", [[], [b""], RECORDS])
def test_from_records(records: list[bytes]) -> None:
    check(FramedRecords.from_records(records), records)
    check(FramedRecords.from_frames(framed(*records)), records)


def test_records_of_any_buffer() -> None:
    given_records: list[Buffer] = [memoryview(b"one")[1:], bytearray(b"two"), array("B", b"three")]
    check(FramedRecords.from_records(given_records), [b"ne", b"two", b"three"])


def test_frames_that_are_cut() -> None:
    with pytest.raises(CorruptRecordError) as raised:
        FramedRecords.from_frames(framed(*RECORDS)[:-1])
    place = len(framed(*RECORDS[:-1]))
    assert str(raised.value) == (
        f"Expected whole frames, found one that is cut short - at offset {place}"
    )


def test_slice_shares_memory() -> None:
    part = FRAMES.slice(1, 3)
    check(part, RECORDS[1:3])
    assert part.data is FRAMES.data
    check(part.slice(1, 2), RECORDS[2:3])
    check(FRAMES.slice(4, 4), [])
    check(FRAMES.slice(0, 4), RECORDS)


@given(
    records=st.lists(st.binary(max_size=20), min_size=1, max_size=6),
    data=st.data(),
)
def test_take(records: list[bytes], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(records) - 1))
    part = FramedRecords.from_records(records).slice(start, len(records))
    order = data.draw(st.lists(st.sampled_from(range(part.num_records)), max_size=8))
    check(part.take(np.array(order, np.int64)), [records[start + index] for index in order])


def test_take_of_none() -> None:
    check(FRAMES.take(np.array([], np.int64)), [])
    check(FramedRecords.from_records([]).take(np.array([], np.int64)), [])


def test_take_outlives_its_source() -> None:
    frames = FramedRecords.from_records(RECORDS)
    taken = frames.take(np.array([3, 0], np.int32))
    del frames
    check(taken, [b"four", b"one"])


def test_pickle_holds_no_more_than_the_frames() -> None:
    part = FRAMES.slice(3, 4)
    data = pickle.dumps(part)
    assert len(data) < len(part.frames) + 150
    check(pickle.loads(data), RECORDS[3:])
    check(pickle.loads(pickle.dumps(FRAMES.slice(2, 2))), [])


def test_encoded_batch() -> None:
    batch = pa.record_batch({"a": [[1], None, []], "b": ["x", None, "z"]})
    frames = RecordEncoder().encode_frames(batch)
    check(frames, RecordEncoder().encode_records(batch))
    check(pickle.loads(pickle.dumps(frames)), RecordEncoder().encode_records(batch))
    check(RecordEncoder().encode_frames(batch[:0]), [])
