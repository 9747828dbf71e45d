"""Sends corrupt records to Beam's error handler, counts them, and enforces a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.transforms.combiners import CountCombineFn

from tfrecord_beam.options import describe
from tfrecord_beam.records import corruption
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.windows import group_later

CORRUPT = "corrupt"
"""Tag of the output that holds `CorruptRecord`s."""


class ErrorHandler(Protocol):
    """The part of `apache_beam.transforms.error_handling.ErrorHandler` that is used here."""

    def add_error_pcollection(self, pcoll: beam.PCollection[Any]) -> None: ...


def check_error_handler(
    error_handler: ErrorHandler | None, max_corrupt_records: int | None
) -> None:
    """Raises ValueError for invalid error options of a transform."""
    if error_handler is not None and not hasattr(error_handler, "add_error_pcollection"):
        raise ValueError(
            "Expected error_handler to be one of apache_beam.transforms.error_handling, "
            f"found {describe(error_handler)}"
        )
    corruption.check_error_options(error_handler, max_corrupt_records)


def drain_corrupt(corrupt: list[CorruptRecord]) -> Iterator[beam.pvalue.TaggedOutput]:
    """Yields collected records for the output `CORRUPT`, counts them, and clears the list."""
    if corrupt:
        metrics.count("corrupt_records", len(corrupt))
    for record in corrupt:
        yield beam.pvalue.TaggedOutput(CORRUPT, record)
    corrupt.clear()


def handle_corrupt(
    corrupt: Iterable[beam.PCollection[CorruptRecord]],
    error_handler: ErrorHandler | None,
    max_corrupt_records: int | None,
) -> None:
    """Applies `HandleCorruptRecords` if there is an error handler."""
    if error_handler is not None:
        # A tuple, because Beam would turn a list into a PCollection.
        _ = (*corrupt,) | "HandleCorrupt" >> HandleCorruptRecords(
            error_handler, max_corrupt_records
        )


class HandleCorruptRecords(beam.PTransform):
    """Sends corrupt records to an error handler and fails if there are too many of them.

    Args:
      error_handler: Beam error handler.
      max_corrupt_records: fail if there are more (for an unbounded input, in a window); None: no
        limit.
    """

    def __init__(self, error_handler: ErrorHandler, max_corrupt_records: int | None) -> None:
        super().__init__()
        self._error_handler = error_handler
        self._max_corrupt_records = max_corrupt_records

    def expand(self, corrupt: Iterable[beam.PCollection[CorruptRecord]]) -> None:
        records = corrupt | "Flatten" >> beam.Flatten()
        records.element_type = CorruptRecord
        self._error_handler.add_error_pcollection(records)
        if self._max_corrupt_records is not None:
            _ = (
                group_later(records)
                | "Count" >> beam.CombineGlobally(CountCombineFn()).without_defaults()
                | "CheckLimit" >> beam.Map(corruption.check_limit, most=self._max_corrupt_records)
            )
