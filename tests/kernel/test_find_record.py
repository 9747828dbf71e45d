"""`find_record`: where the first record starts in the middle of a file."""

from __future__ import annotations

import struct
from types import ModuleType

import pytest
from hypothesis import given, strategies as st

from tests import strategies
from tests.frames import framed, header, masked_crc32c
from tfrecord_beam.kernel.plan import Candidate

FILE = framed(b"", b"abc", b"12345678")  # Frames start at 0, 16 and 35, and end at 59.
END = len(FILE)


def find_slowly(data: bytes, start: int, stop: int, limit: int) -> Candidate:
    """Returns what `find_record` has to answer: each index tried in turn."""
    for position in range(start, stop):
        if position + 12 > len(data):
            return Candidate(position, False, 0)
        length, stored = struct.unpack_from("<QI", data, position)
        size = 16 + length
        if stored != masked_crc32c(data[position : position + 8]) or position + size > limit:
            continue
        if position + size > len(data):
            return Candidate(position, True, size)
        payload = data[position + 12 : position + 12 + length]
        if struct.unpack_from("<I", data, position + 12 + length) == (masked_crc32c(payload),):
            return Candidate(position, True, 0)
    return Candidate(stop, False, 0)


@pytest.mark.parametrize(
    ("start", "expected"), [(0, 0), (1, 16), (15, 16), (16, 16), (17, 35), (35, 35)]
)
def test_first_record_from_start(kernel: ModuleType, start: int, expected: int) -> None:
    found = kernel.find_record(FILE, start=start, stop=END, limit=END)
    assert isinstance(found, Candidate)
    assert found == (expected, True, 0)


def test_stop_is_exclusive(kernel: ModuleType) -> None:
    assert kernel.find_record(FILE, start=1, stop=16, limit=END) == (16, False, 0)
    assert kernel.find_record(FILE, start=1, stop=17, limit=END) == (16, True, 0)


@pytest.mark.parametrize("start", [0, 5, 16])
def test_nothing_to_search(kernel: ModuleType, start: int) -> None:
    assert kernel.find_record(FILE, start=start, stop=start, limit=END) == (start, False, 0)


def test_end_of_the_data(kernel: ModuleType) -> None:
    """The first index without 12 bytes after it ends the search."""
    assert kernel.find_record(FILE, start=36, stop=END, limit=END) == (48, False, 0)
    assert kernel.find_record(b"", start=0, stop=1, limit=100) == (0, False, 0)
    assert kernel.find_record(FILE[:11], start=0, stop=5, limit=END) == (0, False, 0)


def test_eight_byte_payload_looks_like_a_header(kernel: ModuleType) -> None:
    """Its CRC follows it as a length's would; the payload CRC that would follow gives it away."""
    trap = struct.pack("<Q", 3)
    data = framed(trap, b"abc")
    assert data[12:24] == header(3)
    assert kernel.find_record(data, start=1, stop=len(data), limit=len(data)) == (24, True, 0)


def test_eight_byte_payload_that_points_beyond_the_data(kernel: ModuleType) -> None:
    trap = struct.pack("<Q", 1000)
    data = framed(trap, b"abc")
    end = len(data)
    assert kernel.find_record(data, start=1, stop=end, limit=12 + 1016) == (12, True, 1016)
    assert kernel.find_record(data, start=1, stop=end, limit=12 + 1015) == (24, True, 0)


def test_payload_that_holds_records_fools_a_local_search(kernel: ModuleType) -> None:
    nested = framed(b"inner", b"records")
    data = framed(nested, b"outer")
    assert kernel.find_record(data, start=1, stop=len(data), limit=len(data)) == (12, True, 0)


def test_limit_is_where_the_last_frame_may_end(kernel: ModuleType) -> None:
    assert kernel.find_record(FILE, start=17, stop=40, limit=59) == (35, True, 0)
    assert kernel.find_record(FILE, start=17, stop=40, limit=58) == (40, False, 0)


