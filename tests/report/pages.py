"""Looks into the pages of reports as a browser would, and makes data of every kind for them."""

from __future__ import annotations

import gzip
import html.parser
import pathlib
from collections.abc import Iterator

from tests.frames import framed
from tests.report.images import IMAGES
from tests.wire import bytes_list, entry, example, floats, int64

HOSTILE = "\x1b[2J\"'&</bdi></style><script>alert(1)</script>\u202e{{ 7 * 7 }}"
VOID = {"meta", "img", "br", "path", "rect"}


class Page(html.parser.HTMLParser):
    """A page that is well-formed: each element is closed where it should be.

    Attributes:
      elements: (tag, attributes) of each.
      texts: (tag around it, text) of each that is more than blanks.
    """

    def __init__(self, content: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open = [""]
        self.feed(content)
        self.close()
        assert self._open == [""]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self._open[-1], data.strip()))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Returns the attributes of all elements of one tag."""
        return [attributes for name, attributes in self.elements if name == tag]

    def texts_in(self, tag: str) -> list[str]:
        """Returns the texts right in elements of one tag."""
        return [text for name, text in self.texts if name == tag]


def records() -> Iterator[bytes]:
    """Yields records with numbers, texts, images, and names that no page likes."""
    images = [*IMAGES.values()]
    for i in range(40):
        entries = [
            entry("age", int64(20 + i % 30)),
            entry("image", bytes_list(images[i % len(images)])),
            entry("label", bytes_list(b"cat" if i % 3 else b"dog")),
            entry("scores", floats(*(0.25 * j - i for j in range(i % 4)))),
            entry(HOSTILE, bytes_list(HOSTILE.encode(), b"\xff\0")),
            entry("loss", floats(float("nan") if i % 5 else float("inf"), 0.0)),
        ]
        if i % 8 == 0:
            entries.append(entry("rare", int64(10**i % 2**40)))
        yield example(*entries)


def write_files(folder: pathlib.Path) -> pathlib.Path:
    """Writes files, whole, damaged and empty ones, of names that no page likes; returns where."""
    data = folder / "data"
    data.mkdir()
    whole = framed(*records(), b"\xff is no message")
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    (data / "a.tfrecord").write_bytes(whole)
    (data / f"b{HOSTILE.replace('/', '')}.tfrecord").write_bytes(damaged)
    (data / "c.tfrecord.gz").write_bytes(gzip.compress(whole)[:-20])
    (data / "empty.tfrecord").write_bytes(b"")
    return data
