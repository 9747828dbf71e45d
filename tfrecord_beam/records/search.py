"""Finds a record in a file of which it is not known where its records begin."""

from __future__ import annotations

from typing import NamedTuple

from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import ScanStatus
from tfrecord_beam.records.block import HEADER_BYTES
from tfrecord_beam.records.window import NO_STOP, Window

_MAX_SEARCHED_BYTES = 256 << 20
"""Where the end of the content is not known, the search passes over longer frames."""

_MAX_FOLLOWED_BYTES = 64 << 10
"""How far frames are followed to tell real ones from others that look like them."""

_EIGHT = (8).to_bytes(8, "little")


def find_record(window: Window, *, stop: int = NO_STOP) -> bool:
    """Goes to the first whole record from `begin` on, if one starts before the offset `stop`.

    Otherwise to the end of the content, or to some offset from `stop` on.
    """
    while window.offset < stop:
        candidate = kernel.find_record(
            window.data,
            start=window.begin,
            stop=min(len(window.data), stop - window.position),
            limit=window.search_limit(_MAX_SEARCHED_BYTES),
        )
        window.begin = candidate.position
        if candidate.found and _is_whole(window, candidate.needed):
            _step_over_lookalike(window)
            return window.offset < stop
        if candidate.found and window.is_far(candidate.needed):
            window.begin += 1
        elif window.ended:
            window.begin = len(window.data)
            return False
        elif window.offset < stop:
            window.fill(candidate.needed or HEADER_BYTES, stop=stop)
    return False


def _is_whole(window: Window, needed: int) -> bool:
    """Whether the frame at `begin` is known to be good; where it is large, it is read to find out.

    Args:
      window: where to look.
      needed: bytes of the frame, 0 where it was in memory and is good.
    """
    if window.is_far(needed):
        stored, computed = window.check_frame(needed)
        return stored == computed
    return not needed


class _Row(NamedTuple):
    """Frames that follow on each other. Of two rows the larger tuple is the more credible one.

    Attributes:
      unbroken: whether there are some, and what follows on them may be another.
      size: bytes in its frames.
    """

    unbroken: bool
    size: int


def _step_over_lookalike(window: Window) -> None:
    """Goes from the record found at `begin` to the real one if it only looks like one.

    A payload of 8 bytes and its CRC look like a header. If the payload is the number 8, the next
    frame's header, 8 bytes and their CRC, looks like what follows on that header. So where records
    spell 8 there are two rows of frames; the one that breaks off first is not real.
    """
    if window.data[window.begin :][:8] != _EIGHT:
        return
    while window.left < _MAX_FOLLOWED_BYTES and not window.ended:
        window.fill(_MAX_FOLLOWED_BYTES)
    row, other = (_follow(window, window.begin + shift) for shift in (0, HEADER_BYTES))
    if other > row:
        window.begin += HEADER_BYTES


def _follow(window: Window, index: int) -> _Row:
    """Follows the row of frames from `index` on, in the data that are in memory."""
    scan = kernel.scan(window.data, start=index, max_bytes=_MAX_FOLLOWED_BYTES)
    size = scan.end - index
    bad = scan.status in (ScanStatus.BAD_LENGTH_CRC, ScanStatus.BAD_PAYLOAD_CRC)
    limit = window.search_limit(_MAX_SEARCHED_BYTES)
    cut = scan.status == ScanStatus.MORE and scan.end != limit < scan.end + scan.needed
    return _Row(unbroken=size > 0 and not bad and not cut, size=size)
