"""Converts elements of a collection to a record batch of rows, or to records.

Rows are mappings, NamedTuples, dataclasses and Beam's ``Row``s; records are bytes and protobuf
messages. The columns of rows come in the order in which the rows show them; where a row does not
have one, it is null there. `tfrecord_beam.records.writing.values` says which values are allowed; in
the column of feature lists, ``##SEQUENCE##``, a value is a row.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
from google.protobuf.message import Message

from tfrecord_beam.errors import EncodeError, Location
from tfrecord_beam.options import describe
from tfrecord_beam.records.writing.values import NO_TYPE, infer_array
from tfrecord_beam.schema.arrow import SEQUENCE_COLUMN, arrow_type
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema, sequence_schema_columns

_BYTES = (bytes, bytearray, memoryview)


class RowTypes(NamedTuple):
    """The Arrow types that features of a schema have, by name; see `row_types`.

    Attributes:
      context: those of an Example, or of the context of a SequenceExample.
      steps: those of its feature lists.
    """

    context: Mapping[str, pa.DataType] = MappingProxyType({})
    steps: Mapping[str, pa.DataType] = MappingProxyType({})


def row_types(schema: SchemaSource | None) -> RowTypes:
    """Returns the types that a schema asks for; None: none.

    Raises:
      SchemaError: the schema cannot be used.
    """
    if schema is None:
        return RowTypes()
    context, steps = sequence_schema_columns(load_schema(schema))
    return RowTypes(
        {column.name: arrow_type(column.kind) for column in context},
        {column.name: pa.large_list(arrow_type(column.kind)) for column in steps},
    )


def convert_elements(elements: Sequence[object], types: RowTypes) -> pa.RecordBatch | list[bytes]:
    """Returns the batch of elements that are rows, or the records of those that are records.

    >>> rows = [{"age": 42}, {"age": None, "tags": ["a"]}]
    >>> convert_elements(rows, RowTypes()).to_pylist()
    [{'age': 42, 'tags': None}, {'age': None, 'tags': ['a']}]
    >>> convert_elements([b"record"], RowTypes())
    [b'record']

    Args:
      elements: at least one. Either all are rows or all are records.
      types: what the schema says, see `row_types`. Each of its features is a column of the batch,
        in its order and before others.

    Raises:
      EncodeError: an element of another type, or a value that does not fit its column; `record` is
        the index among `elements`.
    """
    if isinstance(elements[0], (*_BYTES, Message)):
        return [_to_record(element, index) for index, element in enumerate(elements)]
    rows = [
        row if isinstance(row, dict) else _check_row(row, index)
        for index, row in enumerate(elements)
    ]
    return _to_batch(rows, types)


def _to_record(element: object, index: int) -> bytes:
    if isinstance(element, bytes):
        return element
    if isinstance(element, Message):
        return element.SerializeToString(deterministic=True)
    if isinstance(element, _BYTES):
        return bytes(element)
    raise EncodeError(
        f"Expected bytes or a protobuf message as the elements before, found {describe(element)}",
        Location(record=index),
    )


def to_mapping(row: Any) -> Mapping[str, Any] | None:
    """Returns the values of a row by their names; None: the element is no row."""
    if isinstance(row, Mapping):
        return row
    if isinstance(row, tuple) and hasattr(row, "_fields"):
        return dict(zip(row._fields, row, strict=True))
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    as_dict = getattr(type(row), "as_dict", None)  # of Beam's, which may have a field of this name
    fields = None if as_dict is None else as_dict(row)
    return fields if isinstance(fields, Mapping) else None


def _check_row(row: Any, index: int) -> Mapping[str, Any]:
    mapping = to_mapping(row)
    if mapping is not None:
        return mapping
    raise EncodeError(
        "Expected a RecordBatch, bytes, a protobuf message, a mapping, a NamedTuple, a dataclass "
        f"or a beam.Row, found {describe(row)}",
        Location(record=index),
    )


def _to_batch(rows: Sequence[Mapping[str, Any]], types: RowTypes) -> pa.RecordBatch:
    shown = dict.fromkeys(itertools.chain.from_iterable(rows))
    expected = {**types.context, **({} if SEQUENCE_COLUMN in shown else types.steps)}
    columns = {}
    for name in dict.fromkeys(itertools.chain(expected, shown)):
        if not isinstance(name, str):
            row = next(index for index, row in enumerate(rows) if name in row)
            raise EncodeError(
                f"Expected names of columns as str, found {describe(name)}", Location(record=row)
            )
        values = [row.get(name) for row in rows]
        if name == SEQUENCE_COLUMN:
            columns[name] = _to_struct(values, types)
        else:
            columns[name] = infer_array(name, values, expected.get(name, NO_TYPE))
    # A struct keeps the number of rows also when there is no column.
    fields = pa.struct([(name, array.type) for name, array in columns.items()])
    children = list(columns.values())
    struct = pa.StructArray.from_buffers(fields, len(rows), [None], children=children)
    return pa.RecordBatch.from_struct_array(struct)


def _to_struct(values: Sequence[Any], types: RowTypes) -> pa.StructArray:
    """Returns the column of feature lists."""
    rows = [{} if value is None else _check_row(value, row) for row, value in enumerate(values)]
    for index, row in enumerate(rows):
        if SEQUENCE_COLUMN in row:  # which may be the row itself
            message = f"Expected names of feature lists, found {SEQUENCE_COLUMN!r}"
            raise EncodeError(message, Location(record=index))
    batch = _to_batch(rows, RowTypes(types.steps))
    mask = pa.array([value is None for value in values])
    return pa.StructArray.from_arrays(batch.columns, batch.schema.names, mask=mask)
