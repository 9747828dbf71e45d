"""Records that come one by one, put together to lists."""

from __future__ import annotations

from collections.abc import Callable

import apache_beam as beam

from tfrecord_beam.options import check_int
from tfrecord_beam.records.block import frame_size
from tfrecord_beam.records.reader import BLOCK_BYTES


def batch_records(
    batch_size: int | None, record_bytes: Callable[[bytes], int] = frame_size
) -> beam.BatchElements:
    """Returns a transform: PCollection[bytes] -> PCollection[list[bytes]].

    Args:
      batch_size: records of a list, the last one of a bundle may have fewer. None: as many as have
        8 MiB.
      record_bytes: how large a record is.

    Raises:
      ValueError: `batch_size` is out of range.
    """
    check_int("batch_size", batch_size, least=1, optional=True)
    if batch_size is None:
        return beam.BatchElements(
            min_batch_size=BLOCK_BYTES, max_batch_size=BLOCK_BYTES, element_size_fn=record_bytes
        )
    return beam.BatchElements(min_batch_size=batch_size, max_batch_size=batch_size)
