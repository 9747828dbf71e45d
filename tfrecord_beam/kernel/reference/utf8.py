"""The check for UTF-8."""

from __future__ import annotations


def is_utf8(data: bytes) -> bool:
    """Returns whether bytes are UTF-8, according to Python's decoder."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
