"""What the bytes of a feature are, guessed from all of its values: images, text, UTF-8."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.schema.text import are_utf8

_IMAGES = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",  # JPEG
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"II*\0",  # TIFF, of either byte order
    b"MM\0*",
)
_WEBP = r"(?s)^RIFF....WEBP"
_CONTROL = r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]"
"""Control characters but tab, line feed and carriage return."""

_WORDS = 3
"""Values that have so many words on average are language; fewer are names, codes, categories."""


@dataclasses.dataclass
class Content:
    """What all values have in common, as far as it was looked at.

    Attributes:
      values: how many were looked at; without any the rest means nothing.
      words: how many they have in all; counted while they are text.
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
        """Takes in values of a type of bytes or strings, none of them null."""
        values = values.cast(pa.large_binary())
        self.values += len(values)
        self.is_image = self.is_image and _are_images(values)
        self.is_utf8 = self.is_utf8 and are_utf8(values)
        self.is_text = self.is_text and self.is_utf8 and not _any_matches(values, _CONTROL)
        if self.is_text:
            self.words += pc.sum(pc.count_substring_regex(values, r"\S+")).as_py() or 0

    def merge(self, other: Content) -> None:
        """Takes in all that another one knows."""
        self.values += other.values
        self.words += other.words
        self.is_image = self.is_image and other.is_image
        self.is_utf8 = self.is_utf8 and other.is_utf8
        self.is_text = self.is_text and other.is_text


def _are_images(values: pa.Array) -> bool:
    found = pc.match_substring_regex(values, _WEBP)
    for magic in _IMAGES:
        found = pc.or_(found, pc.starts_with(values, magic))
    return bool(pc.all(found, min_count=0).as_py())


def _any_matches(values: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(values, pattern), min_count=0).as_py())
