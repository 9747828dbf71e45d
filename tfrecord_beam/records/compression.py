"""Detects the codec of a file, and decompresses its content in bounded memory.

For every codec, several compressed streams in a row are one content (RFC 1952, section 2.2, for
gzip), an empty file is an empty content, and anything else that is not complete streams is an
error: a stream that ends early, a wrong checksum, bytes after the last stream. The exceptions are
snappy's framing format and Hadoop's framing of snappy and lz4, which have no end mark: a file
truncated between two of their chunks or blocks cannot be distinguished from a complete one.
"""

from __future__ import annotations

import bz2
import posixpath
import zlib
from collections.abc import Callable, Collection

from tfrecord_beam.kernel import masked_crc32c
from tfrecord_beam.options import describe
from tfrecord_beam.records.chunked_decompression import (
    LZ4_MAGIC,
    SNAPPY_IDENTIFIER,
    HadoopStream,
    SnappyStream,
)
from tfrecord_beam.records.decompression import (
    ArrowStream,
    BinaryFile,
    ByteStream,
    DecoderStream,
    Inflater,
    read_exactly,
)

HEAD_BYTES = 4096
"""How much of the beginning of a file `detect_codec` needs."""

_SPELLINGS = {
    "none": ("none", "uncompressed", ""),
    "gzip": ("gzip", "gz"),
    "zlib": ("zlib", "deflate"),
    "bz2": ("bz2", "bzip2"),
    "zstd": ("zstd", "zst"),
    "lz4": ("lz4",),
    "snappy": ("snappy", "sz"),
}
_CODECS = {spelling: codec for codec, spellings in _SPELLINGS.items() for spelling in spellings}

_MAGIC_NUMBERS = {
    b"\x1f\x8b\x08": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    LZ4_MAGIC: "lz4",
    SNAPPY_IDENTIFIER: "snappy",
}

_LZ4_MAGICS = (LZ4_MAGIC, *(bytes([low]) + b"\x2a\x4d\x18" for low in range(0x50, 0x60)))
"""The first bytes of a frame, or of a skippable frame."""

_STREAMS: dict[str, Callable[[BinaryFile], ByteStream]] = {
    "gzip": lambda raw: DecoderStream(raw, "gzip", lambda: Inflater(16 + zlib.MAX_WBITS)),
    "zlib": lambda raw: DecoderStream(raw, "zlib", lambda: Inflater(zlib.MAX_WBITS)),
    "bz2": lambda raw: DecoderStream(raw, "bz2", bz2.BZ2Decompressor),
    "zstd": lambda raw: ArrowStream(raw, "zstd"),
    "lz4": lambda raw: _framed_by(raw, "lz4", _LZ4_MAGICS, ArrowStream),
    "snappy": lambda raw: _framed_by(raw, "snappy", (SNAPPY_IDENTIFIER[:4],), SnappyStream),
}


def resolve_codec(option: str | None) -> str:
    """Returns the codec for a `compression` option, or "auto".

    >>> resolve_codec("GZIP"), resolve_codec(".zst"), resolve_codec(None)
    ('gzip', 'zstd', 'none')

    Args:
      option: name or file suffix of a codec, in upper or lower case, also in the spellings of
        TensorFlow and Beam; None or "" for uncompressed files; "auto" to detect it for each file.

    Raises:
      ValueError: for anything else.
    """
    if option is None:
        return "none"
    spelling = option.lower().removeprefix(".") if isinstance(option, str) else None
    if spelling == "auto":
        return "auto"
    if spelling not in _CODECS:
        allowed = ", ".join(repr(name) for name in ("auto", *_CODECS) if name)
        raise ValueError(
            f"Expected compression to be None or one of {allowed}, found {describe(option)}"
        )
    return _CODECS[spelling]


def detect_codec(head: bytes, name: str) -> str:
    """Returns the codec of a file, detected from its content, else from its name.

    An uncompressed TFRecord is "none" whatever its name, because some stores decompress on the fly.
    zlib has no usable magic number; it is recognized if its content is a TFRecord or empty.
    Hadoop's framing has none either; it is recognized by the suffix ``.snappy`` or ``.lz4``.

    Args:
      head: the first `HEAD_BYTES` bytes of the file, fewer only if it is shorter.
      name: its path or URL.
    """
    if not head or _begins_record(head):
        return "none"
    for magic, codec in _MAGIC_NUMBERS.items():
        if head.startswith(magic):
            return codec
    if _is_zlib(head):
        return "zlib"
    return codec_of_name(name)


def read_codec(raw: BinaryFile, name: str) -> str:
    """Returns the codec of an open file, as `detect_codec`, and goes back to its start."""
    head = read_exactly(raw, HEAD_BYTES)
    raw.seek(0)
    return detect_codec(head, name)


def codec_of_name(name: str) -> str:
    """Returns the codec for the suffix of a path or URL.

    >>> codec_of_name("a.tfrecord.gz"), codec_of_name("a.tfrecord")
    ('gzip', 'none')
    """
    suffix = posixpath.splitext(name)[1].lower().removeprefix(".")
    return _CODECS.get(suffix, "none")


def open_decompressed(raw: BinaryFile, codec: str) -> ByteStream:
    """Returns the decompressed content of `raw`, which is closed with it.

    Memory is bounded by a few MiB and the size of the caller's target, however well the file
    compresses. Reading raises CorruptRecordError if the file is truncated or damaged; its `offset`
    is the number of bytes delivered before. These are nearly all: up to 64 KiB may be missing for
    zstd and lz4, and the content of 16 KiB of the file for gzip and zlib. If only the checksum at
    the end of a file is wrong, gzip and zlib deliver everything.

    Args:
      raw: the file, at its start.
      codec: one of the results of `detect_codec`.
    """
    if codec == "none":
        return raw
    return _STREAMS[codec](raw)


def _framed_by(
    raw: BinaryFile,
    codec: str,
    magics: Collection[bytes],
    standard: Callable[[BinaryFile, str], ByteStream],
) -> ByteStream:
    """Returns a stream of the codec's own format if the file begins like one, else of Hadoop's.

    No Hadoop file begins like that, because its first block is never so large.
    """
    head = raw.read(4)[:4]
    raw.seek(0)
    is_standard = any(magic.startswith(head) for magic in magics)
    return standard(raw, codec) if is_standard else HadoopStream(raw, codec)


def _begins_record(data: bytes) -> bool:
    """Whether the first 12 bytes are the header of a TFRecord frame."""
    return len(data) >= 12 and masked_crc32c(data[:8]) == int.from_bytes(data[8:12], "little")


def _is_zlib(head: bytes) -> bool:
    decoder = zlib.decompressobj()
    try:
        start = decoder.decompress(head, 12)
    except zlib.error:
        return False
    return _begins_record(start) or (decoder.eof and not start)
