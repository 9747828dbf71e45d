"""Compresses content without the library, by each codec that it reads."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable

import cramjam
import zstandard

from tfrecord_beam.records.decompression import SNAPPY_IDENTIFIER


def _compress_lz4(content: bytes) -> bytes:
    encoder = cramjam.lz4.Compressor(content_checksum=True)
    encoder.compress(content)
    return bytes(encoder.finish())


def _compress_snappy(content: bytes) -> bytes:
    return bytes(cramjam.snappy.compress(content)) or SNAPPY_IDENTIFIER


def _compress_zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "bz2": bz2.compress,
    "zstd": _compress_zstd,
    "lz4": _compress_lz4,
    "snappy": _compress_snappy,
}
"""By codec: content to a file. The results hold checksums of their content."""
