"""Finds a record in a file when it is not known where its records begin.

**Cost.** At each byte passed over, the CRC of a possible length field is computed; if it matches,
which happens by chance once in 4 billion bytes, so is the CRC of the payload. A file crafted to
slow a reader down can hold many lengths with matching CRCs, and each costs reading that many bytes,
2 GiB at most: 1000 lengths of 16 MiB took 4 seconds.
"""

from __future__ import annotations

from typing import NamedTuple

from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import ScanStatus
from tfrecord_beam.records.block import FRAME_BYTES, HEADER_BYTES, MAX_FRAME_BYTES
from tfrecord_beam.records.window import NO_STOP, Window

_MAX_SEARCHED_BYTES = 256 << 20
"""If the end of the content is unknown, the search ignores frames that reach further than this."""

_MAX_FOLLOWED_BYTES = 64 << 10
"""How far frames are followed to distinguish real ones from lookalikes."""

_EIGHT = (8).to_bytes(8, "little")
_EIGHT_FRAME_BYTES = len(_EIGHT) + FRAME_BYTES


def find_record(window: Window, *, stop: int = NO_STOP) -> bool:
    """Goes to the first intact record from `begin` on and returns True, if it starts before `stop`.

    Otherwise goes to the end of the content, or to some offset at or after `stop`.
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
    """Goes to the first record from `begin` on that is not part of a damaged record up to `end`.

    A damaged record may contain TFRecord data, or it may have been cut short and other records
    written after it. In the first case a row of consecutive frames inside it breaks at its end at
    the latest, because the CRC of the damaged record stands there. So a record before `end` counts
    only if the row of frames that starts with it reaches `end` without a break. Where a row breaks,
    the search continues. From `end` on any record counts, even a damaged one if its length matches
    its CRC.

    Args:
      window: where to look; it is at the damaged record's payload.
      end: offset of the end of the damaged record, according to its length.

    Returns:
      Whether the record found may still be part of the damaged one. That is so if the content ends
      before `end`: then it is enough that the row reaches the end of the content, and it may be the
      beginning of a row inside a damaged record that was cut off there.
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
    """Follows the row of consecutive frames from `begin` on until it reaches `end` or breaks.

    The end of the content also breaks it.
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
    """Whether the frame at `begin` is known to be intact; a large frame is read to find out.

    Args:
      window: where to look.
      needed: bytes of the frame, 0 if it was in memory and has been checked.
    """
    if needed > MAX_FRAME_BYTES:
        return False
    if window.is_far(needed):
        stored, computed = window.check_frame(needed)
        return stored == computed
    return not needed


class _Row(NamedTuple):
    """A row of consecutive frames. Of two rows the larger tuple is the more credible one.

    Attributes:
      goes_on: whether the row has frames and does not break off after them.
      intact: minus the number of damaged frames in the row; 0 if it breaks off.
      size: bytes in its frames.
    """

    goes_on: bool
    intact: int
    size: int


def _is_lookalike(window: Window) -> bool:
    """Whether the frame at `begin` is not real; then the next one starts 12 bytes further on.

    A payload of 8 bytes followed by its CRC has the form of a header. If that payload is the number
    8, the header is valid, and the next frame's length and CRC have the form of its payload::

      real frames   | 8 | crc | 8 | crc | length | crc | payload ...
      lookalike               | 8 | crc | 8 bytes| crc |

    So where records hold the number 8, frames are ambiguous: there are two rows of them, 12 bytes
    apart. The one that breaks off first is not real.
    """
    if window.data[window.begin :][:8] != _EIGHT:
        return False
    window.require(_MAX_FOLLOWED_BYTES)
    row, other = (_follow(window, window.begin + shift) for shift in (0, HEADER_BYTES))
    return other > row


def _follow(window: Window, begin: int) -> _Row:
    """Follows the row of frames that starts at the index `begin`, within the data in memory.

    One damaged frame breaks both rows at the same place and would decide nothing. So a damaged
    frame is stepped over as if it were a frame with 8 bytes of payload, and the row breaks off only
    if no intact frame follows.
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
