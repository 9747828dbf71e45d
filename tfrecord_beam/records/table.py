"""TFRecord files without Beam: for a notebook, a script or a training loop."""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from tfrecord_beam.errors import DecodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import RecordType
from tfrecord_beam.options import check_function, check_int
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.concatenate import concat_batches
from tfrecord_beam.records.decode import OnCorrupt, RecordDecoder
from tfrecord_beam.records.files import OnProgress, iter_blocks, limit_corrupt, read_parts
from tfrecord_beam.records.inference import infer_for_reading, is_inferred
from tfrecord_beam.records.lost_columns import first_columns, watch_columns, watched_columns
from tfrecord_beam.records.partition_columns import (
    PartitionColumns,
    PartitionDecoder,
    choose_decoder,
)
from tfrecord_beam.records.parts import decode_parts
from tfrecord_beam.records.paths import FilePattern
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.scalars import ColumnChoice, ColumnForms, choose_forms
from tfrecord_beam.schema.arrow import RecordPlan, decode_plan, plan_names, plan_schema
from tfrecord_beam.schema.names import as_names
from tfrecord_beam.schema.tfmd import SchemaSource

_MOST_THREADS = 1024

_DEFAULT_THREADS = 8
"""Default maximum: only one thread at a time reads, so more would wait for it."""


def iter_batches(
    path: FilePattern,
    schema: SchemaSource | None = None,
    *,
    columns: Sequence[str] | None = None,
    batch_size: int | None = None,
    batch_bytes: int | None = None,
    raw_record_column_name: str | None = None,
    record_type: RecordType = "Example",
    scalars: ColumnChoice = False,
    strings: ColumnChoice = False,
    partition_columns: PartitionColumns | None = None,
    compression: str | None = "auto",
    validate_crc: bool = True,
    error_handler: OnCorrupt | None = None,
    max_corrupt_records: int | None = None,
    progress: OnProgress | None = None,
    threads: int | None = None,
) -> Generator[pa.RecordBatch]:
    """Yields the record batches of TFRecord files, in the files' order.

    Options, columns and errors are those of `tfrecord_beam.BeamSource`.

    Example::

      for batch in iter_batches("data/*.tfrecord", "schema.pbtxt", batch_size=1000):
        ...

    Args:
      path: path, pattern or folder, or several.
      schema: a TFMD `Schema`, a serialized one, or the path of its file. None: each batch has the
        columns found in its records, in byte order of their names. "infer": the columns found in
        all records of all files, see `infer_schema`; this reads the files an additional time, when
        the function is called. (For a file of this name write "./infer".)
      columns: names of the columns to decode, in output order; None: all. Without a schema a column
        that is missing from a batch is null there, and at the end there is a warning if no record
        has it; with one there is a warning if no record has any of its columns.
      batch_size: rows of each batch; the last of a file may have fewer. None: as many as fit into
        `batch_bytes`.
      batch_bytes: bound on the size of a batch's records in the file. None: 8 MiB without, 512 MiB
        with `batch_size`. Rows times columns are at most 16 Mi in any case.
      raw_record_column_name: name of a last column with each record's own bytes.
      record_type: type of the records: "Example", "SequenceExample" or "ExampleListWithContext"; or
        "ByteArray" for undecoded records, in a column "byteArray" or `raw_record_column_name`.
      scalars: True: columns that have at most one value per record according to the schema (`shape`
        or `value_count`) are returned as scalars instead of lists, null if there is no value. Or
        the names of such columns. A record with several values is an error.
      strings: True: bytes columns that are text according to the schema are returned as strings. Or
        the names of such columns. Bytes that are not UTF-8 are an error.
      partition_columns: "hive": each folder ``name=value`` on a file's path also becomes a column;
        see `tfrecord_beam.records.partition_columns`.
      compression: "auto": detected for each file from its content, else from its suffix. Or one
        codec for all files.
      validate_crc: False: the CRCs of records are not checked, and damaged payloads are passed on.
        A record that extends beyond the end of the file is still an error.
      error_handler: called with a `CorruptRecord` for each part or record that cannot be read or
        decoded; None: raise.
      max_corrupt_records: raise if there are more of them. None: no limit.
      progress: called after each batch with the bytes read and the total bytes, as stored.
      threads: number of threads that read and decode ahead of the iterating thread, each about 6
        MiB or one larger batch. Batches, errors and callbacks do not depend on it; callbacks are
        made by the iterating thread. 1: no threads are started, and nothing is read ahead. None:
        `pyarrow.cpu_count()`, like Arrow's own readers, but at most 8.

    Raises:
      SchemaError: the schema cannot be used, or a column is not in it.
      ValueError: an option is out of range.
      NoMatchError: a pattern matches no file.
      CorruptRecordError: a part of a file cannot be read.
      DecodeError: a record is not a message of `record_type`, or does not fit the schema.
    """
    return _read(
        path,
        schema,
        ReadOptions(compression, validate_crc, batch_size, batch_bytes),
        columns=columns,
        raw_record_column_name=raw_record_column_name,
        record_type=record_type,
        scalars=scalars,
        strings=strings,
        partition_columns=partition_columns,
        on_corrupt=limit_corrupt(error_handler, max_corrupt_records),
        progress=progress,
        threads=threads,
    ).batches


