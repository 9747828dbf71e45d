"""Tests of tfrecord_beam.transforms.collect: how much of a bundle is held back in memory."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.transforms.window import IntervalWindow
from apache_beam.utils.windowed_value import WindowedValue

from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.transforms.collect import (
    LIST_BYTES,
    CollectByWindow,
    CollectTimeless,
    estimate_size,
    measure_element,
)

LARGE = bytes(1 << 20)


class Named(NamedTuple):
    id: int
    image: bytes


@dataclasses.dataclass
class Data:
    id: int
    image: bytes


@dataclasses.dataclass(slots=True)
class Slots:
    id: int
    image: bytes


class Color(enum.IntEnum):
    RED = 1


class Kind(enum.Enum):
    LARGE = LARGE


class Own:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.own = self


def example(image: bytes) -> Example:
    message = Example()
    message.features.feature["image"].bytes_list.value.append(image)
    return message


ELEMENTS = [
    LARGE,
    bytearray(LARGE),
    example(LARGE),
    {"id": 1, "image": LARGE},
    {"id": 1, "image": [LARGE[:1024]] * 1024},
    {"id": 1, "image": np.zeros((1 << 10, 1 << 10), np.uint8)},
    {"##SEQUENCE##": {"image": [[LARGE]]}},
    Named(1, LARGE),
    Data(1, LARGE),
    Slots(1, LARGE),
    {"image": [b"", LARGE]},
    {"image": np.array([b"", LARGE], object)},
    {"image": np.bytes_(b"1" * len(LARGE))},
    beam.Row(id=1, image=LARGE),
    (7, LARGE),
    (7, pa.record_batch({"image": [LARGE]})),
]


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda element: type(element).__name__)
def test_large_elements_are_few_to_a_list(element: Any) -> None:
    assert len(LARGE) <= estimate_size(element) <= len(LARGE) + 100
    collect = CollectTimeless(LIST_BYTES, measure_element)
    given = [each for _ in range(40) for each in collect.process(element)]
    lists = [each.value for each in (*given, *collect.finish_bundle())]
    assert sum(map(len, lists)) == 40
    assert max(map(len, lists)) == LIST_BYTES // len(LARGE)


def test_each_element_is_measured() -> None:
    collect = CollectTimeless(LIST_BYTES, measure_element)
    rows = [{"image": LARGE if i % 2 else b""} for i in range(40)]
    lists = [each.value for row in rows for each in collect.process(row)]
    assert [sum(len(row["image"]) for row in each) for each in lists] == [LIST_BYTES] * 2


LISTS: list[Any] = [1]
LISTS.append(LISTS)
MAPPING: dict[str, Any] = {}
MAPPING["own"] = MAPPING


@pytest.mark.parametrize(
    "value",
    [Color.RED, Kind.LARGE, Own(), LISTS, MAPPING],
    ids=["int", "bytes", "object", "list", "mapping"],
)
def test_values_that_hold_themselves_have_a_size(value: Any) -> None:
    assert estimate_size({"value": value}) < 200


def test_small_elements_are_many_to_a_list() -> None:
    collect = CollectTimeless(LIST_BYTES, measure_element)
    lists = [each for i in range(2050) for each in collect.process({"id": i})]
    assert [len(each.value) for each in lists] == [1024, 1024]
    [rest] = collect.finish_bundle()
    assert rest.value == [{"id": 2048}, {"id": 2049}]
    collect.start_bundle()
    assert list(collect.finish_bundle()) == []


def by_window(elements: Iterable[tuple[int, int]], most: int) -> list[WindowedValue]:
    """Returns the lists of pairs of a window's number and an element, of which each counts 1."""
    collect = CollectByWindow(most, lambda _: 1)
    windows = [IntervalWindow(10 * number, 10 * number + 10) for number in range(1000)]
    lists = [
        each
        for w, element in elements
        for each in collect.process(element, windows[w], windows[w].end - element)
    ]
    lists += collect.finish_bundle()
    assert not collect.finish_bundle()
    return lists


def test_a_list_has_elements_of_one_window() -> None:
    lists = by_window([(i % 3, i) for i in range(21)], most=5)
    assert sorted(each.value for each in lists) == sorted(
        part for w in range(3) for part in ([*range(w, 15, 3)], [*range(w + 15, 21, 3)])
    )
    for each in lists:
        [window] = each.windows
        assert {element % 3 for element in each.value} == {window.start.micros // 10_000_000}
        assert each.timestamp == window.end - max(each.value)


def test_many_windows_hold_back_as_much_as_four_lists() -> None:
    collect = CollectByWindow(10, lambda _: 1)
    counts = [len(collect.process(i, IntervalWindow(i, i + 1), i)) for i in range(1000)]
    assert counts == [0, *[0] * 38, 40] * 25


def test_batches_pass_as_they_are() -> None:
    batch = pa.record_batch({"id": [1]})
    assert CollectTimeless(1, len).process(batch) == [batch]
    assert CollectByWindow(1, len).process(batch, IntervalWindow(0, 1), 0) == [batch]
