"""Reads the records of one byte range of one file, block by block.

**Which records belong to a range.** A record belongs to the range in which its frame starts.
TFRecord has no sync marker, so a range that does not begin at 0 searches for its first record: the
first offset at which the length matches its CRC, the frame fits into the file and the payload
matches its CRC. The range ends with the last record that starts before its stop. The reader also
checks the record after that, because the next range would miss it if it is damaged: its search
would skip it. So damage belongs to the range of the record before it.

No search can be certain, because a payload may itself contain TFRecord data. Each reader therefore
reports what it covered, and `tfrecord_beam.records.coverage` checks that the ranges of a file tile
it. For the same reason an error in a range that began with a search says that there may be no
damage.

**Compressed files** cannot be read from the middle: the range that begins at 0 reads the whole
file, the others read nothing. Offsets count bytes of the decompressed content.

**Memory** is bounded by the block size, or by the largest record (at most 2 GiB) if that is larger.
A length is trusted only after its CRC has been checked, and memory grows only with bytes that the
file really holds.
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
"""Default bound on a block: large enough for the overhead per block to be negligible."""

_BATCH_BYTES = 512 << 20
"""Default bound on a block when `batch_size` sets its number of records: no runner can pass on an
element of 2 GiB, and a batch may take more memory than its records."""

_MAX_BATCH_BYTES = (1 << 31) - 1
"""Upper limit of `batch_bytes`: so much memory may be requested at once."""

SEARCHED = (
    "the range begins inside the file: either the file is damaged there, or it is intact, but "
    "its records contain TFRecord data and the search for the first record found some of it; "
    "to find out, make its index (tfrecord-beam index), or read it as one range, with "
    "desired_bundle_bytes larger than it"
)
"""Hint for damage in a range whose first record was searched for."""


@dataclasses.dataclass(frozen=True)
class ReadOptions:
    """How files are read.

    Attributes:
      compression: "auto" to detect it for each file, or a codec; see `compression.resolve_codec`.
      validate_crc: False: no CRCs are checked while records are read one after the other; only the
        search for the first record of a range still checks them.
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
        check_int("batch_bytes", self.batch_bytes, least=1, most=_MAX_BATCH_BYTES, optional=True)


def no_index(path: str) -> FileIndex | None:
    """The `read_index` of a reader that always searches."""
    return None


def claim_all(offset: int) -> int | None:
    """The `claim` of a reader whose range is never split."""
    return None


class RecordReader:
    """Iterates once over a range: yields its blocks, and the corrupt parts between them.

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
      collect_corrupt: yield a `CorruptRecord` for each part that cannot be read, in its place among
        the blocks, and continue with the next readable record. False: raise.
      claim: called with the offset of the last record of each block before the block is yielded.
        Returns None if the whole block is claimed, else the offset of the split: records that start
        at or after it belong to the residual and are dropped. For a compressed file the argument is
        how far reading has got in the stored file, and the result is ignored.
      read_index: returns the index of a file, or None if it has none: then a range that begins
        inside the file searches for its first record.

    Raises:
      CorruptRecordError: while iterating, if the content is not a sequence of intact records.
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
        """How far the current iteration has got in the stored, possibly compressed, file."""
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
                self._stop = NO_STOP  # the range that begins at 0 reads the whole file
            if self._range.start and not self._find_first():
                return
            self._first_offset = self._window.offset
            yield from self._read()
        except OSError as error:
            if error.errno is not None and error.filename is None:
                error.filename = self._range.path  # a failed read does not name its file
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
                    break  # the rest belongs to the residual
            elif error := find_damage(window, scan):
                yield self._set_aside(error)
            elif window.ended:
                self._reached_end = True
            else:
                window.fill(scan.needed, stop=self._stop)
        yield from self._check_next_record()

    def _scan(self) -> Scan:
        options = self._options
        default_bytes = BLOCK_BYTES if options.batch_size is None else _BATCH_BYTES
        return kernel.scan(
            self._window.data,
            start=self._window.begin,
            stop=None if self._stop == NO_STOP else self._stop - self._window.position,
            max_records=options.batch_size,
            max_bytes=options.batch_bytes or default_bytes,
            validate_crc=options.validate_crc,
        )

    def _wants_more(self, scan: Scan) -> bool:
        """Whether the records found do not fill a batch, and the next one can be read."""
        if self._options.batch_size is None or not len(scan.offsets):
            return False
        if scan.status != ScanStatus.MORE or self._window.ended:
            return False
        needed = scan.end - self._window.begin + scan.needed
        return scan.needed <= HEADER_BYTES or not self._window.is_out_of_reach(needed)

    def _fill_batch(self, scan: Scan) -> None:
        """Reads more of a batch: its estimated size at once, rather than in small steps."""
        window, found = self._window, len(scan.offsets)
        whole = scan.end - window.begin
        guess = whole * ((self._options.batch_size or 0) + 1) // found
        window.fill(max(whole + scan.needed, guess), stop=self._stop)

    def _take(self, scan: Scan) -> RecordBlock:
        """Claims the records found and moves past those that this reader keeps."""
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
        """Goes to the first record of a range that begins inside the file, if it has one."""
        window = self._window
        index = self._read_index(self._range.path)
        if index is None or not find_by_index(window, index, self._range.start):
            self._has_searched = True
            find_record(window, stop=self._stop)
        self._reached_end = window.ended and not window.left
        return window.offset < self._stop and not self._reached_end

    def _check_next_record(self) -> Iterator[CorruptRecord]:
        """Checks the record after the range: if it is damaged, only this range can report it."""
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
        """Raises `error`, which is located at `begin`, or steps over the corrupt part there."""
        error = error.located(record=self._next_record)
        if self._has_searched:
            error = CorruptRecordError(error.message, error.location, SEARCHED)
        if not self._collect_corrupt:
            raise error
        self._next_record = None
        return step_over(self._window, error)