def decode_block(
    decoder: RecordDecoder | PartitionDecoder,
    forms: ColumnForms,
    block: RecordBlock,
    on_corrupt: OnCorrupt | None,
) -> Iterator[pa.RecordBatch]:
    """Yields the non-empty batches of a block's records, with columns converted to `forms`."""
    first = block.first_record if on_corrupt is None else None  # else records may be left out
    for batch in decoder.iter_block(block, on_corrupt):
        if batch.num_rows:
            yield forms.convert(batch, Location(block.file, record=first)) if forms else batch
        first = None if first is None else first + batch.num_rows


class _Reading(NamedTuple):
    """A reading of files.

    Attributes:
      batches: to be iterated.
      plan: how they are decoded.
      schema: of all batches; None: each has the columns found in its records.
    """

    batches: Generator[pa.RecordBatch]
    plan: RecordPlan
    schema: pa.Schema | None


def _read(
    path: FilePattern,
    schema: SchemaSource | None,
    options: ReadOptions,
    *,
    columns: Sequence[str] | None,
    raw_record_column_name: str | None,
    record_type: RecordType,
    scalars: ColumnChoice,
    strings: ColumnChoice,
    partition_columns: PartitionColumns | None,
    on_corrupt: OnCorrupt | None,
    progress: OnProgress | None,
    threads: int | None,
) -> _Reading:
    check_int("threads", threads, least=1, most=_MOST_THREADS, optional=True)
    check_function("progress", progress)
    columns = None if columns is None else as_names(columns, "columns")
    if is_inferred(schema):
        schema = infer_for_reading(
            path,
            ReadOptions(options.compression, options.validate_crc),
            columns=columns,
            record_type=record_type,
            with_partitions=partition_columns is not None,
            skip_corrupt=on_corrupt is not None,
            find_text=strings is True,
        )
    plan = decode_plan(
        schema, columns=columns, raw_record_column=raw_record_column_name, record_type=record_type
    )
    forms = choose_forms(schema, scalars, strings)
    decoder = choose_decoder(plan, record_type, partition_columns, only_planned=columns is not None)
    batches = decode_parts(
        read_parts(path, options, collect_corrupt=on_corrupt is not None),
        functools.partial(decode_block, decoder, forms),
        on_corrupt=on_corrupt,
        progress=progress,
        threads=threads or min(pa.cpu_count(), _DEFAULT_THREADS),
    )
    if watched := watched_columns(schema, columns, plan):
        find_known = functools.partial(
            first_columns,
            path,
            options,
            record_type=record_type,
            partition_columns=partition_columns,
        )
        batches = watch_columns(batches, watched, find_known, of_schema=schema is not None)
    planned = None if schema is None else plan_schema(plan)
    return _Reading(batches, plan, None if planned is None else forms.convert_schema(planned))


