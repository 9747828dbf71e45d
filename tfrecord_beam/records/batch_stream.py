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


def shuffle_rows(
    batches: Iterable[pa.RecordBatch], *, buffer_rows: int, generator: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """Yields all rows of the batches in random order.

    Half of a full buffer is drawn at a time, so that each row is copied about twice and not once
    for each row that passes by.

    Args:
      batches: best of at most half of `buffer_rows` each; what one has more is held in addition.
      buffer_rows: rows among which the next ones are drawn.
      generator: the source of the random order.
    """
    buffer = None
    for batch in batches:
        rows = batch.to_struct_array()
        buffer = rows if buffer is None else pa.concat_arrays([buffer, rows])
        if len(buffer) >= buffer_rows:
            order = generator.permutation(len(buffer))
            kept = buffer_rows // 2
            yield _take(buffer, order[kept:])
            buffer = buffer.take(pa.array(order[:kept]))
    if buffer is not None and len(buffer):
        yield _take(buffer, generator.permutation(len(buffer)))


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
