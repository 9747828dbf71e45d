"""`scan` and `frame`: the frames of a file, and why a scan ends."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests import strategies
from tests.frames import framed, header, masked_crc32c
from tfrecord_beam.errors import EncodeError
from tfrecord_beam.kernel.plan import Scan, ScanStatus

LIMIT, MORE = ScanStatus.LIMIT, ScanStatus.MORE
BAD_LENGTH_CRC, BAD_PAYLOAD_CRC = ScanStatus.BAD_LENGTH_CRC, ScanStatus.BAD_PAYLOAD_CRC

LARGEST = 2**63 - 1


def scan_slowly(
    data: bytes,
    start: int = 0,
    stop: int | None = None,
    max_records: int | None = None,
    max_bytes: int | None = None,
    validate_crc: bool = True,
) -> tuple[Any, ...]:
    """Returns what `scan` has to answer, bound by bound in the documented order."""
    spans: list[tuple[int, int]] = []
    position = start
    while True:
        rest = data[position:]
        if stop is not None and position >= stop:
            return spans, position, LIMIT, 0, 0, 0
        if max_records is not None and len(spans) == max_records:
            return spans, position, LIMIT, 0, 0, 0
        if len(rest) < 12:
            return spans, position, MORE, 12, 0, 0
        length, stored = struct.unpack("<QI", rest[:12])
        is_checked = validate_crc or not any(rest[:8])
        if is_checked and stored != masked_crc32c(rest[:8]):
            return spans, position, BAD_LENGTH_CRC, 0, stored, masked_crc32c(rest[:8])
        size = 16 + length
        if max_bytes is not None and spans and position - start + size > max_bytes:
            return spans, position, LIMIT, 0, 0, 0
        if len(rest) < size:
            return spans, position, MORE, min(size, LARGEST), 0, 0
        payload = rest[12 : 12 + length]
        (stored,) = struct.unpack("<I", rest[12 + length : size])
        if validate_crc and stored != masked_crc32c(payload):
            return spans, position, BAD_PAYLOAD_CRC, size, stored, masked_crc32c(payload)
        spans.append((position + 12, length))
        position += size


def as_tuple(found: Scan) -> tuple[Any, ...]:
    """Returns a `Scan` in the form of `scan_slowly`."""
    assert isinstance(found, Scan)
    spans = list(zip(found.offsets.tolist(), found.lengths.tolist(), strict=True))
    return spans, found.end, found.status, found.needed, found.stored, found.computed


RECORDS = [b"", b"abc", bytes(8)]
FILE = framed(*RECORDS)  # Frames start at 0, 16 and 35, and end at 59.


def test_file(kernel: ModuleType) -> None:
    found = kernel.scan(FILE)
    assert as_tuple(found) == ([(12, 0), (28, 3), (47, 8)], 59, MORE, 12, 0, 0)


def test_spans_are_memoryviews_of_int64(kernel: ModuleType) -> None:
    for data in (FILE, b""):
        found = kernel.scan(data)
        for view in (found.offsets, found.lengths):
            assert isinstance(view, memoryview)
            assert view.format in ("q", "l") and view.itemsize == 8
            assert view.ndim == 1 and view.contiguous


def test_spans_outlive_the_data(kernel: ModuleType) -> None:
    data = bytearray(FILE)
    found = kernel.scan(data)
    data.clear()  # Also: the buffer is no longer held.
    assert found.offsets.tolist() == [12, 28, 47]
    assert found.lengths.tolist() == [0, 3, 8]


def test_empty_data(kernel: ModuleType) -> None:
    assert as_tuple(kernel.scan(b"")) == ([], 0, MORE, 12, 0, 0)


def test_start_is_an_index_in_the_buffer(kernel: ModuleType) -> None:
    found = kernel.scan(b"?????" + FILE, start=5 + 16)
    assert as_tuple(found) == ([(33, 3), (52, 8)], 64, MORE, 12, 0, 0)


def test_start_at_the_end(kernel: ModuleType) -> None:
    assert as_tuple(kernel.scan(FILE, start=59)) == ([], 59, MORE, 12, 0, 0)


@pytest.mark.parametrize(
    ("stop", "count", "end"),
    [(0, 0, 0), (1, 1, 16), (16, 1, 16), (17, 2, 35), (35, 2, 35), (36, 3, 59), (59, 3, 59)],
)
def test_stop(kernel: ModuleType, stop: int, count: int, end: int) -> None:
    spans, *rest = as_tuple(kernel.scan(FILE, stop=stop))
    assert (len(spans), *rest) == (count, end, LIMIT, 0, 0, 0)


def test_stop_before_start(kernel: ModuleType) -> None:
    assert as_tuple(kernel.scan(FILE, start=16, stop=3)) == ([], 16, LIMIT, 0, 0, 0)


def test_stop_after_the_data(kernel: ModuleType) -> None:
    assert as_tuple(kernel.scan(FILE, stop=1000))[1:] == (59, MORE, 12, 0, 0)


@pytest.mark.parametrize(("max_records", "end"), [(1, 16), (2, 35), (3, 59)])
def test_max_records(kernel: ModuleType, max_records: int, end: int) -> None:
    spans, *rest = as_tuple(kernel.scan(FILE, max_records=max_records))
    assert (len(spans), *rest) == (max_records, end, LIMIT, 0, 0, 0)


def test_max_records_not_reached(kernel: ModuleType) -> None:
    assert as_tuple(kernel.scan(FILE, max_records=4))[1:] == (59, MORE, 12, 0, 0)


@pytest.mark.parametrize(
    ("max_bytes", "end", "status"),
    [
        (-1, 16, LIMIT),  # A first frame is always taken.
        (1, 16, LIMIT),
        (16, 16, LIMIT),
        (34, 16, LIMIT),
        (35, 35, LIMIT),
        (58, 35, LIMIT),
        (59, 59, MORE),
        (LARGEST, 59, MORE),
    ],
)
def test_max_bytes(kernel: ModuleType, max_bytes: int, end: int, status: ScanStatus) -> None:
    found = kernel.scan(FILE, max_bytes=max_bytes)
    assert (found.end, found.status) == (end, status)
    assert found.needed == (12 if status is MORE else 0)


def test_max_bytes_counts_from_start(kernel: ModuleType) -> None:
    assert as_tuple(kernel.scan(FILE, start=16, max_bytes=43))[1:3] == (59, MORE)
    assert as_tuple(kernel.scan(FILE, start=16, max_bytes=42))[1:3] == (35, LIMIT)


BROKEN_HEADER = FILE[:16] + b"\x07" + FILE[17:]  # Of the second frame.
BROKEN_PAYLOAD = FILE[:28] + b"A" + FILE[29:]  # Of the second frame, "abc".


@pytest.mark.parametrize(
    ("data", "bounds", "status", "needed"),
    [
        # Each line: what comes first wins over what comes later in the documented order.
        (FILE[:16], {"stop": 16, "max_records": 1}, LIMIT, 0),
        (FILE[:16], {"stop": 16}, LIMIT, 0),
        (FILE[:16], {"max_records": 1}, LIMIT, 0),
        (BROKEN_HEADER, {"stop": 16}, LIMIT, 0),
        (BROKEN_HEADER, {"max_records": 1}, LIMIT, 0),
        (BROKEN_HEADER[:27], {}, MORE, 12),
        (BROKEN_HEADER[:28], {}, BAD_LENGTH_CRC, 0),
        (BROKEN_HEADER, {"max_bytes": 1}, BAD_LENGTH_CRC, 0),
        (FILE[:27], {"max_bytes": 1}, MORE, 12),
        (FILE[:28], {"max_bytes": 1}, LIMIT, 0),
        (FILE[:28], {}, MORE, 19),
        (FILE[:34], {}, MORE, 19),
        (BROKEN_PAYLOAD, {"max_bytes": 34}, LIMIT, 0),
        (BROKEN_PAYLOAD, {"max_bytes": 35}, BAD_PAYLOAD_CRC, 19),
        (BROKEN_PAYLOAD[:34], {}, MORE, 19),
        (BROKEN_PAYLOAD, {}, BAD_PAYLOAD_CRC, 19),
    ],
)
def test_order_of_the_bounds(
    kernel: ModuleType, data: bytes, bounds: dict[str, int], status: ScanStatus, needed: int
) -> None:
    found = kernel.scan(data, **bounds)
    assert (found.end, found.status, found.needed) == (16, status, needed)
    assert found.offsets.tolist() == [12]


def test_crcs_of_a_bad_length(kernel: ModuleType) -> None:
    spans = [(12, 0)]
    stored, computed = masked_crc32c(FILE[16:24]), masked_crc32c(BROKEN_HEADER[16:24])
    expected = (spans, 16, BAD_LENGTH_CRC, 0, stored, computed)
    assert as_tuple(kernel.scan(BROKEN_HEADER)) == expected


def test_crcs_of_a_bad_payload(kernel: ModuleType) -> None:
    expected = ([(12, 0)], 16, BAD_PAYLOAD_CRC, 19, masked_crc32c(b"abc"), masked_crc32c(b"Abc"))
    assert as_tuple(kernel.scan(BROKEN_PAYLOAD)) == expected


def test_without_validation_neither_crc_is_looked_at(kernel: ModuleType) -> None:
    wrong = bytearray(FILE)
    for at in (12, 24, 31, 43, 55):
        wrong[at] ^= 0xFF
    assert kernel.scan(wrong).status == BAD_PAYLOAD_CRC
    assert as_tuple(kernel.scan(wrong, validate_crc=False)) == as_tuple(kernel.scan(FILE))


def test_without_validation_zero_bytes_are_not_empty_records(kernel: ModuleType) -> None:
    expected = ([(12, 0)], 16, BAD_LENGTH_CRC, 0, 0, masked_crc32c(bytes(8)))
    assert as_tuple(kernel.scan(framed(b"") + bytes(100), validate_crc=False)) == expected


@pytest.mark.parametrize(
    "length",
    [
        *(2**bits + near for bits in (31, 32, 62, 63) for near in (-17, -16, -1, 0)),
        *(2**64 - near for near in (17, 16, 15, 12, 4, 1)),
    ],
    ids=hex,
)
def test_huge_lengths(kernel: ModuleType, length: int) -> None:
    """A length is never added up to a small number, and nothing of its size is allocated."""
    needed = min(16 + length, LARGEST)
    data = header(length) + bytes(40)
    assert as_tuple(kernel.scan(data)) == ([], 0, MORE, needed, 0, 0)
    assert as_tuple(kernel.scan(data, validate_crc=False)) == ([], 0, MORE, needed, 0, 0)
    assert as_tuple(kernel.scan(data, max_bytes=1)) == ([], 0, MORE, needed, 0, 0)
    assert as_tuple(kernel.scan(FILE[:16] + data))[1:] == (16, MORE, needed, 0, 0)
    limited = kernel.scan(FILE[:16] + data, max_bytes=LARGEST)
    assert as_tuple(limited) == scan_slowly(FILE[:16] + data, max_bytes=LARGEST)


def test_every_prefix(kernel: ModuleType) -> None:
    for cut in range(len(FILE)):
        found = kernel.scan(FILE[:cut])
        assert as_tuple(found) == scan_slowly(FILE[:cut]), cut
        assert found.status == MORE
        assert found.end + found.needed > cut


def test_what_is_needed_is_enough(kernel: ModuleType) -> None:
    """Following `needed` step by step reads a file without ever asking for too much."""
    have, ends = 0, []
    while have < len(FILE):
        found = kernel.scan(FILE[:have])
        have = found.end + found.needed
        assert have <= len(FILE)
        ends.append(found.end)
    assert ends == [0, 0, 16, 16, 35, 35]


def test_every_bit_flipped(kernel: ModuleType) -> None:
    starts = [0, 16, 35]
    for bit in range(len(FILE) * 8):
        wrong = bytearray(FILE)
        wrong[bit // 8] ^= 1 << bit % 8
        found = kernel.scan(wrong)
        assert as_tuple(found) == scan_slowly(bytes(wrong)), bit
        at = max(start for start in starts if start <= bit // 8)
        in_header = bit // 8 < at + 12
        assert found.end == at, bit
        assert found.status == (BAD_LENGTH_CRC if in_header else BAD_PAYLOAD_CRC), bit


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Files of a few frames, sometimes with changed bytes."""
    data = framed(*draw(strategies.payload_lists()))
    return draw(strategies.mutations(data)) if draw(st.booleans()) else data