def read_table(
    path: FilePattern,
    schema: SchemaSource | None = None,
    *,
    columns: Sequence[str] | None = None,
    raw_record_column_name: str | None = None,
    record_type: RecordType = "Example",
    scalars: ColumnChoice = False,
    strings: ColumnChoice = False,
    partition_columns: PartitionColumns | None = None,
    compression: str | None = "auto",
    validate_crc: bool = True,
    error_handler: OnCorrupt | None = None,
    max_corrupt_records: int | None = None,
    progress: OnProgress | None = None,
    threads: int | None = None,
) -> pa.Table:
    """Returns TFRecord files as one Arrow table.

    Example::

      table = read_table("data/*.tfrecord", columns=["age", "label"])

    Args:
      path: path, pattern or folder, or several.
      schema: as for `iter_batches`; without one, a column that is missing from a file is null
        there.
      columns: as for `iter_batches`.
      raw_record_column_name: name of a last column with each record's own bytes.
      record_type: as for `iter_batches`.
      scalars: as for `iter_batches`.
      strings: as for `iter_batches`.
      partition_columns: as for `iter_batches`; null for files whose path does not have the column.
      compression: as for `iter_batches`.
      validate_crc: as for `iter_batches`.
      error_handler: as for `iter_batches`.
      max_corrupt_records: raise if there are more of them. None: no limit.
      progress: called from time to time with the bytes read and the total bytes.
      threads: as for `iter_batches`.

    Raises:
      DecodeError: as for `iter_batches`, as are the other errors; also if, without a schema, a
        feature has different kinds in different records.
    """
    options = ReadOptions(compression, validate_crc)
    batches, plan, known = _read(
        path,
        schema,
        options,
        columns=columns,
        raw_record_column_name=raw_record_column_name,
        record_type=record_type,
        scalars=scalars,
        strings=strings,
        partition_columns=partition_columns,
        on_corrupt=limit_corrupt(error_handler, max_corrupt_records),
        progress=progress,
        threads=threads,
    )
    if known is not None and partition_columns is None:
        return pa.Table.from_batches(batches, known)
    gathered = list(batches)
    try:
        return concat_batches(gathered, plan, known)
    except DecodeError as error:
        raise _locate_conflict(error, path, options, plan, record_type) from None


def _locate_conflict(
    error: DecodeError,
    path: FilePattern,
    options: ReadOptions,
    plan: RecordPlan,
    record_type: RecordType,
) -> DecodeError:
    """Returns the error for a feature with conflicting kinds, with the first place of each.

    Batches do not carry these places, so all records are read again.
    """
    try:
        infer_for_reading(
            path,
            options,
            columns=plan_names(plan),
            record_type=record_type,
            with_partitions=False,
            skip_corrupt=True,
        )
    except SchemaError as found:
        return DecodeError(found.message, found.location, error.hint)
    return error


def count(
    path: FilePattern,
    *,
    compression: str | None = "auto",
    validate_crc: bool = True,
    error_handler: OnCorrupt | None = None,
    max_corrupt_records: int | None = None,
    progress: OnProgress | None = None,
) -> int:
    """Returns the number of records in TFRecord files, of whatever content.

    Example::

      count("data/*.tfrecord")

    Args:
      path: path, pattern or folder, or several.
      compression: as for `iter_batches`.
      validate_crc: as for `iter_batches`.
      error_handler: called with a `CorruptRecord` for each part that cannot be read; None: raise.
      max_corrupt_records: raise if there are more of them. None: no limit.
      progress: called from time to time with the bytes read and the total bytes.

    Raises:
      CorruptRecordError: as for `iter_batches`, as are the other errors except DecodeError.
    """
    blocks = iter_blocks(
        path,
        ReadOptions(compression, validate_crc),
        on_corrupt=limit_corrupt(error_handler, max_corrupt_records),
        progress=progress,
    )
    return sum(block.num_records for block in blocks)
