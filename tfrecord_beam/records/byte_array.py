"""Opaque records as a column of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tfrecord_beam.kernel.plan import DecodeFailure
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.schema.lists import to_singleton_lists

if TYPE_CHECKING:
    from typing_extensions import Buffer


class ByteArrayDecoder:
    """Like the kernel's decoders, for records with any content. No record fails.

    Args:
      column: name of the only column, `large_list<large_binary>` with one value per row.
    """

    def __init__(self, column: str) -> None:
        self._column = column

    def decode(
        self,
        data: memoryview,
        offsets: Int64Array,
        lengths: Int64Array,
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[pa.RecordBatch, list[DecodeFailure]]:
        """Returns the batch of the first `max_cells` records of a block, and no failures."""
        offsets, lengths = offsets[:max_cells], lengths[:max_cells]
        # Treats the bytes between two records as values, too, and then takes every other value.
        bounds = np.stack([offsets, offsets + lengths], axis=1).ravel()
        values = _binary_array(bounds, data)
        return self._batch(values.take(pa.array(np.arange(0, len(bounds), 2)))), []

    def decode_records(
        self,
        records: Sequence[Buffer],
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[pa.RecordBatch, list[DecodeFailure]]:
        """Returns the batch of the first `max_cells` records, and no failures.

        Raises:
          TypeError: a record is not bytes.
        """
        records = records[:max_cells]
        data = b"".join(records)
        bounds = np.cumsum([0, *(memoryview(record).nbytes for record in records)], dtype=np.int64)
        return self._batch(_binary_array(bounds, data)), []

    def _batch(self, values: pa.LargeBinaryArray) -> pa.RecordBatch:
        return pa.record_batch([to_singleton_lists(values)], [self._column])


def _binary_array(bounds: Int64Array, data: Buffer) -> pa.LargeBinaryArray:
    """Returns the values ``data[bounds[i] : bounds[i + 1]]`` without a copy."""
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), max(len(bounds) - 1, 0), buffers)
