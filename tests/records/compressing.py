"""Compresses content without the library, by each codec that it reads."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable

import cramjam
import zstandard

from tfrecord_beam.records.chunked_decompression import SNAPPY_IDENTIFIER


def _compress_lz4(content: bytes) -> bytes:
    encoder = cramjam.lz4.Compressor(content_checksum=True)
    encoder.compress(content)
    return bytes(encoder.finish())


def _compress_snappy(content: bytes) -> bytes:
    return bytes(cramjam.snappy.compress(content)) or SNAPPY_IDENTIFIER


def _compress_zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def compress_hadoop(content: bytes, codec: str, *, block_bytes: int, chunk_bytes: int) -> bytes:
    """Returns content in Hadoop's framing: blocks, each of chunks, as "snappy" or "lz4"."""
    data = b""
    for block in _cut(content, block_bytes):
        data += len(block).to_bytes(4, "big")
        for chunk in map(_COMPRESS_RAW[codec], _cut(block, chunk_bytes)):
            data += len(chunk).to_bytes(4, "big") + chunk
    return data


def _cut(content: bytes, size: int) -> list[bytes]:
    return [content[start : start + size] for start in range(0, len(content), size)]


_COMPRESS_RAW: dict[str, Callable[[bytes], bytes]] = {
    "snappy": lambda content: bytes(cramjam.snappy.compress_raw(content)),
    "lz4": lambda content: bytes(cramjam.lz4.compress_block(content, store_size=False)),
}

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "bz2": bz2.compress,
    "zstd": _compress_zstd,
    "lz4": _compress_lz4,
    "snappy": _compress_snappy,
}
"""By codec: content to a file. The results hold checksums of their content."""
