"""Converts cells of CSV to values, and infers the types of columns.

Numbers are whatever Python's `int` and `float` accept: also `` 7 ``, ``+7``, ``1_000``. Arrow
converts whole columns if its result is the same; Python handles the rest, cell by cell. A number
that is too large for `float32` is rejected, because it would become infinity.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.errors import DecodeError, Location
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.records.csv_cells import split_line
from tfrecord_beam.schema.arrow import arrow_type
from tfrecord_beam.schema.lists import to_singleton_lists

_SHOWN_BYTES = 40
_MIN_LONG_DIGITS = 19
"""Minimum number of digits of an integer that does not fit into 64 bits."""

_FIRST_CELLS = 16
"""Number of cells that Python looks at before Arrow tries to convert a column."""

_INFINITY = (b"inf", b"infinity")

Locate = Callable[[int], Location]
"""Returns the place of a row."""


class ColumnType(enum.IntEnum):
    """The type of a column. If cells have different types, the column has the largest one.

    Attributes:
      IGNORE: an unwanted column.
      UNKNOWN: only empty cells.
      INT: 64-bit integers.
      FLOAT: floating-point numbers.
      STRING: anything else, including integers that are too long.
    """

    IGNORE = -2
    UNKNOWN = -1
    INT = 0
    FLOAT = 1
    STRING = 2


ARROW_TYPES = {
    ColumnType.UNKNOWN: arrow_type(None),
    ColumnType.INT: arrow_type(Kind.INT64),
    ColumnType.FLOAT: arrow_type(Kind.FLOAT),
    ColumnType.STRING: arrow_type(Kind.BYTES),
}


def infer_type(cells: pa.Array, known: ColumnType = ColumnType.UNKNOWN) -> ColumnType:
    """Returns the type of a column: the largest of its cells' types and the known one.

    >>> infer_type(pa.array([b"1", b" 2.5", None], pa.large_binary()))
    <ColumnType.FLOAT: 1>

    Args:
      cells: `large_binary`.
      known: the type of the column's cells in other blocks.
    """
    cells = cells.drop_null()
    # Arrow is slow to fail: it makes an error for each cell. The first cells avoid most of that.
    column_type = max([known, *map(infer_cell, cells[:_FIRST_CELLS].to_pylist())])
    if column_type == ColumnType.STRING or not len(cells):
        return column_type
    if column_type == ColumnType.INT and _cast(cells, pa.int64()) is not None:
        return column_type
    if _cast(cells, pa.float64()) is not None and not _has_odd_integer(cells):
        return ColumnType.FLOAT
    for cell in cells.unique().to_pylist():
        column_type = max(column_type, infer_cell(cell))
        if column_type == ColumnType.STRING:
            break
    return column_type


def _has_odd_integer(cells: pa.Array) -> bool:
    """Whether there may be an integer that Arrow can read only as floating-point."""
    return _holds(cells, b"+") or pc.max(pc.binary_length(cells)).as_py() >= _MIN_LONG_DIGITS


def infer_cell(cell: bytes) -> ColumnType:
    """Returns the type of one cell."""
    if not cell:
        return ColumnType.UNKNOWN
    try:
        return ColumnType.INT if _is_int64(int(cell)) else ColumnType.STRING
    except ValueError:
        pass
    try:
        float(cell)
    except ValueError:
        return ColumnType.STRING
    return ColumnType.FLOAT


def convert_cells(cells: pa.Array, column_type: ColumnType, locate: Locate) -> pa.Array:
    """Returns a column of lists of one value each, null where the cell is null.

    Args:
      cells: `large_binary`.
      column_type: type of the cells.
      locate: see `Locate`.

    Raises:
      DecodeError: a cell is not a number of that type.
    """
    if column_type == ColumnType.UNKNOWN:
        return pa.nulls(len(cells))
    return to_singleton_lists(_convert(cells, column_type, locate))


def convert_lists(lists: pa.Array, column_type: ColumnType, locate: Locate) -> pa.Array:
    """Returns a column of lists of values, null where the list is null.

    Args:
      lists: `large_list<large_binary>`.
      column_type: type of the values.
      locate: see `Locate`.

    Raises:
      DecodeError: a value is not a number of that type.
    """
    if column_type == ColumnType.UNKNOWN:
        return pa.nulls(len(lists))
    parents = pc.list_parent_indices(lists)
    values = _convert(lists.flatten(), column_type, lambda i: locate(parents[i].as_py()))
    return pa.LargeListArray.from_arrays(lists.offsets, values, mask=lists.is_null())


def split_cells(cells: pa.Array, delimiter: str, locate: Locate) -> pa.Array:
    """Returns the cells, each of which is a line of values, as `large_list<large_binary>`.

    Raises:
      DecodeError: a cell leaves a quote open, or has a line end outside quotes.
    """
    if not any(_holds(cells, byte) for byte in (b'"', b"\r", b"\n")):
        lists = pc.split_pattern(cells, delimiter)
        return lists.cast(arrow_type(Kind.BYTES))
    split: list[list[bytes] | None] = []
    for row, cell in enumerate(cells.to_pylist()):
        try:
            split.append(None if cell is None else split_line(cell, delimiter.encode()))
        except DecodeError as error:
            raise DecodeError(error.message, locate(row)) from None
    return pa.array(split, arrow_type(Kind.BYTES))


def _convert(cells: pa.Array, column_type: ColumnType, locate: Locate) -> pa.Array:
    if column_type == ColumnType.STRING:
        return cells
    if column_type == ColumnType.INT:
        return _numbers(cells, pa.int64(), _parse_int64, locate)
    # Through a double, like Python's `float`.
    numbers = _numbers(cells, pa.float64(), float, locate).cast(pa.float32(), safe=False)
    for row in np.flatnonzero(np.isinf(numbers.to_numpy(zero_copy_only=False))).tolist():
        if not cells[row].as_py().strip().lower().endswith(_INFINITY):
            raise _unexpected("a number in the range of float32", cells[row].as_py(), locate(row))
    return numbers


def _numbers(
    cells: pa.Array, data_type: pa.DataType, parse: Callable[[bytes], Any], locate: Locate
) -> pa.Array:
    numbers = _cast(cells, data_type)
    return _parse_each(cells, data_type, parse, locate) if numbers is None else numbers


def _cast(cells: pa.Array, data_type: pa.DataType) -> pa.Array | None:
    """Returns the cells as numbers; None if Arrow and Python might read some differently."""
    try:
        text = pc.ascii_trim_whitespace(cells.cast(pa.large_string()))
        numbers = text.cast(data_type)
    except pa.ArrowInvalid:
        return None
    # Arrow accepts ``0x1F`` as an integer and ``nan(1)`` as NaN.
    return None if any(_holds(text, byte) for byte in (b"x", b"X", b"(")) else numbers


def _parse_each(
    cells: pa.Array, data_type: pa.DataType, parse: Callable[[bytes], Any], locate: Locate
) -> pa.Array:
    numbers = []
    for row, cell in enumerate(cells.to_pylist()):
        try:
            numbers.append(None if cell is None else parse(cell))
        except ValueError:
            name = "an integer of 64 bits" if parse is _parse_int64 else "a number"
            raise _unexpected(name, cell, locate(row)) from None
    return pa.array(numbers, data_type)


def _unexpected(name: str, cell: bytes, place: Location) -> DecodeError:
    shown = cell if len(cell) <= _SHOWN_BYTES else cell[:_SHOWN_BYTES] + b"..."
    return DecodeError(f"Expected {name}, found {shown!r}", place)


def _parse_int64(cell: bytes) -> int:
    number = int(cell)
    if not _is_int64(number):
        raise ValueError
    return number


def _is_int64(number: int) -> bool:
    return -(1 << 63) <= number < 1 << 63


def _holds(strings: pa.Array, byte: bytes) -> bool:
    """Whether a byte occurs in the data of an array that is not a slice."""
    buffer = strings.buffers()[2]
    return buffer is not None and byte in buffer.to_pybytes()
