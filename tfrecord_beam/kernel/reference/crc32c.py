"""CRC32C (Castagnoli, RFC 3720) and the masked form of it that TFRecord frames store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import crc32c as _crc32c

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MASK_DELTA = 0xA282EAD8  # TensorFlow, core/lib/hash/crc32c.h


def crc32c(data: Buffer, crc: int = 0) -> int:
    """Returns the CRC32C of `data`, continued from `crc`.

    >>> hex(crc32c(b"6789", crc32c(b"12345")))
    '0xe3069283'
    """
    return _crc32c.crc32c(data, crc)


def masked_crc32c(data: Buffer, crc: int = 0) -> int:
    """Returns the masked CRC32C of `data`, continued from the plain CRC32C `crc`.

    >>> hex(masked_crc32c(b""))
    '0xa282ead8'
    """
    crc = crc32c(data, crc)
    rotated = (crc >> 15 | crc << 17) & 0xFFFFFFFF
    return (rotated + _MASK_DELTA) & 0xFFFFFFFF
