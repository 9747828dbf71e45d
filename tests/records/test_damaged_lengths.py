"""Lengths that are not there: neither do they take memory, nor hide what follows."""

from __future__ import annotations

import gzip
import pathlib

import pytest

from tests.frames import framed, header
from tests.memory import bounded_memory
from tests.records.damaging import DATA, RECORDS, TOO_LONG, read_aside
from tests.records.reading import (
    EIGHT,
    FILE,
    Reading,
    cut_file,
    flip,
    frame_starts,
    read_file,
    read_range,
)
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.paths import DirectFileSystem
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions, RecordReader


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
    with bounded_memory(40 << 20):  # The block of 8 MiB, and what the test itself keeps.
        with pytest.raises(CorruptRecordError, match=rf"{expected}.*{FILE}:{offset}, "):
            read_file(data, told=size)
        reading = read_file(data, told=size, collect=True)
    assert reading.records == filler * 2
    assert reading.damage() == [(offset, 12)]


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
    with bounded_memory(40 << 20):
        reading = read_file(data, collect=True)
    assert (reading.records, reading.damage()) == ([], [(0, len(data))])


@pytest.mark.parametrize("validate_crc", [True, False])
def test_length_that_no_record_has_takes_no_memory_in_compressed_content(
    validate_crc: bool,
) -> None:
    data = gzip.compress(header(2**40) + bytes(100 << 20), 1)
    options = ReadOptions(validate_crc=validate_crc)
    with bounded_memory(40 << 20):
        with pytest.raises(CorruptRecordError, match=f"^{TOO_LONG} {2**40} - at {FILE}:0, "):
            read_file(data, options=options)
        reading = read_file(data, options=options, collect=True)
    assert (reading.records, reading.damage()) == ([], [(0, 12 + (100 << 20))])


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
