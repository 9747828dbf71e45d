"""Checks for UTF-8, and a safe way to print text from untrusted sources."""

from __future__ import annotations

import bisect

import pyarrow as pa
import pyarrow.types as pt


def are_utf8(values: pa.Array) -> bool:
    r"""Returns whether all values are UTF-8, also for strings, which Arrow does not check itself.

    >>> are_utf8(pa.array([b"a", None])), are_utf8(pa.array([b"\xff"]))
    (True, False)

    Args:
      values: strings, or bytes of any layout.
    """
    try:
        if pt.is_binary(values.type) or pt.is_large_binary(values.type):
            values.cast(pa.large_string())
        else:
            values.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def find_non_utf8(values: pa.Array) -> int | None:
    r"""Returns the index of the first value that is not UTF-8, None if all are.

    >>> find_non_utf8(pa.array([b"a", b"\xff"]))
    1
    """
    if are_utf8(values):
        return None
    indexes = range(len(values))
    return bisect.bisect_left(indexes, True, key=lambda i: not are_utf8(values[: i + 1]))


def make_printable(text: str) -> str:
    r"""Returns untrusted text, such as a name, in one line without control characters.

    >>> print(make_printable("clear \x1b[2J the screen, größe"))
    clear \x1b[2J the screen, größe
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )
