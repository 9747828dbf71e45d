"""Small image files of every kind that browsers show."""

from __future__ import annotations

import base64
import struct
import zlib


def make_png(width: int = 2, height: int = 2) -> bytes:
    """Returns a red PNG."""
    rows = (b"\0" + b"\xff\x20\x20" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def make_bmp() -> bytes:
    """Returns a BMP of one green pixel."""
    pixels = b"\x20\xc0\x20\0"
    info = struct.pack("<IiiHHIIiiII", 40, 1, 1, 1, 24, 0, len(pixels), 0, 0, 0, 0)
    size = 14 + len(info) + len(pixels)
    return b"BM" + struct.pack("<IHHI", size, 0, 0, 14 + len(info)) + info + pixels


JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQ"
    "c1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSk"
    "pKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAACAAIDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA"
    "AAX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABAX/xAAUEQEAAAAAAAAAAAAAAAAA"
    "AAAA/9oADAMBAAIRAxEAPwCcAsDv/9k="
)
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAA/wAAACwAAAAAAQABAAACAkQBADs=")
WEBP = base64.b64decode(
    "UklGRjQAAABXRUJQVlA4ICgAAABwAQCdASoCAAIABABoJaACdAFAAAD+7HDf/G8f5Lv7d9vPXFzZFpAA"
)

IMAGES = {
    "image/png": make_png(),
    "image/jpeg": JPEG,
    "image/gif": GIF,
    "image/webp": WEBP,
    "image/bmp": make_bmp(),
}
