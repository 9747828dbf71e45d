"""Compressed files: which codec and level, what their names say, and the streams that write them.

Each stream is of a codec's own format, as `tfrecord_beam.records.compression` reads it: gzip (with
neither a time nor a name in it), zlib, bz2, frames of zstd and lz4 with a MiB of content each, and
snappy's framing format. The same content gives the same bytes, on one machine and with one version
of the libraries behind.
"""

from __future__ import annotations

import bz2
import dataclasses
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from tfrecord_beam.caller import warn_caller
from tfrecord_beam.errors import render
from tfrecord_beam.kernel import masked_crc32c
from tfrecord_beam.options import check_int, describe
from tfrecord_beam.records.chunked_decompression import SNAPPY_IDENTIFIER
from tfrecord_beam.records.compression import codec_of_name, resolve_codec
from tfrecord_beam.records.writing.file_system import OutputFile

if TYPE_CHECKING:
    from typing_extensions import Buffer

_zlib: Any
try:  # As small as zlib's level 1 makes it: 450 MB/s of Examples, 420 of random floats; zlib's
    from isal import isal_zlib as _zlib  # level 1 takes 200 and 26, its level 6 80 and 27 MB/s.
except ImportError:
    _zlib = zlib

_SUFFIXES = {
    "none": "",
    "gzip": ".gz",
    "zlib": ".deflate",  # as Hadoop calls it, and so Spark
    "bz2": ".bz2",
    "zstd": ".zst",
    "lz4": ".lz4",
    "snappy": ".snappy",
}

CODEC_SUFFIXES = tuple(filter(None, _SUFFIXES.values()))
"""What files of the codecs are called at the end."""

_LEVELS = {"gzip": (0, 9), "zlib": (0, 9), "bz2": (1, 9), "zstd": (1, 22), "lz4": (1, 12)}
"""The least and the most level of the codecs that have some."""

_READ_BY_TENSORFLOW = ("none", "gzip", "zlib")

_BLOCK_BYTES = 1 << 20
"""How much is compressed at a time, and how much a frame of zstd or lz4 holds."""

_SMALL_BYTES = 64 << 10
"""Less than this is not written by itself to a plain file; copying more costs more than a call."""

_SNAPPY_CHUNK_BYTES = 1 << 16
"""The most that the framing format allows."""

_CRC_BYTES = 4

_FAST_LEVEL = 2
"""For gzip and zlib, unless asked otherwise: the middle of the three of isal."""


@dataclasses.dataclass(frozen=True)
class Compression:
    """How files are compressed.

    >>> Compression.resolve(".gz").add_suffix(".tfrecord")
    '.tfrecord.gz'

    Attributes:
      codec: name of the codec, see `records.compression.resolve_codec`.
      level: how hard it tries; None: the default of the fastest library at hand.
    """

    codec: str = "none"
    level: int | None = None

    @classmethod
    def resolve(cls, compression: str | None, level: int | None = None) -> Compression:
        """Returns what the options `compression` and `compression_level` mean.

        Args:
          compression: a codec in one of the spellings that reading knows, but not "auto".
          level: 0 to 9 for gzip and zlib, 1 to 9 for bz2, 1 to 22 for zstd, 1 to 12 for lz4.

        Raises:
          ValueError: there is no such codec or level.
        """
        codec = resolve_codec(compression)
        if codec == "auto":
            hint = "'auto' is for reading: say gzip, zlib, ..., or None for plain files"
            raise ValueError(render("Expected compression to be a codec, found 'auto'", hint=hint))
        if level is not None and codec not in _LEVELS:
            raise ValueError(
                f"Expected compression_level to be None with compression={compression!r}, which "
                f"has no levels, found {describe(level)}"
            )
        least, most = _LEVELS.get(codec, (0, 0))
        check_int("compression_level", level, least=least, most=most, optional=True)
        return cls(codec, level)

    @property
    def suffix(self) -> str:
        """What files of the codec are called at the end, "" for plain ones."""
        return _SUFFIXES[self.codec]

    def add_suffix(self, file_name_suffix: str) -> str:
        """Returns a suffix of file names with the codec's behind it, if it is not there.

        Raises:
          ValueError: it names another codec.
        """
        named = codec_of_name(f"name{file_name_suffix}")
        self._check_name("file_name_suffix", file_name_suffix, named)
        return file_name_suffix + (self.suffix if named == "none" else "")

    def check_path(self, path: str) -> None:
        """Raises ValueError if the suffix of a path names another codec."""
        self._check_name("path", path, codec_of_name(path))

    def _check_name(self, option: str, name: str, named: str) -> None:
        if named in ("none", self.codec):
            return
        codec = None if self.codec == "none" else self.codec
        message = (
            f"Expected {option} to name no codec but that of the file, which is "
            f"compression={codec!r}, found {describe(name)}"
        )
        raise ValueError(render(message, hint=f"write it with compression={named!r}"))

    def warn_if_foreign(self) -> None:
        """Warns if TensorFlow cannot read the files."""
        if self.codec not in _READ_BY_TENSORFLOW:
            warn_caller(
                f"TensorFlow cannot read TFRecord files compressed with {self.codec}, but gzip and "
                "zlib; this library reads them"
            )

    def compress(self, file: OutputFile) -> ContentFile:
        """Returns what takes the content of a file and writes it compressed."""
        if self.codec == "none":
            return _PlainFile(file)
        return _CompressedFile(file, _ENCODERS[self.codec](self.level))


