"""Record batches of lists and structs, under the names that TFXIO users know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import check_bool, check_instance, check_list, count_of
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.schema.column_path import ColumnPath
from tfrecord_beam.schema.names import check_distinct
from tfrecord_beam.tfxio.arrow.array_util import (
    FieldNotFoundError,
    GetByteSize,
    ToSingletonListArray,
    flatten_nested,
    get_field,
    get_innermost_nested_type,
    is_binary_like,
    is_list_like,
)

_TYPES_BY_KIND = {
    "i": pa.int64(),
    "u": pa.uint64(),
    "f": pa.float64(),
    "b": pa.int8(),
    "S": pa.large_binary(),
    "O": pa.large_binary(),
    "U": pa.large_binary(),
}


def NumpyKindToArrowType(kind: str) -> pa.DataType | None:
    """Returns the Arrow type for all dtypes of a kind, None if there is none."""
    check_instance("kind", kind, str)
    return _TYPES_BY_KIND.get(kind)


def TotalByteSize(
    table_or_batch: pa.Table | pa.RecordBatch, ignore_unsupported: bool = False
) -> int:
    """Returns the size of the columns in bytes, see `GetByteSize`.

    Args:
      table_or_batch: a table counts as its batches.
      ignore_unsupported: whether columns of other types count as 0 instead of raising.

    Raises:
      SchemaError: `GetByteSize` does not support the type of a column.
    """
    if isinstance(table_or_batch, pa.Table):
        return sum(TotalByteSize(b, ignore_unsupported) for b in table_or_batch.to_batches())
    check_instance("table_or_batch", table_or_batch, pa.RecordBatch)
    num_bytes = kernel.byte_size(table_or_batch)
    if num_bytes is not None:
        return num_bytes
    return sum(_byte_size(column, ignore_unsupported) for column in table_or_batch.columns)


def RecordBatchTake(record_batch: pa.RecordBatch, indices: pa.Array) -> pa.RecordBatch:
    """Returns the rows at `indices`, in their order; a row of nulls for a null.

    Raises:
      SchemaError: an index is out of range, or they are not integers.
    """
    check_instance("record_batch", record_batch, pa.RecordBatch)
    check_instance("indices", indices, pa.Array)
    try:
        columns = [column.take(indices) for column in record_batch.columns]
    except (pa.ArrowException, IndexError, TypeError) as error:
        raise SchemaError(
            f"Expected indices of {count_of(record_batch.num_rows, 'row')}, found others ({error})"
        ) from error
    return _batch_of(columns, record_batch.schema, len(indices))


def CanonicalizeRecordBatch(record_batch_with_primitive_arrays: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the batch with each column as a `large_list` of a canonical type for each kind.

    Integers become `int64` or `uint64`, floats `float64`, bools `int8`, strings `large_binary`, and
    a column that is not of lists becomes one of lists with a single value.

    Raises:
      SchemaError: a column is of another type.
    """
    batch = record_batch_with_primitive_arrays
    check_instance("record_batch_with_primitive_arrays", batch, pa.RecordBatch)
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        column = column.cast(_canonical_type(column.type, name))
        columns.append(column if is_list_like(column.type) else ToSingletonListArray(column))
    schema = pa.schema([(n, c.type) for n, c in zip(batch.schema.names, columns, strict=True)])
    return _batch_of(columns, schema, batch.num_rows)


