"""Single elements put together to lists, at a fraction of what it costs to handle each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.transforms.window import BoundedWindow, GlobalWindow, GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue
from google.protobuf.message import Message

from tfrecord_beam.transforms.workers import LibraryDoFn

LIST_BYTES = 8 << 20
"""A list of `bytes` ends where it has so many."""

_ROW_BYTES = 8 << 10
"""The least that an element that is no `bytes` is taken for: a list has a thousand of them."""

_ROWS_ALIKE = 16
"""So many rows are taken to be as large as the first of them: to look at each takes too long."""

_NUMBER_BYTES = 8

_GLOBAL = GlobalWindow()


def estimate_size(element: Any) -> int:
    """Returns about how many bytes of values an element has, at any depth.

    >>> estimate_size({"image": b"12345", "tags": ["a", "b"]})
    7

    Args:
      element: what a collection to be written may hold. The values of a list are taken to be as
        large as its first.
    """
    if isinstance(element, (bytes, bytearray, str)):
        return len(element)
    if isinstance(element, Message):
        return element.ByteSize()
    if isinstance(element, (np.ndarray, memoryview, pa.RecordBatch)):
        return int(element.nbytes)
    if isinstance(element, list):
        return len(element) * estimate_size(element[0]) if element else 0
    if isinstance(element, Mapping):
        return sum(map(estimate_size, element.values()))
    if isinstance(element, tuple):
        return sum(map(estimate_size, element))
    fields = getattr(element, "__dict__", None)  # of a dataclass, and of Beam's rows
    return estimate_size(fields) if fields else _NUMBER_BYTES


class Collect(LibraryDoFn):
    """Gives lists of elements of the global window, in their order, and record batches as they are.

    Beam's `BatchElements` takes half as much again for each element.
    """

    def __init__(self) -> None:
        self._row_bytes = _ROW_BYTES
        self.start_bundle()

    def start_bundle(self) -> None:
        self._elements: list[Any] = []
        self._num_bytes = 0

    def process(self, element: Any) -> Sequence[Any]:
        if isinstance(element, pa.RecordBatch):
            return [element]
        self._num_bytes += self._size(element)
        self._elements.append(element)
        if self._num_bytes < LIST_BYTES:
            return ()
        full = self._elements
        self.start_bundle()
        return [full]

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._elements:
            yield WindowedValue(self._elements, _GLOBAL.max_timestamp(), (_GLOBAL,))

    def _size(self, element: Any) -> int:
        if type(element) is bytes:
            return len(element)
        if len(self._elements) % _ROWS_ALIKE == 0:
            self._row_bytes = max(_ROW_BYTES, estimate_size(element))
        return self._row_bytes


class CollectByWindow(LibraryDoFn):
    """The same for elements of any windows: those of a list share theirs."""

    def __init__(self) -> None:
        self.start_bundle()

    def start_bundle(self) -> None:
        self._collects: dict[BoundedWindow, Collect] = {}

    def process(self, element: Any, window: Any = beam.DoFn.WindowParam) -> Sequence[Any]:
        if window not in self._collects:
            self._collects[window] = Collect()
        return self._collects[window].process(element)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for window, collect in self._collects.items():
            for collected in collect.finish_bundle():
                yield WindowedValue(collected.value, window.max_timestamp(), (window,))


def choose_collect(elements: beam.PCollection[Any]) -> beam.ParDo:
    """Returns the one of the two that suits the windows of a collection."""
    is_global = isinstance(elements.windowing.windowfn, GlobalWindows)
    return beam.ParDo(Collect() if is_global else CollectByWindow())
