"""Tests of tfrecord_beam.records.writing.frame_file: a file is whole, or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.records.writing.faulty import ALWAYS, FaultyFileSystem
from tests.records.writing.folders import records_in
from tfrecord_beam.errors import WriteError
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.table import count
from tfrecord_beam.records.writing.compression import Compression
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.frame_file import FrameFile

CODECS = ["none", "gzip", "zlib", "bz2", "zstd", "lz4", "snappy"]
RECORDS = [b"one", b"", b"three" * 1000, bytes(range(256))]
FRAMES = FramedRecords.from_records(RECORDS)


@pytest.mark.parametrize("codec", CODECS)
def test_frame_file_holds_what_it_was_given(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "new" / "a"
    with FrameFile(DirectOutputFileSystem(), str(path), Compression(codec)) as file:
        file.write(FRAMES.slice(0, 2))
        file.write(FRAMES.slice(2, 2))
        file.flush()
        file.write(FRAMES.slice(2, 4))
    assert records_in(path) == RECORDS
    assert (file.num_records, file.num_bytes) == (4, path.stat().st_size)


@pytest.mark.parametrize("codec", CODECS)
def test_frame_file_without_records(tmp_path: Path, codec: str) -> None:
    with FrameFile(DirectOutputFileSystem(), str(tmp_path / "a"), Compression(codec)) as file:
        pass
    assert (file.num_records, count(str(tmp_path / "a"))) == (0, 0)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("fault", ["write", "close", "room"])
def test_frame_file_that_fails_is_gone(tmp_path: Path, plan: Path, codec: str, fault: str) -> None:
    file_system = FaultyFileSystem(plan, fail={fault: 1}, room=7 if fault == "room" else None)
    file = FrameFile(file_system, str(tmp_path / "a"), Compression(codec))
    with pytest.raises(WriteError) as caught, file:
        file.write(FRAMES)
    assert caught.value.file == str(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_error_inside_is_not_hidden_by_one_of_cleaning_up(tmp_path: Path, plan: Path) -> None:
    file_system = FaultyFileSystem(plan, fail={"delete": ALWAYS})
    with (
        pytest.raises(RuntimeError, match="mine"),
        FrameFile(file_system, str(tmp_path / "a"), Compression()),
    ):
        raise RuntimeError("mine")


@pytest.mark.parametrize("codec", CODECS)
def test_short_writes_lose_nothing(tmp_path: Path, plan: Path, codec: str) -> None:
    file_system = FaultyFileSystem(plan, most_taken=7)
    with FrameFile(file_system, str(tmp_path / "a"), Compression(codec)) as file:
        file.write(FRAMES)
    assert records_in(tmp_path / "a") == RECORDS
    assert file.num_bytes == (tmp_path / "a").stat().st_size
