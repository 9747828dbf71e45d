"""The first records, the first images and the first corrupt places of a data set.

"First" refers to the order of files and offsets, not to the order of reading, so merging the
samples of parts gives those of all data.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.errors import Location
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.schema.building import Path
from tfrecord_beam.schema.content import MIN_IMAGE_BYTES, find_image_type, find_images
from tfrecord_beam.schema.encoding import kind_of
from tfrecord_beam.schema.lists import flatten_all, is_list, row_of
from tfrecord_beam.schema.statistics import PlaceOf

MAX_ROWS = 5
MAX_IMAGES = 12
MAX_IMAGE_BYTES = 256 << 10
"""Maximum size of an image that is shown: the page contains the images."""

_MAX_VALUES = 5
_MAX_CHARACTERS = 60
"""How much of a list, and of a text, a cell shows."""

_SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")
"""The types that browsers can display."""

Place = tuple[str, int]
"""File and offset of a record."""

_Placed = TypeVar("_Placed", bound="Row | Image")


class Row(NamedTuple):
    """A record to be shown.

    Attributes:
      place: where it is.
      cells: the text for each of its features.
    """

    place: Place
    cells: dict[Path, str]


class Image(NamedTuple):
    """An image to be shown.

    Attributes:
      place: where its record is.
      feature: the feature that contains it.
      media_type: its type, such as "image/png".
      data: the image file.
    """

    place: Place
    feature: Path
    media_type: str
    data: bytes


def keep_first(kept: Sequence[_Placed], more: Iterable[_Placed], limit: int) -> list[_Placed]:
    """Returns the first `limit` of both, by place and feature."""
    return sorted([*kept, *more], key=_order)[:limit]


def comes_later(kept: Sequence[_Placed], place: Place, limit: int) -> bool:
    """Returns whether everything from a place on comes after the first `limit`."""
    return len(kept) >= limit and kept[-1].place < place


def place(location: Location) -> Place:
    """Returns the place of a record."""
    return location.file or "", location.offset or 0


def first_rows(
    columns: Sequence[tuple[Path, pa.Array]], num_rows: int, place_of: PlaceOf
) -> Iterator[Row]:
    """Yields the first rows of a batch.

    Args:
      columns: the features of the batch.
      num_rows: number of rows in the batch.
      place_of: returns the place of the record of a row; rows are in the order of one file.
    """
    for index in range(min(num_rows, MAX_ROWS)):
        cells = {path: show(column[index]) for path, column in columns if column[index].is_valid}
        yield Row(place(place_of(index)), cells)


def first_images(path: Path, column: pa.Array, place_of: PlaceOf) -> Iterator[Image]:
    """Yields the first images in a feature of a batch, of the types that can be shown."""
    if kind_of(column) is Kind.BYTES:
        yield from itertools.islice(_find_images(path, column, place_of), MAX_IMAGES)


def _find_images(path: Path, column: pa.Array, place_of: PlaceOf) -> Iterator[Image]:
    values = flatten_all(column)
    lengths = pc.binary_length(values)
    if (pc.max(lengths).as_py() or 0) < MIN_IMAGE_BYTES:
        return
    wanted = pc.and_(find_images(values), pc.less_equal(lengths, MAX_IMAGE_BYTES))
    for index in np.flatnonzero(np.asarray(wanted.fill_null(False))).tolist():
        data = values[index].as_py()
        media_type = find_image_type(data)
        if media_type in _SHOWN:
            yield Image(place(place_of(row_of(column, index))), path, media_type, data)


def show(value: pa.Scalar) -> str:
    """Returns the text of a cell for a value or a list of values."""
    if not value.is_valid:
        return "null"
    if is_list(value.type):
        values = value.values
        shown = [show(values[index]) for index in range(min(len(values), _MAX_VALUES))]
        if len(values) == 1:
            return shown[0]
        if len(values) > len(shown):
            shown.append(f"… {len(values):,} in all")
        return f"[{', '.join(shown)}]"
    found = value.as_py()
    if isinstance(found, float):
        return str(np.float32(found))  # the shortest text for the same 32-bit float
    return show_bytes(found) if isinstance(found, bytes) else str(found)


def show_bytes(value: bytes) -> str:
    r"""Returns bytes as text if they are UTF-8, else their number and the first of them.

    Long text is truncated.

    >>> show_bytes(b"caf\xc3\xa9"), show_bytes(b"\xff\x00")
    ('café', '2 bytes: ff 00')
    """
    media_type = find_image_type(value)
    if media_type is not None:
        return f"{media_type}, {len(value):,} bytes"
    head = value[: 4 * _MAX_CHARACTERS + 4]
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if len(head) == len(value) or error.start < len(head) - 3:
            more = " …" if len(value) > 8 else ""
            return f"{len(value):,} byte{'s' * (len(value) != 1)}: {value[:8].hex(' ')}{more}"
        text = head[: error.start].decode()
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def _order(item: Row | Image) -> tuple[Place, Path]:
    return item.place, item.feature if isinstance(item, Image) else ()
