"""Reads the records of one byte range of one file, block by block.

**Which records belong to a range.** A record belongs to the range in which its frame starts.
TFRecord has no sync marker, so a range that does not begin at 0 searches its first record: the
first offset at which a length fits its CRC, the frame fits the file and the payload fits its CRC.
It ends with the last record that starts before its stop; the next one it reads only to check it,
for if that is damaged, nobody else could tell that it is there: the next range's search would pass
over it. So damage belongs to the range of the record before it.

No search can be sure, for a payload may hold TFRecord data itself. Each reader therefore tells what
it covered, and `tfrecord_beam.records.coverage` checks that the ranges of a file tile it. For the
same reason an error in a range that began with a search says that there may be no damage.

**Compressed files** cannot be entered in the middle: the range that begins at 0 reads all of the
file, the others nothing. Their offsets count bytes of the decompressed content.

**Memory** is bounded by the block size, or by the largest record if that is larger, which is 2 GiB
at most. A length is believed only after its CRC was checked, and memory grows only with the bytes
that are there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.kernel.plan import Scan, ScanStatus
from tfrecord_beam.options import check_bool, check_int
from tfrecord_beam.records.block import HEADER_BYTES, RecordBlock
from tfrecord_beam.records.compression import resolve_codec
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.coverage import CoveredRange
from tfrecord_beam.records.damage import find_damage, step_over
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.index import FileIndex, find_by_index
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.search import find_record
from tfrecord_beam.records.window import CHUNK_BYTES, NO_STOP, Window

BLOCK_BYTES = 8 << 20
"""Default bound on a block: the cost of a block vanishes beside that of its records."""

_MAX_BATCH_BYTES = 512 << 20
"""Default bound on a block where `batch_size` says how many records it has: no runner passes on an
element of 2 GiB, and a batch may take more memory than its records."""

_MOST_BATCH_BYTES = (1 << 31) - 1
"""What `batch_bytes` may be at most: so much memory may be asked for at once."""

SEARCHED = (
    "the range begins inside the file: either the file is damaged there, or it is whole, but "
    "its records hold TFRecord data themselves and the search for the first one found some of it; "
    "to tell, make its index (tfrecord-beam index), or read it as one range, with "
    "desired_bundle_bytes larger than it"
)
"""Hint for damage in a range whose first record was searched for."""


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


def no_index(path: str) -> FileIndex | None:
    """The `read_index` of a reader that always searches."""
    return None


def claim_all(offset: int) -> int | None:
    """The `claim` of a reader that shares its range with nobody."""
    return None


class RecordReader:
    """Iterates once over a range: over its blocks, and what is corrupt between them.

    Example:
      >>> import tempfile
      >>> from tfrecord_beam import kernel
      >>> file = tempfile.NamedTemporaryFile(suffix=".tfrecord")
      >>> _ = file.write(kernel.frame([b"one", b"two"])); file.flush()
      >>> reader = RecordReader(FileRange(file.name), lambda path: open(path, "rb"))
      >>> [list(block.records()) for block in reader if isinstance(block, RecordBlock)]
      [[b'one', b'two']]

    Args:
      file_range: what to read.
      open_file: opens a path for binary reading.
      options: how to read.
      collect_corrupt: give a `CorruptRecord` for each part that cannot be read, in its place among
        the blocks, and go on with the next record that can be read. False: raise.
      claim: called with the offset of the last record of each block before the block is yielded;
        returns None if the reader may have it all, else the offset from which on others read.
        For a compressed file it is told how far reading got, and what it returns does not matter.
      read_index: returns the index of a file, None if there is none: then a range that begins
        inside the file searches for its first record.

    Raises:
      CorruptRecordError: while iterating, where the content is not whole records.
    """

    def __init__(
        self,
        file_range: FileRange,
        open_file: Callable[[str], BinaryFile],
        options: ReadOptions = ReadOptions(),
        *,
        collect_corrupt: bool = False,
        claim: Callable[[int], int | None] = claim_all,
        read_index: Callable[[str], FileIndex | None] = no_index,
    ) -> None:
        self._range = file_range
        self._open_file = open_file
        self._options = options
        self._collect_corrupt = collect_corrupt
        self._claim = claim
        self._read_index = read_index
        self._has_searched = False
        self._stop = file_range.resolve_stop(file_range.stop)
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

    def __iter__(self) -> Iterator[RecordBlock | CorruptRecord]:
        raw = self._open_file(self._range.path)
        try:
            self._window = Window(
                raw,
                self._range.path,
                codec=resolve_codec(self._options.compression),
                start=self._range.start,
                chunk_bytes=max(self._options.batch_bytes or 0, CHUNK_BYTES),
                first_bytes=self._options.batch_bytes,
            )
            if not self._window.seekable:
                if self._range.start:
                    return
                self._stop = NO_STOP  # the range that begins at 0 reads it all
            if self._range.start and not self._find_first():
                return
            self._first_offset = self._window.offset
            yield from self._read()
        except OSError as error:
            if error.errno is not None and error.filename is None:
                error.filename = self._range.path  # a failed read does not say of which file
            raise
        finally:
            raw.close()

    def _read(self) -> Iterator[RecordBlock | CorruptRecord]:
        window = self._window
        while window.offset < self._stop and not self._reached_end:
            scan = self._scan()
            if self._wants_more(scan):
                self._fill_batch(scan)
            elif found := len(scan.offsets):
                block = self._take(scan)
                if block.num_records:
                    yield block
                if block.num_records < found:
                    break  # others read the rest
            elif error := find_damage(window, scan):
                yield self._set_aside(error)
            elif window.ended:
                self._reached_end = True
            else:
                window.fill(scan.needed, stop=self._stop)
        yield from self._check_next_record()

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
        """Whether the records found are less than a batch, and the next may come into memory."""
        if self._options.batch_size is None or not len(scan.offsets):
            return False
        if scan.status != ScanStatus.MORE or self._window.ended:
            return False
        needed = scan.end - self._window.begin + scan.needed
        return scan.needed <= HEADER_BYTES or not self._window.is_out_of_reach(needed)

    def _fill_batch(self, scan: Scan) -> None:
        """Brings more of a batch into memory: what it may take, lest it come in small steps."""
        window, found = self._window, len(scan.offsets)
        whole = scan.end - window.begin
        guess = whole * ((self._options.batch_size or 0) + 1) // found
        window.fill(max(whole + scan.needed, guess), stop=self._stop)

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
            claimed = self._claim(block.offset_of(block.num_records - 1))
            self._stop = min(self._stop, self._range.resolve_stop(claimed))
        ours = block.until(self._stop)
        if ours.num_records < block.num_records:
            window.begin = block.offset_of(ours.num_records) - window.position
        else:
            window.begin = scan.end
        if self._next_record is not None:
            self._next_record += ours.num_records
        return ours

    def _find_first(self) -> bool:
        """Goes to the first record of a range that begins inside the file, if it holds one."""
        window = self._window
        index = self._read_index(self._range.path)
        if index is None or not find_by_index(window, index, self._range.start):
            self._has_searched = True
            find_record(window, stop=self._stop)
        self._reached_end = window.ended and not window.left
        return window.offset < self._stop and not self._reached_end

    def _check_next_record(self) -> Iterator[CorruptRecord]:
        """Looks at the record behind the range: if it is damaged, only this range can tell."""
        window = self._window
        while self._options.validate_crc and not self._reached_end:
            scan = kernel.scan(window.data, start=window.begin, max_records=1)
            if len(scan.offsets):
                return
            error = find_damage(window, scan)
            if error is None and window.is_far(scan.needed):
                stored, computed = window.check_frame(scan.needed)
                if stored == computed:
                    return
                bad = ScanStatus.BAD_PAYLOAD_CRC
                scan = scan._replace(status=bad, stored=stored, computed=computed)
                error = find_damage(window, scan)
            if error is not None:
                yield self._set_aside(error)
            elif window.ended:
                self._reached_end = True
            else:
                window.fill(scan.needed, stop=self._stop)

    def _set_aside(self, error: CorruptRecordError) -> CorruptRecord:
        """Raises `error`, which is at `begin`, or steps over what is corrupt there."""
        error = error.located(record=self._next_record)
        if self._has_searched:
            error = CorruptRecordError(error.message, error.location, SEARCHED)
        if not self._collect_corrupt:
            raise error
        self._next_record = None
        return step_over(self._window, error)
