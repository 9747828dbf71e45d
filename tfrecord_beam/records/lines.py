"""Text files as blocks of lines, a byte range at a time.

A line ends with LF or CR LF, and every line is a record, whatever it contains. So files can be
split: a line belongs to the range in which it starts, and a range finds its first line after the
first LF. A byte order mark (UTF-8) at the start of a file is not part of its first line.
"""

from __future__ import annotations

import codecs
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfrecord_beam.errors import Location
from tfrecord_beam.options import check_int
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import BLOCK_BYTES
from tfrecord_beam.records.window import Window

_LF, _CR = b"\n\r"
_LINE_END = re.compile(b"\n")


@dataclasses.dataclass(frozen=True, eq=False)
class LineBlock:
    """Consecutive whole lines.

    Attributes:
      data: the buffer that holds the lines and their ends.
      starts: int64 [lines], index in `data` of each line's first byte.
      lengths: int64 [lines], bytes of each line without its end.
      file: path or URL of the file; None if the lines do not come from a file.
      position: offset of ``data[0]`` in the file's (decompressed) content.
      first_line: number of the first line in the file, from 1; None if reading began inside it.
    """

    data: memoryview | bytes
    starts: Int64Array
    lengths: Int64Array
    file: str | None = None
    position: int = 0
    first_line: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return LineBlock, (
            bytes(self.data),
            self.starts,
            self.lengths,
            self.file,
            self.position,
            self.first_line,
        )

    @property
    def num_lines(self) -> int:
        return len(self.starts)

    def line(self, index: int) -> bytes:
        """Returns one line without its end."""
        start = int(self.starts[index])
        return bytes(self.data[start : start + int(self.lengths[index])])

    def lines(self) -> Iterator[bytes]:
        """Yields each line without its end."""
        return map(self.line, range(self.num_lines))

    def location(self, index: int, feature: str | None = None) -> Location:
        """Returns the place of a line, or of one feature in it."""
        if self.file is None:
            return Location(record=index, feature=feature)
        return Location(
            self.file,
            self.position + int(self.starts[index]),
            line=None if self.first_line is None else self.first_line + index,
            feature=feature,
        )


def join_lines(lines: Sequence[bytes]) -> LineBlock:
    """Returns a block of lines that do not come from a file.

    >>> list(join_lines([b"a", b"", b"bc"]).lines())
    [b'a', b'', b'bc']
    """
    lengths = np.fromiter(map(len, lines), np.int64, len(lines))
    starts = np.cumsum(lengths + 1) - lengths - 1
    return LineBlock(b"\n".join(lines), starts, lengths)


@dataclasses.dataclass(frozen=True)
class LineOptions:
    """How text files are read.

    Attributes:
      skip_header_lines: number of lines to skip at the start of each file.
      batch_size: the number of lines in each block is a multiple of this, except in the last one of
        a range. None: any number of lines.
      count_blank_lines: whether an empty line counts for `batch_size`.
      block_bytes: size of a block; one longer line, or batch, makes one larger block.
    """

    skip_header_lines: int = 0
    batch_size: int | None = None
    count_blank_lines: bool = False
    block_bytes: int = BLOCK_BYTES

    def __post_init__(self) -> None:
        check_int("skip_header_lines", self.skip_header_lines, least=0)
        check_int("batch_size", self.batch_size, least=1, optional=True)


def read_lines(
    file_range: FileRange,
    open_file: Callable[[str], BinaryFile],
    options: LineOptions = LineOptions(),
) -> Iterator[LineBlock]:
    """Yields the lines of a range. In a compressed file, the range that begins at 0 has all lines.

    Args:
      file_range: what to read.
      open_file: opens a path for binary reading.
      options: how to read.

    Raises:
      CorruptRecordError: a compressed file is truncated or damaged.
    """
    raw = open_file(file_range.path)
    try:
        window = Window(
            raw,
            file_range.path,
            codec="auto",
            start=0,
            chunk_bytes=options.block_bytes,
        )
        if window.seekable:
            yield from _read_range(window, file_range, options)
        elif not file_range.start:
            yield from _read_range(window, FileRange(file_range.path), options)
    finally:
        raw.close()


def _read_range(window: Window, file_range: FileRange, options: LineOptions) -> Iterator[LineBlock]:
    stop = file_range.resolve_stop(file_range.stop)
    if options.skip_header_lines or file_range.start <= len(codecs.BOM_UTF8):
        _skip_head(window, options.skip_header_lines)
    line_number: int | None = 1 + options.skip_header_lines
    if file_range.start > window.offset:
        window.move_to(file_range.start - 1)
        _skip_line(window)
        line_number = None
    wanted = 0
    while window.offset < stop:
        _fill(window, wanted, stop)
        starts, ends, nexts = _find_lines(window)
        count = int(np.searchsorted(starts, stop - window.offset))
        is_last = window.ended or (bool(len(nexts)) and window.offset + int(nexts[-1]) >= stop)
        if not is_last:
            count = _count_whole_batches(ends[:count] - starts[:count], options)
        if count:
            size = int(nexts[count - 1])
            yield LineBlock(
                window.data[window.begin : window.begin + size],
                starts[:count],
                ends[:count] - starts[:count],
                file_range.path,
                window.offset,
                line_number,
            )
            window.begin += size
            line_number = None if line_number is None else line_number + count
        elif is_last:
            return
        wanted = 0 if count else 2 * window.left


def _find_lines(window: Window) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Returns for each whole line where it starts and ends, and where the next one starts.

    Indexes count from the window's `begin`. At the end of the content, the last line is whole even
    without an LF.
    """
    data = np.frombuffer(window.data, np.uint8)[window.begin :]
    ends = np.flatnonzero(data == _LF)
    nexts = ends + 1
    if window.ended and len(data) > (nexts[-1] if len(nexts) else 0):
        ends, nexts = np.append(ends, len(data)), np.append(nexts, len(data))
    starts = np.concatenate((np.zeros(1, np.int64), nexts))[: len(ends)]
    has_cr = (ends > starts) & (data[ends - 1] == _CR) & (nexts > ends)
    return starts, ends - has_cr, nexts


def _count_whole_batches(lengths: Int64Array, options: LineOptions) -> int:
    """Returns how many lines form a whole number of batches."""
    if options.batch_size is None:
        return len(lengths)
    numbers = np.cumsum((lengths > 0) | options.count_blank_lines)
    whole = (int(numbers[-1]) if len(numbers) else 0) // options.batch_size * options.batch_size
    return int(np.searchsorted(numbers, whole)) + 1 if whole else 0


def _skip_head(window: Window, num_lines: int) -> None:
    """Moves the window past the byte order mark and the first lines of a file."""
    while window.left < len(codecs.BOM_UTF8) and not window.ended:
        _fill(window, len(codecs.BOM_UTF8), 0)
    if bytes(window.data[: len(codecs.BOM_UTF8)]) == codecs.BOM_UTF8:
        window.begin = len(codecs.BOM_UTF8)
    for _ in range(num_lines):
        _skip_line(window)


def _skip_line(window: Window) -> None:
    """Moves the window past the next line end, or to the end of the content."""
    while not (found := _LINE_END.search(window.data, window.begin)):
        if window.ended:
            window.begin += window.left
            return
        _fill(window, 2 * window.left, 0)
    window.begin = found.end()


def _fill(window: Window, needed: int, stop: int) -> None:
    if not window.ended:
        window.fill(needed, stop=stop)
    if window.failure is not None:
        raise window.failure
