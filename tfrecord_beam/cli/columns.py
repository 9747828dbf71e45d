"""Summaries of the columns of record batches."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.cli.output import print_warning
from tfrecord_beam.cli.rows import print_table
from tfrecord_beam.records.files import DIRECT
from tfrecord_beam.records.lost_columns import describe_lost, first_columns
from tfrecord_beam.records.paths import FileSystem


@dataclasses.dataclass
class _Column:
    """The summary of one column.

    Attributes:
      types: its Arrow types; several if batches without a schema differ.
      present: number of rows in which it is not null.
      lengths: the minimum and maximum number of values per row in each batch.
    """

    types: set[str] = dataclasses.field(default_factory=set)
    present: int = 0
    lengths: set[int] = dataclasses.field(default_factory=set)

    def add(self, values: pa.Array) -> None:
        if pa.types.is_null(values.type):
            return
        self.types.add(str(values.type))
        self.present += len(values) - values.null_count
        extremes = pc.min_max(pc.list_value_length(values)).as_py().values()
        self.lengths.update(length for length in extremes if length is not None)

    def merge(self, other: _Column) -> None:
        self.types |= other.types
        self.present += other.present
        self.lengths |= other.lengths

    def to_json(self, name: str, rows: int) -> dict[str, Any]:
        return {
            "name": name,
            "type": " or ".join(sorted(self.types)) or "null",
            "present": self.present,
            "null": rows - self.present,
            "min_values": min(self.lengths, default=None),
            "max_values": max(self.lengths, default=None),
        }


@dataclasses.dataclass
class ColumnSummary:
    """The summary of all columns, updated batch by batch.

    Attributes:
      rows: number of rows in all batches.
    """

    rows: int = 0
    _columns: dict[str, _Column] = dataclasses.field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> None:
        """Adds a batch. Without a schema its columns may differ from those of earlier batches."""
        names = batch.schema.names
        self.rows += batch.num_rows
        self._prepare(names)
        for name, values in zip(names, batch.columns, strict=True):
            self._columns[name].add(values)

    def merge(self, other: ColumnSummary) -> None:
        """Adds another summary."""
        self.rows += other.rows
        self._prepare(other._columns)
        for name, column in other._columns.items():
            self._columns[name].merge(column)

    def to_json(self) -> list[dict[str, Any]]:
        """Returns an object for each column, sorted by name if batches differ in their columns."""
        return [column.to_json(name, self.rows) for name, column in self._columns.items()]

    def _prepare(self, names: Iterable[str]) -> None:
        names = list(names)
        known = self._columns
        if known and list(known) != names:
            names = sorted({*known, *names})
        self._columns = {name: known.get(name) or _Column() for name in names}


def flatten_structs(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the batch with a column ``STRUCT.FIELD`` for each field of its structs."""
    columns: dict[str, pa.Array] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_struct(column.type):
            fields = zip(column.type, column.flatten(), strict=True)
            columns.update((f"{name}.{field.name}", values) for field, values in fields)
        else:
            columns[name] = column
    # Built from a struct, which keeps the number of rows even if there is no column.
    struct = pa.struct([(name, column.type) for name, column in columns.items()])
    return pa.RecordBatch.from_struct_array(
        pa.StructArray.from_buffers(struct, batch.num_rows, [None], children=list(columns.values()))
    )


def warn_of_lost(
    columns: Sequence[str],
    options: argparse.Namespace,
    records: str,
    file_system: FileSystem = DIRECT,
) -> None:
    """Warns about columns that were requested, by name or by a schema, but are in no record.

    Args:
      columns: those that were not found.
      options: with `files`, `schema`, `columns`, `record_type` and `partition_columns`.
      records: the subject of the sentence.
      file_system: where the files are.
    """
    if not columns:
        return
    known = first_columns(
        options.files,
        record_type=options.record_type,
        partition_columns=options.partition_columns,
        file_system=file_system,
    )
    of_schema = options.schema is not None and options.columns is None
    text = describe_lost(columns, known, records, of_schema=of_schema)
    if text is not None:
        print_warning(text)


def find_absent(columns: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the names of all columns if none of them is in any row, else an empty list.

    Single features of a schema may be missing; if all are, it is the schema of other records.

    Args:
      columns: the result of `ColumnSummary.to_json`.
    """
    return [] if any(each["present"] for each in columns) else [each["name"] for each in columns]


def print_columns(columns: Iterable[dict[str, Any]]) -> None:
    """Prints the result of `ColumnSummary.to_json` as a table."""
    print_table(("column", "type", "present", "null", "values"), map(_line, columns))


def show_type(type_name: str) -> str:
    """Returns the name of an Arrow type without the parts common to all of them.

    >>> show_type("large_list<item: int64>")
    'large_list<int64>'
    """
    return type_name.replace("item: ", "")


def _line(column: dict[str, Any]) -> list[str]:
    lengths = dict.fromkeys((column["min_values"], column["max_values"]))
    return [
        column["name"],
        show_type(column["type"]),
        str(column["present"]),
        str(column["null"]),
        " to ".join(str(length) for length in lengths if length is not None),
    ]
