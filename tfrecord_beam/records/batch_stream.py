"""Streams of record batches: repeated, shuffled by row, rebatched to one size.

Rows are held as struct arrays, so that a row is one unit whatever the columns are, and rows are
counted even if there are no columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa

from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.records.reader import BLOCK_BYTES, ReadOptions

_PORTION_BYTES = 32 << 20
"""Approximate size of the batches of shuffled rows."""


def repeat_batches(
    read_epoch: Callable[[], Iterable[pa.RecordBatch]], num_epochs: int | None
) -> Iterator[pa.RecordBatch]:
    """Yields the batches of one epoch after the other; stops early at an epoch without rows.

    Args:
      read_epoch: starts an epoch and returns its batches.
      num_epochs: number of epochs; None: endless.
    """
    for _ in itertools.count() if num_epochs is None else range(num_epochs):
        is_empty = True
        for batch in read_epoch():
            is_empty = is_empty and not batch.num_rows
            yield batch
        if is_empty:
            return


def shuffled_read_options(
    buffer_rows: int, compression: str | None = "auto", validate_crc: bool = True
) -> ReadOptions:
    """Returns options for reading the input of `shuffle_rows` with this buffer size.

    Blocks have at most half of `buffer_rows` rows, and the usual size in bytes, because a block is
    held in memory in addition to the buffer.
    """
    return ReadOptions(compression, validate_crc, (buffer_rows + 1) // 2, BLOCK_BYTES)


def shuffle_rows(
    batches: Iterable[pa.RecordBatch], *, buffer_rows: int, generator: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """Yields all rows of the batches in random order.

    Half of a full buffer is drawn at a time, so that each row is copied only a few times, not once
    for each row drawn. Rows stay in the arrays in which they arrived and are yielded in batches of
    some megabytes, so that little more memory is needed than for the rows in the buffer.

    Args:
      batches: read with `shuffled_read_options`; larger ones exceed the buffer.
      buffer_rows: number of rows among which the next ones are drawn.
      generator: the source of the random order.
    """
    buffer = _ShuffleBuffer(generator)
    for batch in batches:
        buffer.add(batch.to_struct_array())
        if buffer.num_rows >= buffer_rows:
            yield from buffer.draw(keep=buffer_rows // 2)
    yield from buffer.draw(keep=0)


class _ShuffleBuffer:
    """The rows that have not been drawn yet."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._arrays: list[pa.StructArray] = []
        self.num_rows = 0  # needed after each batch, so kept up to date

    def add(self, rows: pa.StructArray) -> None:
        self._arrays.append(rows)
        self.num_rows += len(rows)

    def draw(self, keep: int) -> Iterator[pa.RecordBatch]:
        """Yields rows in random order until `keep` rows are left."""
        order = self._generator.permutation(self.num_rows)
        num_portions = 1 + sum(array.nbytes for array in self._arrays) // _PORTION_BYTES
        for indices in np.array_split(order[keep:], num_portions):
            if len(indices):
                by_place = np.argsort(indices)
                rows = pa.concat_arrays(self._pick(indices[by_place]))
                yield _take(rows, np.argsort(by_place))
        for number, kept in enumerate(self._pick(np.sort(order[:keep]))):
            self._arrays[number] = kept  # one by one, so that the old ones are freed
        self._arrays = [array for array in self._arrays if len(array)]
        self.num_rows = sum(map(len, self._arrays))

    def _pick(self, indices: Int64Array) -> Iterator[pa.StructArray]:
        """Yields the selected rows of each array; indices ascend and count over all arrays."""
        start = 0
        for array in self._arrays:
            stop = start + len(array)
            first, last = np.searchsorted(indices, (start, stop))
            yield array.take(pa.array(indices[first:last] - start))
            start = stop


def rebatch(
    batches: Iterable[pa.RecordBatch], batch_size: int, *, drop_remainder: bool
) -> Iterator[pa.RecordBatch]:
    """Yields the same rows in batches of `batch_size` rows, none of them a slice of another.

    Args:
      batches: of any sizes.
      batch_size: rows of each batch.
      drop_remainder: leave out the last batch if it has fewer rows.
    """
    pending: list[pa.StructArray] = []
    num_pending = 0
    for batch in batches:
        if not num_pending and batch.num_rows == batch_size:
            yield batch
            continue
        pending.append(batch.to_struct_array())
        num_pending += batch.num_rows
        if num_pending >= batch_size:
            rows = pa.concat_arrays(pending)
            num_pending = len(rows) % batch_size
            whole = len(rows) - num_pending
            for start in range(0, whole, batch_size):
                yield _take(rows, np.arange(start, start + batch_size))
            pending = [rows.slice(whole)]
    if num_pending and not drop_remainder:
        yield _take(pa.concat_arrays(pending), np.arange(num_pending))


def _take(rows: pa.StructArray, indices: Int64Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(rows.take(pa.array(indices)))
