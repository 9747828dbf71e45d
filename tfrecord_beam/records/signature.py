"""Recognizes, from its first bytes, a file that is not a TFRecord file."""

from __future__ import annotations

import codecs
import re

_BINARY: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "a Parquet file"),
    (b"PARE", "an encrypted Parquet file"),
    (b"Obj\x01", "an Avro file"),
    (b"ORC", "an ORC file"),
    (b"ARROW1\0\0", "an Arrow or Feather file"),
    (b"FEA1", "a Feather file"),
    (b"\xff\xff\xff\xff", "an Arrow IPC stream"),
    (b"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f", "a Riegeli or ArrayRecord file"),
    (b"\x0a\x23\xd7\xce", "an MXNet RecordIO file"),
    (b"SEQ\x06", "a Hadoop SequenceFile"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x80\x05\x95", "a Python pickle"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x1f\x8b", "a gzip-compressed file"),
    (b"BZh", "a bzip2-compressed file"),
    (b"\x28\xb5\x2f\xfd", "a zstd-compressed file"),
    (b"\x04\x22\x4d\x18", "an lz4-compressed file"),
    (b"\xff\x06\x00\x00sNaPpY", "a snappy-compressed file"),
    (b"\xfd7zXZ\0", "an xz-compressed file"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF-", "a PDF document"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (bytes(12), "zero bytes (was it written completely?)"),
)

_TAR_MAGIC, _TAR_MAGIC_OFFSET = b"ustar", 257

_TEXT: tuple[tuple[str, str], ...] = (
    (r"version https://git-lfs", "a Git-LFS pointer (run `git lfs pull`)"),
    (r"(?i)<!doctype html|<html", "an HTML page"),
    (r"<[?!a-zA-Z]", "an XML document"),
    (r"features\s*:?\s*\{", "a tf.train.Example in text format"),
    (r"\{\s*(\"|\}|$)|\[", "JSON"),
    (r".*[,;\t]", "CSV or other text"),
    (r"", "text"),
)
"""Patterns for the beginning of text, after white space; the first that matches is used."""


def describe_content(head: bytes) -> str | None:
    """Returns what a file seems to be, for "Expected a TFRecord file, found ..."; None if unknown.

    >>> describe_content(b"PAR1...")
    'a Parquet file'

    Args:
      head: the first bytes of a file that does not begin with a TFRecord frame; a few hundred are
        enough, fewer only if the file is shorter.
    """
    for magic, description in _BINARY:
        if head.startswith(magic):
            return description
    if head.startswith(_TAR_MAGIC, _TAR_MAGIC_OFFSET):
        return "a tar archive"
    text = _decode_text(head).lstrip()
    if not text:
        return None
    return next(description for pattern, description in _TEXT if re.match(pattern, text))


def _decode_text(head: bytes) -> str:
    """Returns UTF-8 text, without a truncated character at its end; "" if it is not text."""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return ""
    return text if all(letter.isprintable() or letter.isspace() for letter in text) else ""