class Encoder(Protocol):
    """The interface of `zlib.compressobj`."""

    def compress(self, block: Buffer, /) -> Buffer: ...
    def flush(self) -> Buffer: ...


class ContentFile(Protocol):
    """A file as its content, which may be compressed on the way."""

    def write(self, data: Buffer) -> None:
        """Takes all of the data. Less than a MiB of them may stay in memory."""

    def flush(self) -> None:
        """Writes what is in memory, but for what the codec keeps."""

    def close(self) -> None:
        """Writes the rest and ends the file."""


class _PlainFile:
    """Writes content as it is; of small pieces many at a time."""

    def __init__(self, file: OutputFile) -> None:
        self._file = file
        self._pending = bytearray()

    def write(self, data: Buffer) -> None:
        piece = memoryview(data)
        if len(self._pending) + piece.nbytes < _SMALL_BYTES:
            self._pending += piece
            return
        self.flush()
        self._file.write(piece)

    def flush(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, bytearray()
            self._file.write(pending)

    def close(self) -> None:
        self.flush()
        self._file.close()


class _CompressedFile:
    """Compresses content in blocks of a size.

    So what is written where depends on the content, and not on the pieces in which it came.
    """

    def __init__(self, file: OutputFile, encoder: Encoder) -> None:
        self._file = file
        self._encoder = encoder
        self._pending = bytearray()

    def write(self, data: Buffer) -> None:
        left = memoryview(data)
        while left:
            block = left[: _BLOCK_BYTES - len(self._pending)]
            left = left[len(block) :]
            if len(block) == _BLOCK_BYTES:
                self._file.write(self._encoder.compress(block))
                continue
            self._pending += block
            if len(self._pending) == _BLOCK_BYTES:
                self.flush()

    def flush(self) -> None:
        if self._pending:
            block, self._pending = self._pending, bytearray()
            self._file.write(self._encoder.compress(block))

    def close(self) -> None:
        self.flush()
        self._file.write(self._encoder.flush())
        self._file.close()


class _Frames:
    """Makes a frame of each block; of no content at all, a frame of nothing."""

    def __init__(self, codec: str, level: int | None) -> None:
        self._codec = pa.Codec(codec, compression_level=level)
        self._is_empty = True

    def compress(self, block: Buffer, /) -> Buffer:
        self._is_empty = False
        frame: Buffer = self._codec.compress(block)
        return frame

    def flush(self) -> Buffer:
        return self.compress(b"") if self._is_empty else b""


class _SnappyChunks:
    """The snappy framing format: https://github.com/google/snappy/blob/main/framing_format.txt."""

    _COMPRESSED, _UNCOMPRESSED = b"\x00", b"\x01"

    def __init__(self) -> None:
        self._codec = pa.Codec("snappy")
        self._start = SNAPPY_IDENTIFIER

    def compress(self, block: Buffer, /) -> Buffer:
        content = memoryview(block)
        chunks: list[Buffer] = [self.flush()]
        for start in range(0, len(content), _SNAPPY_CHUNK_BYTES):
            chunks += self._chunk(content[start : start + _SNAPPY_CHUNK_BYTES])
        return b"".join(chunks)

    def flush(self) -> bytes:
        start, self._start = self._start, b""
        return start

    def _chunk(self, content: memoryview) -> tuple[Buffer, ...]:
        kind, data = self._COMPRESSED, self._codec.compress(content, asbytes=True)
        if len(data) >= len(content):
            kind, data = self._UNCOMPRESSED, content
        crc = masked_crc32c(content).to_bytes(_CRC_BYTES, "little")
        return kind, (_CRC_BYTES + len(data)).to_bytes(3, "little"), crc, data


def _new_deflater(level: int | None, window_bits: int) -> Encoder:
    """Returns the compressor of a level: zlib's, for that is what its number means to users."""
    library, level = (_zlib, _FAST_LEVEL) if level is None else (zlib, level)
    encoder: Encoder = library.compressobj(level, zlib.DEFLATED, window_bits)
    return encoder


_ENCODERS: dict[str, Callable[[int | None], Encoder]] = {
    "gzip": lambda level: _new_deflater(level, 16 + zlib.MAX_WBITS),
    "zlib": lambda level: _new_deflater(level, zlib.MAX_WBITS),
    "bz2": lambda level: bz2.BZ2Compressor(level or 9),
    "zstd": lambda level: _Frames("zstd", level),
    "lz4": lambda level: _Frames("lz4", level),
    "snappy": lambda level: _SnappyChunks(),
}
