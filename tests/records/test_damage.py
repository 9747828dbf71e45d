"""Damaged files: an error that says where, or everything else exactly once; and no endless loop."""

from __future__ import annotations

import gzip
import itertools
import pathlib
import struct
import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from tests import strategies
from tests.frames import framed, header, masked_crc32c
from tests.records.reading import (
    EIGHT,
    FILE,
    ODD_FILES,
    Reading,
    cut_file,
    flip,
    frame_starts,
    read_file,
    read_range,
)
from tfrecord_beam.errors import CorruptRecordError, CoverageError
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import MAX_SAMPLE_BYTES, CorruptRecord
from tfrecord_beam.records.paths import DirectFileSystem
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions, RecordReader

RECORDS = [b"first", b"", b"third record", b"4"]
DATA = framed(*RECORDS)
STARTS = frame_starts(RECORDS)

TOO_LONG = "Expected a record of at most 2147483647 bytes, found a length of"

OPTIONS = {
    "default": ReadOptions(),
    "tiny blocks": ReadOptions(batch_bytes=1),
    "batches of 2": ReadOptions(batch_size=2),
}


@pytest.fixture(params=OPTIONS.values(), ids=list(OPTIONS))
def options(request: pytest.FixtureRequest) -> ReadOptions:
    """Ways to read in turn."""
    found: ReadOptions = request.param
    return found


def frame_at(offset: int, starts: Sequence[int] = STARTS) -> int:
    """Returns the number of the record in whose frame an offset is."""
    return max(index for index, start in enumerate(starts) if start <= offset)


def without(index: int, records: Sequence[bytes] = RECORDS) -> list[bytes]:
    return [*records[:index], *records[index + 1 :]]


# --- Without a handler: an error that says where -----------------------------------------


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
    with pytest.raises(
        CorruptRecordError, match=rf"mismatch.*{FILE}:50 .* TFRecord data themselves"
    ):
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


# --- With a handler: everything else exactly once ----------------------------------------


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


# --- Lengths that are not there ----------------------------------------------------------


