"""Tests of tfrecord_beam.transforms.collect: how much of a bundle is held back in memory."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest

from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.transforms.collect import LIST_BYTES, Collect, estimate_size

LARGE = bytes(1 << 20)


class Named(NamedTuple):
    id: int
    image: bytes


@dataclasses.dataclass
class Data:
    id: int
    image: bytes


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
    beam.Row(id=1, image=LARGE),
    (7, LARGE),
    (7, pa.record_batch({"image": [LARGE]})),
]


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda element: type(element).__name__)
def test_large_elements_are_few_to_a_list(element: Any) -> None:
    assert len(LARGE) <= estimate_size(element) <= len(LARGE) + 100
    collect = Collect()
    lists = [each for _ in range(40) for each in collect.process(element)]
    lists += [each.value for each in collect.finish_bundle()]
    assert sum(map(len, lists)) == 40
    assert max(map(len, lists)) == LIST_BYTES // len(LARGE)


def test_small_elements_are_many_to_a_list() -> None:
    collect = Collect()
    lists = [each for i in range(2050) for each in collect.process({"id": i})]
    assert list(map(len, lists)) == [1024, 1024]
    [rest] = collect.finish_bundle()
    assert rest.value == [{"id": 2048}, {"id": 2049}]
    collect.start_bundle()
    assert list(collect.finish_bundle()) == []
