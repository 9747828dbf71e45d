"""Byte ranges: how files are split into pieces that workers read in parallel."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tfrecord_beam.records.compression import codec_of_name, resolve_codec
from tfrecord_beam.records.window import NO_STOP

MIN_RANGE_BYTES = 32 << 20
MAX_RANGE_BYTES = 128 << 20
"""Between these bounds a range takes some tenths of a second: long compared with its startup cost,
short enough to balance the load of the workers."""

_RANGES_WANTED = 128


@dataclasses.dataclass(frozen=True)
class FileRange:
    """A byte range of a file.

    Attributes:
      path: path or URL.
      start: records of the range start at or after this offset.
      stop: and before this one; None, or `size` and more: up to the end of the file.
      size: size of the file as reported by its store, or None.
      splittable: whether the range may be split further once it is being read.
    """

    path: str
    start: int = 0
    stop: int | None = None
    size: int | None = None
    splittable: bool = True

    def resolve_stop(self, stop: int | None) -> int:
        """Returns the offset for a stop: `NO_STOP` for None, and for `size` or more.

        A store may report a smaller size than reads return, so the last range goes on to the end of
        the content.
        """
        return NO_STOP if stop is None or (self.size is not None and stop >= self.size) else stop


def choose_range_bytes(total_bytes: int) -> int:
    """Returns the size of the ranges for files of `total_bytes` in all.

    It gives enough ranges for some dozen workers, within bounds that keep a range worth its cost.

    >>> choose_range_bytes(1 << 20) == MIN_RANGE_BYTES
    True
    """
    return min(max(total_bytes // _RANGES_WANTED, MIN_RANGE_BYTES), MAX_RANGE_BYTES)


def split_file(
    path: str,
    size: int,
    *,
    range_bytes: int,
    compression: str | None = "auto",
    splittable: bool = True,
) -> Iterator[FileRange]:
    """Yields the ranges of one file; the last may be up to 1.5 times as large as the others.

    A file is one range, never `splittable`, if `compression` or, with "auto", its suffix says that
    it is compressed. If only its content shows that, it is split like an uncompressed one: the
    range that begins at 0 then reads all of it, the others nothing.
    """
    codec = resolve_codec(compression)
    if codec == "auto":
        codec = codec_of_name(path)
    splittable = splittable and codec == "none"
    start = 0
    while codec == "none" and size - start > range_bytes + range_bytes // 2:
        yield FileRange(path, start, start + range_bytes, size, splittable)
        start += range_bytes
    yield FileRange(path, start, max(size, 1), size, splittable)  # an empty file has one too
