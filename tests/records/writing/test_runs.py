"""Tests of tfrecord_beam.records.writing.runs: records in the order of keys, from disk."""

from __future__ import annotations

import pathlib
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.errors import EncodeError, WriteError
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.paths import DirectFileSystem
from tfrecord_beam.records.writing import runs, spill
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.runs import merge_runs
from tfrecord_beam.records.writing.segments import Destination, Segment
from tfrecord_beam.records.writing.spill import SpillWriter

HERE = Destination()

Pairs = list[tuple[Any, list[bytes]]]
"""Keys and the records of each."""


def write(path: pathlib.Path, pairs: Pairs, small_bytes: int = 0) -> list[Segment]:
    writer = SpillWriter(DirectOutputFileSystem(), str(path), ordered=True, small_bytes=small_bytes)
    try:
        for key, records in pairs:
            writer.add(HERE, FramedRecords.from_records(records), key)
        return writer.close().get(HERE, [])
    except EncodeError:
        writer.discard()
        raise


def merged(segments: list[Segment]) -> list[bytes]:
    frames = merge_runs(segments, DirectFileSystem().open)
    return [record for each in frames for record in each.records()]


def in_order(bundles: list[Pairs]) -> list[bytes]:
    """Returns the records of all pairs by key; of one key in the order of the pairs."""
    pairs = sorted((pair for pairs in bundles for pair in pairs), key=lambda pair: pair[0])
    return [record for _, records in pairs for record in records]


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.lists(st.binary(max_size=9))))),
    st.sampled_from([1, 1000, 1 << 20]),
    st.sampled_from([1, 60, 1 << 20]),
    st.sampled_from([0, 1000, 1 << 20]),
)
def test_records_come_in_the_order_of_keys(
    tmp_path_factory: pytest.TempPathFactory,
    bundles: list[Pairs],
    buffer_bytes: int,
    block_bytes: int,
    small_bytes: int,
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(spill, "BUFFER_BYTES", buffer_bytes)
        monkeypatch.setattr(runs, "BLOCK_BYTES", block_bytes)
        monkeypatch.setattr(runs, "_JOINED_BYTES", block_bytes)
        segments = [
            segment
            for i, pairs in enumerate(bundles)
            for segment in write(folder / str(i), pairs, small_bytes)
        ]
        assert merged(segments) == in_order(bundles)


def test_a_bundle_leaves_one_run_of_many_records(tmp_path: pathlib.Path) -> None:
    segments = write(tmp_path / "a", [(-i, [b"%d" % i]) for i in range(5_000)])
    assert [segment.num_records for segment in segments] == [5_000]
    assert merged(segments) == [b"%d" % i for i in reversed(range(5_000))]


def test_memory_holds_a_block_of_each_run(tmp_path: pathlib.Path) -> None:
    """Of many large records, which are blocks of their own, one at a time is read."""
    size = 2 * runs.BLOCK_BYTES
    pairs: list[Pairs] = [[(2 * i + run, [bytes(size)]) for i in range(20)] for run in (0, 1)]
    segments = [segment for run in (0, 1) for segment in write(tmp_path / str(run), pairs[run])]
    read: list[int] = []

    class File:
        def __init__(self, path: str) -> None:
            self._file = DirectFileSystem().open(path)
            self.seek, self.tell = self._file.seek, self._file.tell
            self.close, self.read = self._file.close, self._file.read

        def readinto(self, target: memoryview, /) -> int:
            count = self._file.readinto(target) or 0
            read.append(count)
            return count

    done = 0
    for frames in merge_runs(segments, File):
        done += frames.num_bytes
        assert sum(read) <= done + 2 * size
    assert done == 40 * (size + 16)


@pytest.mark.parametrize("in_one", [True, False])
@pytest.mark.parametrize("keys", [(1, "b"), (np.array([1, 2]), np.array([1, 2]))])
def test_keys_that_cannot_be_sorted(
    tmp_path: pathlib.Path, keys: tuple[Any, Any], in_one: bool
) -> None:
    pairs: Pairs = [(key, [b""]) for key in keys]
    bundles = [pairs] if in_one else [[pair] for pair in pairs]
    with pytest.raises(EncodeError, match=r"^Expected keys that can be sorted, found others: "):
        merged(
            [
                segment
                for i, bundle in enumerate(bundles)
                for segment in write(tmp_path / str(i), bundle)
            ]
        )


def test_keys_that_cannot_be_pickled(tmp_path: pathlib.Path) -> None:
    with pytest.raises(EncodeError, match=r"^Expected keys that can be pickled, found others: "):
        write(tmp_path / "a", [(threading.Lock(), [b""])])


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9])
def test_spill_file_that_is_cut(tmp_path: pathlib.Path, share: float) -> None:
    path = tmp_path / "a"
    segments = write(path, [(i, [b"%d" % i]) for i in range(10_000)])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(WriteError, match=r"^Expected \d+ records? of \d+ bytes, found "):
        merged(segments)
