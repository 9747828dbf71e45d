"""The Arrow types of columns, and the plan that tells the kernel what to decode."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pyarrow as pa

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.kernel.plan import Column, DecodePlan, Kind
from tfrecord_beam.options import describe
from tfrecord_beam.schema.names import as_names, check_distinct, check_known
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema, schema_columns

_TYPES = {
    Kind.INT64: pa.large_list(pa.int64()),
    Kind.FLOAT: pa.large_list(pa.float32()),
    Kind.BYTES: pa.large_list(pa.large_binary()),
    None: pa.null(),
}


def arrow_schema(columns: Iterable[Column], raw_record_column: str | None = None) -> pa.Schema:
    """Returns the Arrow schema of the batches that these columns give.

    >>> arrow_schema([Column("age", Kind.INT64)], "raw").names
    ['age', 'raw']

    Args:
      columns: the columns in order: `large_list<int64>`, `large_list<float>`,
        `large_list<large_binary>` by their kind, `null` for a column without one.
      raw_record_column: name of the last column, which holds each record's own bytes
        (`large_list<large_binary>`); None for no such column.
    """
    fields = [pa.field(column.name, _TYPES[column.kind]) for column in columns]
    if raw_record_column is not None:
        fields.append(pa.field(raw_record_column, _TYPES[Kind.BYTES]))
    return pa.schema(fields)


def decode_plan(
    schema: SchemaSource | None,
    *,
    columns: Sequence[str] | None = None,
    raw_record_column: str | None = None,
) -> DecodePlan:
    """Returns the plan for decoding records of `schema`, or only some columns of it.

    Args:
      schema: what `load_schema` takes. A schema without features asks for no column. None: kinds
        are those that the records show.
      columns: the wanted columns, which come out in the order asked for here. None: all of the
        schema, in its order; without a schema all that the records show. An empty list: no column.
      raw_record_column: name of a last column with each record's own bytes, or None.

    Raises:
      SchemaError: `schema` cannot be used (see `load_schema` and `schema_columns`); a column is
        not in it, or is asked for twice; the raw-record column has the name of another.
    """
    if raw_record_column is not None and not isinstance(raw_record_column, str):
        raise SchemaError(
            "Expected the name of the raw-record column as str, "
            f"found {describe(raw_record_column)}"
        )
    planned = _planned_columns(schema, columns)
    check_raw_record_column(raw_record_column, {column.name for column in planned or ()})
    return DecodePlan(planned, raw_record_column)


def project_batch(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """Returns the named columns of a batch, in this order, without a copy.

    >>> project_batch(pa.record_batch({"a": [1], "b": [2]}), ["b"]).schema.names
    ['b']

    Raises:
      SchemaError: there is no such column, or a name comes twice.
    """
    names = as_names(columns, "columns")
    check_distinct(names, "columns")
    check_known(names, batch.schema.names, "columns")
    return batch.select(list(names))


def check_raw_record_column(name: str | None, columns: Collection[str]) -> None:
    """Raises SchemaError when the raw-record column has the name of one of the columns."""
    if name is not None and name in columns:
        raise SchemaError(
            f"Expected a raw-record column with a name of its own, found {name!r}, which is a "
            "column of the data",
            hint="choose another raw_record_column_name",
        )


def _planned_columns(
    schema: SchemaSource | None, columns: Sequence[str] | None
) -> tuple[Column, ...] | None:
    known = None if schema is None else schema_columns(load_schema(schema))
    if columns is None:
        return known
    names = as_names(columns, "columns")
    check_distinct(names, "columns")
    if known is None:
        return tuple(map(Column, names))
    by_name = {column.name: column for column in known}
    check_known(names, by_name, "columns")
    return tuple(by_name[name] for name in names)
