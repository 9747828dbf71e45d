"""Byte ranges: how files are cut into pieces that workers read beside each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tfrecord_beam.records.compression import codec_of_name, resolve_codec
from tfrecord_beam.records.window import NO_STOP

MIN_RANGE_BYTES = 32 << 20
MAX_RANGE_BYTES = 128 << 20
"""Between these bounds a range takes some tenths of a second: long beside what starting it costs,
short enough to even out the load of the workers."""

_RANGES_WANTED = 128


@dataclasses.dataclass(frozen=True)
class FileRange:
    """A byte range of a file.

    Attributes:
      path: path or URL.
      start: first offset at which a record of the range may start.
      stop: first offset at which it may not; None, or `size` and more: up to the end.
      size: size of the file as its store tells it, or None.
      splittable: whether a part of it may be read by others, once it is being read.
    """

    path: str
    start: int = 0
    stop: int | None = None
    size: int | None = None
    splittable: bool = True

    def resolve_stop(self, stop: int | None) -> int:
        """Returns the offset that a stop means: `NO_STOP` for None, and from `size` on.

        A store may tell less than what it gives, so the last range goes to where the content ends.
        """
        return NO_STOP if stop is None or (self.size is not None and stop >= self.size) else stop


def choose_range_bytes(total_bytes: int) -> int:
    """Returns the size of ranges for so many bytes of files.

    As many ranges as some dozen workers want, in bounds between which a range is worth its cost.

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
    """Yields the ranges of one file; the last may be half as large again as the others.

    A compressed file is one range, never `splittable`. Where only its content tells that it is
    compressed, it is cut like a plain one: the range that begins at 0 then reads all of it and the
    others nothing.
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
