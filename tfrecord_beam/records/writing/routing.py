"""Assigns records to shards, and orders them within a shard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfrecord_beam.records.block import FOOTER_BYTES, Int64Array
from tfrecord_beam.records.frames import FramedRecords

UInt64Array = np.ndarray[Any, np.dtype[np.uint64]]


def cut(frames: FramedRecords, num_shards: int, first: int) -> Iterator[tuple[int, FramedRecords]]:
    """Yields as many slices as there are shards, each with its shard, but for empty ones.

    Args:
      frames: records.
      num_shards: how many shards there are.
      first: the shard that gets the first slice. To be one further each time, so that also
        the records of many small batches are spread evenly.
    """
    bounds = np.arange(num_shards + 1) * frames.num_records // num_shards
    for index, part in _slices(frames, bounds):
        yield (first + index) % num_shards, part


def cut_at(
    frames: FramedRecords, num_shards: int, position: int, num_records: int
) -> Iterator[tuple[int, FramedRecords]]:
    """Yields slices so that each shard gets the next records of all, in their order.

    Args:
      frames: records.
      num_shards: how many shards there are.
      position: how many records came before these.
      num_records: how many there are in all.
    """
    bounds = np.arange(num_shards + 1) * num_records // num_shards - position
    yield from _slices(frames, np.clip(bounds, 0, frames.num_records))


def scatter(
    frames: FramedRecords, num_shards: int, seed: int
) -> Iterator[tuple[int, FramedRecords]]:
    """Yields the records of each shard, where a record's own bytes determine its shard."""
    shards = (hash_records(frames, seed) % np.uint64(num_shards)).astype(np.int64)
    order = np.argsort(shards, kind="stable")
    bounds = np.searchsorted(shards[order], np.arange(num_shards + 1))
    yield from _slices(frames.take(order), bounds)


def _slices(frames: FramedRecords, bounds: Int64Array) -> Iterator[tuple[int, FramedRecords]]:
    """Yields the slices between bounds that are not empty, with their numbers."""
    starts = bounds.tolist()
    for index in np.flatnonzero(np.diff(bounds)).tolist():
        yield index, frames.slice(starts[index], starts[index + 1])


def shuffle(frames: FramedRecords, seed: int) -> FramedRecords:
    """Returns the records in an order that depends on them and the seed, not on their order.

    Records of equal bytes stand side by side.
    """
    # Another seed than that of `scatter`: a shard has records of hashes that are alike.
    hashes = hash_records(frames, seed + 1)
    order = np.argsort(hashes, kind="stable")
    return frames.take(_order_ties(frames, order, hashes[order]))


def _order_ties(frames: FramedRecords, order: Int64Array, hashes: UInt64Array) -> Int64Array:
    """Returns the order with records of one hash, where these differ, ordered by their bytes."""
    is_tie = np.concatenate(([0], hashes[1:] == hashes[:-1], [0])).astype(np.int8)
    edges = np.diff(is_tie)
    starts, lasts = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    ordered = order.copy()
    for start, last in zip(starts.tolist(), lasts.tolist(), strict=True):
        tied = order[start : last + 1].tolist()
        ordered[start : last + 1] = sorted(tied, key=lambda index: _frame(frames, index))
    return ordered


def _frame(frames: FramedRecords, index: int) -> bytes:
    return bytes(frames.data[int(frames.offsets[index]) : int(frames.offsets[index + 1])])


def hash_records(frames: FramedRecords, seed: int) -> UInt64Array:
    """Returns a number for each record that depends on its bytes and the seed alone.

    The frame's CRC of the payload, mixed with the seed as in SplitMix64 (Steele et al., 2014): of
    records that differ some have the same.
    """
    ends = frames.offsets[1:]
    data = np.frombuffer(frames.data, np.uint8)
    crcs = np.zeros(len(ends), np.uint64)
    for index in range(FOOTER_BYTES):
        crcs = (crcs << np.uint64(8)) | data[ends - 1 - index]
    with np.errstate(over="ignore"):
        state = crcs + np.uint64(seed * 0x9E3779B97F4A7C15 % (1 << 64))
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return state ^ (state >> np.uint64(31))