@given(
    data=files(),
    start=st.integers(0, 40),
    stop=st.none() | st.integers(0, 120),
    max_records=st.none() | st.integers(1, 5),
    max_bytes=st.none() | st.integers(0, 120),
    validate_crc=st.booleans(),
)
def test_against_a_slow_scanner(
    kernel: ModuleType,
    data: bytes,
    start: int,
    stop: int | None,
    max_records: int | None,
    max_bytes: int | None,
    validate_crc: bool,
) -> None:
    bounds: dict[str, Any] = {
        "start": min(start, len(data)),
        "stop": stop,
        "max_records": max_records,
        "max_bytes": max_bytes,
        "validate_crc": validate_crc,
    }
    assert as_tuple(kernel.scan(data, **bounds)) == scan_slowly(data, **bounds)


@given(records=strategies.payload_lists())
def test_frame(kernel: ModuleType, records: list[bytes]) -> None:
    data = kernel.frame(records)
    assert type(data) is bytes
    assert data == framed(*records)


@given(records=strategies.payload_lists(), cuts=st.lists(st.integers(1, 3), max_size=4))
def test_round_trip_in_pieces(kernel: ModuleType, records: list[bytes], cuts: list[int]) -> None:
    """What was framed is found again, also when a scan goes on where the one before it ended."""
    data = kernel.frame(tuple(records))
    found, position = [], 0
    for max_records in [*cuts, None]:
        result = kernel.scan(data, start=position, max_records=max_records)
        spans = zip(result.offsets, result.lengths, strict=True)
        found += [data[offset : offset + length] for offset, length in spans]
        position = result.end
    assert found == records
    assert position == len(data)


