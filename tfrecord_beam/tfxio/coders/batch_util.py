"""Lists of elements to decode at once, under the names that TFXIO users know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import apache_beam as beam

from tfrecord_beam.options import check_int
from tfrecord_beam.tfxio.telemetry import ProfileBatching


def GetBatchElementsKwargs(
    batch_size: int | None, element_size_fn: Callable[[Any], int] = len
) -> dict[str, Any]:
    """Returns options of `beam.BatchElements`.

    Args:
      batch_size: elements in each list; the last one of a bundle may have fewer. None: up to 1000,
        chosen by Beam.
      element_size_fn: not used, because there is no batching by size here.

    Raises:
      ValueError: `batch_size` is below 1.
    """
    check_int("batch_size", batch_size, least=1, optional=True)
    if batch_size is not None:
        return {"min_batch_size": batch_size, "max_batch_size": batch_size}
    return {
        "min_batch_size": 1,
        "max_batch_size": 1000,
        "target_batch_overhead": 0.05,
        "target_batch_duration_secs": 1,
        "target_batch_duration_secs_including_fixed_cost": 1,
        "variance": 0.25,
    }


class BatchRecords(beam.PTransform):
    """Batches elements into lists: PCollection[T] -> PCollection[list[T]].

    Metrics: those of `ProfileBatching`.

    Args:
      batch_size: as for `GetBatchElementsKwargs`.
      telemetry_descriptors: names of the component that reads; None: ``Unknown``.
      record_size_fn: not used, because there is no batching by size here.

    Raises:
      ValueError: `batch_size` is below 1.
    """

    def __init__(
        self,
        batch_size: int | None,
        telemetry_descriptors: Sequence[str] | None,
        record_size_fn: Callable[[Any], int] = len,
    ) -> None:
        super().__init__()
        self._options = GetBatchElementsKwargs(batch_size, record_size_fn)
        self._profile = ProfileBatching(telemetry_descriptors, batch_size)

    def expand(self, records: beam.PCollection[Any]) -> beam.PCollection[Any]:
        return records | self._profile | beam.BatchElements(**self._options)
