"""Batches single elements into lists, which a step can process at a fraction of the cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.transforms.window import BoundedWindow, GlobalWindow, GlobalWindows
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue
from google.protobuf.message import Message

from tfrecord_beam.options import check_int
from tfrecord_beam.records.block import frame_size
from tfrecord_beam.records.reader import BLOCK_BYTES
from tfrecord_beam.records.writing.elements import to_mapping
from tfrecord_beam.records.writing.values import MOST_LEVELS
from tfrecord_beam.transforms.workers import LibraryDoFn

LIST_BYTES = BLOCK_BYTES
"""Size at which a list of `bytes` ends, including the frame of each."""

_MAX_LISTS = 4
"""The lists of all windows together hold at most as much as this many full ones."""

_ROW_BYTES = 8 << 10
"""Minimum size assumed for an element other than `bytes`: a list has at most a thousand of them."""

_NUMBER_BYTES = 8
_NUMBERS = frozenset({int, float, bool, type(None)})
_TEXT = frozenset({bytes, bytearray, str})

_GLOBAL = GlobalWindow()


def estimate_size(element: Any) -> int:
    """Returns the approximate size in bytes of the values of an element.

    >>> estimate_size({"image": b"12345", "tags": ["a", "b"]})
    7

    Args:
      element: any element that can be written.
    """
    if type(element) is dict:  # first, because it is the usual row
        return _measure(element.values(), MOST_LEVELS)
    if isinstance(element, Message):
        return element.ByteSize()
    if isinstance(element, pa.RecordBatch):
        return int(element.nbytes)
    if type(element) is tuple:  # of a key and an element
        return sum(map(estimate_size, element))
    row = to_mapping(element)
    return _measure([element] if row is None else row.values(), MOST_LEVELS)


def _measure(values: Iterable[Any], levels: int) -> int:
    """Returns the size of the values of a row or a list, at most `levels` deep."""
    size = 0
    for value in values:
        if type(value) in _TEXT:
            size += len(value)
        elif type(value) in _NUMBERS:
            size += _NUMBER_BYTES
        else:
            size += _measure_other(value, levels)
    return size


def _measure_other(value: Any, levels: int) -> int:
    if isinstance(value, (bytes, str)):  # of numpy
        return len(value)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        value = value.ravel().tolist()
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        if not levels or _NUMBERS.issuperset(map(type, value)):
            return len(value) * _NUMBER_BYTES
        return _measure(value, levels - 1)
    if isinstance(value, (np.ndarray, memoryview)):
        return int(value.nbytes)
    row = to_mapping(value)  # of feature lists
    return _measure(row.values(), levels - 1) if row is not None and levels else _NUMBER_BYTES


class Collect(beam.PTransform):
    """Batches elements into lists: PCollection[T] -> PCollection[list[T]].

    A list holds elements of one window, in order, and gets the earliest of their timestamps. In the
    global window of a bounded input timestamps do not matter, and requesting that of each element
    would take longer than everything else: there a list gets the end of the window. Record batches
    are passed on unchanged.

    Args:
      batch_size: elements in a list; the last one of a bundle may have fewer, as may all lists if
        elements of many windows alternate. None: as many as fit into 8 MiB.

    Raises:
      ValueError: `batch_size` is out of range.
    """

    def __init__(self, batch_size: int | None = None) -> None:
        super().__init__()
        check_int("batch_size", batch_size, least=1, optional=True)
        self._batch_size = batch_size

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Any]:
        is_timeless = elements.is_bounded and isinstance(elements.windowing.windowfn, GlobalWindows)
        make = CollectTimeless if is_timeless else CollectByWindow
        if self._batch_size is not None:
            collect = make(self._batch_size, _count_one)
        elif elements.element_type is bytes:
            collect = make(LIST_BYTES, frame_size)
        else:
            collect = make(LIST_BYTES, measure_element)
        return elements | "ToLists" >> beam.ParDo(collect)


class CollectTimeless(LibraryDoFn):
    """Yields lists of elements of the global window, with the end of the window as timestamp.

    Args:
      list_size: a list ends when the sizes of its elements sum up to this.
      measure: returns the size of an element.
    """

    def __init__(self, list_size: int, measure: Callable[[Any], int]) -> None:
        self._list_size = list_size
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
        return self.finish_bundle() if self._size >= self._list_size else ()

    def finish_bundle(self) -> Sequence[WindowedValue]:
        ended = self._elements
        self.start_bundle()
        return [WindowedValue(ended, _GLOBAL.max_timestamp(), (_GLOBAL,))] if ended else ()


@dataclasses.dataclass(slots=True)
class _TimedList:
    elements: list[Any]
    size: int
    earliest: Timestamp

    def end(self, window: BoundedWindow) -> WindowedValue:
        return WindowedValue(self.elements, self.earliest, (window,))


class CollectByWindow(LibraryDoFn):
    """The same for elements of any windows; all lists end when together they reach four full ones.

    A list may have the timestamp of an element that came earlier in the bundle. This does not make
    it late: until the bundle is done, the output watermark stays behind all of its input.
    """

    def __init__(self, list_size: int, measure: Callable[[Any], int]) -> None:
        self._list_size = list_size
        self._measure = measure
        self.start_bundle()

    def start_bundle(self) -> None:
        self._lists: dict[BoundedWindow, _TimedList] = {}
        self._size = 0

    def process(
        self,
        element: Any,
        window: Any = beam.DoFn.WindowParam,
        timestamp: Any = beam.DoFn.TimestampParam,
    ) -> Sequence[Any]:
        if isinstance(element, pa.RecordBatch):
            return [element]
        if window not in self._lists:
            self._lists[window] = _TimedList([], 0, timestamp)
        timed = self._lists[window]
        size = self._measure(element)
        timed.elements.append(element)
        timed.size += size
        timed.earliest = min(timed.earliest, timestamp)
        self._size += size
        if self._size >= _MAX_LISTS * self._list_size:
            return self.finish_bundle()
        if timed.size < self._list_size:
            return ()
        self._size -= timed.size
        return [self._lists.pop(window).end(window)]

    def finish_bundle(self) -> Sequence[WindowedValue]:
        ended = self._lists
        self.start_bundle()
        return [timed.end(window) for window, timed in ended.items()]


def _count_one(element: Any) -> int:
    return 1


def measure_element(element: Any) -> int:
    """Returns the size of an element in a list that is bounded by `LIST_BYTES`."""
    if type(element) is bytes:
        return frame_size(element)
    return max(_ROW_BYTES, estimate_size(element))