def test_frame_takes_any_buffers(kernel: ModuleType) -> None:
    buffers = [bytearray(b"one"), memoryview(b"-two-")[1:4], memoryview(bytes(8)).cast("Q")]
    assert kernel.frame(buffers) == framed(b"one", b"two", bytes(8))


def test_frame_of_no_records(kernel: ModuleType) -> None:
    assert kernel.frame([]) == b""


@pytest.mark.parametrize("records", [["text"], [b"one", None], b"one", 7], ids=repr)
def test_frame_of_what_is_no_record(kernel: ModuleType, records: object) -> None:
    with pytest.raises(TypeError):
        kernel.frame(records)


def test_frame_of_a_record_of_2_gib(kernel: ModuleType) -> None:
    """The bytes are never touched: the memory is mapped and not there."""
    with pytest.raises(EncodeError) as raised:
        kernel.frame([b"one", mmap.mmap(-1, 2**31)])
    expected = "Expected a record of less than 2 GiB, found a larger one - at record 1"
    assert str(raised.value) == expected


def test_scan_takes_any_buffer(kernel: ModuleType, tmp_path: Path) -> None:
    expected = as_tuple(kernel.scan(FILE))
    path = tmp_path / "a.tfrecord"
    path.write_bytes(FILE)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert as_tuple(kernel.scan(mapped)) == expected
    assert as_tuple(kernel.scan(bytearray(FILE))) == expected
    assert as_tuple(kernel.scan(memoryview(b"?" + FILE)[1:])) == expected