def MergeRecordBatches(record_batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Returns all rows in one batch, with the columns of all in order of appearance.

    A column that a batch does not have is null there. Columns of nulls are compatible with any
    type, lists with lists of compatible types, and structs with structs, whose fields are merged
    like columns.

    Raises:
      SchemaError: columns with the same name have incompatible types.
    """
    check_list("record_batches", record_batches)
    for batch in record_batches:
        check_instance("record_batches", batch, pa.RecordBatch)
    schemas = [batch.schema for batch in record_batches]
    if not schemas:
        return _batch_of([], pa.schema([]), 0)
    if all(map(schemas[0].equals, schemas)):
        return _concat_batches(record_batches)
    for schema in schemas:
        check_distinct(schema.names, "columns")
    types: dict[str, pa.DataType] = {}
    for schema in schemas:
        for field in schema:
            types[field.name] = _merge_types(types.get(field.name, pa.null()), field)
    columns = [
        pa.concat_arrays([_column_as(batch, name, data_type) for batch in record_batches])
        for name, data_type in types.items()
    ]
    num_rows = sum(batch.num_rows for batch in record_batches)
    return _batch_of(columns, pa.schema(list(types.items())), num_rows)


def _concat_batches(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Returns all rows of batches of one schema."""
    if hasattr(pa, "concat_batches"):  # from pyarrow 19 on, in a third of the time
        return pa.concat_batches(batches)
    parts = zip(*(batch.columns for batch in batches), strict=True)
    columns = [pa.concat_arrays(part) for part in parts]
    return _batch_of(columns, batches[0].schema, sum(batch.num_rows for batch in batches))


def enumerate_arrays(
    record_batch: pa.RecordBatch,
    enumerate_leaves_only: bool,
    wrap_flat_struct_in_list: bool = True,
) -> Iterator[tuple[ColumnPath, pa.Array]]:
    """Yields the columns and, for structs and lists of structs, the fields, with their paths.

    Fields have a row for each struct, not for each row of the batch.

    Args:
      record_batch: the columns.
      enumerate_leaves_only: whether to omit the structs themselves.
      wrap_flat_struct_in_list: whether structs outside of lists are yielded in lists of one.
    """
    check_instance("record_batch", record_batch, pa.RecordBatch)
    for name, column in zip(record_batch.schema.names, record_batch.columns, strict=True):
        yield from _enumerate(
            ColumnPath([name]), column, enumerate_leaves_only, wrap_flat_struct_in_list
        )


def get_array(
    record_batch: pa.RecordBatch,
    query_path: ColumnPath,
    return_example_indices: bool,
    wrap_flat_struct_in_list: bool = True,
) -> tuple[pa.Array, Int64Array | None]:
    """Returns a column or a field, as `enumerate_arrays` does, and the rows that it comes from.

    Args:
      record_batch: the columns.
      query_path: path of the column or field.
      return_example_indices: whether to return for each element its row in the batch.
      wrap_flat_struct_in_list: whether structs outside of lists are returned in lists of one.

    Raises:
      FieldNotFoundError: there is nothing at this path.
    """
    check_instance("record_batch", record_batch, pa.RecordBatch)
    check_bool("return_example_indices", return_example_indices)
    path = ColumnPath(query_path)
    index = record_batch.schema.get_field_index(path[0]) if path else -1
    if index < 0:
        raise FieldNotFoundError(f"Expected the path of a column or field, found {str(path)!r}")
    array = record_batch.column(index)
    rows = np.arange(record_batch.num_rows) if return_example_indices else None
    for depth, step in enumerate(path.suffix(1), start=1):
        if not pa.types.is_struct(get_innermost_nested_type(array.type)):
            raise FieldNotFoundError(
                f"Expected structs at {str(path.prefix(depth))!r}, to find {str(path)!r} in them, "
                f"found {array.type}"
            )
        structs, parents = flatten_nested(array, return_parent_indices=rows is not None)
        rows = None if rows is None else rows[parents]
        array = get_field(structs, step)
    return _wrapped(array, wrap_flat_struct_in_list), rows


def _enumerate(
    path: ColumnPath, array: pa.Array, leaves_only: bool, wrap: bool
) -> Iterator[tuple[ColumnPath, pa.Array]]:
    struct = get_innermost_nested_type(array.type)
    if not pa.types.is_struct(struct):
        yield path, array
        return
    if not leaves_only:
        yield path, _wrapped(array, wrap)
    structs, _ = flatten_nested(array)
    for index in range(struct.num_fields):
        child = path.child(struct.field(index).name)
        yield from _enumerate(child, get_field(structs, index), leaves_only, wrap)


def _wrapped(array: pa.Array, wrap: bool) -> pa.Array:
    return ToSingletonListArray(array) if wrap and pa.types.is_struct(array.type) else array


def _byte_size(column: pa.Array, ignore_unsupported: bool) -> int:
    try:
        return GetByteSize(column)
    except SchemaError:
        if ignore_unsupported:
            return 0
        raise


def _batch_of(columns: Sequence[pa.Array], schema: pa.Schema, num_rows: int) -> pa.RecordBatch:
    """Returns a batch that keeps its number of rows even without columns."""
    if not columns:
        return pa.record_batch([pa.nulls(num_rows)], names=[""]).select([])
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _canonical_type(data_type: pa.DataType, column: str) -> pa.DataType:
    if is_list_like(data_type):
        return pa.large_list(_canonical_type(data_type.value_type, column))
    if pa.types.is_signed_integer(data_type):
        return pa.int64()
    if pa.types.is_unsigned_integer(data_type):
        return pa.uint64()
    if pa.types.is_floating(data_type):
        return pa.float64()
    if pa.types.is_boolean(data_type):
        return pa.int8()
    is_fixed_size = pa.types.is_fixed_size_binary(data_type)
    if is_binary_like(data_type) or is_fixed_size or pa.types.is_null(data_type):
        return pa.large_binary()
    raise SchemaError(
        f"Expected numbers, bools, strings or lists of these in column {column!r}, "
        f"found {data_type}"
    )


def _merge_types(known: pa.DataType, field: pa.Field) -> pa.DataType:
    """Returns the type that can hold the values of both `known` and `field`."""
    new = field.type
    if pa.types.is_null(known) or known.equals(new):
        return new
    if pa.types.is_null(new):
        return known
    for is_kind, make in (
        (pa.types.is_list, pa.list_),
        (pa.types.is_large_list, pa.large_list),
    ):
        if is_kind(known) and is_kind(new):
            return make(_merge_types(known.value_type, field.with_type(new.value_type)))
    if pa.types.is_struct(known) and pa.types.is_struct(new):
        types = {known.field(i).name: known.field(i).type for i in range(known.num_fields)}
        for i in range(new.num_fields):
            child = new.field(i)
            types[child.name] = _merge_types(types.get(child.name, pa.null()), child)
        return pa.struct(list(types.items()))
    raise SchemaError(
        f"Expected one type for column or field {field.name!r}, found {known} and {new}"
    )


def _column_as(batch: pa.RecordBatch, name: str, data_type: pa.DataType) -> pa.Array:
    index = batch.schema.get_field_index(name)
    return pa.nulls(batch.num_rows, data_type) if index < 0 else _as(batch.column(index), data_type)


def _as(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    """Returns `array` converted to the result of `_merge_types` for its type and others."""
    if array.type.equals(data_type):
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), data_type)
    if is_list_like(data_type):
        return pa.Array.from_buffers(
            data_type,
            len(array),
            array.buffers()[:2],
            offset=array.offset,
            children=[_as(array.values, data_type.value_type)],
        )
    fields = [data_type.field(i) for i in range(data_type.num_fields)]
    children = []
    for field in fields:
        index = array.type.get_field_index(field.name)
        child = pa.nulls(len(array)) if index < 0 else array.field(index)
        children.append(_as(child, field.type))
    return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
