"""Concatenates batches with different columns to one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from tfrecord_beam.errors import DecodeError, Location
from tfrecord_beam.kernel.plan import Column, SequenceDecodePlan
from tfrecord_beam.schema.arrow import RecordPlan, plan_schema


def concat_batches(
    batches: Sequence[pa.RecordBatch], plan: RecordPlan, known: pa.Schema | None = None
) -> pa.Table:
    """Returns one table of batches that were decoded by one plan.

    A column, or a field of the struct column, that is missing from a batch is null there.

    Args:
      batches: the batches to concatenate.
      plan: the plan of all of them.
      known: columns that the table has in any case, with their types; None: those of the plan.

    Raises:
      DecodeError: a feature has different kinds in different batches.
    """
    fields = (plan_schema(plan) or ()) if known is None else known
    types: dict[str, pa.DataType] = {field.name: field.type for field in fields}
    for batch in batches:
        for field in batch.schema:
            types[field.name] = _merge(types.get(field.name, pa.null()), field.type, field.name)
    schema = pa.schema([(name, types[name]) for name in order_names(types, plan)])
    if isinstance(plan, SequenceDecodePlan) and plan.sequence_column_name in types:
        index = schema.get_field_index(plan.sequence_column_name)
        struct = _ordered_struct(schema.field(index).type, plan.sequence_columns)
        schema = schema.set(index, schema.field(index).with_type(struct))
    return pa.Table.from_batches([_conform(batch, schema) for batch in batches], schema)


def _merge(known: pa.DataType, found: pa.DataType, name: str) -> pa.DataType:
    """Returns the common type of both, where null can become any type."""
    if known == found or pa.types.is_null(found):
        return known
    if pa.types.is_null(known):
        return found
    if pa.types.is_struct(known) and pa.types.is_struct(found):
        fields = {field.name: field.type for field in known}
        for field in found:
            path = f"{name}.{field.name}"
            fields[field.name] = _merge(fields.get(field.name, pa.null()), field.type, path)
        return pa.struct(list(fields.items()))
    if pa.types.is_large_list(known) and pa.types.is_large_list(found):
        inner = known.value_type, found.value_type
        if any(map(pa.types.is_null, inner)):
            return pa.large_list(_merge(*inner, name))
    raise DecodeError(
        f"Expected {known} for feature {name!r} in all records, found also {found}",
        Location(feature=name),
        hint="give a schema, or read the column apart",
    )


def order_names(names: Iterable[str], plan: RecordPlan) -> list[str]:
    """Returns the names of columns in the order in which batches of a plan have them."""
    last = [plan.raw_record_column]
    if isinstance(plan, SequenceDecodePlan):
        last.insert(0, plan.sequence_column_name)
    known = list(names)
    first = [name for name in known if name not in last]
    if plan.columns is None:
        first.sort(key=str.encode)
    return first + [name for name in last if name in known]


def _ordered_struct(struct: pa.StructType, columns: tuple[Column, ...] | None) -> pa.StructType:
    """Returns the struct with its fields sorted by name; planned fields keep their order."""
    if columns is not None:
        return struct
    return pa.struct(sorted(struct, key=lambda field: field.name.encode()))


def _conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    struct = pa.struct(list(schema))
    return pa.RecordBatch.from_struct_array(_convert(batch.to_struct_array(), struct))


def _convert(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Returns the array converted to the wanted type, with nulls for what is missing."""
    if array.type == wanted:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    if pa.types.is_struct(wanted):
        names = [field.name for field in array.type]
        children = [
            _convert(array.field(names.index(field.name)), field.type)
            if field.name in names
            else pa.nulls(len(array), field.type)
            for field in wanted
        ]
        return pa.StructArray.from_buffers(wanted, len(array), [None], children=children)
    values = _convert(array.values, wanted.value_type)
    return pa.LargeListArray.from_buffers(
        wanted, len(array), array.buffers()[:2], array.null_count, children=[values]
    )
