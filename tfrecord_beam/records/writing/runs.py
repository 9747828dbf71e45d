"""Sorts records by key, externally: sorted runs as large as memory allows, which are then merged.

A run is stored in a spill file as blocks: a frame with the keys, then the frames of the records.
While runs are merged, little of each is in memory: the keys of one block and, once the first of its
records is needed, its records.
"""

from __future__ import annotations

import contextlib
import functools
import heapq
import itertools
import operator
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfrecord_beam.errors import EncodeError
from tfrecord_beam.records.block import FRAME_BYTES
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.writing.file_system import OutputFile
from tfrecord_beam.records.writing.segments import Segment, SpillFiles

BLOCK_BYTES = 64 << 10
"""Of the records of a block, unless a single key has more: 1,000 runs merge in 64 MiB."""

_JOINED_BYTES = 1 << 20
"""About what is handed on at a time."""

_LENGTH_BYTES = 8
"""Of a frame, in which they come first."""

Pair = tuple[Any, FramedRecords]
"""A key, and the records that stand where it says."""


def write_run(file: OutputFile, pairs: Iterable[Pair]) -> None:
    """Writes records to a spill file in the order of their keys; those of one key stay as they are.

    Raises:
      EncodeError: keys that have no order among them, or cannot be pickled.
      WriteError: the file cannot be written.
    """
    with _comparing():
        ordered = sorted(pairs, key=operator.itemgetter(0))
    for block in _cut(ordered):
        keys, frames = zip(*block, strict=True)
        sizes = [each.num_bytes for each in frames]
        num_records = sum(each.num_records for each in frames)
        file.write(FramedRecords.from_records([_dump((keys, sizes, num_records))]).frames)
        file.write(b"".join(each.frames for each in frames))


def _cut(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Yields the pairs of each block."""
    block: list[Pair] = []
    num_bytes = 0
    for pair in pairs:
        size = pair[1].num_bytes
        if block and num_bytes + size > BLOCK_BYTES:
            yield block
            block, num_bytes = [], 0
        block.append(pair)
        num_bytes += size
    if block:
        yield block


def _dump(value: object) -> bytes:
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise EncodeError(f"Expected keys that can be pickled, found others: {error}") from error


def merge_runs(
    runs: Iterable[Segment], open_file: Callable[[str], BinaryFile]
) -> Iterator[FramedRecords]:
    """Yields the records of runs in the order of their keys, those of one key in that of the runs.

    Raises:
      EncodeError: keys of two runs that have no order among them.
      WriteError: a spill file does not hold what was written to it.
    """
    with SpillFiles(open_file) as files, _comparing():
        keyed = [_read_run(files, run) for run in runs]
        merged = heapq.merge(*keyed, key=operator.itemgetter(0))
        yield from _join(block.read(index) for _, block, index in merged)


def _read_run(files: SpillFiles, run: Segment) -> Iterator[tuple[Any, _Block, int]]:
    """Yields the keys of a run, each with the block that has its records, and its number there."""
    begin = run.begin
    while begin < run.end:
        head = files.read(run._replace(begin=begin, end=begin + _LENGTH_BYTES))
        end = min(begin + int.from_bytes(head, "little") + FRAME_BYTES, run.end)
        [dumped] = files.read_frames(run._replace(begin=begin, end=end, num_records=1)).records()
        keys, sizes, num_records = pickle.loads(dumped)
        begin, end = end, end + sum(sizes)
        records = run._replace(begin=begin, end=end, num_records=num_records)
        block = _Block(files, records, sizes)
        for index, key in enumerate(keys):
            yield key, block, index
        begin = end


class _Block:
    """Records of a run, read once the first of them is wanted."""

    def __init__(self, files: SpillFiles, segment: Segment, sizes: Sequence[int]) -> None:
        self._files = files
        self._segment = segment
        self._bounds = list(itertools.accumulate(sizes, initial=0))

    def read(self, index: int) -> memoryview:
        """Returns the frames of a key."""
        return self._frames[self._bounds[index] : self._bounds[index + 1]]

    @functools.cached_property
    def _frames(self) -> memoryview:
        return self._files.read_frames(self._segment).frames


def _join(pieces: Iterable[memoryview]) -> Iterator[FramedRecords]:
    """Yields frames that come in small pieces, many at a time."""
    joined: list[memoryview] = []
    num_bytes = 0
    for piece in pieces:
        joined.append(piece)
        num_bytes += len(piece)
        if num_bytes >= _JOINED_BYTES:
            yield FramedRecords.from_frames(b"".join(joined))
            joined, num_bytes = [], 0
    if joined:
        yield FramedRecords.from_frames(b"".join(joined))


@contextlib.contextmanager
def _comparing() -> Iterator[None]:
    """Turns what keys say that cannot be compared into an EncodeError."""
    try:
        yield
    except (TypeError, ValueError) as error:  # the latter is what numpy's arrays say
        raise EncodeError(f"Expected keys that can be sorted, found others: {error}") from error
