"""Selects columns of records with steps: those of the context, and fields of the struct column."""

from __future__ import annotations

from collections.abc import Sequence

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.kernel.plan import Column
from tfrecord_beam.schema.names import as_names, check_distinct, check_known
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema, sequence_schema_columns

Columns = tuple[Column, ...] | None
"""Wanted columns in order; None: all that are found in the records."""


def choose_sequence_columns(
    schema: SchemaSource | None, columns: Sequence[str] | None, sequence_column: str
) -> tuple[Columns, Columns]:
    """Returns the wanted columns of the context and the wanted fields of the struct column.

    Args:
      schema: anything `load_schema` accepts; None: kinds are those found in the records.
      columns: names; that of the struct column means all its fields, and followed by a dot and a
        name one of them. None: all columns.
      sequence_column: name of the struct column.

    Raises:
      SchemaError: see `sequence_schema_columns`; a column is not in the schema, or is listed twice.
    """
    context: Columns = None
    steps: Columns = None
    if schema is not None:
        context, steps = sequence_schema_columns(load_schema(schema), sequence_column)
    if columns is None:
        return context, steps
    names = as_names(columns, "columns")
    check_distinct(names, "columns")
    prefix = f"{sequence_column}."
    of_context = {column.name: column for column in context or ()}
    of_steps = {prefix + column.name: column for column in steps or ()}
    if schema is not None:
        struct = [sequence_column] if of_steps else []
        check_known(names, [*of_context, *struct, *of_steps], "columns")
    wanted: list[Column] = []
    wanted_steps: list[Column] = []
    for name in names:
        in_struct = name == sequence_column or name.startswith(prefix)
        if name in of_context or not in_struct:
            wanted.append(of_context.get(name) or Column(name))
        elif name != sequence_column:
            wanted_steps.append(of_steps.get(name) or Column(name.removeprefix(prefix)))
    if sequence_column not in names:
        return tuple(wanted), tuple(wanted_steps)
    if wanted_steps:
        raise SchemaError(
            f"Expected {sequence_column!r} or fields of it among columns, "
            f"found both it and {prefix + wanted_steps[0].name!r}"
        )
    return tuple(wanted), steps
