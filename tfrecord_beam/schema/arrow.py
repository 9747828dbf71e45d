"""The Arrow types of columns, and the plan for the kernel of what to decode."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import overload

import pyarrow as pa

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.kernel.plan import (
    SEQUENCE_COLUMN as SEQUENCE_COLUMN,
    Column,
    DecodePlan,
    Kind,
    RecordType as RecordType,
    SequenceDecodePlan,
)
from tfrecord_beam.options import check_choice, describe
from tfrecord_beam.schema.names import as_names, check_distinct, check_known
from tfrecord_beam.schema.sequence import choose_sequence_columns
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema, schema_columns

BYTE_ARRAY_COLUMN = "byteArray"
"""The default name of the only column of opaque records (record type "ByteArray")."""

RecordPlan = DecodePlan | SequenceDecodePlan
"""What to decode of records of any type."""

_TYPES = {
    Kind.INT64: pa.large_list(pa.int64()),
    Kind.FLOAT: pa.large_list(pa.float32()),
    Kind.BYTES: pa.large_list(pa.large_binary()),
    None: pa.null(),
}


def arrow_type(kind: Kind | None) -> pa.DataType:
    """Returns the type of a column of a kind: `large_list`, or `null` without a kind."""
    return _TYPES[kind]


def arrow_schema(columns: Iterable[Column], raw_record_column: str | None = None) -> pa.Schema:
    """Returns the Arrow schema of batches with these columns.

    >>> arrow_schema([Column("age", Kind.INT64)], "raw").names
    ['age', 'raw']

    Args:
      columns: the columns in order: `large_list<int64>`, `large_list<float>`,
        `large_list<large_binary>` by their kind, `null` for a column without one.
      raw_record_column: name of the last column, which holds each record's own bytes
        (`large_list<large_binary>`); None for no such column.
    """
    fields = [pa.field(column.name, arrow_type(column.kind)) for column in columns]
    if raw_record_column is not None:
        fields.append(pa.field(raw_record_column, arrow_type(Kind.BYTES)))
    return pa.schema(fields)


def plan_schema(plan: RecordPlan) -> pa.Schema | None:
    """Returns the Arrow schema of the batches of a plan; None if it depends on the records.

    The struct column of a `SequenceDecodePlan` has fields of type `large_list<large_list<int64>>`
    and so on.
    """
    if plan.columns is None:
        return None
    schema = arrow_schema(plan.columns)
    if isinstance(plan, SequenceDecodePlan):
        if plan.sequence_columns is None:
            return None
        if plan.sequence_columns:
            steps = [
                (each.name, pa.large_list(arrow_type(each.kind))) for each in plan.sequence_columns
            ]
            schema = schema.append(pa.field(plan.sequence_column_name, pa.struct(steps)))
    for field in arrow_schema((), plan.raw_record_column):
        schema = schema.append(field)
    return schema


def plan_names(plan: RecordPlan) -> list[str] | None:
    """Returns the names of the wanted columns, in the form for `decode_plan`; None for all."""
    steps: Sequence[Column] | None = ()
    prefix = ""
    if isinstance(plan, SequenceDecodePlan):
        steps, prefix = plan.sequence_columns, plan.sequence_column_name
    if plan.columns is None and not steps:
        return None
    names = [column.name for column in plan.columns or ()]
    if steps is None:
        return [*names, prefix]
    return names + [f"{prefix}.{column.name}" for column in steps]


@overload
def decode_plan(
    schema: SchemaSource | None,
    *,
    columns: Sequence[str] | None = None,
    raw_record_column: str | None = None,
) -> DecodePlan: ...
@overload
def decode_plan(
    schema: SchemaSource | None,
    *,
    columns: Sequence[str] | None = None,
    raw_record_column: str | None = None,
    record_type: RecordType,
    sequence_column: str = SEQUENCE_COLUMN,
) -> RecordPlan: ...
def decode_plan(
    schema: SchemaSource | None,
    *,
    columns: Sequence[str] | None = None,
    raw_record_column: str | None = None,
    record_type: RecordType = "Example",
    sequence_column: str = SEQUENCE_COLUMN,
) -> RecordPlan:
    """Returns the plan for decoding records of `schema`, or only some of its columns.

    Args:
      schema: anything `load_schema` accepts. A schema without features means no columns. None:
        kinds are those found in the records.
      columns: the wanted columns, in the order of the output. None: all columns of the schema, in
        its order; without a schema all that are found in the records. An empty list: no columns.
        For records with steps ``##SEQUENCE##`` means all fields of the struct column, and
        ``##SEQUENCE##.NAME`` one of them.
      raw_record_column: name of a last column with each record's own bytes, or None.
      record_type: "Example"; or "SequenceExample" or "ExampleListWithContext", whose plan is a
        `SequenceDecodePlan`; or "ByteArray", which has only the raw-record column, named
        "byteArray" by default.
      sequence_column: name of the struct column, and of its feature in the schema.

    Raises:
      SchemaError: `schema` cannot be used (see `load_schema`, `schema_columns` and
        `sequence_schema_columns`); a column is not in it, or is listed twice; the raw-record
        column has the name of another column.
      ValueError: the record type does not exist.
    """
    check_choice("record_type", record_type, RecordType)
    if record_type == "ByteArray":
        return _byte_array_plan(schema, columns, raw_record_column)
    if record_type != "Example":
        context, steps = choose_sequence_columns(schema, columns, sequence_column)
        names = [column.name for column in context or ()] + [sequence_column]
        check_raw_record_column(raw_record_column, names)
        return SequenceDecodePlan(context, steps, sequence_column, raw_record_column)
    planned = _planned_columns(schema, columns)
    check_raw_record_column(raw_record_column, {column.name for column in planned or ()})
    return DecodePlan(planned, raw_record_column)


def _byte_array_plan(
    schema: SchemaSource | None, columns: Sequence[str] | None, raw_record_column: str | None
) -> DecodePlan:
    if schema is not None or columns is not None:
        raise SchemaError(
            "Expected neither a schema nor columns for records of type ByteArray, found "
            f"{'columns' if schema is None else 'a schema'}",
            hint="they have one column, which raw_record_column_name may name",
        )
    check_raw_record_column(raw_record_column, ())
    return DecodePlan((), raw_record_column or BYTE_ARRAY_COLUMN)


def project_batch(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """Returns the named columns of a batch, in this order, without a copy.

    >>> project_batch(pa.record_batch({"a": [1], "b": [2]}), ["b"]).schema.names
    ['b']

    Raises:
      SchemaError: a column does not exist, or a name occurs twice, here or in the batch.
    """
    names = as_names(columns, "columns")
    check_distinct(names, "columns")
    check_known(names, batch.schema.names, "columns")
    check_distinct([name for name in batch.schema.names if name in names], "columns of a batch")
    return batch.select(list(names))


def check_raw_record_column(name: str | None, columns: Collection[str]) -> None:
    """Raises SchemaError if the name is not a str, or is that of another column."""
    if name is None:
        return
    if not isinstance(name, str):
        raise SchemaError(
            f"Expected the name of the raw-record column as str, found {describe(name)}"
        )
    if name in columns:
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
