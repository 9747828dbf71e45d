"""Tests of tfrecord_beam.report.samples: what is shown of values, and which images are."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.report.images import GIF, IMAGES, make_png
from tfrecord_beam.errors import Location
from tfrecord_beam.report import samples
from tfrecord_beam.report.samples import MAX_IMAGES, Image, first_images, show, show_bytes
from tfrecord_beam.schema.content import find_image_type


def place_of(row: int) -> Location:
    return Location("f", 10 * row)


def find(rows: list[Any], row_type: pa.DataType) -> list[Image]:
    return list(first_images(("x",), pa.array(rows, row_type), place_of))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (pa.scalar([7], pa.large_list(pa.int64())), "7"),
        (pa.scalar([], pa.large_list(pa.int64())), "[]"),
        (pa.scalar([1, 2], pa.large_list(pa.int64())), "[1, 2]"),
        (pa.scalar(list(range(1000))), "[0, 1, 2, 3, 4, … 1,000 in all]"),
        (pa.scalar([0.1], pa.list_(pa.float32())), "0.1"),
        (pa.scalar([[1], None, [2, 3]], pa.list_(pa.list_(pa.int64()))), "[1, null, [2, 3]]"),
        (pa.scalar([b"a", b"\xff"]), "[a, 1 byte: ff]"),
        (pa.scalar(b"raw"), "raw"),
    ],
)
def test_show(value: pa.Scalar, text: str) -> None:
    assert show(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"", ""),
        (b"x" * 60, "x" * 60),
        (b"x" * 61, "x" * 59 + "…"),
        ("é".encode() * 10_000, "é" * 59 + "…"),
        (b"a" + "é".encode() * 10_000, "a" + "é" * 58 + "…"),
        ("€".encode() * 10_000, "€" * 59 + "…"),
        (bytes(range(248, 256)), "8 bytes: f8 f9 fa fb fc fd fe ff"),
        (b"\xff" * 2000, "2,000 bytes: ff ff ff ff ff ff ff ff …"),
        ("é".encode()[:1], "1 byte: c3"),
        (GIF, "image/gif, 35 bytes"),
    ],
)
def test_show_bytes(value: bytes, text: str) -> None:
    assert show_bytes(value) == text


@pytest.mark.parametrize("media_type", IMAGES)
def test_image_types(media_type: str) -> None:
    data = IMAGES[media_type]
    assert find_image_type(data) == media_type
    assert [image.media_type for image in find([[data]], pa.list_(pa.binary()))] == [media_type]


@pytest.mark.parametrize("data", [b"BMW, Audi and other makes of cars", b"II*\0" + bytes(40), b""])
def test_what_is_no_image_to_be_shown(data: bytes) -> None:
    assert find([[data]], pa.list_(pa.binary())) == []


def test_images_in_steps() -> None:
    rows = [None, [], [[b"no"], None, [make_png(1), b"", make_png(2)]], [[make_png(3)]]]
    found = find(rows, pa.large_list(pa.large_list(pa.large_binary())))
    assert [image.place for image in found] == [("f", 20), ("f", 20), ("f", 30)]
    assert [image.data for image in found] == [make_png(1), make_png(2), make_png(3)]


def test_how_many_and_how_large(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[GIF]] * (MAX_IMAGES + 1)
    assert len(find(rows, pa.list_(pa.binary()))) == MAX_IMAGES
    monkeypatch.setattr(samples, "MAX_IMAGE_BYTES", len(GIF))
    assert [image.data for image in find([[make_png(), GIF]], pa.list_(pa.binary()))] == [GIF]
