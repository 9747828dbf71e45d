"""Writes TFRecord files without the library, so that its framing can be checked."""

from __future__ import annotations

import struct

import crc32c


def masked_crc32c(data: bytes) -> int:
    """Returns the masked CRC32C of `data`."""
    crc = crc32c.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32


def header(length: int) -> bytes:
    """Returns the valid header of a frame with a payload of `length` bytes."""
    field = struct.pack("<Q", length)
    return field + struct.pack("<I", masked_crc32c(field))


def framed(*records: bytes) -> bytes:
    """Returns a file of `records`."""
    return b"".join(
        header(len(record)) + record + struct.pack("<I", masked_crc32c(record))
        for record in records
    )
