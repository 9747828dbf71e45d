"""Finds a record in a file of which it is not known where its records begin.

**Cost.** The CRC of a length is computed at each byte that is passed over, and where it fits, which
chance does once in 4 billion bytes, that of the payload. A file made to slow a reader down can hold
many such lengths, and each costs as much as its size, 2 GiB at most: 1000 lengths of 16 MiB took
4 seconds.
"""

from __future__ import annotations

from typing import NamedTuple

from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import ScanStatus
from tfrecord_beam.records.block import FRAME_BYTES, HEADER_BYTES, MAX_FRAME_BYTES
from tfrecord_beam.records.window import NO_STOP, Window

_MAX_SEARCHED_BYTES = 256 << 20
"""Where the end of the content is not known, the search passes over longer frames."""

_MAX_FOLLOWED_BYTES = 64 << 10
"""How far frames are followed to tell real ones from others that look like them."""

_EIGHT = (8).to_bytes(8, "little")
_EIGHT_FRAME_BYTES = len(_EIGHT) + FRAME_BYTES


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
            if not _is_lookalike(window):
                return True
            window.begin += HEADER_BYTES
        elif candidate.found and window.is_far(candidate.needed):
            window.begin += 1
        elif window.offset >= stop:
            break
        elif window.ended:
            window.begin = len(window.data)
            break
        else:
            window.fill(candidate.needed or HEADER_BYTES, stop=stop)
    return False


def find_record_behind(window: Window, end: int) -> bool:
    """Goes to the first record from `begin` on that is not part of a damaged one up to `end`.

    The damaged record may hold TFRecord data itself, or it may have been cut short, with others
    written behind it. In the first case a row of frames inside it breaks off at its end at the
    latest, for its own CRC stands there. So only a row counts that reaches `end` without a break.
    From where a row breaks the search goes on. Behind `end`, any record counts, a damaged one too
    if its length is right.

    Args:
      window: where to look; it is at the damaged record's payload.
      end: offset of the end of the damaged record, by its length.

    Returns:
      Whether the record found may be part of the damaged one all the same, because the content
      ended before `end`: then a row must reach the end of the content, and it may be a cut one.
    """
    end = min(end, NO_STOP)
    while find_record(window, stop=end):
        window.anchor = window.offset
        follow_row(window, end)
        reached_end = window.offset >= end
        reached_content_end = window.ended and not window.left
        if reached_end or reached_content_end:
            window.move_to(window.anchor)
        window.anchor = None
        if reached_end or reached_content_end:
            return not reached_end
    window.require(HEADER_BYTES)
    if not window.has_right_length():
        find_record(window)
    return False


def follow_row(window: Window, end: int) -> None:
    """Goes from a record to where the row of frames that begins with it reaches `end` or breaks.

    It breaks at the end of the content, too.
    """
    while window.offset < end:
        scan = kernel.scan(window.data, start=window.begin, stop=end - window.position)
        window.begin = scan.end
        if scan.status == ScanStatus.LIMIT:
            return
        if scan.status != ScanStatus.MORE or window.ended or window.is_out_of_reach(scan.needed):
            return
        if not window.is_far(scan.needed):
            window.fill(scan.needed)
        elif _is_whole(window, scan.needed):
            window.move_to(window.offset + scan.needed)
        else:
            return


def _is_whole(window: Window, needed: int) -> bool:
    """Whether the frame at `begin` is known to be good; where it is large, it is read to find out.

    Args:
      window: where to look.
      needed: bytes of the frame, 0 where it was in memory and is good.
    """
    if needed > MAX_FRAME_BYTES:
        return False
    if window.is_far(needed):
        stored, computed = window.check_frame(needed)
        return stored == computed
    return not needed


class _Row(NamedTuple):
    """Frames that follow on each other. Of two rows the larger tuple is the more credible one.

    Attributes:
      goes_on: whether there are some, and what follows on them may be another.
      intact: minus the number of damaged frames in it; 0 where it breaks off.
      size: bytes in its frames.
    """

    goes_on: bool
    intact: int
    size: int


def _is_lookalike(window: Window) -> bool:
    """Whether the record found at `begin` is none: then there is one, or damage, a header further.

    A payload of 8 bytes and its CRC look like a header. If the payload is the number 8, the next
    frame's header, 8 bytes and their CRC, looks like what follows on that header. So where records
    spell 8 there are two rows of frames; the one that breaks off first is not real.
    """
    if window.data[window.begin :][:8] != _EIGHT:
        return False
    window.require(_MAX_FOLLOWED_BYTES)
    row, other = (_follow(window, window.begin + shift) for shift in (0, HEADER_BYTES))
    return other > row


def _follow(window: Window, begin: int) -> _Row:
    """Follows the row of frames from the index `begin` on, in the data that are in memory.

    A damaged frame breaks both rows at one place. So a row is followed over it, if it goes on
    behind it as if that was one of the frames that spell 8.
    """
    index, damaged = begin, 0
    while True:
        most = max(0, begin + _MAX_FOLLOWED_BYTES - index)
        scan = kernel.scan(window.data, start=index, max_bytes=most)
        limit = window.search_limit(_MAX_SEARCHED_BYTES)
        cut = scan.status == ScanStatus.MORE and scan.end != limit < scan.end + scan.needed
        size = scan.end - begin
        if scan.status in (ScanStatus.LIMIT, ScanStatus.MORE):
            goes_on = size > 0 and not cut
            return _Row(goes_on, -damaged if goes_on else 0, size)
        behind = scan.end + _EIGHT_FRAME_BYTES
        if (damaged and scan.end == index) or behind > len(window.data):
            return _Row(False, 0, size)
        index = behind
        damaged += 1
