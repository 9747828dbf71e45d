"""TFRecord files to Parquet, CSV, JSON lines or Arrow IPC, and back, without Beam."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import pyarrow as pa

from tfrecord_beam.errors import EncodeError, SchemaError, render
from tfrecord_beam.kernel.plan import RecordType
from tfrecord_beam.options import check_function
from tfrecord_beam.records.convert.columns import choose_columns, choose_schema
from tfrecord_beam.records.convert.conversion import Conversion, plan_conversion
from tfrecord_beam.records.convert.formats import Format
from tfrecord_beam.records.convert.sources import iter_file
from tfrecord_beam.records.convert.targets import write_file
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.files import OnProgress
from tfrecord_beam.records.parallel import interleave_ahead
from tfrecord_beam.records.partition_columns import PartitionColumns
from tfrecord_beam.records.paths import DirectFileSystem, FilePattern
from tfrecord_beam.records.scalars import ColumnChoice
from tfrecord_beam.records.table import iter_batches
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.options import Mode
from tfrecord_beam.records.writing.placing import check_free
from tfrecord_beam.records.writing.plan import WrittenFile
from tfrecord_beam.records.writing.table import write_table
from tfrecord_beam.schema.arrow import BYTE_ARRAY_COLUMN
from tfrecord_beam.schema.names import shortened, suggest
from tfrecord_beam.schema.tfmd import SchemaSource


def convert(
    source: FilePattern,
    target: str | os.PathLike[str],
    schema: SchemaSource | None = None,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    columns: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    record_type: RecordType = "Example",
    scalars: ColumnChoice = True,
    strings: ColumnChoice = True,
    partition_columns: PartitionColumns | None = None,
    compression: str | None = "auto",
    mode: Mode = "error",
    progress: OnProgress | None = None,
    **write_options: Any,
) -> list[WrittenFile]:
    """Converts files to or from TFRecord, and returns the files written.

    Memory is bounded, rows keep their order, and files are complete or absent. From TFRecord to
    TFRecord, records are copied unchanged unless a schema, columns or partitions are requested.

    Example::

      convert("people.parquet", "people.tfrecord.gz")
      convert("data/*.tfrecord", "people.csv", "schema.pbtxt", columns=["age", "label"])

    Args:
      source: path, pattern or folder, or several.
      target: the file to write. For TFRecord with any of `num_shards`, `max_records_per_shard`,
        `max_bytes_per_shard` and `partition_by` the prefix of all files, as of `write_table`: those
        of ``a.tfr.gz`` are called ``a-00000-of-00002.tfr.gz``.
      schema: a TFMD `Schema`, a serialized one, or the path of its file. From TFRecord it defines
        the columns; without one, or with "infer", all records are read first to find them. To
        TFRecord it defines which columns the rows must have, and the types of CSV cells, which are
        otherwise inferred.
      source_format: "tfrecord", "parquet", "csv", "json" (an object in each line), "arrow" or
        "arrow-stream" (Arrow's IPC file or stream). None: from the suffix; without one TFRecord.
      target_format: as `source_format`.
      columns: names of the columns to convert, in output order; None: all.
      column_names: from CSV without a header line: the names of its columns, in order. To CSV: the
        columns to convert, without writing a header line. None: the first line has the names; if
        one of them is a number, there is a warning, since the line may be data.
      record_type: type of the records read or written: "Example", "SequenceExample" or "ByteArray".
      scalars: from TFRecord, which columns become scalars instead of lists, as for `iter_batches`.
        True: those with at most one value per record according to the schema or, without one, in
        all records. In CSV all columns are scalars.
      strings: from TFRecord, which columns become strings instead of bytes, as for `iter_batches`.
        True: those that are text according to the schema or, without one, in all records. In CSV
        and JSON all are strings.
      partition_columns: from TFRecord, "hive" to add columns for folders ``name=value``.
      compression: of the output. "auto": from the suffix; else snappy for Parquet and none for
        others.
      mode: what to do with an existing file: "error" or "overwrite", or for TFRecord another mode
        of `write_table`.
      progress: called after each batch with the bytes read and the total bytes, as stored.
      write_options: other options of `write_table`.

    Raises:
      ValueError: an option is out of range or unknown; a format is unknown, or neither is TFRecord.
      NoMatchError: a pattern matches no file.
      CorruptRecordError: a TFRecord file cannot be read.
      DecodeError: another file cannot be read, or a row has several values in a scalar column.
      SchemaError: a column has a type that the target does not support, or is not in the schema.
      WriteError: files exist already, or cannot be written.
    """
    check_function("progress", progress)
    _check_names(write_options)
    conversion = plan_conversion(
        source,
        target,
        schema,
        DirectFileSystem(),
        source_format=source_format,
        target_format=target_format,
        columns=columns,
        column_names=column_names,
        record_type=record_type,
        scalars=scalars,
        strings=strings,
        partition_columns=partition_columns,
        compression=compression,
        mode=mode,
        write_options=write_options,
    )
    if conversion.target_format is Format.TFRECORD:
        return _write_records(conversion, progress)
    return [_write_other(conversion, progress)]


def _check_names(write_options: Iterable[str]) -> None:
    """Raises ValueError unless `write_table` has these options."""
    own = inspect.signature(convert).parameters
    known = inspect.signature(write_table).parameters.keys() - own.keys() - {"data", "path"}
    unknown = [name for name in write_options if name not in known]
    if unknown:
        message = f"Expected options of convert or write_table, found {shortened(unknown)}"
        raise ValueError(render(message, hint=suggest(unknown, known | own.keys())))


def _write_other(conversion: Conversion, progress: OnProgress | None) -> WrittenFile:
    """Writes the one file of another format."""
    overwrite = conversion.mode == "overwrite"
    check_free(conversion.target, DirectOutputFileSystem(), overwrite=overwrite)  # fail early
    first_pass, last_pass = _split_progress(conversion, progress)
    chosen = choose_columns(conversion, progress=first_pass)
    batches = iter_batches(
        conversion.paths,
        chosen.schema,
        columns=conversion.columns,
        record_type=conversion.record_type,
        scalars=sorted(chosen.forms.scalars),
        strings=sorted(chosen.forms.strings),
        partition_columns=conversion.partition_columns,
        progress=last_pass,
    )
    with contextlib.closing(batches):
        num_rows, num_bytes = write_file(
            batches,
            chosen.arrow,
            conversion.target,
            conversion.target_format,
            DirectOutputFileSystem(),
            compression=conversion.compression,
            with_names=conversion.column_names is None,
            overwrite=overwrite,
        )
    return WrittenFile(conversion.target, num_rows, num_bytes)


def _split_progress(
    conversion: Conversion, progress: OnProgress | None
) -> tuple[OnProgress | None, OnProgress | None]:
    """Returns the progress of the first pass over the files, and that of the last one."""
    if progress is None or not conversion.needs_inference:
        return progress, progress
    return (
        lambda done, total: progress(done, 2 * total),
        lambda done, total: progress(total + done, 2 * total),
    )


def _write_records(conversion: Conversion, progress: OnProgress | None) -> list[WrittenFile]:
    """Writes TFRecord files."""
    schema = conversion.schema
    options = conversion.write_options if conversion.is_one_file else conversion.shard_options
    first_rows: dict[str, int] = {}
    if conversion.source_format is Format.TFRECORD:
        schema = None  # rows decoded with it need no check against it
        first_pass, last_pass = _split_progress(conversion, progress)
        batches = iter_batches(
            conversion.paths,
            choose_schema(conversion, progress=first_pass),
            columns=conversion.columns,
            record_type="ByteArray" if conversion.copies_records else conversion.record_type,
            scalars=[BYTE_ARRAY_COLUMN] if conversion.encoded_type == "ByteArray" else False,
            partition_columns=conversion.partition_columns,
            progress=last_pass,
        )
    else:
        batches = _iter_files(conversion, progress, first_rows)
    try:
        with contextlib.closing(batches):
            return write_table(
                batches,
                conversion.target,
                schema,
                record_type=conversion.encoded_type,
                compression=conversion.codec,
                mode=conversion.mode,
                **options,
            )
    except (EncodeError, SchemaError) as error:
        if error.file is not None or not first_rows:
            raise
        file, first = [*first_rows.items()][-1]
        record = None if error.record is None else error.record - first
        raise error.located(file=file, record=record) from error.__cause__


def _iter_files(
    conversion: Conversion, progress: OnProgress | None, first_rows: dict[str, int]
) -> Generator[pa.RecordBatch]:
    """Yields the batches of files of another format; sets `first_rows` for each file."""
    done = num_rows = 0
    for file in conversion.files:
        first_rows[file.path] = num_rows
        raw = _Watched(DirectFileSystem().open(file.path))
        batches = iter_file(
            raw,
            file.path,
            conversion.source_format,
            schema=conversion.schema,
            columns=conversion.columns,
            column_names=conversion.column_names,
        )
        with interleave_ahead([batches], 1) as ahead:  # reads while others are written
            for batch in ahead:
                num_rows += batch.num_rows
                yield batch
                if progress is not None:
                    progress(done + min(raw.num_bytes, file.size), conversion.total_bytes)
        done += file.size
        if progress is not None:
            progress(done, conversion.total_bytes)


class _Watched:
    """A file that counts the bytes read from it."""

    closed = False

    def __init__(self, raw: BinaryFile) -> None:
        self._raw = raw
        self.num_bytes = 0
        self.seek, self.tell, self.close = raw.seek, raw.tell, raw.close

    def read(self, size: int) -> bytes:
        data = self._raw.read(size)
        self.num_bytes += len(data)
        return data

    def readinto(self, target: memoryview) -> int | None:
        count = self._raw.readinto(target)
        self.num_bytes += count or 0
        return count