@pytest.mark.parametrize("length", [2**30, 2**31 - 1, 2**31, 2**40, 2**63 - 1, 2**64 - 1])
@pytest.mark.parametrize("told", [True, False])
def test_length_beyond_the_file_takes_no_memory(length: int, told: bool) -> None:
    filler = [b"x" * 1000] * 500
    data = framed(*filler) + header(length) + framed(*filler)
    expected = f"Expected a record of {length + 16} bytes, found the end of the file after"
    if length >= 2**31:
        expected = f"{TOO_LONG} {length}"
    size = len(data) if told else None
    offset = frame_starts(filler)[-1]
    tracemalloc.start()
    try:
        with pytest.raises(CorruptRecordError, match=rf"{expected}.*{FILE}:{offset}, "):
            read_file(data, told=size)
        reading = read_file(data, told=size, collect=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reading.records == filler * 2
    assert reading.damage() == [(offset, 12)]
    assert peak < 40 << 20  # Beside the block of 8 MiB and what the test itself keeps.


COMPRESSED = pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
APPENDED = framed(b"appended", EIGHT, b"", b"another")
MAY_BE_PART = "the records that follow may be part of it"


def read_cut(data: bytes, compressed: bool, options: ReadOptions) -> Reading:
    return read_file(gzip.compress(data, 1) if compressed else data, (), options, collect=True)


@COMPRESSED
@pytest.mark.parametrize("rest", [b"", b"?", b"some of the payload", b"x" * 500])
@pytest.mark.parametrize("size", [30, 100, 900])
def test_records_written_behind_a_cut_one_are_kept(
    compressed: bool, rest: bytes, size: int, options: ReadOptions
) -> None:
    """Where the cut record would end inside of them they are no part of it beyond doubt."""
    cut = header(size) + rest[: size - 10]
    reading = read_cut(DATA + cut + APPENDED + DATA, compressed, options)
    assert reading.records == [*RECORDS, b"appended", EIGHT, b"", b"another", *RECORDS]
    assert reading.damage() == [(len(DATA), len(cut))]
    ends_inside = 12 + size < len(cut + APPENDED + DATA)
    assert (MAY_BE_PART in reading.corrupt[0].reason) != ends_inside


@COMPRESSED
@pytest.mark.parametrize("length", [1000, 2**30])
def test_no_record_comes_out_of_a_cut_one(
    compressed: bool, length: int, options: ReadOptions
) -> None:
    """A file that was stored as a record, which was then cut."""
    inner = framed(b"one", EIGHT, b"", b"two", b"three")
    borders = frame_starts([b"one", EIGHT, b"", b"two", b"three"])
    for size in range(len(inner)):
        reading = read_cut(DATA + header(length) + inner[:size], compressed, options)
        if size in borders and size:  # It looks like records that were written behind it.
            assert reading.records[len(RECORDS) :]
            assert reading.corrupt[0].reason.endswith(f"({MAY_BE_PART})")
            continue
        assert reading.records == RECORDS
        assert reading.damage() == [(len(DATA), 12 + size)]
        assert MAY_BE_PART not in reading.corrupt[0].reason


@COMPRESSED
def test_no_record_comes_out_of_a_damaged_one_before_a_damaged_one(
    compressed: bool, options: ReadOptions
) -> None:
    """Neither length can be proven by what follows on it, but both are right."""
    holders = [framed(b"one", b"two"), framed(b"three", EIGHT)]
    starts = frame_starts([*holders, b"last"])
    for at in range(starts[0] + 12, starts[1]):
        data = flip(flip(framed(*holders, b"last"), at), starts[1] + 20)
        reading = read_cut(data, compressed, options)
        assert reading.records == [b"last"]
        assert reading.damage() == [(0, starts[1]), (starts[1], starts[2] - starts[1])]


def test_search_behind_a_cut_record_takes_no_memory() -> None:
    data = header(2**30) + framed(*[b"x" * 1000] * 40_000) + b"cut"
    tracemalloc.start()
    try:
        reading = read_file(data, collect=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (reading.records, reading.damage()) == ([], [(0, len(data))])
    assert peak < 40 << 20


@pytest.mark.parametrize("validate_crc", [True, False])
def test_length_that_no_record_has_takes_no_memory_in_compressed_content(
    validate_crc: bool,
) -> None:
    data = gzip.compress(header(2**40) + bytes(100 << 20), 1)
    options = ReadOptions(validate_crc=validate_crc)
    tracemalloc.start()
    try:
        with pytest.raises(CorruptRecordError, match=f"^{TOO_LONG} {2**40} - at {FILE}:0, "):
            read_file(data, options=options)
        reading = read_file(data, options=options, collect=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (reading.records, reading.damage()) == ([], [(0, 12 + (100 << 20))])
    assert peak < 40 << 20


def test_record_too_long_that_is_there_is_skipped(tmp_path: pathlib.Path) -> None:
    """Of a sparse file: neither is it read nor does anything in it count."""
    length = 2**31
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        file.write(DATA + header(length) + APPENDED)
        file.seek(len(DATA) + 16 + length)
        file.write(DATA)
    file_range = FileRange(str(path), size=path.stat().st_size)
    reader = RecordReader(file_range, DirectFileSystem().open, collect_corrupt=True)
    first, corrupt, last = reader
    assert isinstance(first, RecordBlock)
    assert isinstance(last, RecordBlock)
    assert list(first.records()) == list(last.records()) == RECORDS
    assert isinstance(corrupt, CorruptRecord)
    assert (corrupt.offset, corrupt.length) == (len(DATA), 16 + length)
    assert corrupt.reason == f"{TOO_LONG} {length}"
    for validate_crc in (True, False):
        options = ReadOptions(validate_crc=validate_crc)
        with pytest.raises(CorruptRecordError, match=f"^{TOO_LONG} {length} - at {path}"):
            list(RecordReader(file_range, DirectFileSystem().open, options))


def test_length_beyond_the_file_at_the_start_of_a_range() -> None:
    data = DATA + header(2**40) + DATA
    for cut in range(len(data)):
        reading = read_aside(data, [cut])
        assert reading.records == RECORDS * 2
        assert reading.damage() == [(len(DATA), 12)]


def test_large_record_with_a_wrong_crc_behind_a_range() -> None:
    """The range before checks it without keeping it, and is the one that tells."""
    options = ReadOptions(batch_bytes=50)
    records = [b"a", b"b" * 900, b"c"]
    starts = frame_starts(records)
    data = flip(framed(*records), 500)
    for cut in (starts[1], starts[1] + 1, starts[2]):
        first, second = cut_file(len(data), [cut])
        assert read_range(data, first, options, collect=True).damage() == [(starts[1], 916)]
        assert read_range(data, second, options, collect=True).records == [b"c"]
        with pytest.raises(CorruptRecordError, match=r"^Payload CRC mismatch"):
            read_range(data, first, options)


# --- Files that are no TFRecord files ----------------------------------------------------


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b'{"a": 1, "b": 2}\n' * 3, "JSON"),
        (b"id,name\n1,one\n2,two\n", "CSV or other text"),
        (b"some lines of words\n", "text"),
        (b"hi", "text"),
        (b"PAR1" + bytes(range(60)), "a Parquet file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git-LFS pointer"),
        (gzip.compress(DATA), "a gzip-compressed file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("validate_crc", [True, False], ids=["CRCs", "no CRCs"])
def test_file_of_another_kind_is_named(content: bytes, named: str, validate_crc: bool) -> None:
    options = ReadOptions(compression="none", validate_crc=validate_crc)
    with pytest.raises(CorruptRecordError, match=rf"^Expected a TFRecord file, found {named}"):
        read_file(content, options=options)
    reading = read_file(content, options=options, collect=True)
    assert reading.records == []
    assert reading.damage() == [(0, len(content))]


def test_file_of_zeros_is_named() -> None:
    with pytest.raises(CorruptRecordError, match=r"found zero bytes \(was it written completely"):
        read_file(bytes(100))


# --- What cannot be told -----------------------------------------------------------------


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


# --- A file in a file ---------------------------------------------------------------------

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
