"""TFRecord files without Beam: for a notebook, a script or a training loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import Location
from tfrecord_beam.kernel.plan import RecordType
from tfrecord_beam.options import check_function
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.concatenate import concat_batches
from tfrecord_beam.records.corruption import CorruptRecord, check_error_options, check_limit
from tfrecord_beam.records.decode import OnCorrupt, RecordDecoder
from tfrecord_beam.records.inference import RecordObserver, observe_blocks
from tfrecord_beam.records.partition_columns import (
    PartitionColumns,
    PartitionDecoder,
    choose_decoder,
)
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FileEntry,
    FilePattern,
    FileSystem,
    match_files,
    normalize_patterns,
)
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions, RecordReader
from tfrecord_beam.records.scalars import ColumnChoice, ColumnForms, choose_forms
from tfrecord_beam.schema.arrow import decode_plan, plan_schema
from tfrecord_beam.schema.inference import make_schema
from tfrecord_beam.schema.names import as_names
from tfrecord_beam.schema.statistics import InferenceOptions, OnConflict
from tfrecord_beam.schema.tfmd import SchemaSource

OnProgress = Callable[[int, int], None]
"""What is called with (bytes read so far, bytes in all), as stored, from time to time."""

_DIRECT = DirectFileSystem()


def iter_blocks(
    path: FilePattern,
    options: ReadOptions = ReadOptions(),
    *,
    on_corrupt: OnCorrupt | None = None,
    progress: OnProgress | None = None,
    file_system: FileSystem = _DIRECT,
) -> Iterator[RecordBlock]:
    """Yields the records of files, in the order of the files, as blocks.

    Args:
      path: path, pattern or folder, or several, see `tfrecord_beam.records.paths`.
      options: how to read.
      on_corrupt: called with each part that cannot be read; None: raise.
      progress: called after each block and each file.
      file_system: where the files are.
    """
    check_function("progress", progress)
    files = match_files(normalize_patterns(path), file_system)  # at once, not when iterated
    return _iter_files(files, options, on_corrupt, progress, file_system)


def _iter_files(
    files: Sequence[FileEntry],
    options: ReadOptions,
    on_corrupt: OnCorrupt | None,
    progress: OnProgress | None,
    file_system: FileSystem,
) -> Iterator[RecordBlock]:
    total = sum(file.size for file in files)
    done = 0
    for file in files:
        reader = RecordReader(
            FileRange(file.path, size=file.size),
            file_system.open,
            options,
            collect_corrupt=on_corrupt is not None,
        )
        for part in reader:
            if isinstance(part, RecordBlock):
                yield part
            elif on_corrupt is not None:
                on_corrupt(part)
            if progress is not None:
                progress(min(done + reader.consumed_bytes, total), total)
        done += file.size
        if progress is not None:
            progress(done, total)


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
) -> Iterator[pa.RecordBatch]:
    """Yields the record batches of TFRecord files, in the files' order.

    Options, columns and errors are those of `tfrecord_beam.BeamSource`.

    Example::

      for batch in iter_batches("data/*.tfrecord", "schema.pbtxt", batch_size=1000):
        ...

    Args:
      path: path, pattern or folder, or several.
      schema: a TFMD `Schema`, a serialized one, or the path of its file. None: each batch has the
        columns that its records show, in byte order of their names. "infer": those that all records
        of all files show, see `infer_schema`; that reads the files once more, when this is called.
        (A file of that name is "./infer".)
      columns: names of the columns to decode, in the order wanted; None: all.
      batch_size: rows of each batch; the last of a file may have fewer. None: as many as fit
        `batch_bytes`.
      batch_bytes: bound on the size of a batch's records in the file. None: 8 MiB without, 512 MiB
        with `batch_size`. Rows times columns are at most 16 Mi in any case.
      raw_record_column_name: name of a last column with each record's own bytes.
      record_type: what the records are: "Example", "SequenceExample" or "ExampleListWithContext";
        or "ByteArray", to have them as they are, in a column "byteArray" or
        `raw_record_column_name`.
      scalars: True: columns of which the schema says, by `shape` or `value_count`, that a record
        has at most one value come as single values instead of lists, null where there is none. Or
        the names of such columns. A record with several values is an error.
      strings: True: columns of bytes that have a domain of text in the schema come as strings. Or
        the names of such columns. Bytes that are no UTF-8 are an error.
      partition_columns: "hive": each folder ``name=value`` on a file's path is a column too; see
        `tfrecord_beam.records.partition_columns`.
      compression: "auto": what each file's content says, else its suffix. Or one codec for all.
      validate_crc: False: the CRCs of records are not computed, and damaged payloads are handed on.
        A record that ends beyond the file is an error still.
      error_handler: called with a `CorruptRecord` for what cannot be read or decoded; None: raise.
      max_corrupt_records: raise if there are more of them. None: no limit.
      progress: called with the bytes read and the bytes in all, as stored, after each batch.

    Raises:
      SchemaError: the schema cannot be used, or a column is not in it.
      ValueError: an option is out of range.
      NoMatchError: a pattern means no file.
      CorruptRecordError: a part of a file cannot be read.
      DecodeError: a record is no message of `record_type`, or does not fit the schema.
    """
    columns = None if columns is None else as_names(columns, "columns")
    if is_inferred(schema):
        schema = infer_for_reading(
            path,
            ReadOptions(compression, validate_crc),
            columns=columns,
            record_type=record_type,
            skip_corrupt=error_handler is not None,
        )
    plan = decode_plan(
        schema, columns=columns, raw_record_column=raw_record_column_name, record_type=record_type
    )
    options = ReadOptions(compression, validate_crc, batch_size, batch_bytes)
    on_corrupt = limit_corrupt(error_handler, max_corrupt_records)
    blocks = iter_blocks(path, options, on_corrupt=on_corrupt, progress=progress)
    forms = choose_forms(schema, scalars, strings)
    decoder = choose_decoder(plan, record_type, partition_columns, only_planned=columns is not None)
    return _decode_blocks(blocks, decoder, forms, on_corrupt)


def _decode_blocks(
    blocks: Iterable[RecordBlock],
    decoder: RecordDecoder | PartitionDecoder,
    forms: ColumnForms,
    on_corrupt: OnCorrupt | None,
) -> Iterator[pa.RecordBatch]:
    for block in blocks:
        first = block.first_record if on_corrupt is None else None  # else some may be left out
        for batch in decoder.iter_block(block, on_corrupt):
            if batch.num_rows:
                yield forms.convert(batch, Location(block.file, record=first)) if forms else batch
            first = None if first is None else first + batch.num_rows


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
) -> pa.Table:
    """Returns TFRecord files as one Arrow table.

    Example::

      table = read_table("data/*.tfrecord", columns=["age", "label"])

    Args:
      path: path, pattern or folder, or several.
      schema: as for `iter_batches`; without one, a column that a file does not show is null there.
      columns: names of the columns to decode, in the order wanted; None: all.
      raw_record_column_name: name of a last column with each record's own bytes.
      record_type: what the records are: "Example", "SequenceExample" or "ExampleListWithContext";
        or "ByteArray", to have them as they are, in a column "byteArray" or
        `raw_record_column_name`.
      scalars: as for `iter_batches`.
      strings: as for `iter_batches`.
      partition_columns: as for `iter_batches`; a column that is not on a file's path is null there.
      compression: as for `iter_batches`.
      validate_crc: as for `iter_batches`.
      error_handler: called with a `CorruptRecord` for what cannot be read or decoded; None: raise.
      max_corrupt_records: raise if there are more of them. None: no limit.
      progress: called with the bytes read and the bytes in all from time to time.

    Raises:
      DecodeError: as for `iter_batches`, as are the other errors; also if, without a schema, a
        feature is of one kind in some records and of another in others.
    """
    columns = None if columns is None else as_names(columns, "columns")
    if is_inferred(schema):
        schema = infer_for_reading(
            path,
            ReadOptions(compression, validate_crc),
            columns=columns,
            record_type=record_type,
            skip_corrupt=error_handler is not None,
        )
    plan = decode_plan(
        schema, columns=columns, raw_record_column=raw_record_column_name, record_type=record_type
    )
    options = ReadOptions(compression, validate_crc)
    on_corrupt = limit_corrupt(error_handler, max_corrupt_records)
    blocks = iter_blocks(path, options, on_corrupt=on_corrupt, progress=progress)
    forms = choose_forms(schema, scalars, strings)
    decoder = choose_decoder(plan, record_type, partition_columns, only_planned=columns is not None)
    batches = _decode_blocks(blocks, decoder, forms, on_corrupt)
    planned = None if schema is None else plan_schema(plan)
    known = None if planned is None else forms.convert_schema(planned)
    if known is None or partition_columns is not None:
        return concat_batches(list(batches), plan, known)
    return pa.Table.from_batches(batches, known)


def infer_schema(
    path: FilePattern,
    *,
    record_type: RecordType = "Example",
    compression: str | None = "auto",
    validate_crc: bool = True,
    infer_shape: bool = False,
    int_domains: bool = False,
    string_domains: int = 0,
    content_domains: bool = False,
    on_conflict: OnConflict = "error",
    error_handler: OnCorrupt | None = None,
    max_corrupt_records: int | None = None,
    progress: OnProgress | None = None,
) -> schema_pb2.Schema:
    """Returns the TFMD schema of all records in TFRecord files.

    Presence, numbers of values and shapes mean what they mean to TensorFlow Data Validation, see
    `tfrecord_beam.schema.inference`. Features come in byte order of their names.

    Example::

      schema = infer_schema("data/*.tfrecord", infer_shape=True, string_domains=100)

    Args:
      path: path, pattern or folder, or several; all records of all files are read.
      record_type: what the records are: "Example", "SequenceExample" or "ExampleListWithContext".
      compression: as for `iter_batches`.
      validate_crc: as for `iter_batches`.
      infer_shape: give a shape to features that have the same number of values in all records.
      int_domains: give INT features the range of their values.
      string_domains: give BYTES features of at most so many different values, all of them UTF-8,
        these values; 0: none.
      content_domains: tell images, language and UTF-8 from other bytes, by all values.
      on_conflict: for a feature of one kind in some records and of another in others: "error", or
        "drop" to leave it out, with a warning and a comment in the schema.
      error_handler: called with a `CorruptRecord` for what cannot be read or decoded; None: raise.
      max_corrupt_records: raise if there are more of them. None: no limit.
      progress: called with the bytes read and the bytes in all from time to time.

    Raises:
      SchemaError: a feature has different kinds; the text names both, and the first place of each.
      DecodeError: a record is no message of `record_type`.
      ValueError: as for `iter_batches`, as are the other errors.
    """
    inference = InferenceOptions(
        infer_shape, int_domains, string_domains, content_domains, on_conflict
    )
    observer = RecordObserver(record_type)
    options = ReadOptions(compression, validate_crc)
    on_corrupt = limit_corrupt(error_handler, max_corrupt_records)
    blocks = iter_blocks(path, options, on_corrupt=on_corrupt, progress=progress)
    return make_schema(observe_blocks(blocks, observer, inference, on_corrupt))


def is_inferred(schema: SchemaSource | None) -> bool:
    """Returns whether the argument `schema` of a reader asks for the schema of all records."""
    return isinstance(schema, str) and schema == "infer"


def infer_for_reading(
    path: FilePattern,
    options: ReadOptions,
    *,
    columns: Sequence[str] | None,
    record_type: RecordType,
    skip_corrupt: bool,
    file_system: FileSystem = _DIRECT,
) -> schema_pb2.Schema:
    """Returns the schema of all records of files that are about to be read.

    Args:
      path: path, pattern or folder, or several.
      options: how to read.
      columns: names of the columns that are wanted; the others may be what they like. None: all.
      record_type: what the records are.
      skip_corrupt: leave out what is corrupt, for the reader will tell of it; else raise.
      file_system: where the files are.
    """
    on_corrupt = _skip if skip_corrupt else None
    blocks = iter_blocks(path, options, on_corrupt=on_corrupt, file_system=file_system)
    observer = RecordObserver(record_type, columns)
    statistics = observe_blocks(blocks, observer, InferenceOptions(), on_corrupt)
    if columns is not None:  # a name that no record has may be misspelt
        found = {path: each for path, each in statistics.features.items() if each.present}
        statistics.features = found
    return make_schema(statistics)


def _skip(_: CorruptRecord) -> None:
    pass


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
      error_handler: called with a `CorruptRecord` for what cannot be read; None: raise.
      max_corrupt_records: raise if there are more of them. None: no limit.
      progress: called with the bytes read and the bytes in all from time to time.

    Raises:
      CorruptRecordError: as for `iter_batches`, as are the other errors but DecodeError.
    """
    blocks = iter_blocks(
        path,
        ReadOptions(compression, validate_crc),
        on_corrupt=limit_corrupt(error_handler, max_corrupt_records),
        progress=progress,
    )
    return sum(block.num_records for block in blocks)


def limit_corrupt(
    error_handler: OnCorrupt | None, max_corrupt_records: int | None
) -> OnCorrupt | None:
    """Returns the error handler, which raises once it was called more often than allowed."""
    check_function("error_handler", error_handler)
    check_error_options(error_handler, max_corrupt_records)
    if error_handler is None or max_corrupt_records is None:
        return error_handler
    calls = itertools.count(1)

    def handle(record: CorruptRecord) -> None:
        error_handler(record)
        check_limit(next(calls), most=max_corrupt_records)

    return handle
