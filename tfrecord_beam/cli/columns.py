"""What record batches show of their columns."""

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
    """What is known of a column.

    Attributes:
      types: its Arrow types; several where batches without a schema differ.
      present: in how many rows it is not null.
      lengths: numbers of values that rows have; of each batch the extremes.
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
    """What is known of all columns, batch by batch.

    Attributes:
      rows: rows of all batches.
    """

    rows: int = 0
    _columns: dict[str, _Column] = dataclasses.field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> None:
        """Takes a batch in. Without a schema it may have other columns than those before."""
        names = batch.schema.names
        self.rows += batch.num_rows
        self._prepare(names)
        for name, values in zip(names, batch.columns, strict=True):
            self._columns[name].add(values)

    def merge(self, other: ColumnSummary) -> None:
        """Takes in all that another summary knows."""
        self.rows += other.rows
        self._prepare(other._columns)
        for name, column in other._columns.items():
            self._columns[name].merge(column)

    def to_json(self) -> list[dict[str, Any]]:
        """Returns an object for each column: in the order that all batches have, else by name."""
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
    # By way of a struct, which keeps the number of rows also when there is no column.
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
    """Warns of columns that were asked for, by name or by a schema, and are in no record.

    Args:
      columns: those that were not found.
      options: with `files`, `record_type` and `partition_columns`.
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
    text = describe_lost(columns, known, records)
    if text is not None:
        print_warning(text)


def find_absent(columns: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the names of all columns if none is in any row, else no name.

    One feature of a schema may be missing; where all are, the schema is that of other records.

    Args:
      columns: what `ColumnSummary.to_json` gives.
    """
    return [] if any(each["present"] for each in columns) else [each["name"] for each in columns]


def print_columns(columns: Iterable[dict[str, Any]]) -> None:
    """Prints what `ColumnSummary.to_json` gives as a table."""
    print_table(("column", "type", "present", "null", "values"), map(_line, columns))


def show_type(type_name: str) -> str:
    """Returns the name of an Arrow type without what is the same in all of them.

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
