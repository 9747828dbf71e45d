"""Tests of tfrecord_beam.records.writing.routing: each record goes to one shard, by its rule."""

from __future__ import annotations

import collections
import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.writing import routing
from tfrecord_beam.records.writing.routing import cut, cut_at, hash_records, scatter, shuffle

RECORDS = [b"%d" % (i // 2) * (i % 5) for i in range(200)]  # some of them equal


def frames_of(records: list[bytes]) -> FramedRecords:
    return FramedRecords.from_records(records)


def records_of(frames: FramedRecords) -> list[bytes]:
    return list(frames.records())


@given(st.integers(0, 20), st.integers(1, 8), st.integers(0, 100))
def test_cut_gives_each_record_once_and_in_order(count: int, num_shards: int, first: int) -> None:
    records = RECORDS[:count]
    parts = list(cut(frames_of(records), num_shards, first))
    assert [record for _, part in parts for record in part.records()] == records
    shards = [shard for shard, _ in parts]
    assert len({*shards}) == len(shards) == min(count, num_shards)
    assert {*shards} <= {*range(num_shards)}
    sizes = [part.num_records for _, part in parts]
    assert not sizes or max(sizes) - min(sizes) <= 1


def test_cuts_of_many_small_batches_are_even() -> None:
    totals: collections.Counter[int] = collections.Counter()
    for first in range(30):
        for shard, part in cut(frames_of([b"a"]), 3, first):
            totals[shard] += part.num_records
    assert totals == {0: 10, 1: 10, 2: 10}


@given(st.lists(st.integers(0, 7), max_size=6), st.integers(1, 9))
def test_cut_at_gives_shards_the_next_records(sizes: list[int], num_shards: int) -> None:
    total = sum(sizes)
    shards: dict[int, list[bytes]] = collections.defaultdict(list)
    position = 0
    for size in sizes:
        records = [b"%d" % i for i in range(position, position + size)]
        for shard, part in cut_at(frames_of(records), num_shards, position, total):
            shards[shard] += part.records()
        position += size
    assert [int(r) for shard in sorted(shards) for r in shards[shard]] == list(range(total))
    for shard, records in shards.items():
        assert len(records) in (total // num_shards, -(-total // num_shards)), shard


@pytest.mark.parametrize("num_shards", [1, 3, 7])
def test_scatter_and_shuffle_do_not_depend_on_bundles(num_shards: int) -> None:
    def write(records: list[bytes], batch: int) -> list[list[bytes]]:
        shards: dict[int, list[bytes]] = collections.defaultdict(list)
        for start in range(0, len(records), batch):
            for shard, part in scatter(frames_of(records[start : start + batch]), num_shards, 5):
                shards[shard] += part.records()
        return [records_of(shuffle(frames_of(shards[i]), 5)) for i in range(num_shards)]

    expected = write(RECORDS, 1000)
    assert sorted(sum(expected, [])) == sorted(RECORDS)
    mixed = random.Random(1).sample(RECORDS, len(RECORDS))
    assert write(mixed, 13) == expected


def test_shuffle_depends_on_the_seed() -> None:
    records = [b"%d" % i for i in range(100)]
    orders = [tuple(records_of(shuffle(frames_of(records), seed))) for seed in range(5)]
    assert len({*orders, tuple(records)}) == 6


def test_shards_of_a_shuffle_are_about_even() -> None:
    frames = frames_of([b"record %d" % i for i in range(10_000)])
    sizes = [part.num_records for _, part in scatter(frames, 10, 0)]
    assert min(sizes) > 850
    assert max(sizes) < 1150


def test_records_of_one_hash_are_ordered_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    def hash_first_byte(frames: FramedRecords, seed: int) -> routing.UInt64Array:
        return np.array([record[0] for record in frames.records()], np.uint64)

    monkeypatch.setattr(routing, "hash_records", hash_first_byte)
    records = [b"b2", b"a3", b"b1", b"a1", b"c", b"a2", b"b3"]
    assert records_of(shuffle(frames_of(records), 0)) == sorted(records)


def test_hash_is_that_of_the_record_wherever_it_stands() -> None:
    frames = frames_of([b"x", b"abc", b"", b"abc"])
    hashes = hash_records(frames, 1)
    assert hashes[1] == hashes[3] == hash_records(frames.slice(1, 2), 1)[0]
    assert len({*hashes.tolist()}) == 3
    assert hash_records(frames.slice(1, 2), 2)[0] != hashes[1]
