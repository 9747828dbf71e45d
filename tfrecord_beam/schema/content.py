"""Guesses from all values of a bytes feature what they are: images, text, UTF-8."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.schema.text import are_utf8

_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
    b"II*\0": "image/tiff",  # of either byte order
    b"MM\0*": "image/tiff",
}
_WEBP = r"(?s)^RIFF....WEBP"
MIN_IMAGE_BYTES = 26
"""Minimum size of an image file: a GIF has at least 26 bytes, other formats have no fewer."""
_CONTROL = r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]"
"""Control characters except tab, line feed and carriage return."""

_WORDS = 3
"""From this many words per value on average, values are language; else names, codes, categories."""


@dataclasses.dataclass
class Content:
    """What all examined values have in common.

    Attributes:
      values: how many values were examined; if none, the rest is meaningless.
      words: total number of words; counted only as long as all values are text.
      is_image: each begins like an image file (PNG, JPEG, GIF, BMP, TIFF, WebP).
      is_utf8: each is UTF-8.
      is_text: each is UTF-8 without control characters.
    """

    values: int = 0
    words: int = 0
    is_image: bool = True
    is_utf8: bool = True
    is_text: bool = True

    @property
    def is_language(self) -> bool:
        """Whether the values are text of several words."""
        return self.is_text and self.words >= _WORDS * self.values

    def add(self, values: pa.Array) -> None:
        """Adds values of a bytes or string type, none of them null."""
        values = values.cast(pa.large_binary())
        self.values += len(values)
        self.is_image = self.is_image and bool(pc.all(find_images(values), min_count=0).as_py())
        self.is_utf8 = self.is_utf8 and are_utf8(values)
        self.is_text = self.is_text and self.is_utf8 and not _any_matches(values, _CONTROL)
        if self.is_text:
            self.words += pc.sum(pc.count_substring_regex(values, r"\S+")).as_py() or 0

    def merge(self, other: Content) -> None:
        """Adds the values of another `Content`."""
        self.values += other.values
        self.words += other.words
        self.is_image = self.is_image and other.is_image
        self.is_utf8 = self.is_utf8 and other.is_utf8
        self.is_text = self.is_text and other.is_text


def find_images(values: pa.Array) -> pa.Array:
    """Returns which values of a bytes type begin like an image file."""
    found = pc.match_substring_regex(values, _WEBP)
    for magic in _IMAGES:
        found = pc.or_(found, pc.starts_with(values, magic))
    return found


def find_image_type(value: bytes) -> str | None:
    """Returns the media type of an image file, None if the bytes are not one.

    >>> find_image_type(b"GIF89a" + bytes(20)), find_image_type(b"BMX 5, a car of some size")
    ('image/gif', None)
    """
    if len(value) < MIN_IMAGE_BYTES:
        return None
    if value.startswith(b"RIFF") and value[8:12] == b"WEBP":
        return "image/webp"
    found = next((kind for magic, kind in _IMAGES.items() if value.startswith(magic)), None)
    if found == "image/bmp" and int.from_bytes(value[2:6], "little") != len(value):
        return None  # any text may begin with these two letters, but not with the file size next
    return found


def _any_matches(values: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(values, pattern), min_count=0).as_py())
