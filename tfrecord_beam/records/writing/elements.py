"""Elements of a collection as what is written: a record batch of rows, or records.

Rows are mappings, NamedTuples, dataclasses and Beam's ``Row``s; records are bytes and protobuf
messages. The columns of rows come in the order in which the rows show them; where a row does not
have one, it is null there. A value is

- an int, a float, a bool, a str or bytes, a Decimal or a date, or one of numpy's scalars,
- a list, a tuple or a numpy array of such values, or several levels of them,
- None, which is null,
- in the column of feature lists a row, see `tfrecord_beam.records.encode`.

All values of a column are of one of these kinds, and at one depth of lists: an int among floats
could not be told from a float any more. Only where a schema says that the feature is one of floats
are ints taken for floats, if they are exact.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from google.protobuf.message import Message

from tfrecord_beam.errors import EncodeError, Location
from tfrecord_beam.options import describe
from tfrecord_beam.schema.arrow import SEQUENCE_COLUMN, arrow_type
from tfrecord_beam.schema.encoding import is_list
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema, sequence_schema_columns

_BYTES = (bytes, bytearray, memoryview)
_REFUSALS = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What pyarrow raises for values that it cannot make an array of."""

_TEXT = "str or bytes"
_FAMILIES: list[tuple[str, tuple[type, ...]]] = [
    ("bool", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating)),
    (_TEXT, (str, *_BYTES)),
]
"""Types whose values make one column; every other type makes one of its own. Of a type that is in
two of them the first counts."""


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
        row if isinstance(row, dict) else _to_mapping(row, index)
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


def _to_mapping(row: Any, index: int) -> Mapping[str, Any]:
    if isinstance(row, tuple) and hasattr(row, "_fields"):
        row = dict(zip(row._fields, row, strict=True))
    elif dataclasses.is_dataclass(row) and not isinstance(row, type):
        row = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    elif hasattr(row, "as_dict") and not isinstance(row, type):  # Beam's
        row = row.as_dict()
    if isinstance(row, Mapping):
        return row
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
            columns[name] = _to_array(name, values, expected.get(name, pa.null()))
    # A struct keeps the number of rows also when there is no column.
    fields = pa.struct([(name, array.type) for name, array in columns.items()])
    children = list(columns.values())
    struct = pa.StructArray.from_buffers(fields, len(rows), [None], children=children)
    return pa.RecordBatch.from_struct_array(struct)


def _to_struct(values: Sequence[Any], types: RowTypes) -> pa.StructArray:
    """Returns the column of feature lists."""
    rows = [{} if value is None else _to_mapping(value, row) for row, value in enumerate(values)]
    batch = _to_batch(rows, RowTypes(types.steps))
    mask = pa.array([value is None for value in values])
    return pa.StructArray.from_arrays(batch.columns, batch.schema.names, mask=mask)


def _to_array(name: str, values: list[Any], expected: pa.DataType) -> pa.Array:
    if any(issubclass(each, np.ndarray) for each in set(map(type, values))):
        values = [_plain(value) if isinstance(value, np.ndarray) else value for value in values]
    try:
        return _infer(values, expected)
    except _REFUSALS:
        pass
    refused = bisect.bisect_left(
        range(len(values)), True, key=lambda row: _is_refused(values[: row + 1], expected)
    )
    before = _infer(values[:refused], expected).type
    known = "numbers, bool, str, bytes, or lists of one kind of them"
    raise EncodeError(
        f"Expected {known if pt.is_null(before) else before} for feature {name!r}, "
        f"found {describe(values[refused])}",
        Location(record=refused, feature=name),
        None if pt.is_null(before) else "that is what the rows before have",
    )


def _plain(array: Any) -> Any:
    """Returns a numpy array as what pyarrow takes for a list of values, or of lists."""
    if array.ndim > 1:
        return list(map(_plain, array))
    if array.ndim == 0 or array.dtype.hasobject:
        return array.tolist()
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _is_refused(values: Sequence[Any], expected: pa.DataType) -> bool:
    try:
        _infer(values, expected)
    except _REFUSALS:
        return True
    return False


def _infer(values: Sequence[Any], expected: pa.DataType) -> pa.Array:
    """Returns the array of values; pyarrow finds its type, but what it would mix is refused."""
    types = _leaf_types(values)
    families = set(map(_find_family, types))
    takes_ints = pt.is_floating(_leaf(expected))
    if len(families) > 1 and not (takes_ints and families == {"int", "float"}):
        raise TypeError(f"different types: {families}")
    array = pa.array(values)
    if isinstance(array, pa.ChunkedArray):  # of 2 GiB of str or bytes
        return array.cast(pa.large_binary()).combine_chunks()
    if pt.is_null(_leaf(array.type)):
        return array if pt.is_null(expected) else array.cast(expected)
    if takes_ints and families == {"int"}:
        return array.cast(_with_leaf(array.type, pa.float64()))
    if families == {_TEXT} and not all(issubclass(each, str) for each in types):
        return array.cast(_with_leaf(array.type, pa.binary()))  # lest bytes count as str
    return array


def _leaf_types(values: Sequence[Any]) -> set[type]:
    """Returns the types of what is not null, at any depth of lists."""
    types = set(map(type, values)) - {type(None)}
    sequences = {each for each in types if issubclass(each, (list, tuple, np.ndarray))}
    if not sequences:
        return types
    found = types - sequences
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    found |= {array.dtype.type for array in arrays}
    nested = (value for value in values if isinstance(value, (list, tuple)))
    return found | _leaf_types(list(itertools.chain.from_iterable(nested)))


@functools.lru_cache
def _find_family(value_type: type) -> str:
    for name, types in _FAMILIES:
        if issubclass(value_type, types):
            return name
    return value_type.__qualname__


def _leaf(data_type: pa.DataType) -> pa.DataType:
    return _leaf(data_type.value_type) if is_list(data_type) else data_type


def _with_leaf(data_type: pa.DataType, leaf: pa.DataType) -> pa.DataType:
    return pa.list_(_with_leaf(data_type.value_type, leaf)) if is_list(data_type) else leaf
