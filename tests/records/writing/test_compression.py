"""Tests of tfrecord_beam.records.writing.compression: what is written, by whom it is read."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import random
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import cramjam
import pyarrow as pa
import pytest
import zstandard
from apache_beam.io.filesystem import CompressionTypes
from hypothesis import given, strategies as st
from isal import isal_zlib

from tfrecord_beam.records.compression import detect_codec, open_decompressed
from tfrecord_beam.records.writing import compression
from tfrecord_beam.records.writing.compression import Compression
from tfrecord_beam.records.writing.file_system import OutputFile

CODECS = ["none", "gzip", "zlib", "bz2", "zstd", "lz4", "snappy"]

DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": gzip.decompress,
    "zlib": zlib.decompress,
    "bz2": bz2.decompress,
    "zstd": lambda data: (
        zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    ),
    # Older versions of cramjam end at the first of several frames.
    "lz4": lambda data: pa.CompressedInputStream(pa.BufferReader(data), "lz4").read(),
    "snappy": lambda data: bytes(cramjam.snappy.decompress(data)),
}
"""Other libraries than those that compress, as far as there are some."""

LARGE = random.Random(1).randbytes(1_500_000) + b"census " * 500_000


class _Memory(io.BytesIO):
    def close(self) -> None:
        """Keeps what was written."""


def compressed(pieces: list[bytes], codec: str, level: int | None = None) -> bytes:
    raw = _Memory()
    content = Compression.resolve(codec, level).compress(OutputFile(raw, "a"))
    for piece in pieces:
        content.write(piece)
    content.close()
    return raw.getvalue()


def read(data: bytes, codec: str) -> bytes:
    stream = open_decompressed(io.BytesIO(data), codec)
    target, content = memoryview(bytearray(1 << 20)), b""
    while count := stream.readinto(target):
        content += bytes(target[:count])
    return content


@pytest.fixture(params=["isal", "zlib"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each of the two libraries behind gzip and zlib."""
    monkeypatch.setattr(compression, "_zlib", {"isal": isal_zlib, "zlib": zlib}[request.param])
    yield


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("content", [b"", b"x", b"ab" * 70_000, LARGE], ids=len)
def test_content_comes_back(codec: str, content: bytes) -> None:
    data = compressed([content], codec)
    assert read(data, codec) == content
    assert DECOMPRESS[codec](data) == content
    if codec not in ("none", "zlib") and content:
        assert detect_codec(data[:4096], "a") == codec
    if codec != "none" and len(content) > 1000:
        assert len(data) < len(content)


@pytest.mark.parametrize("codec", CODECS)
@given(cuts=st.lists(st.integers(0, 5000), max_size=5).map(sorted))
def test_bytes_do_not_depend_on_the_pieces(codec: str, cuts: list[int]) -> None:
    content = LARGE[-5000:]
    bounds = [0, *cuts, len(content)]
    pieces = [content[start:stop] for start, stop in itertools.pairwise(bounds)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "_BLOCK_BYTES", 1000)
        patch.setattr(compression, "_SMALL_BYTES", 1000)
        assert compressed(pieces, codec) == compressed([content], codec)


def test_a_plain_file_gets_large_pieces_as_they_are_and_small_ones_together() -> None:
    written: list[object] = []

    class File(_Memory):
        def write(self, data: Any) -> int:
            written.append(data.obj)
            return len(data)

    large = bytes(100_000)
    content = Compression().compress(OutputFile(File(), "a"))
    for piece in (b"one", b"two", large, large, b"three"):
        content.write(piece)
    content.close()
    assert written == [b"onetwo", large, large, b"three"]
    assert written[1] is large


def test_neither_time_nor_name_is_in_a_gzip_file() -> None:
    header = compressed([b"data"], "gzip")[:10]
    assert header[:8] == b"\x1f\x8b\x08" + bytes(5)  # flags, and four bytes of time


