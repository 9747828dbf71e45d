"""The streams of `compression.open_decompressed` that a library decodes as a whole.

Formats whose chunks are parsed by this package are in `chunked_decompression`. Each stream takes an
open file and has `readinto` and `close`; truncated or damaged data are a CorruptRecordError.
"""

from __future__ import annotations

import abc
import zlib
from collections.abc import Callable
from typing import Any, Protocol

import pyarrow as pa

from tfrecord_beam.errors import CorruptRecordError, Location

_zlib: Any
try:  # Same functions and results as zlib, two to three times as fast.
    from isal import isal_zlib as _zlib
except ImportError:
    _zlib = zlib

READ_BYTES = 1 << 20
"""How much of a compressed file is read at a time: on an object store each read is a request."""

_STEP_BYTES = 1 << 14
"""How much of that is decoded per call. If a call fails, its output up to there is lost."""

_CHECKSUM_BYTES = 4
"""Size of the checksum at the end of a zlib or gzip stream; gzip also has a size of 4 bytes."""

_ARROW_STEP_BYTES = 1 << 16
"""Output size per call of Arrow, which discards the output of a failed call: at most this much."""


class BinaryFile(Protocol):
    """The operations needed of an open file. ``b""`` and 0 mean its end."""

    def read(self, size: int, /) -> bytes: ...
    def readinto(self, target: memoryview, /) -> int | None: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def tell(self) -> int: ...
    def close(self) -> None: ...


def read_exactly(raw: BinaryFile, size: int) -> bytes:
    """Returns the next `size` bytes of a file, fewer only at the end."""
    parts = []
    while size and (part := raw.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class ByteStream(Protocol):
    """A content that is read once, from its start."""

    def readinto(self, target: memoryview, /) -> int | None:
        """Fills a part of `target` and returns the number of bytes; 0 only at the end."""

    def close(self) -> None: ...


class DecompressedStream(abc.ABC):
    """The common part of all codecs: counts the bytes delivered, and makes the errors."""

    def __init__(self, raw: BinaryFile, codec: str) -> None:
        self._raw = raw
        self._codec = codec
        self._delivered = 0

    def readinto(self, target: memoryview, /) -> int:
        if not len(target):
            return 0
        count = self._fill(target)
        self._delivered += count
        return count

    def close(self) -> None:
        self._raw.close()

    @abc.abstractmethod
    def _fill(self, target: memoryview) -> int:
        """Fills a part of a non-empty target."""

    def _damaged(self, reason: object) -> CorruptRecordError:
        return CorruptRecordError(
            f"Expected {self._codec} data, found bytes that do not decompress: {reason}",
            Location(offset=self._delivered),
        )

    def _truncated(self) -> CorruptRecordError:
        return CorruptRecordError(
            f"Expected a whole {self._codec} stream, found the end of the file inside it",
            Location(offset=self._delivered),
            "was it copied completely?",
        )


class _Decoder(Protocol):
    """The interface of `bz2.BZ2Decompressor`: decodes one stream, bounded at both ends."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class Inflater:
    """zlib's decompressor with the interface of bz2's, which keeps unused input itself."""

    def __init__(self, window_bits: int) -> None:
        self._decoder = _zlib.decompressobj(window_bits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decoder.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        output = bytes(self._decoder.decompress(self._decoder.unconsumed_tail + data, max_length))
        # If the output has full length, there may be more inside the decompressor.
        self.needs_input = not self._decoder.unconsumed_tail and len(output) < max_length
        return output


class DecoderStream(DecompressedStream):
    """gzip, zlib and bz2: a new decoder for each stream in the file."""

    def __init__(self, raw: BinaryFile, codec: str, new_decoder: Callable[[], _Decoder]) -> None:
        super().__init__(raw, codec)
        self._new_decoder = new_decoder
        self._decoder: _Decoder | None = None
        self._input = b""
        self._position = 0

    def _fill(self, target: memoryview) -> int:
        while True:
            data = b""
            if self._decoder is None:
                data = self._next_input()
                if not data:
                    return 0
                self._decoder = self._new_decoder()
            elif self._decoder.needs_input:
                data = self._next_input()
                if not data:
                    raise self._truncated()
            output = self._decode(self._decoder, data, len(target))
            if self._decoder.eof:
                self._position -= len(self._decoder.unused_data)  # the end of its last input
                self._decoder = None
            if output:
                target[: len(output)] = output
                return len(output)

    def _next_input(self) -> bytes:
        """Returns the next input to decode; a checksum at the end of the file comes separately."""
        if self._position >= len(self._input):
            self._input, self._position = self._raw.read(READ_BYTES), 0
        before_end = len(self._input) - self._position - 2 * _CHECKSUM_BYTES
        size = min(before_end, _STEP_BYTES) if before_end > 0 else _CHECKSUM_BYTES
        data = self._input[self._position : self._position + size]
        self._position += len(data)
        return data

    def _decode(self, decoder: _Decoder, data: bytes, max_length: int) -> bytes:
        try:
            return decoder.decompress(data, max_length)
        except (_zlib.error, OSError, ValueError) as error:  # bz2 raises the latter two.
            raise self._damaged(error) from error


class _WatchedFile:
    """The raw file for Arrow; remembers whether reading itself failed."""

    closed = False

    def __init__(self, raw: BinaryFile) -> None:
        self._raw = raw
        self.close = raw.close
        self.failed = False

    def read(self, size: int) -> bytes:
        try:
            return self._raw.read(size)
        except BaseException:
            self.failed = True
            raise


class ArrowStream(DecompressedStream):
    """zstd and lz4: Arrow's stream, which detects all damage in these formats."""

    def __init__(self, raw: BinaryFile, codec: str) -> None:
        super().__init__(raw, codec)
        self._file = _WatchedFile(raw)
        buffered = pa.BufferedInputStream(pa.PythonFile(self._file, mode="r"), READ_BYTES)
        self._stream = pa.CompressedInputStream(buffered, codec)

    def _fill(self, target: memoryview) -> int:
        try:
            return int(self._stream.readinto(target[:_ARROW_STEP_BYTES]))
        except OSError as error:  # Arrow raises it both for damaged data and for failed reads.
            if self._file.failed:
                raise
            raise self._damaged(error) from error

    def close(self) -> None:
        self._stream.close()
