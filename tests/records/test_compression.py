"""Tests of tfrecord_beam.records.compression: whole files are read, and only whole files."""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from apache_beam.io.filesystem import CompressionTypes
from hypothesis import given, strategies as st
from isal import isal_zlib

from tests.records.compressing import COMPRESS
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.kernel import frame, masked_crc32c
from tfrecord_beam.records import decompression
from tfrecord_beam.records.compression import (
    detect_codec,
    open_decompressed,
    resolve_codec,
)

_CODECS = list(COMPRESS)
_WITH_END_MARK = ["gzip-zlib", "gzip-isal", "zlib-zlib", "zlib-isal", "bz2", "zstd", "lz4"]
_BY_ARROW = ["zstd", "lz4"]
_CASES = [*_WITH_END_MARK, "snappy"]

_RECORDS = [b"first record", b"", b"x" * 300, bytes(range(256))]
_CONTENT = frame(_RECORDS)


@pytest.fixture(scope="module", params=_CASES)
def codec(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each codec in turn; gzip and zlib with each of the two libraries behind them."""
    name, _, library = request.param.partition("-")
    with pytest.MonkeyPatch.context() as patch:
        if library:
            patch.setattr(decompression, "_zlib", {"zlib": zlib, "isal": isal_zlib}[library])
        yield name


class _Dribble(io.BytesIO):
    """A file whose reads return at most `step` bytes; counts them."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step
        self.reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        assert size is not None and size > 0
        return super().read(min(size, self._step))


def _read(
    data: bytes, codec: str, *, read_step: int = 1 << 20, target_bytes: int = 1 << 16
) -> bytes:
    stream = open_decompressed(_Dribble(data, read_step), codec)
    target = memoryview(bytearray(target_bytes))
    content = bytearray()
    while count := stream.readinto(target):
        content += target[:count]
    assert stream.readinto(target) == 0
    stream.close()
    return bytes(content)


def _error(data: bytes, codec: str, **steps: int) -> CorruptRecordError:
    with pytest.raises(CorruptRecordError) as caught:
        _read(data, codec, **steps)
    assert str(caught.value).startswith("Expected ")
    assert codec in caught.value.message
    return caught.value


# What a whole file holds.


@given(
    contents=st.lists(st.binary(max_size=40) | st.binary(max_size=4).map(lambda b: b * 999)),
    read_step=st.sampled_from([1, 2, 7, 1 << 20]),
    target_bytes=st.sampled_from([1, 3, 100, 1 << 20]),
)
def test_streams_in_a_row_are_one_content(
    codec: str, contents: list[bytes], read_step: int, target_bytes: int
) -> None:
    data = b"".join(COMPRESS[codec](content) for content in contents)
    content = _read(data, codec, read_step=read_step, target_bytes=target_bytes)
    assert content == b"".join(contents)


def test_large_content_is_the_same(codec: str) -> None:
    content = random.Random(1).randbytes(1_500_000) + b"census " * 500_000
    data = COMPRESS[codec](content)
    for target_bytes in (1 << 16, 1 << 20, 8 << 20):
        assert _read(data, codec, target_bytes=target_bytes) == content


def test_plain_file_is_read_as_it_is() -> None:
    assert _read(_CONTENT, "none", target_bytes=7) == _CONTENT


def test_reads_are_few(codec: str) -> None:
    data = COMPRESS[codec](random.Random(1).randbytes(3_000_000))
    file = _Dribble(data, len(data))
    stream = open_decompressed(file, codec)
    target = memoryview(bytearray(1 << 16))
    while stream.readinto(target):
        pass
    assert file.reads < 10


def test_stream_closes_its_file(codec: str) -> None:
    file = io.BytesIO(COMPRESS[codec](_CONTENT))
    stream = open_decompressed(file, codec)
    assert stream.readinto(memoryview(bytearray(1))) == 1
    assert not file.closed
    stream.close()
    assert file.closed


def test_empty_target_takes_nothing(codec: str) -> None:
    stream = open_decompressed(io.BytesIO(COMPRESS[codec](b"ab")), codec)
    target = memoryview(bytearray(9))
    assert stream.readinto(target[:0]) == 0
    assert stream.readinto(target) == 2


def test_skippable_parts_hold_nothing() -> None:
    skippable = b"\x50\x2a\x4d\x18" + struct.pack("<I", 3) + b"abc"
    for codec in ("zstd", "lz4"):
        part = COMPRESS[codec](_CONTENT)
        assert _read(part + skippable + part, codec) == 2 * _CONTENT
    padding = b"\xfe\x03\0\0abc"
    part = COMPRESS["snappy"](_CONTENT)
    assert _read(part + padding + part, "snappy") == 2 * _CONTENT


# What is not whole is an error.


@pytest.mark.parametrize("codec", _WITH_END_MARK, indirect=True)
@pytest.mark.parametrize("before", [b"", _CONTENT])
def test_truncation_anywhere_is_an_error(codec: str, before: bytes) -> None:
    first = COMPRESS[codec](before) if before else b""
    data = COMPRESS[codec](_CONTENT)
    for size in range(1, len(data)):
        error = _error(first + data[:size], codec, target_bytes=100)
        assert error.offset is not None
        least = 0 if codec in _BY_ARROW else len(before)
        assert least <= error.offset <= len(before + _CONTENT)


def test_content_before_the_damage_is_delivered(codec: str) -> None:
    content = random.Random(1).randbytes(300_000)
    error = _error(COMPRESS[codec](content) + b"\2\0\0\0more", codec, target_bytes=1 << 20)
    assert error.offset is not None
    assert len(content) - (1 << 16 if codec in _BY_ARROW else 0) <= error.offset <= len(content)


@pytest.mark.parametrize("codec", ["gzip", "zlib"], indirect=True)
@pytest.mark.parametrize("size", [0, 5, 300_000, 3_000_000])
def test_content_before_a_wrong_checksum_is_delivered(codec: str, size: int) -> None:
    content = random.Random(1).randbytes(size)
    data = bytearray(COMPRESS[codec](content))
    data[{"gzip": -8, "zlib": -4}[codec]] ^= 1
    for read_step in (len(data) - 2, 1 << 20):
        assert _error(bytes(data), codec, read_step=read_step).offset == len(content)


@pytest.mark.parametrize("codec", ["gzip", "zlib"], indirect=True)
def test_damage_in_a_stream_costs_little_of_what_is_before(codec: str) -> None:
    content = random.Random(1).randbytes(300_000)
    data = COMPRESS[codec](content)
    damaged = data[:200_000] + b"\xff" * 100_000
    offset = _error(damaged, codec, target_bytes=1 << 20).offset
    assert offset is not None and offset > 180_000


def test_truncation_of_snappy_is_an_error_except_between_chunks() -> None:
    data = COMPRESS["snappy"](b"a" * 70_000)
    identifier, first = 10, 10 + 4 + int.from_bytes(data[11:14], "little")
    for size in {*range(1, len(data))} - {identifier, first}:
        _error(data[:size], "snappy")
    assert _read(data[:identifier], "snappy") == b""
    assert _read(data[:first], "snappy") == b"a" * 65_536


@pytest.mark.parametrize("garbage", [b"\0", bytes(512), b"x", b"more text", _CONTENT, b"\x1f\x8b"])
def test_garbage_after_the_last_stream_is_an_error(codec: str, garbage: bytes) -> None:
    data = COMPRESS[codec](_CONTENT)
    for read_step in (1, len(data), 1 << 20):
        _error(data + garbage, codec, read_step=read_step)


@given(garbage=st.binary(min_size=1, max_size=30))
def test_any_bytes_after_the_last_stream_are_no_silent_end(codec: str, garbage: bytes) -> None:
    if codec == "snappy":
        garbage = b"\x02" + garbage  # Else it may be padding.
    _error(COMPRESS[codec](_CONTENT) + garbage, codec)


def test_flipped_bit_is_an_error_or_changes_nothing(codec: str) -> None:
    data = COMPRESS[codec](_CONTENT)
    errors = 0
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            assert _read(bytes(flipped), codec) == _CONTENT  # A time or a file name, say.
        except CorruptRecordError:
            errors += 1
    assert errors > 0.8 * 8 * len(data)


@pytest.mark.parametrize("codec", _WITH_END_MARK, indirect=True)
def test_wrong_checksum_is_an_error(codec: str) -> None:
    data = bytearray(COMPRESS[codec](_CONTENT))
    data[{"gzip": -5, "bz2": -3}.get(codec, -1)] ^= 1
    _error(bytes(data), codec)


def test_error_of_a_truncated_stream_says_so() -> None:
    error = _error(gzip.compress(_CONTENT)[:-1], "gzip")
    assert str(error) == (
        "Expected a whole gzip stream, found the end of the file inside it - at offset "
        f"{len(_CONTENT)} (was it copied completely?)"
    )
    assert str(error.located(file="a.gz")).split(" - at ")[1].startswith(f"a.gz:{len(_CONTENT)} (")


def test_error_of_other_bytes_says_what_the_library_found() -> None:
    assert str(_error(b"PAR1 and more", "bz2")) == (
        "Expected bz2 data, found bytes that do not decompress: Invalid data stream - at offset 0"
    )
    assert "CRC" in str(_error(COMPRESS["snappy"](b"ab")[:-1] + b"c", "snappy"))
    assert "no stream identifier" in str(_error(b"\xff\x06\0\0sNaPpX", "snappy"))
    assert "unknown chunk type 0x02" in str(_error(COMPRESS["snappy"](b"") + b"\2\0\0\0", "snappy"))


def test_snappy_block_larger_than_allowed_is_refused_before_it_is_decoded() -> None:
    block = b"\xff\xff\xff\xff\x0f" + b"\0" * 10
    chunk = b"\x00" + struct.pack("<I", 4 + len(block))[:3] + bytes(4) + block
    assert "a chunk of 4294967295 bytes" in str(_error(COMPRESS["snappy"](b"a") + chunk, "snappy"))


@pytest.mark.parametrize("failure", [OSError(5, "the network is down"), KeyboardInterrupt()])
def test_failure_of_the_file_itself_stays_what_it_is(codec: str, failure: BaseException) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise failure
            return super().read(40)

    stream = open_decompressed(Failing(COMPRESS[codec](os.urandom(1000))), codec)
    with pytest.raises(type(failure)) as caught:
        while stream.readinto(memoryview(bytearray(1000))):
            pass
    assert caught.value is failure
    stream.close()


# Memory.

_BOMB = """
    import io, resource, sys
    import {module} as library
    from tfrecord_beam.records import decompression
    from tfrecord_beam.records.compression import open_decompressed

    decompression._zlib = library
    target = memoryview(bytearray(1 << 20))
    data = sys.stdin.buffer.read()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    stream = open_decompressed(io.BytesIO(data), "{codec}")
    size = 0
    while count := stream.readinto(target):
        size += count
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(size, (after - before) * (1 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.slow
def test_memory_stays_small_however_well_a_file_compresses(codec: str) -> None:
    script = textwrap.dedent(_BOMB).format(module=decompression._zlib.__name__, codec=codec)
    output = subprocess.run(
        [sys.executable, "-c", script],
        input=COMPRESS[codec](bytes(1 << 26)) * 16,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    size, growth = map(int, output.split())
    assert size == 1 << 30
    assert growth < 32 << 20


# Names of codecs.


@pytest.mark.parametrize(
    ("codec", "spellings"),
    [
        ("auto", ["auto", "AUTO", CompressionTypes.AUTO]),
        ("none", [None, "", "none", "NONE", "uncompressed", CompressionTypes.UNCOMPRESSED]),
        ("gzip", ["gzip", "GZIP", "gz", ".gz", CompressionTypes.GZIP]),
        ("zlib", ["zlib", "ZLIB", "deflate", ".deflate", ".zlib", CompressionTypes.DEFLATE]),
        ("bz2", ["bz2", "bzip2", ".bz2", CompressionTypes.BZIP2]),
        ("zstd", ["zstd", "zst", ".zst", CompressionTypes.ZSTD]),
        ("lz4", ["lz4", "LZ4", ".lz4"]),
        ("snappy", ["snappy", "SNAPPY", ".snappy", "sz", ".sz"]),
    ],
)
def test_codec_has_these_spellings(codec: str, spellings: list[str | None]) -> None:
    assert [resolve_codec(spelling) for spelling in spellings] == [codec] * len(spellings)


@pytest.mark.parametrize("option", ["brotli", "lzma", "..gz", " gzip", 1, b"gzip", ["gzip"], True])
def test_other_codecs_are_refused(option: Any) -> None:
    with pytest.raises(ValueError) as caught:
        resolve_codec(option)
    assert str(caught.value) == (
        "Expected compression to be None or one of 'auto', 'none', 'uncompressed', 'gzip', 'gz', "
        "'zlib', 'deflate', 'bz2', 'bzip2', 'zstd', 'zst', 'lz4', 'snappy', 'sz', "
        f"found {option!r}"
    )


# Codecs of files.

_SUFFIXES = {
    "gzip": "gz",
    "zlib": "zlib",
    "bz2": "bz2",
    "zstd": "zst",
    "lz4": "lz4",
    "snappy": "sz",
}


@pytest.mark.parametrize("codec", _CODECS)
@pytest.mark.parametrize(
    "content",
    [b"", _CONTENT, frame([random.Random(1).randbytes(9000)])],
    ids=["empty", "small", "large"],
)
@pytest.mark.parametrize("name", ["a", "a.tfrecord", "gs://bucket.gz/a.zst", "a.lz4", "a.GZ"])
def test_content_decides_whatever_the_name(codec: str, content: bytes, name: str) -> None:
    assert detect_codec(COMPRESS[codec](content)[:4096], name) == codec


@pytest.mark.parametrize("suffix", ["", *_SUFFIXES.values()])
@pytest.mark.parametrize("head", [_CONTENT, frame([b""])[:12], b""])
def test_plain_records_and_nothing_are_plain_whatever_the_name(suffix: str, head: bytes) -> None:
    assert detect_codec(head, f"a.{suffix}") == "none"


@pytest.mark.parametrize("magic", [b"\x1f\x8b\x08\0\0\0\0\0", b"BZh9\0\0\0\0"])
def test_plain_record_may_begin_like_a_compressed_file(magic: bytes) -> None:
    head = magic + struct.pack("<I", masked_crc32c(magic))
    assert detect_codec(head, "a.gz") == "none"
    assert detect_codec(magic, "a") != "none"


@pytest.mark.parametrize(
    "head", [b"x", b"neither the one nor the other", bytes(100), b"\x78\x9cab"]
)
@pytest.mark.parametrize(
    ("name", "codec"),
    [
        *((f"folder.gz/a.tfrecord.{suffix}", codec) for codec, suffix in _SUFFIXES.items()),
        ("a.deflate", "zlib"),
        ("a.GZ", "gzip"),
        ("a.auto", "none"),
        ("a.tfrecord", "none"),
        ("gz", "none"),
        ("folder.gz/a", "none"),
    ],
)
def test_name_decides_where_the_content_says_nothing(head: bytes, name: str, codec: str) -> None:
    assert detect_codec(head, name) == codec


def test_zlib_that_holds_no_record_is_known_only_by_its_name() -> None:
    assert detect_codec(zlib.compress(b"something else"), "a.tfrecord") == "none"
    assert detect_codec(zlib.compress(b"something else"), "a.zlib") == "zlib"


def test_arrow_has_the_codecs_that_are_left_to_it() -> None:
    assert all(pa.Codec.is_available(codec) for codec in ("zstd", "lz4", "snappy"))
