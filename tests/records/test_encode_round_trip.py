"""Batches of any Arrow types: what is encoded decodes to the values again."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tests.strategies import names
from tfrecord_beam.errors import EncodeError
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.schema.arrow import RecordType, decode_plan
from tfrecord_beam.schema.encoding import NullValues

Rows = list[Any]
"""Each None, or a list of what is in the row."""


@dataclasses.dataclass(frozen=True)
class ValueType:
    """Values of one Arrow type.

    Attributes:
      values: makes them, as a record holds them.
      default: what a null is filled with.
      to_array: makes the array of such values, some of which are None.
    """

    values: st.SearchStrategy[Any]
    default: Any
    to_array: Callable[[Rows], pa.Array]


def integers(data_type: pa.DataType) -> ValueType:
    info = np.iinfo(str(data_type))
    most = min(int(info.max), 2**63 - 1)
    return ValueType(
        st.integers(int(info.min), most), 0, lambda values: pa.array(values, data_type)
    )


def temporal(data_type: pa.DataType) -> ValueType:
    """Whole numbers of a unit."""
    storage = pa.int32() if data_type.bit_width == 32 else pa.int64()
    numbers = integers(storage)
    return dataclasses.replace(
        numbers, to_array=lambda values: pa.array(values, storage).view(data_type)
    )


def floats(width: int, data_type: pa.DataType) -> ValueType:
    """Numbers that a float32 holds."""
    values = st.floats(width=16 if width == 16 else 32, allow_nan=False)
    return ValueType(values, 0.0, lambda values: pa.array(values, pa.float32()).cast(data_type))


def byte_strings(data_type: pa.DataType, *, is_text: bool = False) -> ValueType:
    values = st.text(max_size=5).map(str.encode) if is_text else st.binary(max_size=5)
    return ValueType(values, b"", lambda values: pa.array(values, pa.binary()).cast(data_type))


def dictionaries() -> ValueType:
    plain = byte_strings(pa.string(), is_text=True)
    return dataclasses.replace(
        plain, to_array=lambda values: plain.to_array(values).dictionary_encode()
    )


TYPES = {
    **{
        f"{sign}int{bits}": integers(getattr(pa, f"{sign}int{bits}")())
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "bool": ValueType(
        st.integers(0, 1), 0, lambda values: pa.array(values, pa.int8()).cast(pa.bool_())
    ),
    **{
        str(data_type): temporal(data_type)
        for data_type in (pa.date32(), pa.timestamp("us"), pa.time32("ms"), pa.duration("s"))
    },
    "float32": floats(32, pa.float32()),
    "float64": floats(64, pa.float64()),
    "binary": byte_strings(pa.binary()),
    "large_binary": byte_strings(pa.large_binary()),
    "string": byte_strings(pa.string(), is_text=True),
    "large_string": byte_strings(pa.large_string(), is_text=True),
    "dictionary": dictionaries(),
}


@dataclasses.dataclass(frozen=True)
class Column:
    array: pa.Array
    rows: Rows
    """As they decode, but with the nulls among values still there."""
    default: Any


def to_lists(rows: Rows, values: pa.Array, *, is_large: bool) -> pa.Array:
    ends = np.cumsum([0, *(len(row or ()) for row in rows)])
    kind = pa.LargeListArray if is_large else pa.ListArray
    offsets = pa.array(ends, pa.int64() if is_large else pa.int32())
    return kind.from_arrays(offsets, values, mask=pa.array([row is None for row in rows], "bool"))


def flatten(rows: Rows) -> Rows:
    return [value for row in rows for value in row or ()]


@st.composite
def columns(draw: st.DrawFn, num_rows: int, *, has_nulls: bool, depth: int) -> Column:
    """A column: of single values (`depth` 0), of lists (1), or of lists of steps (2)."""
    value_type = TYPES[draw(st.sampled_from(sorted(TYPES)))]
    values = st.none() | value_type.values if has_nulls else value_type.values
    lists: st.SearchStrategy[Any] = st.lists(values, max_size=3)
    rows: Rows
    if depth == 0:
        singles = draw(
            st.lists(st.none() | value_type.values, min_size=num_rows, max_size=num_rows)
        )
        rows = [None if value is None else [value] for value in singles]
        return Column(value_type.to_array(singles), rows, value_type.default)
    if depth == 2:
        lists = st.lists(st.none() | lists, max_size=3)
    rows = draw(st.lists(st.none() | lists, min_size=num_rows, max_size=num_rows))
    inner = flatten(rows) if depth == 2 else rows
    is_large = draw(st.booleans())
    array = to_lists(inner, value_type.to_array(flatten(inner)), is_large=is_large)
    if depth == 2:
        array = to_lists(rows, array, is_large=draw(st.booleans()))
    return Column(array, rows, value_type.default)


@st.composite
def batches(
    draw: st.DrawFn, *, has_nulls: bool = False, depths: tuple[int, ...] = (0, 1)
) -> tuple[pa.RecordBatch, dict[str, Column]]:
    """A batch, at times a slice of one, and what its columns hold."""
    num_rows = draw(st.integers(1, 5))
    found = {
        name: draw(columns(num_rows, has_nulls=has_nulls, depth=draw(st.sampled_from(depths))))
        for name in draw(st.lists(names().filter(lambda name: name != "##SEQUENCE##"), unique=True))
    }
    start = draw(st.integers(0, num_rows - 1))
    batch = pa.record_batch([one.array for one in found.values()], names=list(found))[start:]
    return batch, {
        name: dataclasses.replace(one, rows=one.rows[start:]) for name, one in found.items()
    }


def decode(frames: FramedRecords, record_type: RecordType = "Example") -> pa.RecordBatch:
    plan = decode_plan(None, record_type=record_type)
    return RecordDecoder(plan, record_type).decode_records(list(frames.records()))


def check_rows(found: pa.Array | None, expected: Rows) -> None:
    """Checks the rows of a column that is missing where no record says anything."""
    rows = [None] * len(expected) if found is None else found.to_pylist()
    assert rows == expected
    for value, wanted in zip(flatten(rows), flatten(expected), strict=True):
        if isinstance(wanted, float):
            assert math.copysign(1, value) == math.copysign(1, wanted)


@given(given_batch=batches())
def test_values(given_batch: tuple[pa.RecordBatch, dict[str, Column]]) -> None:
    batch, given_columns = given_batch
    for null_as_absent in (False, True):
        decoded = decode(RecordEncoder(null_as_absent=null_as_absent).encode_frames(batch))
        by_name = dict(zip(decoded.schema.names, decoded.columns, strict=True))
        assert by_name.keys() <= given_columns.keys()
        if given_columns:
            assert decoded.num_rows == batch.num_rows
        for name, column in given_columns.items():
            check_rows(by_name.get(name), column.rows)


def replace_nulls(values: Rows, default: Any, null_values: NullValues) -> Rows:
    if null_values == "drop":
        return [value for value in values if value is not None]
    return [default if value is None else value for value in values]


@pytest.mark.parametrize("null_values", ["drop", "fill"])
@given(data=st.data())
def test_nulls_among_values(null_values: NullValues, data: st.DataObject) -> None:
    batch, given_columns = data.draw(batches(has_nulls=True))
    decoded = decode(RecordEncoder(null_values=null_values).encode_frames(batch))
    by_name = dict(zip(decoded.schema.names, decoded.columns, strict=True))
    for name, column in given_columns.items():
        expected = [
            None if row is None else replace_nulls(row, column.default, null_values)
            for row in column.rows
        ]
        check_rows(by_name[name], expected)


@given(given_batch=batches(has_nulls=True))
def test_nulls_among_values_are_refused(
    given_batch: tuple[pa.RecordBatch, dict[str, Column]],
) -> None:
    batch, given_columns = given_batch
    bad = [
        row
        for row in range(batch.num_rows)
        if any(None in (column.rows[row] or ()) for column in given_columns.values())
    ]
    if not bad:
        assert RecordEncoder().encode_frames(batch).num_records == batch.num_rows
        return
    with pytest.raises(EncodeError) as raised:
        RecordEncoder().encode_frames(batch)
    assert raised.value.record == bad[0]
    assert raised.value.feature in given_columns


@given(given_batch=batches(depths=(0, 1, 2)))
def test_steps(given_batch: tuple[pa.RecordBatch, dict[str, Column]]) -> None:
    batch, given_columns = given_batch
    encoder = RecordEncoder(record_type="SequenceExample")
    decoded = decode(encoder.encode_frames(batch), "SequenceExample")
    found = dict(zip(decoded.schema.names, decoded.columns, strict=True))
    steps = found.pop("##SEQUENCE##", None)
    step_names = [] if steps is None else [field.name for field in steps.type]
    lists = {} if steps is None else dict(zip(step_names, steps.flatten(), strict=True))
    for name, column in given_columns.items():
        is_nested = any(isinstance(value, list) or value is None for value in flatten(column.rows))
        check_rows((lists if is_nested or name in lists else found).get(name), column.rows)