@pytest.mark.parametrize("start", [-1, 60, 2**62])
def test_start_out_of_range(kernel: ModuleType, start: int) -> None:
    with pytest.raises(ValueError):
        kernel.scan(FILE, start=start)


@pytest.mark.parametrize("max_records", [0, -1])
def test_max_records_below_one(kernel: ModuleType, max_records: int) -> None:
    with pytest.raises(ValueError):
        kernel.scan(FILE, max_records=max_records)


def test_options_are_keyword_only(kernel: ModuleType) -> None:
    with pytest.raises(TypeError):
        kernel.scan(FILE, 0)


@pytest.mark.parametrize("data", ["text", None, [b"one"]], ids=repr)
def test_scan_of_what_is_no_buffer(kernel: ModuleType, data: object) -> None:
    with pytest.raises(TypeError):
        kernel.scan(data)


@pytest.mark.parametrize("size", [0, 1, 100, 10_000, 9 << 20, 70 << 20])
def test_allocated_memory_is_the_callers_own(kernel: ModuleType, size: int) -> None:
    first, second = kernel.allocate(size), kernel.allocate(size)
    for view, byte in ((first, b"a"), (second, b"b")):
        assert (len(view), view.readonly, view.format, view.itemsize) == (size, False, "B", 1)
        view[:10] = byte * min(size, 10)
    del view
    assert bytes(first[:10]) == b"a" * min(size, 10)
    kept = first[:5]
    del first, second
    third = kernel.allocate(size)
    third[:10] = b"c" * min(size, 10)
    assert bytes(kept) == b"a" * min(size, 5)
