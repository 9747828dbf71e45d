"""Reads the records of one byte range of one file, block by block.

**Which records belong to a range.** A record belongs to the range in which its frame starts.
TFRecord has no sync marker, so a range that does not begin at 0 searches its first record: the
first offset at which a length fits its CRC, the frame fits the file and the payload fits its CRC.
It ends with the last record that starts before its stop; the next one it reads only to check it,
for if that is damaged, nobody else could tell that it is there: the next range's search would pass
over it. So damage belongs to the range of the record before it.

No search can be sure, for a payload may hold TFRecord data itself. Each reader therefore tells what
it covered, and `tfrecord_beam.records.coverage` checks that the ranges of a file tile it.

**Compressed files** cannot be entered in the middle: the range that begins at 0 reads all of the
file, the others nothing. Their offsets count bytes of the decompressed content.

**Memory** is bounded by the block size, or by the largest record if that is larger. A length is
believed only after its CRC was checked, and memory grows only with the bytes that are there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError, Location
from tfrecord_beam.kernel.plan import Scan, ScanStatus
from tfrecord_beam.options import check_bool, check_int
from tfrecord_beam.records.block import (
    FOOTER_BYTES,
    FRAME_BYTES,
    HEADER_BYTES,
    RecordBlock,
)
from tfrecord_beam.records.compression import HEAD_BYTES, resolve_codec
from tfrecord_beam.records.corruption import MAX_SAMPLE_BYTES, CorruptRecord
from tfrecord_beam.records.coverage import CoveredRange
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.search import find_record
from tfrecord_beam.records.signature import describe_content
from tfrecord_beam.records.window import NO_STOP, Window

BLOCK_BYTES = 8 << 20
"""Default bound on a block: the cost of a block vanishes beside that of its records."""

_MAX_BATCH_BYTES = 512 << 20
"""Default bound on a block where `batch_size` says how many records it has: no runner passes on an
element of 2 GiB, and a batch may take more memory than its records."""

_MOST_BATCH_BYTES = (1 << 31) - 1
"""What `batch_bytes` may be at most: so much memory may be asked for at once."""

_SEARCHED = (
    "the range begins inside the file; if the file is good read as a whole, its records hold "
    "TFRecord data themselves: read it with desired_bundle_bytes larger than it"
)
"""Hint for damage in a range whose first record was searched for."""

_MAX_UNCHECKED_BYTES = 1 << 31
"""Without CRCs a longer frame is taken for damage: no protobuf message can be as long."""


@dataclasses.dataclass(frozen=True)
class ReadOptions:
    """How files are read.

    Attributes:
      compression: "auto" to look at each file, or a codec; see `compression.resolve_codec`.
      validate_crc: False: no CRC is computed while records are read one after the other; only the
        search for the first record of a range still does.
      batch_size: records in each block; the last block of a range may have fewer. None: as many
        as fit into `batch_bytes`.
      batch_bytes: bound on the size of a block's frames; one larger record makes one larger block.
        None: 8 MiB without, 512 MiB with a `batch_size`.
    """

    compression: str | None = "auto"
    validate_crc: bool = True
    batch_size: int | None = None
    batch_bytes: int | None = None

    def __post_init__(self) -> None:
        resolve_codec(self.compression)
        check_bool("validate_crc", self.validate_crc)
        check_int("batch_size", self.batch_size, least=1, optional=True)
        check_int("batch_bytes", self.batch_bytes, least=1, most=_MOST_BATCH_BYTES, optional=True)


def claim_all(offset: int) -> int | None:
    """The `claim` of a reader that shares its range with nobody."""
    return None


class RecordReader:
    """Iterates once over the blocks of a range.

    Example:
      >>> import tempfile
      >>> from tfrecord_beam import kernel
      >>> file = tempfile.NamedTemporaryFile(suffix=".tfrecord")
      >>> _ = file.write(kernel.frame([b"one", b"two"])); file.flush()
      >>> reader = RecordReader(FileRange(file.name), lambda path: open(path, "rb"))
      >>> [list(block.records()) for block in reader]
      [[b'one', b'two']]

    Args:
      file_range: what to read.
      open_file: opens a path for binary reading.
      options: how to read.
      on_corrupt: called with each part that cannot be read, whereupon reading goes on with the
        next record that can. None: raise.
      claim: called with the offset of the last record of each block before the block is yielded;
        returns None if the reader may have it all, else the offset from which on others read.
        For a compressed file it is told how far reading got, and what it returns does not matter.

    Raises:
      CorruptRecordError: while iterating, where the content is not whole records.
    """

    def __init__(
        self,
        file_range: FileRange,
        open_file: Callable[[str], BinaryFile],
        options: ReadOptions = ReadOptions(),
        *,
        on_corrupt: Callable[[CorruptRecord], None] | None = None,
        claim: Callable[[int], int | None] = claim_all,
    ) -> None:
        self._range = file_range
        self._open_file = open_file
        self._options = options
        self._on_corrupt = on_corrupt
        self._claim = claim
        self._stop = self._effective_stop(file_range.stop)
        self._next_record: int | None = 0 if file_range.start == 0 else None
        self._first_offset: int | None = None
        self._reached_end = False
        self._window: Window

    def covered(self) -> CoveredRange:
        """Returns what the finished iteration has read of the file."""
        first = self._first_offset
        return CoveredRange(
            starts_file=self._range.start == 0,
            begin=0 if first is None else first,
            end=0 if first is None else self._window.offset,
            content_end=self._window.offset if self._reached_end else None,
        )

    @property
    def consumed_bytes(self) -> int:
        """How far the running iteration got in the file as it is stored."""
        return self._window.consumed_bytes

    def __iter__(self) -> Iterator[RecordBlock]:
        raw = self._open_file(self._range.path)
        try:
            self._window = Window(
                raw,
                self._range.path,
                codec=resolve_codec(self._options.compression),
                start=self._range.start,
                chunk_bytes=self._options.batch_bytes or BLOCK_BYTES,
                size=self._range.size,
            )
            if not self._window.seekable:
                if self._range.start:
                    return
                self._stop = NO_STOP  # the range that begins at 0 reads it all
            if self._range.start and not self._find_record(self._stop):
                return
            self._first_offset = self._window.offset
            yield from self._read()
        finally:
            raw.close()

    def _read(self) -> Iterator[RecordBlock]:
        window = self._window
        while window.offset < self._stop and not self._reached_end:
            scan = self._scan()
            found = len(scan.offsets)
            if scan.status == ScanStatus.MORE and not window.ended and self._wants_more(scan):
                self._read_on(scan)
                continue
            if found:
                block = self._take(scan)
                if block.num_records:
                    yield block
                if block.num_records < found:
                    break  # others read the rest
            if scan.status == ScanStatus.MORE and window.ended:
                self._end_content(scan)
            elif scan.status in (ScanStatus.BAD_LENGTH_CRC, ScanStatus.BAD_PAYLOAD_CRC):
                self._handle_damage(self._mismatch(scan), self._damaged_frame_bytes(scan))
        if not self._reached_end:
            self._check_next_record()

    def _scan(self) -> Scan:
        options = self._options
        default_bytes = BLOCK_BYTES if options.batch_size is None else _MAX_BATCH_BYTES
        return kernel.scan(
            self._window.data,
            start=self._window.begin,
            stop=None if self._stop == NO_STOP else self._stop - self._window.position,
            max_records=options.batch_size,
            max_bytes=options.batch_bytes or default_bytes,
            validate_crc=options.validate_crc,
        )

    def _wants_more(self, scan: Scan) -> bool:
        """Whether the records found before the data in memory ended make no block yet."""
        if not len(scan.offsets):
            return True
        return self._options.batch_size is not None and not self._is_out_of_reach(scan)

    def _is_out_of_reach(self, scan: Scan) -> bool:
        """Whether the frame at ``scan.end`` is seen to be cut short, or its length to be wrong."""
        if scan.needed <= HEADER_BYTES:  # There is no length yet.
            return False
        if not self._options.validate_crc and scan.needed > _MAX_UNCHECKED_BYTES:
            return True
        return self._window.is_beyond_end(scan.end - self._window.begin + scan.needed)

    def _read_on(self, scan: Scan) -> None:
        """Brings more of the frames from `begin` on into memory."""
        window = self._window
        found, whole = len(scan.offsets), scan.end - window.begin
        if not found and self._is_out_of_reach(scan):
            self._handle_damage(self._truncation(scan))
            return
        needed = whole + scan.needed
        if found and self._options.batch_size:
            # A batch larger than a chunk: guess its size, lest memory grow in small steps.
            needed = max(needed, whole * (self._options.batch_size + 1) // found)
        window.fill(needed, stop=self._stop)

    def _take(self, scan: Scan) -> RecordBlock:
        """Claims the records that were found and steps over those that are ours."""
        window = self._window
        block = RecordBlock(
            file=self._range.path,
            position=window.position,
            data=window.data,
            offsets=np.frombuffer(scan.offsets, np.int64),
            lengths=np.frombuffer(scan.lengths, np.int64),
            first_record=self._next_record,
        )
        if not window.seekable:
            self._claim(window.consumed_bytes)
        else:
            self._stop = min(
                self._stop,
                self._effective_stop(self._claim(block.offset_of(block.num_records - 1))),
            )
        ours = block.until(self._stop)
        if ours.num_records < block.num_records:
            window.begin = block.offset_of(ours.num_records) - window.position
        else:
            window.begin = scan.end
        if self._next_record is not None:
            self._next_record += ours.num_records
        return ours

    def _effective_stop(self, stop: int | None) -> int:
        """A range up to the file's size goes to the end of the content, wherever that is."""
        size = self._range.size
        return NO_STOP if stop is None or (size is not None and stop >= size) else stop

    def _end_content(self, scan: Scan) -> None:
        """Deals with what is left in memory when nothing more can be read."""
        window = self._window
        error, window.failure = window.failure, None
        if error is not None:
            error = error.located(offset=window.offset, record=self._next_record)
        elif window.left:
            error = self._truncation(scan)
        if error is not None:
            self._handle_damage(error)
        self._reached_end = not window.left

    def _check_next_record(self) -> None:
        """Looks at the record behind the range: if it is damaged, only this range can tell."""
        window = self._window
        while self._options.validate_crc and not self._reached_end:
            scan = kernel.scan(window.data, start=window.begin, max_records=1)
            if len(scan.offsets):
                return
            if scan.status != ScanStatus.MORE:
                self._handle_damage(self._mismatch(scan), self._damaged_frame_bytes(scan))
            elif window.ended:
                self._end_content(scan)
            elif self._is_out_of_reach(scan):
                self._handle_damage(self._truncation(scan))
            elif not window.is_far(scan.needed):
                window.fill(scan.needed, stop=self._stop)
            elif self._check_far_record(scan):
                return

    def _check_far_record(self, scan: Scan) -> bool:
        """Returns whether the record at `begin` is good; else deals with the damage."""
        stored, computed = self._window.check_frame(scan.needed)
        if stored != computed:
            bad = ScanStatus.BAD_PAYLOAD_CRC
            scan = scan._replace(status=bad, stored=stored, computed=computed)
            self._handle_damage(self._mismatch(scan), scan.needed)
        return stored == computed

    def _find_record(self, stop: int = NO_STOP) -> bool:
        """Goes to the first whole record from `begin` on, if one starts before `stop`."""
        window = self._window
        found = find_record(window, stop=stop)
        if not found and window.ended and not window.left:
            self._reached_end = window.failure is None
        return found

    # Damage.

    def _handle_damage(self, error: CorruptRecordError, frame_bytes: int = 0) -> None:
        """Raises `error`, or reports what there is up to the next record and goes there.

        Args:
          error: what is wrong at `begin`.
          frame_bytes: size of the frame there if its length is right, else 0.
        """
        if self._on_corrupt is None:
            raise error
        window = self._window
        begin = window.offset
        sample = bytes(window.data[window.begin :][:MAX_SAMPLE_BYTES])
        self._next_record = None
        if not self._skip_frame(frame_bytes) and window.left:
            window.begin += 1
            self._find_record()
        length = window.offset - begin
        self._on_corrupt(CorruptRecord.from_error(error, length=length, sample=sample[:length]))

    def _damaged_frame_bytes(self, scan: Scan) -> int:
        """Returns the size of the damaged frame at `begin`, or 0 where its length may be wrong.

        A length whose own CRC is wrong is right all the same if the payload CRC fits at its end.
        """
        if scan.status == ScanStatus.BAD_PAYLOAD_CRC:
            return scan.needed
        window = self._window
        size = int.from_bytes(window.data[window.begin :][:8], "little") + FRAME_BYTES
        if size > BLOCK_BYTES:
            return 0  # not worth reading so much on the word of a damaged header
        while window.left < size and not window.ended:
            window.fill(size)
        frame = window.data[window.begin :][:size]
        payload, stored = frame[HEADER_BYTES:-FOOTER_BYTES], frame[-FOOTER_BYTES:]
        whole = len(frame) == size
        fits = kernel.masked_crc32c(payload) == int.from_bytes(stored, "little")
        return size if whole and fits else 0

    def _skip_frame(self, frame_bytes: int) -> bool:
        """Steps over a whole frame if the header of another, or the end, follows on it."""
        if not frame_bytes:
            return False
        window = self._window
        begin = window.offset
        wanted = frame_bytes + HEADER_BYTES
        while not window.is_far(frame_bytes) and window.left < wanted and not window.ended:
            window.fill(wanted)
        window.move_to(begin + frame_bytes - FOOTER_BYTES)
        while window.left < FOOTER_BYTES + HEADER_BYTES and not window.ended:
            window.fill(FOOTER_BYTES + HEADER_BYTES)
        if window.left >= FOOTER_BYTES:
            window.begin += FOOTER_BYTES
            scan = kernel.scan(window.data, start=window.begin, max_records=1)
            if len(scan.offsets) or scan.needed > HEADER_BYTES or not window.left:
                return True
        window.move_to(begin)
        window.fill(HEADER_BYTES)
        return False

    def _mismatch(self, scan: Scan) -> CorruptRecordError:
        bad_length = scan.status == ScanStatus.BAD_LENGTH_CRC
        if bad_length and self._window.offset == 0 and (other := self._other_content()):
            return other
        part = "Length" if bad_length else "Payload"
        return self._error(
            f"{part} CRC mismatch: stored {scan.stored:#010x}, computed {scan.computed:#010x}"
        )

    def _truncation(self, scan: Scan) -> CorruptRecordError:
        window = self._window
        length_is_right = self._options.validate_crc and scan.needed > HEADER_BYTES
        if not length_is_right and window.offset == 0 and (other := self._other_content()):
            return other
        if scan.needed > HEADER_BYTES:
            expected = f"a record of {scan.needed} bytes"
        else:
            expected = f"the {HEADER_BYTES} bytes of a record's header"
        if window.ended:
            found = f"the end of the file after {window.left}"
        elif self._range.size is not None:
            found = f"the end of the file after {max(0, self._range.size - window.offset)}"
        else:
            found = "a length that cannot be right"
        return self._error(f"Expected {expected}, found {found}")

    def _other_content(self) -> CorruptRecordError | None:
        """Returns the error for a file that begins like one of another format."""
        content = describe_content(bytes(self._window.data[:HEAD_BYTES]))
        if content is None:
            return None
        return self._error(f"Expected a TFRecord file, found {content}")

    def _error(self, message: str) -> CorruptRecordError:
        """Returns the error for what is at `begin`."""
        location = Location(self._range.path, self._window.offset, self._next_record)
        return CorruptRecordError(message, location, _SEARCHED if self._range.start else None)
