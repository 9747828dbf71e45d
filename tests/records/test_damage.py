"""Damaged files: an error that says where, or everything else exactly once; and no endless loop."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given, strategies as st

from tests import strategies
from tests.frames import framed, header
from tests.records.damaging import (
    DATA,
    RECORDS,
    STARTS,
    TOO_LONG,
    frame_at,
    read_aside,
    without,
)
from tests.records.reading import (
    EIGHT,
    FILE,
    ODD_FILES,
    Reading,
    flip,
    frame_starts,
    read_file,
    read_range,
)
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.records.corruption import MAX_SAMPLE_BYTES
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions

# --- Without a handler: an error that says where ------------------------------------------


@pytest.mark.parametrize("bit", range(8))
def test_every_bit_flipped_is_an_error_at_its_record(bit: int) -> None:
    for offset in range(len(DATA)):
        index = frame_at(offset)
        with pytest.raises(CorruptRecordError) as caught:
            read_file(flip(DATA, offset, bit))
        error = caught.value
        assert (error.file, error.offset) == (FILE, STARTS[index])
        part = "Length" if offset - STARTS[index] < 12 else "Payload"
        assert error.message.startswith(f"{part} CRC mismatch: stored 0x")
        assert str(error).endswith(f"- at {FILE}:{STARTS[index]}, record {index}")


def test_damage_behind_a_search_may_be_none() -> None:
    """The range may begin inside a record that holds TFRecord data: both are named."""
    expected = (
        rf"^Length CRC mismatch: .* - at {FILE}:{STARTS[3]} \(the range begins inside the file"
    )
    with pytest.raises(
        CorruptRecordError, match=expected + ": either .* damaged .* desired_bundle_bytes"
    ):
        read_file(flip(DATA, STARTS[3]), [1])
    holder = framed(framed(b"one", b"two") + b"rest", b"last")
    with pytest.raises(CorruptRecordError, match=rf"mismatch.*{FILE}:50 .* contain TFRecord data"):
        read_file(holder, [5])
    with pytest.raises(CorruptRecordError) as caught:
        read_file(flip(DATA, STARTS[3]))
    assert caught.value.hint is None


def test_records_before_the_damage_come_first() -> None:
    for offset in range(len(DATA)):
        index = frame_at(offset)
        reading = Reading()
        with pytest.raises(CorruptRecordError):
            read_range(flip(DATA, offset), FileRange(FILE, size=len(DATA)), reading=reading)
        assert reading.records == RECORDS[:index]


def test_every_bit_flipped_is_an_error_wherever_the_file_is_cut() -> None:
    for offset, cut in itertools.product(range(len(DATA)), repeat=2):
        data = flip(DATA, offset, offset % 8)
        with pytest.raises(CorruptRecordError, match=rf"mismatch.*{STARTS[frame_at(offset)]}"):
            read_file(data, [cut])


@pytest.mark.parametrize("tell_size", [True, False])
def test_every_prefix_is_a_shorter_file_or_an_error(tell_size: bool, options: ReadOptions) -> None:
    for size in range(len(DATA)):
        told = size if tell_size else None
        if size in STARTS:
            assert (
                read_file(DATA[:size], told=told, options=options).records
                == (RECORDS[: STARTS.index(size)])
            )
            continue
        index = frame_at(size)
        rest = size - STARTS[index]
        wanted = 16 + len(RECORDS[index])
        expected = f"a record of {wanted} bytes" if rest >= 12 else "the 12 bytes of a record's he"
        with pytest.raises(CorruptRecordError, match=f"^Expected {expected}") as caught:
            read_file(DATA[:size], told=told, options=options)
        assert f"found the end of the file after {rest} - at " in str(caught.value)
        assert (caught.value.file, caught.value.offset) == (FILE, STARTS[index])
        assert caught.value.record == index


def test_every_prefix_is_an_error_wherever_the_file_is_cut() -> None:
    for size in range(len(DATA)):
        for cut in range(size):
            if size in STARTS:
                assert read_file(DATA[:size], [cut]).records == RECORDS[: STARTS.index(size)]
            else:
                with pytest.raises(CorruptRecordError, match=f"{FILE}:{STARTS[frame_at(size)]}"):
                    read_file(DATA[:size], [cut])


def test_without_crcs_truncation_is_still_found() -> None:
    options = ReadOptions(validate_crc=False)
    for size in set(range(len(DATA))) - set(STARTS):
        with pytest.raises(CorruptRecordError, match=rf"end of .*:{STARTS[frame_at(size)]}"):
            read_file(DATA[:size], options=options)


@pytest.mark.parametrize("told", [True, False])
def test_without_crcs_an_impossible_length_is_still_found(told: bool) -> None:
    wrong = struct.pack("<QI", 1 << 62, 0)
    data = DATA + wrong + bytes(40)
    with pytest.raises(CorruptRecordError, match=f"^{TOO_LONG} {2**62} - at {FILE}:{len(DATA)}"):
        read_file(data, options=ReadOptions(validate_crc=False), told=len(data) if told else None)


@pytest.mark.parametrize("size", [12, 16, 1000])
def test_without_crcs_zero_bytes_are_still_found(size: int) -> None:
    data = DATA + bytes(size) + DATA
    with pytest.raises(CorruptRecordError, match=rf"^Length CRC mismatch.*{FILE}:{len(DATA)}, "):
        read_file(data, options=ReadOptions(validate_crc=False))
    reading = read_file(data, options=ReadOptions(validate_crc=False), collect=True)
    assert reading.records == RECORDS * 2
    assert reading.damage() == [(len(DATA), size)]


def test_without_crcs_damage_is_handed_on() -> None:
    data = flip(DATA, 14)
    changed = flip(b"first", 2)
    assert read_file(data, options=ReadOptions(validate_crc=False)).records[0] == changed


# --- With a handler: everything else exactly once -----------------------------------------


@pytest.mark.parametrize("bit", range(8))
def test_every_bit_flipped_costs_one_record(bit: int, options: ReadOptions) -> None:
    for offset in range(len(DATA)):
        index = frame_at(offset)
        reading = read_aside(flip(DATA, offset, bit), options=options)
        assert reading.records == without(index)
        assert reading.damage() == [(STARTS[index], 16 + len(RECORDS[index]))]


def test_every_bit_flipped_costs_one_record_wherever_the_file_is_cut(options: ReadOptions) -> None:
    step = 1 if options == ReadOptions() else 3
    for offset, cut in itertools.product(range(len(DATA)), range(0, len(DATA), step)):
        index = frame_at(offset)
        reading = read_aside(flip(DATA, offset, (offset + cut) % 8), [cut], options)
        assert reading.records == without(index)
        assert reading.damage() == [(STARTS[index], 16 + len(RECORDS[index]))]


def test_every_prefix_costs_its_last_record_wherever_the_file_is_cut() -> None:
    for size in range(len(DATA)):
        index = frame_at(size)
        rest = size - STARTS[index]
        for cut in range(size + 1):
            reading = read_aside(DATA[:size], [cut])
            assert reading.records == RECORDS[:index]
            assert reading.damage() == ([(STARTS[index], rest)] if rest else [])


@pytest.mark.parametrize("damaged", list(itertools.combinations(range(4), 2)))
@pytest.mark.parametrize("part", ["header", "payload CRC"])
def test_two_damaged_records(damaged: tuple[int, int], part: str, options: ReadOptions) -> None:
    data = DATA
    for index in damaged:
        data = flip(data, STARTS[index] if part == "header" else STARTS[index + 1] - 1)
    kept = [record for index, record in enumerate(RECORDS) if index not in damaged]
    spans = [(STARTS[index], 16 + len(RECORDS[index])) for index in damaged]
    touching = [(spans[0][0], spans[0][1] + spans[1][1])] if damaged[1] == damaged[0] + 1 else spans
    for cut in range(len(data)):
        reading = read_aside(data, [cut], options)
        assert reading.records == kept
        # Two that touch are one if the first does not tell where it ends, or is not in memory.
        assert reading.damage() in (touching, spans)
        if part == "payload CRC" and options.batch_bytes is None:
            assert reading.damage() == spans


@pytest.mark.parametrize("garbage", [b"?", bytes(9), bytes(40), b"\xff" * 30, header(5)])
def test_garbage_between_records(garbage: bytes, options: ReadOptions) -> None:
    for index in range(len(RECORDS) + 1):
        data = DATA[: STARTS[index]] + garbage + DATA[STARTS[index] :]
        for cut in range(0, len(data), 3):
            reading = read_aside(data, [cut], options)
            assert reading.records == RECORDS
            assert reading.damage() == [(STARTS[index], len(garbage))]


def test_file_of_nothing_but_garbage(options: ReadOptions) -> None:
    data = bytes(range(1, 200))
    for cut in range(0, len(data), 10):
        reading = read_aside(data, [cut], options)
        assert (reading.records, reading.damage()) == ([], [(0, len(data))])


@pytest.mark.parametrize("name", ["eights", "eights among others", "lengths as payloads"])
@pytest.mark.parametrize("part", ["header", "payload CRC"])
def test_damage_among_payloads_that_look_like_headers(name: str, part: str) -> None:
    """The search for the next record must not find the payload of the damaged one."""
    records = ODD_FILES[name]
    starts = frame_starts(records)
    for index in range(len(records)):
        data = flip(framed(*records), starts[index] if part == "header" else starts[index + 1] - 1)
        reading = read_aside(data)
        assert reading.records == without(index, records)
        assert reading.damage() == [(starts[index], 16 + len(records[index]))]


@pytest.mark.parametrize("part", ["header", "payload CRC"])
@pytest.mark.parametrize("last", [b"other", EIGHT])
def test_damage_in_a_run_of_lookalikes_wherever_the_file_is_cut(part: str, last: bytes) -> None:
    records = [EIGHT] * 6 + [last]
    starts = frame_starts(records)
    for index in range(6):
        data = flip(framed(*records), starts[index] if part == "header" else starts[index + 1] - 1)
        for cut in range(len(data)):
            reading = read_aside(data, [cut])
            assert reading.records == without(index, records)


def test_number_of_a_record_is_told_where_it_is_known() -> None:
    first, second = read_aside(flip(flip(DATA, STARTS[1]), STARTS[3])).corrupt
    assert (first.record, second.record) == (1, None)
    assert first.reason.startswith("Length CRC mismatch: stored 0x")
    assert str(first) == f"{first.reason} - at {FILE}:{STARTS[1]}, record 1"


def test_sample_is_bounded() -> None:
    data = flip(framed(b"x" * 5000), 2000)
    [corrupt] = read_aside(data).corrupt
    assert (corrupt.length, corrupt.sample) == (5016, data[:MAX_SAMPLE_BYTES])


@given(
    st.lists(strategies.payloads(), min_size=1, max_size=6),
    st.data(),
    st.one_of(st.none(), st.integers(1, 3)),
    st.one_of(st.none(), st.integers(1, 80)),
)
def test_any_damage_costs_the_records_that_it_touches(
    records: list[bytes], data: st.DataObject, batch_size: int | None, batch_bytes: int | None
) -> None:
    content = framed(*records)
    starts = frame_starts(records)
    offsets = data.draw(st.sets(st.integers(0, len(content) - 1), max_size=3))
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=3))
    damaged = content
    for offset in offsets:
        damaged = flip(damaged, offset, data.draw(st.integers(0, 7)))
    options = ReadOptions(batch_size=batch_size, batch_bytes=batch_bytes)
    reading = read_aside(damaged, cuts, options)
    hit = {frame_at(offset, starts) for offset in offsets}
    assert reading.records == [record for i, record in enumerate(records) if i not in hit]
    assert sum(length for _, length in reading.damage()) == sum(16 + len(records[i]) for i in hit)


@given(st.lists(st.one_of(strategies.payloads().map(framed), st.binary(max_size=30)), max_size=8))
def test_any_bytes_end(parts: list[bytes]) -> None:
    data = b"".join(parts)
    reading = read_file(data, options=ReadOptions(compression="none"), collect=True)
    read = sum(16 + len(record) for record in reading.records)
    assert read + sum(length for _, length in reading.damage()) == len(data)
