"""The Beam metrics of the transforms, in the namespace `NAMESPACE`, and helpers to update them.

docs/engines.md describes each counter.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from apache_beam.metrics.execution import MetricsEnvironment
from apache_beam.metrics.metric import Metrics
from apache_beam.metrics.metricbase import Distribution

from tfrecord_beam import kernel
from tfrecord_beam.records.writing.plan import WrittenFile

_logger = logging.getLogger(__name__)

_T = TypeVar("_T")

NAMESPACE = "tfrecord_beam"


def count(name: str, amount: int = 1) -> None:
    """Adds to a counter of the library."""
    Metrics.counter(NAMESPACE, name).inc(amount)


def count_file(path: str) -> None:
    """Counts a file whose reading starts, and logs its name."""
    count("files")
    _logger.info("Reading %s", path)


def count_written(file: WrittenFile) -> None:
    """Counts a file that has its final name, and logs it."""
    count("files_written")
    count("records_written", file.num_records)
    count("bytes_written", file.num_bytes)
    _logger.info("Wrote %s: %d records, %d bytes", file.path, file.num_records, file.num_bytes)


class Timer:
    """Counts time in whole milliseconds.

    Fractions of a millisecond are carried over, so that many short calls add up.

    Args:
      name: the counter.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._seconds = 0.0

    def measure(self, iterable: Iterable[_T]) -> Iterator[_T]:
        """Yields the elements; the time that the consumer takes in between does not count."""
        iterator = iter(iterable)
        end = object()
        while True:
            with self.running():
                element = next(iterator, end)
            if element is end:
                return
            yield element  # type: ignore[misc]

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Counts the time of a block of code, even if it fails."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.add(time.perf_counter() - begin)

    def add(self, seconds: float) -> None:
        """Counts time that was measured elsewhere."""
        self._seconds += seconds
        msec = int(self._seconds * 1000)
        count(self._name, msec)  # even if it is 0, so that the counter exists
        self._seconds -= msec / 1000


def serving_kernel() -> str:
    """Returns which kernel this process uses: "native" or "reference"."""
    return kernel.implementation


def count_kernel() -> None:
    """Counts that the kernel of this worker was used."""
    count(f"kernel_{serving_kernel()}")


def update_distribution(
    distribution: Distribution, *, count: int, total: int, minimum: int, maximum: int
) -> None:
    """Adds `count` values to a distribution, which only keeps these four figures of them.

    Args:
      distribution: from `Metrics.distribution`.
      count: how many values.
      total: their sum.
      minimum: the smallest.
      maximum: the largest.
    """
    update = _find_update(distribution)
    if count > 1:
        update(minimum)
    if count > 0:
        update(maximum)
    if count > 2:
        # Values of the same sum, all between the smallest and the largest.
        value, larger = divmod(total - minimum - maximum, count - 2)
        values = itertools.chain(
            itertools.repeat(value + 1, larger), itertools.repeat(value, count - 2 - larger)
        )
        collections.deque(map(update, values), maxlen=0)  # the fastest loop there is


def _find_update(distribution: Distribution) -> Callable[[int], object]:
    """Returns the update of the metric's cell, several times as fast as looking it up each time."""
    container = MetricsEnvironment.current_container()
    if container is None:
        return distribution.update
    update: Callable[[int], object] = container.get_distribution(distribution.metric_name).update
    return update