@pytest.mark.parametrize("have", range(47, 59))
def test_payload_not_whole_in_the_data(kernel: ModuleType, have: int) -> None:
    assert kernel.find_record(FILE[:have], start=17, stop=59, limit=59) == (35, True, 24)


def test_payload_not_whole_and_beyond_the_limit(kernel: ModuleType) -> None:
    assert kernel.find_record(FILE[:50], start=17, stop=38, limit=58) == (38, False, 0)


def test_what_is_needed_is_enough(kernel: ModuleType) -> None:
    needed = kernel.find_record(FILE[:50], start=17, stop=59, limit=59).needed
    assert kernel.find_record(FILE[: 35 + needed], start=17, stop=59, limit=59) == (35, True, 0)


@pytest.mark.parametrize("length", [2**31, 2**63 - 17, 2**63, 2**64 - 16, 2**64 - 1], ids=hex)
def test_huge_lengths(kernel: ModuleType, length: int) -> None:
    """A frame that would end beyond the limit is none, however its length is added up."""
    data = header(length) + b"????" + framed(b"abc")
    assert kernel.find_record(data, start=0, stop=len(data), limit=len(data)) == (16, True, 0)
    assert kernel.find_record(data, start=0, stop=17, limit=2**31) == (16, True, 0)


def test_largest_limit(kernel: ModuleType) -> None:
    data = header(2**40) + bytes(8)
    assert kernel.find_record(data, start=0, stop=9, limit=2**63 - 1) == (0, True, 2**40 + 16)


@pytest.mark.parametrize("length", [2**63 - 17, 2**63 - 16, 2**63 - 1, 2**63, 2**64 - 1])
def test_length_beyond_every_limit(kernel: ModuleType, length: int) -> None:
    """Its frame would end where no file does, also for the largest limit that there is."""
    data = b"x" + header(length) + bytes(40)
    found = kernel.find_record(data, start=0, stop=20, limit=2**63 - 1)
    assert found == find_slowly(data, 0, 20, 2**63 - 1)
    assert kernel.find_record(data, start=1, stop=2, limit=-5) == Candidate(2, False, 0)


def test_every_bit_flipped(kernel: ModuleType) -> None:
    """A frame with a wrong bit is not found; the one after it is."""
    for bit in range(16 * 8, 35 * 8):
        wrong = bytearray(FILE)
        wrong[bit // 8] ^= 1 << bit % 8
        assert kernel.find_record(wrong, start=16, stop=END, limit=END) == (35, True, 0), bit


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Frames, garbage, nested files and headers of any length, one after the other."""
    small_header = st.integers(0, 60).map(header)
    huge_header = st.integers(2**60, 2**64 - 1).map(header)
    frames = strategies.payload_lists().map(lambda records: framed(*records))
    nested = frames.map(lambda inner: framed(inner))
    piece = st.one_of(frames, nested, small_header, huge_header, st.binary(max_size=20))
    return b"".join(draw(st.lists(piece, max_size=4)))


@given(
    data=files(),
    start=st.integers(0, 60),
    size=st.integers(0, 150),
    have=st.integers(0, 200),
    limit=st.integers(0, 250),
)
def test_against_a_slow_search(
    kernel: ModuleType, data: bytes, start: int, size: int, have: int, limit: int
) -> None:
    """Also when the buffer ends early, and when the file does."""
    data = data[:have]
    start = min(start, len(data))
    stop = start + size
    found = kernel.find_record(data, start=start, stop=stop, limit=limit)
    assert found == find_slowly(data, start, stop, limit)


def test_takes_any_buffer(kernel: ModuleType) -> None:
    for data in (bytearray(FILE), memoryview(b"?" + FILE)[1:]):
        assert kernel.find_record(data, start=1, stop=END, limit=END) == (16, True, 0)


def test_options_are_keyword_only(kernel: ModuleType) -> None:
    with pytest.raises(TypeError):
        kernel.find_record(FILE, 0, END, END)
