"""Single elements put together to lists: a step handles these at a fraction of the cost."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.transforms.window import BoundedWindow, GlobalWindow, GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue
from google.protobuf.message import Message

from tfrecord_beam.options import check_int
from tfrecord_beam.records.block import frame_size
from tfrecord_beam.records.reader import BLOCK_BYTES
from tfrecord_beam.transforms.workers import LibraryDoFn

LIST_BYTES = BLOCK_BYTES
"""A list of `bytes` ends where these have so many, with the frame of each."""

_MOST_LISTS = 4
"""Of full ones as much as those of all windows together hold back."""

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


class Collect(beam.PTransform):
    """Puts elements together to lists: PCollection[T] -> PCollection[list[T]].

    A list has elements of one window, in their order, and the time of the window's end. Record
    batches pass as they are.

    Args:
      batch_size: elements of a list; the last one of a bundle may have fewer, as may each where
        elements of many windows come in turn. None: as many as have 8 MiB.

    Raises:
      ValueError: `batch_size` is out of range.
    """

    def __init__(self, batch_size: int | None = None) -> None:
        super().__init__()
        check_int("batch_size", batch_size, least=1, optional=True)
        self._batch_size = batch_size

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Any]:
        is_global = isinstance(elements.windowing.windowfn, GlobalWindows)
        make = CollectGlobal if is_global else CollectByWindow
        if self._batch_size is not None:
            collect = make(self._batch_size, _count_one)
        elif elements.element_type is bytes:
            collect = make(LIST_BYTES, frame_size)
        else:
            collect = make(LIST_BYTES, SizeEstimate())
        return elements | "ToLists" >> beam.ParDo(collect)


class CollectGlobal(LibraryDoFn):
    """Gives lists of elements of the global window.

    Args:
      most: a list ends where its elements measure so much together.
      measure: how much one of them is.
    """

    def __init__(self, most: int, measure: Callable[[Any], int]) -> None:
        self._most = most
        self._measure = measure
        self.start_bundle()

    def start_bundle(self) -> None:
        self._elements: list[Any] = []
        self._size = 0

    def process(self, element: Any) -> Sequence[Any]:
        if isinstance(element, pa.RecordBatch):
            return [element]
        self._elements.append(element)
        self._size += self._measure(element)
        return self.finish_bundle() if self._size >= self._most else ()

    def finish_bundle(self) -> Sequence[WindowedValue]:
        ended = self._elements
        self.start_bundle()
        return [_end(ended, _GLOBAL)] if ended else ()


class CollectByWindow(LibraryDoFn):
    """The same for elements of any windows; all lists end where they have as much as four."""

    def __init__(self, most: int, measure: Callable[[Any], int]) -> None:
        self._most = most
        self._measure = measure
        self.start_bundle()

    def start_bundle(self) -> None:
        self._lists: dict[BoundedWindow, list[Any]] = collections.defaultdict(list)
        self._sizes: dict[BoundedWindow, int] = collections.Counter()
        self._size = 0

    def process(self, element: Any, window: Any = beam.DoFn.WindowParam) -> Sequence[Any]:
        if isinstance(element, pa.RecordBatch):
            return [element]
        self._lists[window].append(element)
        size = self._measure(element)
        self._sizes[window] += size
        self._size += size
        if self._size >= _MOST_LISTS * self._most:
            return self.finish_bundle()
        if self._sizes[window] < self._most:
            return ()
        self._size -= self._sizes.pop(window)
        return [_end(self._lists.pop(window), window)]

    def finish_bundle(self) -> Sequence[WindowedValue]:
        ended = self._lists
        self.start_bundle()
        return [_end(elements, window) for window, elements in ended.items()]


def _end(elements: list[Any], window: BoundedWindow) -> WindowedValue:
    return WindowedValue(elements, window.max_timestamp(), (window,))


def _count_one(element: Any) -> int:
    return 1


class SizeEstimate:
    """Tells about how many bytes an element has, with no look at most rows."""

    def __init__(self) -> None:
        self._num_rows = 0
        self._row_bytes = _ROW_BYTES

    def __call__(self, element: Any) -> int:
        if type(element) is bytes:
            return frame_size(element)
        if self._num_rows % _ROWS_ALIKE == 0:
            self._row_bytes = max(_ROW_BYTES, estimate_size(element))
        self._num_rows += 1
        return self._row_bytes
