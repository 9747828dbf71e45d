"""Streams of record batches: repeated, shuffled and cut anew."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.records import batch_stream
from tfrecord_beam.records.batch_stream import (
    rebatch,
    repeat_batches,
    shuffle_rows,
    shuffled_read_options,
)


def batch_of(values: Sequence[int]) -> pa.RecordBatch:
    """Returns a batch whose rows can be told apart, with a null row and an empty one among them."""
    lists = [None if v % 7 == 3 else [v] * (v % 3) for v in values]
    return pa.record_batch(
        {
            "row": pa.array(values, pa.int64()),
            "lists": pa.array(lists, pa.large_list(pa.int64())),
            "bytes": pa.array([[b"%d" % v] for v in values], pa.large_list(pa.large_binary())),
        }
    )


def batches_of(sizes: Sequence[int]) -> list[pa.RecordBatch]:
    starts = itertools.accumulate(sizes, initial=0)
    return [
        batch_of(range(start, start + size)) for start, size in zip(starts, sizes, strict=False)
    ]


def rows(batches: Sequence[pa.RecordBatch]) -> list[int]:
    return [value for batch in batches for value in batch.column("row").to_pylist()]


def check_rows(batches: Sequence[pa.RecordBatch]) -> None:
    """Checks that rows are whole, and batches no slices of larger ones."""
    for batch in batches:
        expected = batch_of(batch.column("row").to_pylist())
        assert batch == expected
        assert batch.schema == expected.schema
        assert all(column.offset == 0 for column in batch.columns)
        assert len(batch.column("bytes").values) == batch.num_rows
        assert len(batch.column("lists").values) == len(expected.column("lists").values)


sizes = st.lists(st.integers(0, 12), max_size=12)


@given(sizes, st.integers(1, 15), st.booleans())
def test_rebatch_cuts_the_same_rows(sizes: list[int], batch_size: int, drop: bool) -> None:
    cut = list(rebatch(batches_of(sizes), batch_size, drop_remainder=drop))
    check_rows(cut)
    whole, remainder = divmod(sum(sizes), batch_size)
    last = [remainder] if remainder and not drop else []
    assert [batch.num_rows for batch in cut] == [batch_size] * whole + last
    assert rows(cut) == list(range(whole * batch_size + sum(last)))


def test_rebatch_passes_batches_that_fit_as_they_are() -> None:
    batches = batches_of([4, 4, 3])
    cut = list(rebatch(batches, 4, drop_remainder=False))
    assert cut[0] is batches[0] and cut[1] is batches[1]


def test_rebatch_counts_rows_without_columns() -> None:
    batches = [batch.select([]) for batch in batches_of([3, 4])]
    assert [b.num_rows for b in rebatch(batches, 2, drop_remainder=False)] == [2, 2, 2, 1]


@given(sizes, st.integers(1, 20), st.integers(0, 3))
def test_shuffle_keeps_each_row_once(sizes: list[int], buffer_rows: int, seed: int) -> None:
    def shuffle() -> list[pa.RecordBatch]:
        generator = np.random.default_rng(seed)
        return list(shuffle_rows(batches_of(sizes), buffer_rows=buffer_rows, generator=generator))

    shuffled = shuffle()
    check_rows(shuffled)
    assert sorted(rows(shuffled)) == list(range(sum(sizes)))
    assert shuffle() == shuffled


def test_shuffle_reorders_rows_within_its_buffer() -> None:
    generator = np.random.default_rng(5)
    shuffled = rows(list(shuffle_rows(batches_of([10] * 20), buffer_rows=20, generator=generator)))
    assert shuffled != sorted(shuffled)
    # A row can come early by no more than the rows that are held.
    assert all(place > row - 20 for place, row in enumerate(shuffled))
    assert any(abs(place - row) > 5 for place, row in enumerate(shuffled))


def test_shuffle_of_a_buffer_of_one_row_changes_nothing() -> None:
    generator = np.random.default_rng(5)
    shuffled = shuffle_rows(batches_of([1] * 9), buffer_rows=1, generator=generator)
    assert rows(list(shuffled)) == list(range(9))


def test_shuffle_copies_rows_a_few_times_however_small_the_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied = []
    concat_arrays = pa.concat_arrays

    def note(arrays: Iterable[pa.Array]) -> pa.Array:
        joined = concat_arrays(arrays)
        copied.append(len(joined))
        return joined

    monkeypatch.setattr(pa, "concat_arrays", note)
    batches = batches_of([2] * 200)
    shuffled = shuffle_rows(batches, buffer_rows=100, generator=np.random.default_rng(5))
    assert sorted(rows(list(shuffled))) == list(range(400))
    assert sum(copied) <= 400


def test_shuffle_gives_large_rows_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_stream, "_PORTION_BYTES", 1000)
    batches = batches_of([50] * 8)
    shuffled = list(shuffle_rows(batches, buffer_rows=200, generator=np.random.default_rng(5)))
    check_rows(shuffled)
    assert sorted(rows(shuffled)) == list(range(400))
    assert max(batch.num_rows for batch in shuffled) < 50
    assert shuffled_read_options(201).batch_size == 101


def test_repeat_begins_each_epoch_anew() -> None:
    epochs = iter([[batch_of([0])], [batch_of([1]), batch_of([2])], [batch_of([3])]])
    assert rows(list(repeat_batches(lambda: next(epochs), 2))) == [0, 1, 2]
    assert list(repeat_batches(lambda: [batch_of([0])], 0)) == []


def test_repeat_is_endless_on_request() -> None:
    endless = repeat_batches(lambda: [batch_of([0, 1])], None)
    assert rows(list(itertools.islice(endless, 3))) == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("epoch", [[], [batch_of([])]])
def test_repeat_ends_where_there_are_no_rows(epoch: list[pa.RecordBatch]) -> None:
    def read_epoch() -> Iterator[pa.RecordBatch]:
        return iter(epoch)

    assert rows(list(repeat_batches(read_epoch, None))) == []