@pytest.mark.parametrize(
    ("codec", "levels"),
    [
        ("gzip", [0, 1, 6, 9]),
        ("zlib", [0, 1, 6, 9]),
        ("bz2", [1, 9]),
        ("zstd", [1, 3, 22]),
        ("lz4", [1, 12]),
    ],
)
def test_levels(codec: str, levels: list[int]) -> None:
    words = random.Random(3)
    content = b" ".join(words.choice([b"Private", b"State-gov", b"42", b"?"]) for _ in range(9999))
    sizes = []
    for level in levels:
        data = compressed([content], codec, level)
        assert read(data, codec) == content
        sizes.append(len(data))
    assert sizes[-1] < sizes[0] or codec == "bz2"  # whose blocks hold all of it at any level
    assert compressed([content], codec, None)


@pytest.mark.parametrize(
    ("codec", "level"),
    [
        ("gzip", -1),
        ("gzip", 10),
        ("zlib", "6"),
        ("bz2", 0),
        ("zstd", 23),
        ("zstd", 0),
        ("lz4", 13),
        ("gzip", True),
        ("gzip", 1.5),
    ],
)
def test_level_that_there_is_not(codec: str, level: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected compression_level to be None or an int of "):
        Compression.resolve(codec, level)


@pytest.mark.parametrize("codec", [None, "", "snappy"])
def test_level_of_a_codec_without_levels(codec: str | None) -> None:
    with pytest.raises(ValueError, match=r"^Expected compression_level to be None with .*found 6$"):
        Compression.resolve(codec, 6)


@pytest.mark.parametrize(
    ("codec", "options"),
    [
        ("none", [None, "", "none", "NONE", "uncompressed", CompressionTypes.UNCOMPRESSED]),
        ("gzip", ["gzip", "GZIP", ".gz", "gz", CompressionTypes.GZIP]),
        ("zlib", ["zlib", "ZLIB", "deflate", ".deflate", CompressionTypes.DEFLATE]),
        ("bz2", ["bz2", CompressionTypes.BZIP2]),
        ("zstd", ["zstd", ".zst", CompressionTypes.ZSTD]),
        ("lz4", ["lz4"]),
        ("snappy", ["snappy"]),
    ],
)
def test_spellings(codec: str, options: list[str | None]) -> None:
    assert {Compression.resolve(option).codec for option in options} == {codec}


def test_auto_is_no_codec_to_write() -> None:
    with pytest.raises(ValueError, match=r"^Expected compression to be a codec, found 'auto'"):
        Compression.resolve("auto")


@pytest.mark.parametrize(
    ("codec", "suffix", "full"),
    [
        ("none", ".tfrecord", ".tfrecord"),
        ("none", "", ""),
        ("gzip", "", ".gz"),
        ("gzip", ".tfrecord", ".tfrecord.gz"),
        ("gzip", ".tfrecord.gz", ".tfrecord.gz"),
        ("gzip", ".gz", ".gz"),
        ("gzip", ".GZ", ".GZ"),
        ("zlib", ".tfrecord", ".tfrecord.deflate"),
        ("zlib", ".zlib", ".zlib"),
        ("bz2", ".x", ".x.bz2"),
        ("zstd", "", ".zst"),
        ("lz4", "", ".lz4"),
        ("snappy", "", ".snappy"),
    ],
)
def test_suffixes(codec: str, suffix: str, full: str) -> None:
    assert Compression.resolve(codec).add_suffix(suffix) == full
    Compression.resolve(codec).check_path(f"a{full}")
    Compression.resolve(codec).check_path("a.tfrecord")


@pytest.mark.parametrize(
    ("codec", "suffix", "named"),
    [
        (None, ".gz", "gzip"),
        ("gzip", ".tfrecord.zst", "zstd"),
        ("zlib", ".gz", "gzip"),
        ("snappy", ".lz4", "lz4"),
    ],
)
def test_suffix_that_lies(codec: str | None, suffix: str, named: str) -> None:
    for check in (
        lambda: Compression.resolve(codec).add_suffix(suffix),
        lambda: Compression.resolve(codec).check_path(f"a{suffix}"),
    ):
        with pytest.raises(ValueError, match=f"write it with compression='{named}'") as caught:
            check()
        assert f"compression={codec!r}, found" in str(caught.value)


def test_codec_that_tensorflow_cannot_read_warns() -> None:
    for codec in CODECS[3:]:
        with pytest.warns(UserWarning, match=f"TensorFlow cannot read .* {codec}") as caught:
            Compression.resolve(codec).warn_if_foreign()
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for codec in CODECS[:3]:
            Compression.resolve(codec).warn_if_foreign()
