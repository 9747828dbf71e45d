"""Tests of tfrecord_beam.records.reader: what blocks hold, and how much of a file is read."""

from __future__ import annotations

import errno
import io
import os
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.frames import framed, header
from tests.memory import bounded_memory
from tests.records.compressing import COMPRESS
from tests.records.reading import (
    FILE,
    ODD_FILES,
    Reading,
    blocks_of,
    flip,
    frame_starts,
    opener,
    read_blocks,
    read_file,
    read_range,
)
from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.paths import DirectFileSystem
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import BLOCK_BYTES, ReadOptions, RecordReader
from tfrecord_beam.records.window import CHUNK_BYTES

RECORDS = [b"record %d " % i * (i % 7) for i in range(50)]
DATA = framed(*RECORDS)
MIB = 1 << 20


class SpyFile(io.BytesIO):
    """A file that notes what is read of it.

    Attributes:
      reads: offset and size of each read that returned anything.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.reads: list[tuple[int, int]] = []

    def read(self, size: int | None = -1, /) -> bytes:
        start = self.tell()
        data = super().read(size)
        if data:
            self.reads.append((start, len(data)))
        return data

    def readinto(self, target: Any, /) -> int:
        start = self.tell()
        count = super().readinto(target)
        if count:
            self.reads.append((start, count))
        return count


class DribblingFile(io.BytesIO):
    """A file of which each read gives a few bytes only, as a socket may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 5))

    def readinto(self, target: Any, /) -> int:
        return super().readinto(memoryview(target)[:7])


def reader_of(file: BinaryFile, file_range: FileRange, **options: Any) -> RecordReader:
    return RecordReader(file_range, lambda path: file, ReadOptions(**options))


# --- Blocks ------------------------------------------------------------------------------


@pytest.mark.parametrize("records", ODD_FILES.values(), ids=list(ODD_FILES))
def test_blocks_hold_the_records(records: list[bytes]) -> None:
    blocks = read_blocks(framed(*records))
    assert [record for block in blocks for record in block.records()] == records


@pytest.mark.parametrize("batch_bytes", [1, 40, 100, 1000, None])
def test_block_is_bounded_in_bytes(batch_bytes: int | None) -> None:
    blocks = read_blocks(DATA, ReadOptions(batch_bytes=batch_bytes))
    sizes = [block.num_bytes + 16 * block.num_records for block in blocks]
    bound = batch_bytes or len(DATA)
    assert all(
        size <= bound or block.num_records == 1 for size, block in zip(sizes, blocks, strict=True)
    )
    assert sum(sizes) == len(DATA)
    if batch_bytes == 1000:  # Blocks are not smaller than they have to be.
        assert len(blocks) <= 2 * len(DATA) // 1000 + 1


@pytest.mark.parametrize("batch_size", [1, 3, 49, 50, 51])
@pytest.mark.parametrize("start", [0, 100])
def test_batch_size_is_exact_but_for_the_last_of_a_range(batch_size: int, start: int) -> None:
    file_range = FileRange(FILE, start, 900, len(DATA))
    blocks = read_blocks(DATA, ReadOptions(batch_size=batch_size), file_range)
    *whole, last = [block.num_records for block in blocks]
    assert all(count == batch_size for count in whole)
    assert 0 < last <= batch_size


def test_batch_larger_than_what_is_read_at_a_time() -> None:
    records = [b"x" * 1000] * 20_000
    data = kernel.frame(records)
    assert len(data) > 2 * BLOCK_BYTES
    counts = [block.num_records for block in read_blocks(data, ReadOptions(batch_size=15_000))]
    assert counts == [15_000, 5_000]


def test_batch_size_with_a_bound_in_bytes() -> None:
    options = ReadOptions(batch_size=10, batch_bytes=120)
    for block in read_blocks(DATA, options):
        assert block.num_records <= 10
        assert block.num_records == 1 or block.num_bytes + 16 * block.num_records <= 120


def test_records_are_numbered_where_their_number_is_known() -> None:
    options = ReadOptions(batch_size=20)
    assert [block.first_record for block in read_blocks(DATA, options)] == [0, 20, 40]
    inside = read_blocks(DATA, options, FileRange(FILE, 1, None, len(DATA)))
    assert [block.first_record for block in inside] == [None, None, None]


def test_block_stays_when_reading_goes_on() -> None:
    reader = RecordReader(FileRange(FILE), opener(DATA), ReadOptions(batch_bytes=30))
    blocks = list(blocks_of(reader))
    assert [record for block in blocks for record in block.records()] == RECORDS


# --- How a file is read ------------------------------------------------------------------


@pytest.fixture(scope="module")
def large() -> bytes:
    """64 MiB of records of 1 kB."""
    return kernel.frame([os.urandom(1008)] * (64 * MIB // 1024))


def test_large_file_is_read_by_large_reads(large: bytes) -> None:
    file = SpyFile(large)
    reader = reader_of(file, FileRange(FILE, size=len(large)))
    assert sum(block.num_records for block in blocks_of(reader)) == 64 * 1024
    sizes = [size for _, size in file.reads]
    assert max(sizes) <= BLOCK_BYTES
    assert len(sizes) <= 64 * MIB // BLOCK_BYTES + 3  # One for the codec, some for the rests.
    assert sum(sizes) <= len(large) + 4096


def test_reads_are_large_however_small_the_blocks_are(large: bytes) -> None:
    file = SpyFile(large)
    reader = reader_of(file, FileRange(FILE, size=len(large)), batch_bytes=64 << 10)
    assert {block.num_records for block in blocks_of(reader)} <= set(range(1, 65))
    growing = 7  # from 64 KiB to 8 MiB
    assert len(file.reads) <= 64 * MIB // CHUNK_BYTES + growing + 3


def test_first_read_is_small_where_blocks_are(large: bytes) -> None:
    file = SpyFile(large)
    blocks = blocks_of(reader_of(file, FileRange(FILE, size=len(large)), batch_bytes=64 << 10))
    assert next(blocks).num_records == 64
    assert sum(size for _, size in file.reads) <= (64 << 10) + 4096


@pytest.mark.parametrize("start", [0, 3 * MIB, 16 * MIB + 5])
@pytest.mark.parametrize("size", [100, MIB, 20 * MIB])
def test_range_is_not_read_far_beyond_its_end(large: bytes, start: int, size: int) -> None:
    file = SpyFile(large)
    reader = reader_of(file, FileRange(FILE, start, start + size, len(large)))
    for block in blocks_of(reader):
        assert block.num_records
    of_range = [(offset, count) for offset, count in file.reads if (offset, count) != (0, 4096)]
    assert min(offset for offset, _ in of_range) == start
    assert max(offset + count for offset, count in of_range) <= start + size + 70_000
    assert sum(count for _, count in of_range) <= size + 70_000


def test_memory_does_not_grow_with_the_file(large: bytes) -> None:
    with bounded_memory(4 * BLOCK_BYTES):
        reader = RecordReader(FileRange(FILE, size=len(large)), lambda path: io.BytesIO(large))
        for block in blocks_of(reader):
            assert block.num_records


@pytest.mark.parametrize("start", [0, 10])
def test_large_record(tmp_path: pathlib.Path, start: int) -> None:
    """200 MB in one record, behind a small one: of a sparse file."""
    size = 200 * 10**6
    crc = 0
    for _ in range(200):
        crc = kernel.crc32c(bytes(10**6), crc)
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.write(framed(b"small") + header(size))
        file.seek(size, os.SEEK_CUR)
        file.write(kernel.masked_crc32c(b"", crc).to_bytes(4, "little"))
    total = path.stat().st_size
    with bounded_memory(2.2 * size):
        reader = RecordReader(FileRange(str(path), start, None, total), DirectFileSystem().open)
        lengths = [length for block in blocks_of(reader) for length in block.lengths.tolist()]
    assert lengths == ([5, size] if start == 0 else [size])


def test_file_that_gives_a_few_bytes_at_a_time() -> None:
    for batch_bytes in (None, 50):
        reader = reader_of(
            DribblingFile(DATA), FileRange(FILE, size=len(DATA)), batch_bytes=batch_bytes
        )
        assert [record for block in blocks_of(reader) for record in block.records()] == RECORDS


def test_file_is_closed(tmp_path: pathlib.Path) -> None:
    file = io.BytesIO(DATA)
    list(reader_of(file, FileRange(FILE)))
    assert file.closed

    file = io.BytesIO(flip(DATA, 0))
    with pytest.raises(CorruptRecordError):
        list(reader_of(file, FileRange(FILE)))
    assert file.closed

    file = io.BytesIO(DATA)
    blocks = iter(reader_of(file, FileRange(FILE), batch_size=1))
    next(blocks)
    blocks.close()  # type: ignore[attr-defined]
    assert file.closed

    file = io.BytesIO(COMPRESS["gzip"](DATA))
    list(reader_of(file, FileRange(FILE, start=5)))
    assert file.closed


def test_error_of_the_file_system_passes() -> None:
    def fail(path: str) -> BinaryFile:
        raise PermissionError(path)

    with pytest.raises(PermissionError, match=FILE):
        list(RecordReader(FileRange(FILE), fail))


@pytest.mark.parametrize("codec", COMPRESS)
def test_failed_read_names_the_file(codec: str) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 3000:
                raise OSError(errno.EIO, "the disk is broken")
            return super().read(2000)

    data = COMPRESS[codec](framed(os.urandom(10_000)))
    with pytest.raises(OSError, match=f"the disk is broken: '{FILE}'"):
        list(RecordReader(FileRange(FILE), lambda path: Failing(data)))


def test_consumed_bytes_tell_how_far_reading_got() -> None:
    size = 3 * CHUNK_BYTES
    data = kernel.frame([bytes(MIB - 16)] * (size // MIB))
    reader = RecordReader(FileRange(FILE, size=size), opener(data), ReadOptions(batch_size=1))
    consumed = [reader.consumed_bytes for _ in reader]
    assert consumed == sorted(consumed)
    assert set(consumed) == {CHUNK_BYTES, 2 * CHUNK_BYTES, size}


# --- Sizes that are not those of the content ---------------------------------------------


@pytest.mark.parametrize("told", [1, 10, len(DATA) - 1, len(DATA) + 1, 3 * len(DATA), None])
@pytest.mark.parametrize("batch_bytes", [None, 50])
def test_content_is_read_to_its_end_whatever_its_size_was_told(
    told: int | None, batch_bytes: int | None
) -> None:
    options = ReadOptions(batch_bytes=batch_bytes)
    whole = read_range(DATA, FileRange(FILE, 0, told, told), options)
    assert whole.records == RECORDS
    whole.check_coverage()
    if told is None:
        return
    for cut in range(1, told, 37):
        reading = Reading()
        for start, stop in ((0, cut), (cut, told)):
            read_range(DATA, FileRange(FILE, start, stop, told), options, reading=reading)
        assert reading.records == RECORDS
        reading.check_coverage()


@pytest.mark.parametrize("told", [10, 500, 5000])
def test_damage_is_found_whatever_the_size_was_told(told: int) -> None:
    damaged = flip(DATA, frame_starts(RECORDS)[20])
    for cut in range(1, told, 37):
        reading = Reading()
        for start, stop in ((0, cut), (cut, told)):
            file_range = FileRange(FILE, start, stop, told)
            read_range(damaged, file_range, collect=True, reading=reading)
        assert reading.records == RECORDS[:20] + RECORDS[21:]
        reading.check_coverage()


def test_file_that_grows_is_read_as_far_as_it_reached(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "growing"
    data = kernel.frame([bytes(MIB - 16)] * 20)
    path.write_bytes(data)
    reader = RecordReader(FileRange(str(path), size=len(data)), DirectFileSystem().open)
    read = 0
    with open(path, "ab") as writer:
        for block in blocks_of(reader):
            read += block.num_records
            writer.write(data)  # more than was read
            writer.flush()
    assert read == 20
    assert reader.covered().content_end == len(data)


@pytest.mark.parametrize("collect", [False, True])
def test_file_that_is_cut_while_it_is_read_is_damaged(
    tmp_path: pathlib.Path, collect: bool
) -> None:
    path = tmp_path / "cut"
    path.write_bytes(kernel.frame([bytes(MIB - 16)] * 40))
    file_range = FileRange(str(path), size=40 * MIB)
    reader = RecordReader(file_range, DirectFileSystem().open, collect_corrupt=collect)
    parts = iter(reader)
    first = next(parts)
    os.truncate(path, 20 * MIB)  # at the end of a record
    if not collect:
        with pytest.raises(CorruptRecordError, match=r"Expected 41943040 bytes.* found 20971520"):
            list(parts)
        return
    *_, corrupt = read = [first, *parts]
    assert isinstance(corrupt, CorruptRecord)
    assert (corrupt.offset, corrupt.length) == (20 * MIB, 0)
    assert sum(part.num_records for part in read if isinstance(part, RecordBlock)) == 20


# --- Compressed files --------------------------------------------------------------------


@pytest.mark.parametrize("compress", COMPRESS.values(), ids=list(COMPRESS))
@pytest.mark.parametrize("step", [10, 100, 10_000])
def test_compressed_file_is_read_by_its_first_range(
    compress: Callable[[bytes], bytes], step: int
) -> None:
    data = compress(DATA)
    for batch_bytes in (None, 100):
        reading = read_file(
            data, range(step, len(data), step), ReadOptions(batch_bytes=batch_bytes)
        )
        assert reading.records == RECORDS
        first, *others = reading.covered
        assert (first.begin, first.end) == (0, len(DATA))
        assert all((other.begin, other.end) == (0, 0) for other in others)


@pytest.mark.parametrize("codec", COMPRESS)
def test_several_compressed_streams_are_one_content(codec: str) -> None:
    cut = len(DATA) // 2  # Inside a record.
    data = COMPRESS[codec](DATA[:cut]) + COMPRESS[codec](b"") + COMPRESS[codec](DATA[cut:])
    assert read_file(data, options=ReadOptions(compression=codec)).records == RECORDS


@pytest.mark.parametrize("codec", ["gzip", "zlib", "bz2", "zstd", "lz4"])
def test_compressed_stream_that_ends_early(codec: str) -> None:
    whole = COMPRESS[codec](DATA)
    for size in range(20, len(whole), 1 + len(whole) // 30):
        data = whole[:size]
        options = ReadOptions(compression=codec)
        with pytest.raises(CorruptRecordError, match=rf"^Expected .*{codec} .*- at {FILE}:"):
            read_file(data, options=options)
        reading = read_file(data, options=options, collect=True)
        count = len(reading.records)
        assert reading.records == RECORDS[:count]
        [corrupt] = reading.corrupt
        assert corrupt.file == FILE
        assert corrupt.offset == frame_starts(RECORDS)[count]
        assert corrupt.record == count
        assert DATA[corrupt.offset :].startswith(corrupt.sample)


@pytest.mark.parametrize("codec", COMPRESS)
@pytest.mark.parametrize("garbage", [b"\1garbage behind the end", bytes(3)])
def test_garbage_behind_a_compressed_stream(codec: str, garbage: bytes) -> None:
    many = RECORDS * 100
    starts = frame_starts(many)
    data = COMPRESS[codec](framed(*many)) + garbage
    options = ReadOptions(compression=codec)
    with pytest.raises(CorruptRecordError, match=rf"^Expected .*{codec} .*- at {FILE}:"):
        read_file(data, options=options)
    reading = read_file(data, options=options, collect=True)
    count = len(reading.records)
    assert reading.records == many[:count]
    assert [corrupt.offset for corrupt in reading.corrupt] == [starts[count]]
    if codec in ("zstd", "lz4"):  # What Arrow decoded last is lost with the error.
        assert starts[-1] - starts[count] < (64 << 10) + 16 + max(map(len, many))
    else:
        assert reading.damage() == [(starts[-1], 0)]


@pytest.mark.parametrize("codec", COMPRESS)
def test_damaged_record_in_a_compressed_file(codec: str) -> None:
    starts = frame_starts(RECORDS)
    for index in (0, 17, len(RECORDS) - 1):
        for offset in (starts[index], starts[index + 1] - 1):
            data = COMPRESS[codec](flip(DATA, offset))
            options = ReadOptions(compression=codec, batch_bytes=200)
            with pytest.raises(CorruptRecordError, match=rf"mismatch.*{FILE}:{starts[index]}, "):
                read_file(data, options=options)
            reading = read_file(data, options=options, collect=True)
            assert reading.records == RECORDS[:index] + RECORDS[index + 1 :]
            assert reading.damage() == [(starts[index], 16 + len(RECORDS[index]))]


def test_damage_and_an_early_end_in_a_compressed_file_are_both_told() -> None:
    damaged = flip(DATA, frame_starts(RECORDS)[40])
    data = COMPRESS["gzip"](damaged[: frame_starts(RECORDS)[41]])[:-5]
    for extra in (b"", b"short"):
        reading = read_file(data[:-5] + extra, options=ReadOptions("gzip"), collect=True)
        assert reading.records == RECORDS[:40]
        assert reading.corrupt[0].reason.startswith("Length CRC mismatch")
        assert "gzip" in reading.corrupt[-1].reason


@pytest.mark.parametrize("content", [b"", b"\n"])
def test_file_that_is_not_what_the_option_says(content: bytes) -> None:
    for codec in COMPRESS:
        if not content:
            assert read_file(content, options=ReadOptions(codec)).records == []
            continue
        with pytest.raises(CorruptRecordError, match=rf"Expected .*{codec}"):
            read_file(content, options=ReadOptions(codec))


def test_length_in_a_compressed_file_that_is_not_there() -> None:
    reading = read_file(COMPRESS["gzip"](DATA + header(2**30) + DATA), collect=True)
    assert reading.records == RECORDS * 2
    assert reading.damage() == [(len(DATA), 12)]


def test_length_in_a_compressed_file_that_no_record_has() -> None:
    """It cannot be looked at twice, and is too much to keep: nothing of it is taken."""
    reading = read_file(COMPRESS["gzip"](DATA + header(2**31) + DATA), collect=True)
    assert reading.records == RECORDS
    assert reading.damage() == [(len(DATA), 12 + len(DATA))]


# --- Options -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["batch_size", "batch_bytes"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "8"])
def test_option_out_of_range(name: str, value: Any) -> None:
    expected = rf"^Expected {name} to be None or an int of at least 1, found {value!r}$"
    with pytest.raises(ValueError, match=expected):
        ReadOptions(**{name: value})


def test_unknown_compression() -> None:
    with pytest.raises(
        ValueError, match=r"^Expected compression to be None or one of 'auto', .*'7z"
    ):
        ReadOptions(compression="7z")
