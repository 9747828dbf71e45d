"""Reads files that are bytes in memory, and checks what every reading promises."""

from __future__ import annotations

import dataclasses
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from unittest import mock

from tests.frames import framed, header
from tfrecord_beam.records import reader as reader_module
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.coverage import CoveredRange, check_coverage
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions, RecordReader, claim_all
from tfrecord_beam.records.window import CHUNK_BYTES

FILE = "memory.tfrecord"

Claim = Callable[[int], int | None]


@dataclasses.dataclass
class Reading:
    """What was read of one file, by one range after the other.

    Attributes:
      records: the records in the order in which they came.
      corrupt: what went aside.
      covered: what each range told.
    """

    records: list[bytes] = dataclasses.field(default_factory=list)
    corrupt: list[CorruptRecord] = dataclasses.field(default_factory=list)
    covered: list[CoveredRange] = dataclasses.field(default_factory=list)

    def check_coverage(self) -> None:
        check_coverage(FILE, self.covered)

    def damage(self) -> list[tuple[int | None, int]]:
        """Returns offset and length of what went aside, in the file's order."""
        return sorted((record.offset, record.length) for record in self.corrupt)


def opener(data: bytes) -> Callable[[str], BinaryFile]:
    """Returns what opens a file that holds `data`."""
    return lambda path: io.BytesIO(data)


def cut_file(size: int, cuts: Iterable[int] = (), told: int | None = -1) -> list[FileRange]:
    """Returns the ranges of a file that is cut at these offsets.

    Args:
      size: where the last range stops.
      cuts: where the others do, in any order; one at 0 is none.
      told: the size that the store tells; -1: `size`.
    """
    told = size if told == -1 else told
    edges = [0, *sorted(filter(None, cuts)), size]
    return [FileRange(FILE, start, stop, told) for start, stop in itertools.pairwise(edges)]


def read_range(
    data: bytes,
    file_range: FileRange,
    options: ReadOptions = ReadOptions(),
    *,
    claim: Claim = claim_all,
    collect: bool = False,
    reading: Reading | None = None,
) -> Reading:
    """Reads one range, and where blocks are to be small, in reads that are as small.

    Args:
      data: the file.
      file_range: what to read of it.
      options: how to read.
      claim: see `RecordReader`.
      collect: what is corrupt goes aside; else it raises.
      reading: what to add to, for a reading that will raise.
    """
    reading = reading or Reading()
    reader = RecordReader(
        file_range,
        opener(data),
        options,
        collect_corrupt=collect,
        claim=claim,
    )
    with mock.patch.object(reader_module, "CHUNK_BYTES", options.batch_bytes or CHUNK_BYTES):
        for part in reader:
            if isinstance(part, RecordBlock):
                reading.records += part.records()
            else:
                reading.corrupt.append(part)
    reading.covered.append(reader.covered())
    return reading


def read_file(
    data: bytes,
    cuts: Iterable[int] = (),
    options: ReadOptions = ReadOptions(),
    *,
    collect: bool = False,
    told: int | None = -1,
) -> Reading:
    """Reads a file that is cut into ranges, and checks that they cover it."""
    reading = Reading()
    for file_range in cut_file(len(data), cuts, told):
        part = read_range(data, file_range, options, collect=collect)
        reading.records += part.records
        reading.corrupt += part.corrupt
        reading.covered += part.covered
    reading.check_coverage()
    return reading


def read_blocks(
    data: bytes, options: ReadOptions = ReadOptions(), file_range: FileRange | None = None
) -> list[RecordBlock]:
    """Returns the blocks of a range, of all the file by default; each is checked."""
    file_range = file_range or FileRange(FILE, size=len(data))
    blocks = list(blocks_of(RecordReader(file_range, opener(data), options)))
    for block in blocks:
        check_block(block, data)
    return blocks


def blocks_of(reader: RecordReader) -> Iterator[RecordBlock]:
    """Yields what a reader gives that raises where anything is corrupt."""
    for part in reader:
        assert isinstance(part, RecordBlock)
        yield part


def check_block(block: RecordBlock, data: bytes) -> None:
    """Checks that a block says of each record what stands in the file `data`."""
    assert block.num_records == len(block.lengths) > 0
    assert block.num_bytes == sum(map(len, block.records()))
    for index, record in enumerate(block.records()):
        offset = block.offset_of(index)
        assert data[offset : offset + 16 + len(record)] == framed(record)
        assert bytes(block.payload(index)) == record


def frame_starts(records: Sequence[bytes]) -> list[int]:
    """Returns the offset of each record's frame, and that of the end of the file."""
    starts = [0]
    for record in records:
        starts.append(starts[-1] + 16 + len(record))
    return starts


def flip(data: bytes, offset: int, bit: int = 0) -> bytes:
    """Returns `data` with one bit changed."""
    changed = bytearray(data)
    changed[offset] ^= 1 << bit
    return bytes(changed)


def flips(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the offset of each byte, and `data` with a bit of it changed; each bit in its turn."""
    for offset in range(len(data)):
        yield offset, flip(data, offset, offset % 8)


EIGHT = (8).to_bytes(8, "little")

ODD_FILES: dict[str, list[bytes]] = {
    "no record": [],
    "one record": [b"alone"],
    "one empty record": [b""],
    "empty records": [b""] * 6,
    # A payload of 8 bytes and its CRC look like the header of a frame.
    "lengths as payloads": [number.to_bytes(8, "little") for number in (0, 4, 8, 20, 24, 40, 1)],
    # To such a payload the next frame's header looks like the payload of 8 bytes that it announces.
    "eights": [EIGHT] * 5,
    "eights among others": [b"12345", EIGHT, EIGHT, b"", EIGHT, b"y" * 8, EIGHT, EIGHT],
    "headers as payloads": [header(8), header(0), header(24), b"x" * 8],
    "zeros at the end": [bytes(5), b"a" + bytes(9), bytes(16), b"", bytes(1)],
    "records of many sizes": [b"", b"1", b"22", b"a" * 70, b"4444", b"b" * 90, b"", b"7777777"],
}
"""Records of files at which a search for the first record of a range might stumble."""
