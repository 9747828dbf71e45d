"""Decompressed streams of formats made of chunks: snappy's own framing, and Hadoop's.

Neither has an end mark, so a file truncated between two chunks, or in Hadoop's framing between two
blocks, cannot be distinguished from a complete one.
"""

from __future__ import annotations

import abc
from collections.abc import Callable

import pyarrow as pa

from tfrecord_beam.kernel import masked_crc32c
from tfrecord_beam.records.decompression import READ_BYTES, BinaryFile, DecompressedStream

SNAPPY_IDENTIFIER = b"\xff\x06\x00\x00sNaPpY"

LZ4_MAGIC = b"\x04\x22\x4d\x18"

_LZ4_HEADER = LZ4_MAGIC + b"\x60\x70\x73"
"""Header of a frame of independent blocks of at most 4 MiB, without checksums after the header."""

_MAX_HADOOP_CHUNK_BYTES = 4 << 20
"""Maximum size of a block in an LZ4 frame. Hadoop's default buffer is 256 KiB."""


class _ChunkedStream(DecompressedStream):
    """Reads a file chunk by chunk."""

    def __init__(self, raw: BinaryFile, codec: str) -> None:
        super().__init__(raw, codec)
        self._input = b""
        self._position = 0
        self._content = memoryview(b"")

    def _fill(self, target: memoryview) -> int:
        while not self._content:
            if not self._require(1) and self._may_end():
                return 0
            self._content = self._next_content()
        count = min(len(target), len(self._content))
        target[:count] = self._content[:count]
        self._content = self._content[count:]
        return count

    def _may_end(self) -> bool:
        """Whether the file may end before the next chunk."""
        return True

    @abc.abstractmethod
    def _next_content(self) -> memoryview:
        """Consumes the next chunk and returns its content; empty for a chunk that is not data."""

    def _require(self, size: int) -> bool:
        """Reads until `size` bytes are available; False if the file ends before."""
        while len(self._input) - self._position < size:
            data = self._raw.read(READ_BYTES)
            if not data:
                return False
            self._input = self._input[self._position :] + data
            self._position = 0
        return True

    def _take(self, size: int) -> bytes:
        if not self._require(size):
            raise self._truncated()
        start, self._position = self._position, self._position + size
        return self._input[start : self._position]

    def _decompress(self, decode: Callable[[bytes, int], bytes], chunk: bytes, most: int) -> bytes:
        """Returns the content of a compressed chunk, at most `most` bytes."""
        try:
            return decode(chunk, most)
        except OSError as error:  # Arrow's class for damaged data
            raise self._damaged(error) from error


class SnappyStream(_ChunkedStream):
    """The snappy framing format: chunks of a type, a length and a masked CRC32C like TFRecord's.

    https://github.com/google/snappy/blob/main/framing_format.txt; Arrow decodes the single blocks.
    """

    _COMPRESSED, _UNCOMPRESSED, _PADDING, _IDENTIFIER = 0x00, 0x01, 0xFE, 0xFF
    _BLOCK_BYTES = 65536

    _identified = False

    def _next_content(self) -> memoryview:
        header = self._take(4)
        kind, chunk = header[0], self._take(int.from_bytes(header[1:], "little"))
        if kind == self._IDENTIFIER and chunk == SNAPPY_IDENTIFIER[4:]:
            self._identified = True
        elif not self._identified:
            raise self._damaged("no stream identifier")
        elif kind in (self._COMPRESSED, self._UNCOMPRESSED):
            return self._checked(kind, int.from_bytes(chunk[:4], "little"), chunk[4:])
        elif kind != self._PADDING:
            # The format allows skipping some unknown types. None is in use, and a data chunk with a
            # damaged type, which no checksum covers, must not be skipped.
            raise self._damaged(f"unknown chunk type {kind:#04x}")
        return memoryview(b"")

    def _checked(self, kind: int, stored: int, content: bytes) -> memoryview:
        if kind == self._COMPRESSED:
            content = self._decompress(_decode_snappy, content, self._BLOCK_BYTES)
        elif len(content) > self._BLOCK_BYTES:
            raise self._damaged(f"a chunk of {len(content)} bytes")
        computed = masked_crc32c(content)
        if stored != computed:
            raise self._damaged(f"chunk CRC stored {stored:#010x}, computed {computed:#010x}")
        return memoryview(content)


class HadoopStream(_ChunkedStream):
    """Hadoop's framing of raw snappy or lz4 blocks, as Spark writes ``.snappy`` and ``.lz4`` files.

    A block is its size before compression and then, until that much is there, chunks: each the size
    of a raw block and that block. Sizes are 32 bits, big endian. There are no checksums: those of
    the records must do.
    """

    def __init__(self, raw: BinaryFile, codec: str) -> None:
        super().__init__(raw, codec)
        self._decode = {"snappy": _decode_snappy, "lz4": _decode_lz4}[codec]
        self._block_left = 0

    def _may_end(self) -> bool:
        return not self._block_left

    def _next_content(self) -> memoryview:
        size = int.from_bytes(self._take(4), "big")
        if not self._block_left:
            self._block_left = size
            return memoryview(b"")
        if not 0 < size <= 2 * _MAX_HADOOP_CHUNK_BYTES:
            raise self._damaged(f"a chunk of {size} bytes")
        most = min(self._block_left, _MAX_HADOOP_CHUNK_BYTES)
        content = self._decompress(self._decode, self._take(size), most)
        self._block_left -= len(content)
        return memoryview(content)


def _decode_snappy(block: bytes, most: int) -> bytes:
    """Returns the content of a raw snappy block; OSError if it is damaged or larger than `most`."""
    size = _leading_varint(block)
    if size > most:
        raise OSError(f"a chunk of {size} bytes where at most {most} fit")
    content: bytes = pa.decompress(block, size, "snappy", asbytes=True)
    return content


def _decode_lz4(block: bytes, most: int) -> bytes:
    """Returns the content of a raw lz4 block; OSError if it is damaged or larger than `most`.

    A raw block does not contain its decompressed size. Inside a frame, Arrow determines it.
    """
    frame = _LZ4_HEADER + len(block).to_bytes(4, "little") + block + bytes(4)
    content: bytes = pa.CompressedInputStream(pa.BufferReader(frame), "lz4").read(most + 1)
    if len(content) > most:
        raise OSError(f"a chunk of more than the {most} bytes that fit")
    return content


def _leading_varint(data: bytes) -> int:
    """Returns the number that begins a snappy block: the size of its content."""
    value = 0
    for index, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    return value
