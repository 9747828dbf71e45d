"""Tests of what is known of quotes in CSV."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.records.csv_quotes import OpenQuote


def line_of(*parts: bytes, delimiter: bytes = b",") -> int | None:
    quote = OpenQuote(delimiter)
    for part in parts:
        quote.feed(part)
    return quote.line


def simple(content: bytes) -> int | None:
    """The same, a character at a time."""
    opened: int | None = None
    line, before = 1, ord("\n")
    is_open = False
    for character in content:
        if character == ord('"'):
            if is_open:
                is_open, character = False, -1  # one that closes
            elif before in set(b",\r\n"):
                is_open, opened = True, line
            elif before == -1:
                is_open = True
        line += character == ord("\n")
        before = character
    return opened if is_open else None


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", None),
        (b'"', 1),
        (b'a\n"b', 2),
        (b'a\r\n"b\nc\n', 2),
        (b'"a""', 1),
        (b'"a""b"', None),
        (b'"a"b"', None),
        (b'a"b,c"d', None),
        (b'5" pipe\n"', 2),
        (b'x,"a\n""b""\n', 1),
        (b'""', None),
        (b'"""', 1),
    ],
)
def test_line(content: bytes, line: int | None) -> None:
    assert line_of(content) == simple(content) == line


def test_delimiter() -> None:
    assert line_of(b'a;"b', delimiter=b";") == 1
    assert line_of(b'a,"b', delimiter=b";") is None


@given(st.lists(st.lists(st.sampled_from(list(b'"""a,\r\n')), max_size=12).map(bytes), max_size=6))
def test_pieces_are_like_the_whole(parts: list[bytes]) -> None:
    assert line_of(*parts) == simple(b"".join(parts)) == line_of(b"".join(parts))
