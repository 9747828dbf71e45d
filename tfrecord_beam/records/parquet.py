"""Reads rows of Parquet files as list columns, like all other sources.

A value becomes a list of one, null stays null, and a list stays a list. See
`tfrecord_beam.schema.encoding` for the features that types become, and for values that cannot be
stored. If a schema requires FLOAT, integers are rounded to `float32`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.errors import DecodeError, EncodeError, Location
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.records.batch_stream import rebatch
from tfrecord_beam.records.convert.formats import Format, reading
from tfrecord_beam.records.convert.parquet_file import OpenFile, RowGroups, iter_parquet
from tfrecord_beam.schema.arrow import arrow_type
from tfrecord_beam.schema.encoding import kind_of, to_features
from tfrecord_beam.schema.features import check_kinds
from tfrecord_beam.schema.lists import flatten_lists, is_list, make_lists, to_singleton_lists
from tfrecord_beam.schema.names import check_distinct


def list_schema(schema: pa.Schema) -> pa.Schema:
    """Returns the schema with the type that each column becomes; nulls alone become bytes.

    >>> list_schema(pa.schema([("age", pa.int8())])).field("age").type
    LargeListType(large_list<item: int64>)

    Raises:
      SchemaError: a column has a type that no feature can hold, or two have the same name.
    """
    check_distinct(schema.names, "columns")
    return pa.schema([(field.name, arrow_type(_kind_of(field) or Kind.BYTES)) for field in schema])


def read_row_groups(
    groups: RowGroups, open_file: OpenFile, schema: pa.Schema, *, batch_size: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yields the rows as batches of a schema; no other column is read.

    Args:
      groups: what to read.
      open_file: opens a path for binary reading.
      schema: see `to_lists`.
      batch_size: rows of each batch but the last. None: as many as fit into about 8 MiB, at most
        65,536.

    Raises:
      SchemaError: a column is missing, occurs twice, or cannot be converted to the wanted type.
      DecodeError: the file cannot be read, or a value does not fit its type.
    """
    batches = _read(groups, open_file, schema, batch_size)
    return batches if batch_size is None else rebatch(batches, batch_size, drop_remainder=False)


def _read(
    groups: RowGroups, open_file: OpenFile, schema: pa.Schema, batch_size: int | None
) -> Iterator[pa.RecordBatch]:
    raw = open_file(groups.path)
    row = groups.first_row
    try:
        with reading(groups.path, Format.PARQUET):
            for batch in iter_parquet(
                raw,
                columns=schema.names,
                row_groups=range(groups.start, groups.stop),
                batch_rows=batch_size,
            ):
                try:
                    yield to_lists(batch, schema)
                except EncodeError as error:
                    place = dataclasses.replace(
                        error.location, file=groups.path, record=row + (error.record or 0)
                    )
                    raise DecodeError(error.message, place, error.hint) from None
                row += batch.num_rows
    finally:
        raw.close()


def to_lists(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Returns the columns of a schema, each of the type that it has there.

    Args:
      batch: has these columns, in any order.
      schema: of columns of type `large_list` of `int64`, `float` or `large_binary`.

    Raises:
      SchemaError: a column occurs twice, or cannot be converted to the wanted type.
      EncodeError: a value does not fit, or is a null in a list.
    """
    check_distinct(batch.schema.names, "columns")
    columns = [_to_lists(batch.column(field.name), field) for field in schema]
    # The column of nulls keeps the number of rows if there is no other column.
    columns.append(pa.nulls(batch.num_rows))
    rows = pa.RecordBatch.from_arrays(columns, schema=schema.append(pa.field("", pa.null())))
    return rows.select(range(len(schema)))


def _to_lists(column: pa.Array, wanted: pa.Field) -> pa.Array:
    if column.null_count == len(column):
        return pa.nulls(len(column), wanted.type)
    features = to_features(wanted.name, column)
    kinds = kind_of(features), _kind_of(wanted)
    if kinds != (Kind.INT64, Kind.FLOAT):
        check_kinds(*({wanted.name: kind} for kind in kinds))
    value_type = wanted.type.value_type
    if not is_list(features.type):
        return to_singleton_lists(features.cast(value_type, safe=False))
    lists = flatten_lists(features)
    if lists.values.null_count:
        row = lists.list_of(pc.index(lists.values.is_null(), True).as_py())
        place = Location(record=row, feature=wanted.name)
        raise EncodeError("Expected lists without nulls, found a null in one", place)
    is_valid = features.is_valid().to_numpy(zero_copy_only=False)
    return make_lists(lists.offsets, lists.values.cast(value_type, safe=False), is_valid)


def _kind_of(field: pa.Field) -> Kind | None:
    return kind_of(to_features(field.name, pa.nulls(0, field.type)))
