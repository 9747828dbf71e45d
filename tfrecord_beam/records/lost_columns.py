"""Detects columns that were requested, by name or by a schema, but are in no record.

Single features of a schema may be missing from the data. If all of them are, it is the schema of
other records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.caller import warn_caller
from tfrecord_beam.errors import render
from tfrecord_beam.kernel.plan import RecordType
from tfrecord_beam.records.corruption import ignore_corrupt
from tfrecord_beam.records.files import DIRECT, iter_blocks
from tfrecord_beam.records.partition_columns import PartitionColumns, choose_decoder
from tfrecord_beam.records.paths import FilePattern, FileSystem
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.schema.arrow import RecordPlan, decode_plan, plan_names
from tfrecord_beam.schema.names import shortened, suggest


def watched_columns(
    schema: schema_pb2.Schema | None, columns: Collection[str] | None, plan: RecordPlan
) -> list[str]:
    """Returns the names of the columns that may turn out to be lost.

    Columns requested by name from a schema are not among them: records may lack them, and the
    features that would show whether it is the schema of these records are not decoded.

    Args:
      schema: of the records.
      columns: those requested by name.
      plan: of the schema and the columns.
    """
    if schema is not None and columns is not None:
        return []
    return plan_names(plan) or []  # None means all, and what they are is not known


def watch_columns(
    batches: Iterable[pa.RecordBatch],
    columns: Iterable[str],
    find_known: Callable[[], Collection[str]],
    *,
    of_schema: bool,
) -> Generator[pa.RecordBatch]:
    """Yields batches, and warns at the end about columns without a value in all of them.

    Args:
      batches: of records.
      columns: the requested names.
      find_known: returns the names of columns that records have.
      of_schema: as for `find_lost`.
    """
    lost = list(columns)
    has_rows = False
    for batch in batches:
        if lost:
            lost = find_lost(lost, batch, of_schema=of_schema)
        has_rows = has_rows or batch.num_rows > 0
        yield batch
    if lost and has_rows and (text := describe_lost(lost, find_known(), of_schema=of_schema)):
        warn_caller(text)


def find_lost(
    columns: Collection[str], batch: pa.RecordBatch, *, of_schema: bool = False
) -> list[str]:
    """Returns the names for which the batch has no column, or one of nulls.

    Args:
      columns: the requested names.
      batch: of records.
      of_schema: they are features of a schema, so none is lost unless all are.
    """
    found = (name for name, values in _columns(batch) if values.null_count < len(values))
    if of_schema:
        return [] if any(name in columns for name in found) else list(columns)
    shown = set(found)
    return [name for name in columns if name not in shown]


def describe_lost(
    columns: Collection[str],
    known: Collection[str],
    records: str = "no record",
    *,
    of_schema: bool = False,
) -> str | None:
    """Returns a warning about columns; None if records have them, though without a value.

    None, too, if the columns are all features of a schema and records have none at all: empty
    records contradict no schema.

    >>> describe_lost(["agee"], ["age", "name"])
    "Expected columns among 'age', 'name', found 'agee', which no record has (did you mean 'age'?)"

    Args:
      columns: the requested names that were not found.
      known: those that records have.
      records: the subject of the sentence.
      of_schema: as for `find_lost`.
    """
    lost = [name for name in columns if name not in known]
    if not lost or (of_schema and (not known or len(lost) < len(columns))):
        return None
    what = "features of the schema" if of_schema else "columns"
    message = f"Expected {what} among {shortened(known)}, found {shortened(lost)}"
    return render(f"{message}, which {records} has", hint=suggest(lost, known))


def first_columns(
    path: FilePattern,
    options: ReadOptions = ReadOptions(),
    *,
    record_type: RecordType = "Example",
    partition_columns: PartitionColumns | None = None,
    file_system: FileSystem = DIRECT,
) -> list[str]:
    """Returns the names of the columns of the first block of records.

    Records that cannot be read or decoded are skipped.

    Args:
      path: as for `iter_batches`, as are the options.
      options: how to read.
      record_type: type of the records.
      partition_columns: whether folders give columns.
      file_system: where the files are.
    """
    plan = decode_plan(None, record_type=record_type)
    decoder = choose_decoder(plan, record_type, partition_columns, only_planned=False)
    for block in iter_blocks(path, options, on_corrupt=ignore_corrupt, file_system=file_system):
        for batch in decoder.iter_block(block, ignore_corrupt):
            return [name for name, _ in _columns(batch)]
    return []


def _columns(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Array]]:
    """Yields the name and values of each column; for structs also of each ``NAME.FIELD``."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        yield name, column
        if pa.types.is_struct(column.type):
            for index, field in enumerate(column.type):
                yield f"{name}.{field.name}", column.field(index)
