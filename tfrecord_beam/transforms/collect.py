"""Single elements put together to lists, at a fraction of what it costs to handle each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms.window import BoundedWindow, GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from tfrecord_beam.transforms.workers import LibraryDoFn

LIST_BYTES = 8 << 20
"""A list of `bytes` ends where it has so many."""

_ROW_BYTES = 8 << 10
"""What an element that is no `bytes` is taken for: a list has a thousand of them."""

_GLOBAL = GlobalWindow()


class Collect(LibraryDoFn):
    """Gives lists of elements of the global window, in their order, and record batches as they are.

    Beam's `BatchElements` takes half as much again for each element.
    """

    def __init__(self) -> None:
        self.start_bundle()

    def start_bundle(self) -> None:
        self._elements: list[Any] = []
        self._num_bytes = 0

    def process(self, element: Any) -> Sequence[Any]:
        if isinstance(element, pa.RecordBatch):
            return [element]
        self._elements.append(element)
        self._num_bytes += len(element) if type(element) is bytes else _ROW_BYTES
        if self._num_bytes < LIST_BYTES:
            return ()
        full = self._elements
        self.start_bundle()
        return [full]

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._elements:
            yield WindowedValue(self._elements, _GLOBAL.max_timestamp(), (_GLOBAL,))


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
