"""Tests of Hadoop's framing of snappy and lz4, as Spark writes it."""

from __future__ import annotations

import io
import pathlib
import random

import pytest
from hypothesis import given, strategies as st

from tests.records.compressing import COMPRESS, compress_hadoop
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.kernel import frame
from tfrecord_beam.records.compression import detect_codec, open_decompressed
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.table import count

RECORDS = [b"first record", b"", b"x" * 300, bytes(range(256))]
CONTENT = frame(RECORDS)

pytestmark = pytest.mark.parametrize("codec", ["snappy", "lz4"])


def read(data: bytes, codec: str, target_bytes: int = 1 << 16) -> bytes:
    stream = open_decompressed(io.BytesIO(data), codec)
    target = memoryview(bytearray(target_bytes))
    content = bytearray()
    while size := stream.readinto(target):
        content += target[:size]
    return bytes(content)


def read_records(path: pathlib.Path) -> list[bytes]:
    return [record for block in iter_blocks(path) for record in block.records()]


def error_of(data: bytes, codec: str) -> CorruptRecordError:
    with pytest.raises(CorruptRecordError) as caught:
        read(data, codec)
    return caught.value


@given(
    content=st.binary(max_size=200) | st.binary(max_size=4).map(lambda part: part * 9999),
    block_bytes=st.sampled_from([1, 7, 100, 1 << 18]),
    chunk_bytes=st.sampled_from([1, 40, 1 << 18]),
    target_bytes=st.sampled_from([1, 64, 1 << 20]),
)
def test_content(
    codec: str, content: bytes, block_bytes: int, chunk_bytes: int, target_bytes: int
) -> None:
    content = content[: 500 * block_bytes]
    data = compress_hadoop(content, codec, block_bytes=block_bytes, chunk_bytes=chunk_bytes)
    assert read(data, codec, target_bytes) == content


def test_large_content(codec: str) -> None:
    content = random.Random(1).randbytes(3_000_000) + b"census " * 500_000
    data = compress_hadoop(content, codec, block_bytes=5 << 20, chunk_bytes=256_000)
    assert read(data, codec) == content


def test_block_of_no_content(codec: str) -> None:
    """Hadoop ends a file with one, where nothing is left to be compressed."""
    data = compress_hadoop(CONTENT, codec, block_bytes=999, chunk_bytes=999)
    assert read(bytes(4), codec) == b""
    assert read(data + bytes(4), codec) == CONTENT


def test_file(codec: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / f"part-00000.tfrecord.{codec}"
    path.write_bytes(compress_hadoop(CONTENT, codec, block_bytes=50, chunk_bytes=20))
    assert detect_codec(path.read_bytes(), str(path)) == codec
    assert read_records(path) == RECORDS
    assert count(tmp_path, compression=codec) == len(RECORDS)


def test_both_framings_of_a_codec_side_by_side(codec: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / f"a.{codec}").write_bytes(COMPRESS[codec](CONTENT))
    hadoop = compress_hadoop(CONTENT, codec, block_bytes=99, chunk_bytes=99)
    (tmp_path / f"b.{codec}").write_bytes(hadoop)
    assert read_records(tmp_path) == 2 * RECORDS


def test_every_cut_is_an_error(codec: str, tmp_path: pathlib.Path) -> None:
    data = compress_hadoop(CONTENT, codec, block_bytes=999, chunk_bytes=200)
    path = tmp_path / f"cut.{codec}"
    for size in range(1, len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(CorruptRecordError) as caught:
            read_records(path)
        assert caught.value.file == str(path)
        assert caught.value.offset is not None
        assert caught.value.offset <= len(CONTENT)


def test_cut_between_blocks_is_an_error_inside_a_record(codec: str, tmp_path: pathlib.Path) -> None:
    data = compress_hadoop(CONTENT, codec, block_bytes=40, chunk_bytes=40)
    first = len(compress_hadoop(CONTENT[:40], codec, block_bytes=40, chunk_bytes=40))
    path = tmp_path / f"cut.{codec}"
    path.write_bytes(data[:first])
    with pytest.raises(CorruptRecordError, match=f"cut.{codec}:28, record 1"):
        read_records(path)


@pytest.mark.slow
def test_every_changed_bit_is_an_error(codec: str, tmp_path: pathlib.Path) -> None:
    """Or changes nothing, as in the ways a codec has to say the same; no record is ever lost."""
    data = compress_hadoop(CONTENT, codec, block_bytes=300, chunk_bytes=200)
    path = tmp_path / f"changed.{codec}"
    errors = 0
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            assert read_records(path) == RECORDS
        except CorruptRecordError as error:
            assert error.file == str(path)
            errors += 1
    assert errors > 0.9 * 8 * len(data)


def test_records_before_the_damage_are_read(codec: str, tmp_path: pathlib.Path) -> None:
    data = compress_hadoop(CONTENT, codec, block_bytes=44, chunk_bytes=44)
    path = tmp_path / f"cut.{codec}"
    path.write_bytes(data[:-1])
    found: list[CorruptRecord] = []
    blocks = list(iter_blocks(path, on_corrupt=found.append))
    assert [record for block in blocks for record in block.records()] == RECORDS[:3]
    assert [part.offset for part in found] == [len(frame(RECORDS[:3]))]
    assert "Expected a whole" in found[0].reason


@pytest.mark.parametrize("size", [0, 9 << 20, (1 << 32) - 1])
def test_size_that_no_chunk_has_is_refused_before_it_is_read(codec: str, size: int) -> None:
    data = (100).to_bytes(4, "big") + size.to_bytes(4, "big") + b"content"
    assert f"a chunk of {size} bytes" in str(error_of(data, codec))


def test_chunk_of_more_than_its_block_is_refused(codec: str) -> None:
    chunk = compress_hadoop(b"a" * 100, codec, block_bytes=100, chunk_bytes=100)[4:]
    data = (99).to_bytes(4, "big") + chunk
    assert "99" in str(error_of(data, codec))


def test_chunk_that_is_too_large_is_refused(codec: str) -> None:
    size = (4 << 20) + 1
    data = compress_hadoop(bytes(size), codec, block_bytes=size, chunk_bytes=size)
    assert f"Expected {codec} data" in str(error_of(data, codec))


def test_other_content_is_said_to_be_none(codec: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / f"notes.{codec}"
    path.write_bytes(b"These are notes and no records.")
    with pytest.raises(CorruptRecordError, match=f"Expected {codec} data, found bytes"):
        read_records(path)
