"""Tests of tfrecord_beam.records.writing.spill: many destinations in one file, and back."""

from __future__ import annotations

import os
import pathlib
import pickle
from collections.abc import Callable

import pytest

from tfrecord_beam.errors import WriteError
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.paths import DirectFileSystem
from tfrecord_beam.records.writing import spill
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.segments import Destination, Segment, Segments, read_segments
from tfrecord_beam.records.writing.spill import SpillWriter

DESTINATIONS = [Destination(shard=shard) for shard in range(3)]


def frames_of(*records: bytes) -> FramedRecords:
    return FramedRecords.from_records(records)


def read(segments: list[Segment], open_file: Callable[[str], BinaryFile]) -> list[bytes]:
    return [record for frames in read_segments(segments, open_file) for record in frames.records()]


def write(path: pathlib.Path, count: int = 30) -> Segments:
    writer = SpillWriter(DirectOutputFileSystem(), str(path))
    for i in range(count):
        writer.add(DESTINATIONS[i % 3], frames_of(b"%d" % i))
    return writer.close()


@pytest.mark.parametrize("buffer_bytes", [1, 60, 1 << 20])
def test_what_is_spilled_comes_back_in_order(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, buffer_bytes: int
) -> None:
    monkeypatch.setattr(spill, "BUFFER_BYTES", buffer_bytes)
    segments = write(tmp_path / "a")
    assert list(segments) == DESTINATIONS
    for shard, destination in enumerate(DESTINATIONS):
        records = read(segments[destination], DirectFileSystem().open)
        assert records == [b"%d" % i for i in range(shard, 30, 3)]
    assert os.listdir(tmp_path) == ["a"]


def test_records_that_come_together_are_one_segment(tmp_path: pathlib.Path) -> None:
    segments = write(tmp_path / "a")
    assert [len(each) for each in segments.values()] == [1, 1, 1]
    assert pickle.loads(pickle.dumps(segments)) == segments


@pytest.mark.parametrize(("small_bytes", "names"), [(2000, []), (1000, ["a"])])
def test_records_that_are_few_are_held_in_memory(
    tmp_path: pathlib.Path, small_bytes: int, names: list[str]
) -> None:
    writer = SpillWriter(DirectOutputFileSystem(), str(tmp_path / "a"), small_bytes=small_bytes)
    for i in range(6):
        writer.add(DESTINATIONS[i % 3], frames_of(b"%d" % i))
    segments = pickle.loads(pickle.dumps(writer.close()))
    assert os.listdir(tmp_path) == names
    for shard, destination in enumerate(DESTINATIONS):
        records = read(segments[destination], DirectFileSystem().open)
        assert records == [b"%d" % i for i in range(shard, 6, 3)]


def test_nothing_makes_no_file(tmp_path: pathlib.Path) -> None:
    assert write(tmp_path / "a", count=0) == {}
    assert os.listdir(tmp_path) == []


def test_discarded_file_is_gone(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "BUFFER_BYTES", 1)
    writer = SpillWriter(DirectOutputFileSystem(), str(tmp_path / "a"))
    writer.add(DESTINATIONS[0], frames_of(b"a"))
    assert os.listdir(tmp_path) == ["a"]
    writer.discard()
    assert os.listdir(tmp_path) == []


def test_few_files_are_open_at_once(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfrecord_beam.records.writing.segments.MAX_OPEN_FILES", 2)
    open_files: set[str] = set()

    class File:
        def __init__(self, path: str) -> None:
            self._path = path
            self._file = DirectFileSystem().open(path)
            open_files.add(path)
            assert len(open_files) <= 2
            self.read, self.tell = self._file.read, self._file.tell
            self.readinto, self.seek = self._file.readinto, self._file.seek

        def close(self) -> None:
            open_files.remove(self._path)
            self._file.close()

    parts = [write(tmp_path / str(i)) for i in range(5)]
    segments = [segment for part in parts for segment in part[DESTINATIONS[1]]]
    assert len(read([*segments, *segments], File)) == 100
    assert open_files == set()


@pytest.mark.parametrize("change", ["shorter", "cut", "other"])
def test_spill_file_that_does_not_hold_what_was_written(
    tmp_path: pathlib.Path, change: str
) -> None:
    segments = write(tmp_path / "a")[DESTINATIONS[2]]
    data = (tmp_path / "a").read_bytes()
    if change == "shorter":
        (tmp_path / "a").write_bytes(data[: segments[0].begin])
    elif change == "cut":
        (tmp_path / "a").write_bytes(data[: segments[0].begin + 20])
    else:
        (tmp_path / "a").write_bytes(bytes(frames_of(b"x" * (len(data) - 16)).frames))
        segments = [segments[0]._replace(begin=0, end=len(data))]
    with pytest.raises(
        WriteError, match=r"^Expected 10 records of \d+ bytes, found \d+ (of|bytes)"
    ) as caught:
        read(segments, DirectFileSystem().open)
    assert caught.value.file == str(tmp_path / "a")
