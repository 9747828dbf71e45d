"""CRC32C against the vectors of RFC 3720 and another implementation."""

from __future__ import annotations

from array import array
from types import ModuleType

import crc32c as package
import pytest
from hypothesis import given, strategies as st

# RFC 3720, B.4, "CRC Examples": bytes in order, and the CRC as the number that those bytes spell.
RFC_3720 = {
    "zeros": (bytes(32), 0x8A9136AA),
    "ones": (b"\xff" * 32, 0x62A8AB43),
    "incrementing": (bytes(range(32)), 0x46DD794E),
    "decrementing": (bytes(range(31, -1, -1)), 0x113FDB5C),
    "iscsi read": (
        bytes.fromhex(
            "01c00000 00000000 00000000 00000000 14000000 00000400"
            "00000014 00000018 28000000 00000000 02000000 00000000"
        ),
        0xD9963A56,
    ),
    "check": (b"123456789", 0xE3069283),
    "empty": (b"", 0),
}

NOISE = bytes((i * i * 31 + i * 7 + 11) % 251 for i in range(400))


@pytest.mark.parametrize(("data", "expected"), RFC_3720.values(), ids=RFC_3720)
def test_rfc_3720(kernel: ModuleType, data: bytes, expected: int) -> None:
    assert kernel.crc32c(data) == expected


def test_every_length(kernel: ModuleType) -> None:
    for length in range(301):
        assert kernel.crc32c(NOISE[:length]) == package.crc32c(NOISE[:length]), length


def test_each_variant_of_this_cpu() -> None:
    """Beyond 256 bytes some take 256 at a time, then 64, then 8."""
    variants = pytest.importorskip("tfrecord_beam.kernel._native")._crc32c_variants()
    assert list(variants)[-1] == "portable"
    view = memoryview(NOISE * 4)
    for name, crc32c in variants.items():
        for length in [*range(240, 600), 959, 960, 1535, 1599]:
            for start in (0, 1):
                part, crc = view[start : start + length], length * 0x9E3779B1 % 2**32
                assert crc32c(part, crc) == package.crc32c(part, crc), (name, start, length)


def test_every_alignment(kernel: ModuleType) -> None:
    view = memoryview(NOISE)
    for start in range(17):
        for length in (0, 1, 7, 8, 9, 63, 64, 65, 300):
            part = view[start : start + length]
            assert kernel.crc32c(part) == package.crc32c(part), (start, length)


@pytest.mark.parametrize(
    "length", [959, 960, 961, 1151, 1152, 2198, 4095, 4096, 6144, 7104, 8192, 100_003, 1 << 20]
)
def test_long_data(kernel: ModuleType, length: int) -> None:
    """Long enough for any code path that works on several streams at a time."""
    data = (NOISE * (length // len(NOISE) + 1))[:length]
    assert kernel.crc32c(data) == package.crc32c(data)


def test_continuation_at_every_cut(kernel: ModuleType) -> None:
    whole = kernel.crc32c(NOISE)
    for cut in range(len(NOISE) + 1):
        assert kernel.crc32c(NOISE[cut:], kernel.crc32c(NOISE[:cut])) == whole, cut


@given(data=st.binary(max_size=200), crc=st.integers(0, 2**32 - 1))
def test_continuation_from_any_crc(kernel: ModuleType, data: bytes, crc: int) -> None:
    assert kernel.crc32c(data, crc) == package.crc32c(data, crc)
    assert kernel.crc32c(data, crc=crc) == package.crc32c(data, crc)


@given(data=st.binary(max_size=200))
def test_mask(kernel: ModuleType, data: bytes) -> None:
    crc = package.crc32c(data)
    rotated = (crc >> 15) | (crc << 17) % 2**32
    assert kernel.masked_crc32c(data) == (rotated + 0xA282EAD8) % 2**32


@given(data=st.binary(max_size=60), cut=st.integers(0, 60))
def test_mask_continues_from_a_plain_crc(kernel: ModuleType, data: bytes, cut: int) -> None:
    crc = kernel.crc32c(data[:cut])
    assert kernel.masked_crc32c(data[cut:], crc) == kernel.masked_crc32c(data)
    assert kernel.masked_crc32c(data[cut:], crc=crc) == kernel.masked_crc32c(data)


def test_mask_of_nothing_is_the_constant(kernel: ModuleType) -> None:
    assert kernel.masked_crc32c(b"") == 0xA282EAD8


@pytest.mark.parametrize(
    "data",
    [
        bytearray(NOISE),
        memoryview(NOISE),
        array("I", [1, 2, 3]),
        memoryview(b"\1\2\3\4\5\6\7\x08").cast("Q"),
        memoryview(NOISE[:6]).cast("B", (2, 3)),
    ],
    ids=["bytearray", "memoryview", "array", "cast", "two dimensions"],
)
def test_any_contiguous_buffer(kernel: ModuleType, data: memoryview) -> None:
    """The bytes count, whatever the buffer calls its items."""
    expected = memoryview(data).tobytes()
    assert kernel.crc32c(data) == package.crc32c(expected)
    assert kernel.masked_crc32c(data) == kernel.masked_crc32c(expected)


@pytest.mark.parametrize("data", ["text", None, 7, [1, 2]], ids=repr)
def test_what_is_no_buffer(kernel: ModuleType, data: object) -> None:
    with pytest.raises(TypeError):
        kernel.crc32c(data)
    with pytest.raises(TypeError):
        kernel.masked_crc32c(data)


def test_buffer_with_gaps(kernel: ModuleType) -> None:
    with pytest.raises((BufferError, TypeError, ValueError)):
        kernel.crc32c(memoryview(NOISE)[::2])
