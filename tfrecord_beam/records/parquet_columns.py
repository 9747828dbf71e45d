"""Columns of Parquet files to the list types that every other source gives.

A value becomes a list of one, null becomes null, and a list stays one. Values are not changed on
the way: what does not fit its new type is an error. The one exception are numbers that are
rounded to `float32`, the only floating-point type there is for features.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.errors import DecodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.schema.arrow import arrow_type
from tfrecord_beam.schema.lists import flatten_lists, is_list, to_singleton_lists
from tfrecord_beam.schema.names import check_distinct, check_known

_INT = arrow_type(Kind.INT64)
_FLOAT = arrow_type(Kind.FLOAT)
_BYTES = arrow_type(Kind.BYTES)


def is_integer(data_type: pa.DataType) -> bool:
    """Returns whether values of a type are integers, as which also true and false count."""
    return bool(pa.types.is_integer(data_type) or pa.types.is_boolean(data_type))


def is_bytes(data_type: pa.DataType) -> bool:
    """Returns whether values of a type are text or bytes."""
    return any(
        is_type(data_type)
        for is_type in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_fixed_size_binary,
        )
    )


def list_schema(schema: pa.Schema) -> pa.Schema:
    """Returns the schema with the type that each column becomes.

    Raises:
      SchemaError: a column holds something else than numbers, text and bytes, or lists of them, or
        two have one name.
    """
    check_distinct(schema.names, "columns")
    return pa.schema([(field.name, _list_type(field)) for field in schema])


def _list_type(field: pa.Field) -> pa.DataType:
    value_type = _value_type(field.type)
    if is_integer(value_type):
        return _INT
    if pa.types.is_floating(value_type):
        return _FLOAT
    if is_bytes(value_type):
        return _BYTES
    if pa.types.is_null(field.type):
        return pa.null()
    raise SchemaError(
        f"Expected numbers, text or bytes, or lists of them, in column {field.name!r}, "
        f"found {field.type}",
        hint="give column_names without it",
    )


def _value_type(data_type: pa.DataType) -> pa.DataType:
    """Returns the type of the values in a column of values or of lists."""
    if is_list(data_type):
        data_type = data_type.value_type
    return data_type.value_type if pa.types.is_dictionary(data_type) else data_type


def check_columns(wanted: pa.Schema, found: pa.Schema, file: str) -> None:
    """Raises SchemaError unless `found`, the schema of a file, has each wanted column once."""
    try:
        check_known(wanted.names, found.names, "columns")
        check_distinct([name for name in found.names if name in wanted.names], "columns")
    except SchemaError as error:
        raise error.located(file=file) from None


def convert_batch(batch: pa.RecordBatch, schema: pa.Schema, *, place: Location) -> pa.RecordBatch:
    """Returns the columns of a schema, each of the type that it has there.

    Args:
      batch: may have more columns, in any order; `check_columns` finds nothing wrong with it.
      schema: of columns of type `large_list` of `int64`, `float` or `large_binary`, or `null`.
      place: where the batch is from, with the number of its first row as `record`.

    Raises:
      SchemaError: a column is of a type that cannot become the wanted one.
      DecodeError: a value does not fit, or is a null in a list.
    """
    columns = [_convert(batch.column(field.name), field, place) for field in schema]
    # The column of nulls keeps the number of rows where there is no other.
    columns.append(pa.nulls(batch.num_rows))
    rows = pa.RecordBatch.from_arrays(columns, schema=schema.append(pa.field("", pa.null())))
    return rows.select(range(len(schema)))


def _convert(column: pa.Array, field: pa.Field, place: Location) -> pa.Array:
    place = dataclasses.replace(place, feature=field.name)
    if column.null_count == len(column):
        return pa.nulls(len(column), field.type)
    if not _can_become(_value_type(column.type), field.type):
        raise SchemaError(
            f"Expected values of type {field.type} for feature {field.name!r}, found {column.type}",
            Location(place.file, feature=field.name),
        )
    value_type = field.type.value_type
    if not is_list(column.type):
        return to_singleton_lists(_cast(column, value_type, lambda row: _at(place, row)))
    lists = flatten_lists(column)

    def locate(index: int) -> Location:
        return _at(place, lists.list_of(index))

    values = _cast(lists.values, value_type, locate)
    if values.null_count:
        first = pc.index(values.is_null(), True).as_py()
        raise DecodeError("Expected lists without nulls, found a null in one", locate(first))
    offsets = pa.array(lists.offsets)
    return pa.LargeListArray.from_arrays(offsets, values, mask=column.is_null())


def _can_become(value_type: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_null(value_type):
        return not pa.types.is_null(wanted)  # what has a value is a list of nothing
    if wanted == _BYTES:
        return is_bytes(value_type)
    is_number = is_integer(value_type) or pa.types.is_floating(value_type)
    return wanted in (_INT, _FLOAT) and bool(is_number)


def _at(place: Location, row: int) -> Location:
    return dataclasses.replace(place, record=(place.record or 0) + row)


def _cast(values: pa.Array, value_type: pa.DataType, locate: Callable[[int], Location]) -> pa.Array:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_floating(value_type):
        converted = values.cast(value_type, safe=False)
        wide = values.cast(pa.float64(), safe=False)
        grown = pc.and_(pc.is_inf(converted), pc.invert(pc.is_inf(wide)))
        refused = pc.index(grown, True).as_py()
    else:
        converted, refused = _cast_exactly(values, value_type)
    if refused >= 0:
        raise DecodeError(
            f"Expected values that fit {value_type}, found {values[refused]}", locate(refused)
        )
    return converted


def _cast_exactly(values: pa.Array, value_type: pa.DataType) -> tuple[pa.Array, int]:
    """Returns the values, and the index of the first one that does not fit; -1 if all do."""
    try:
        return values.cast(value_type), -1
    except pa.ArrowInvalid:
        good, bad = 0, len(values)  # so many values fit, so many do not
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            values[good:middle].cast(value_type)
            good = middle
        except pa.ArrowInvalid:
            bad = middle
    return values, good
