"""Calls an `ExampleDecoder` in every way it offers and checks what must hold of any answer."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from tests.wire import bytes_list, floats, int64
from tfrecord_beam.kernel.plan import (
    Column,
    DecodeFailure,
    DecodePlan,
    Kind,
    SequenceDecodePlan,
)

BYTES, FLOAT, INT64 = Kind.BYTES, Kind.FLOAT, Kind.INT64

ARROW_TYPES = {
    None: pa.null(),
    BYTES: pa.large_list(pa.large_binary()),
    FLOAT: pa.large_list(pa.float32()),
    INT64: pa.large_list(pa.int64()),
}

PLAIN = {BYTES: bytes_list(b"x", b""), FLOAT: floats(0.5, -2.0), INT64: int64(7, -1)}
"""A list of each kind, as writers write it."""
VALUES: dict[Kind, list[Any]] = {BYTES: [b"x", b""], FLOAT: [0.5, -2.0], INT64: [7, -1]}
"""What is in it."""
EMPTY = {BYTES: bytes_list(), FLOAT: floats(), INT64: int64()}

kinds = pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.list_name)

_PADDING = b"\xff\x0a\x7f"
"""Stands around each record in the buffer: reading it would be noticed."""


def plan_of(
    columns: Mapping[str, Kind | None] | None = None, raw_record_column: str | None = None
) -> DecodePlan:
    """Returns a plan for the columns and kinds of a dictionary, in its order."""
    wanted = None if columns is None else tuple(Column(*item) for item in columns.items())
    return DecodePlan(wanted, raw_record_column)


def spans(records: Sequence[bytes]) -> tuple[bytes, array[int], array[int]]:
    """Returns a buffer that holds `records` among other bytes, their offsets and their lengths."""
    data = bytearray(_PADDING)
    offsets = array("q")
    for record in records:
        offsets.append(len(data))
        data += record + _PADDING
    return bytes(data), offsets, array("q", map(len, records))


def decode_all(
    kernel: ModuleType,
    records: Sequence[bytes],
    plan: DecodePlan | SequenceDecodePlan = DecodePlan(),
    max_cells: int | None = None,
    decoder_name: str = "ExampleDecoder",
) -> tuple[pa.RecordBatch, list[DecodeFailure]]:
    """Returns the batch and the failures of `records`, which both decode methods must agree on."""
    decoder = getattr(kernel, decoder_name)(plan)
    options = {"collect_failures": True, "max_cells": max_cells}
    exported, failures = decoder.decode(*spans(records), **options)
    batch = check_batch(pa.record_batch(exported))
    exported, same_failures = decoder.decode_records(records, **options)
    same_batch = check_batch(pa.record_batch(exported))
    assert failures == same_failures
    assert contents(batch) == contents(same_batch)
    assert all(isinstance(failure, DecodeFailure) for failure in failures)
    looked_at = batch.num_rows + len(failures)
    assert looked_at == len(records) if max_cells is None else looked_at <= len(records)
    return batch, failures


def decode(
    kernel: ModuleType,
    records: Sequence[bytes],
    columns: Mapping[str, Kind | None] | None = None,
    raw_record_column: str | None = None,
) -> pa.RecordBatch:
    """Returns the batch of `records`, all of which must be good."""
    plan = plan_of(columns, raw_record_column)
    batch, failures = decode_all(kernel, records, plan)
    assert failures == []
    exported, failures = kernel.ExampleDecoder(plan).decode(*spans(records))
    assert failures == []
    assert contents(check_batch(pa.record_batch(exported))) == contents(batch)
    return batch


def check_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Checks the promises about the layout of a decoded batch, and returns it."""
    batch.validate(full=True)
    for field, column in zip(batch.schema, batch.columns):
        assert field.nullable
        assert column.offset == 0
        assert len(column) == batch.num_rows
        if pa.types.is_struct(column.type):
            assert column.null_count == 0
            assert all(child.nullable for child in column.type)
            for index in range(column.type.num_fields):
                assert pa.types.is_large_list(column.type[index].type)
                check_lists(column.field(index))
                assert column.type[index].type.value_type in ARROW_TYPES.values()
        else:
            assert column.type in ARROW_TYPES.values()
            check_lists(column)
    return batch


def check_lists(column: pa.Array) -> None:
    """Checks a column of lists, or of lists of lists."""
    assert column.offset == 0
    if column.type == pa.null():
        assert column.null_count == len(column)
        return
    assert column.null_count == column.is_valid().to_pylist().count(False)
    assert (column.type.value_field.name, column.type.value_field.nullable) == ("item", True)
    ends = column.offsets.to_pylist()
    assert (ends[0], ends[-1]) == (0, len(column.values))
    if pa.types.is_large_list(column.type.value_type) or column.type.value_type == pa.null():
        check_lists(column.values)
    else:
        assert (column.values.offset, column.values.null_count) == (0, 0)


def contents(batch: pa.RecordBatch) -> list[tuple[str, pa.DataType, list[Any]]]:
    """Returns name, type and rows of each column; floats as bits, so that NaN equals itself."""
    return [
        (field.name, field.type, _rows(column))
        for field, column in zip(batch.schema, batch.columns)
    ]


def _rows(column: pa.Array) -> list[Any]:
    if pa.types.is_struct(column.type):
        fields = [_rows(column.field(index)) for index in range(column.type.num_fields)]
        return list(zip(*fields)) if fields else [()] * len(column)
    if pa.types.is_large_list(column.type):
        items = _rows(column.values)
        ends = column.offsets.to_pylist()
        return [
            items[start:end] if valid else None
            for start, end, valid in zip(ends, ends[1:], column.is_valid().to_pylist())
        ]
    if column.type == pa.float32():
        column = column.view(pa.int32())
    return column.to_pylist()
