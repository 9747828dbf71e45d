"""The transforms that read TFRecord files."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.options import check_bool, check_int
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.coverage import CoveredRange, check_coverage
from tfrecord_beam.records.inference import infer_for_reading, is_inferred
from tfrecord_beam.records.partition_columns import PartitionColumns, choose_decoder
from tfrecord_beam.records.paths import FilePattern, normalize_patterns
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.schema.arrow import RecordType, decode_plan, plan_names
from tfrecord_beam.schema.names import as_names
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.transforms import coders as coders  # registers them
from tfrecord_beam.transforms.corrupt import (
    CORRUPT,
    ErrorHandler,
    check_error_handler,
    handle_corrupt,
)
from tfrecord_beam.transforms.decode import decode
from tfrecord_beam.transforms.display import show_options
from tfrecord_beam.transforms.filesystem import BeamFileSystem, fetch_schema
from tfrecord_beam.transforms.lost_columns import warn_of_lost_columns
from tfrecord_beam.transforms.source import (
    COVERED,
    KeyedRange,
    ReadRange,
    SplitFiles,
    SplitPatterns,
    SpreadRanges,
)
from tfrecord_beam.transforms.windows import group_later
from tfrecord_beam.transforms.workers import Apply

_PATTERNS_SHOWN = 3


class FileSource(beam.PTransform):
    """The common part of transforms that read files: files to blocks, and corrupt parts."""

    def __init__(
        self,
        file_pattern: FilePattern | None,
        options: ReadOptions,
        *,
        error_handler: ErrorHandler | None,
        max_corrupt_records: int | None,
        desired_bundle_bytes: int | None,
        with_filename: bool = False,
        collect_corrupt: bool = False,
    ) -> None:
        super().__init__()
        check_error_handler(error_handler, max_corrupt_records)
        check_int("desired_bundle_bytes", desired_bundle_bytes, least=1, optional=True)
        check_bool("with_filename", with_filename)
        self._patterns = None if file_pattern is None else normalize_patterns(file_pattern)
        if self._patterns is not None:
            BeamFileSystem().check_match(self._patterns)
        self._options = options
        self._error_handler = error_handler
        self._collect_corrupt = collect_corrupt or error_handler is not None
        self._max_corrupt_records = max_corrupt_records
        self._range_bytes = desired_bundle_bytes
        self._with_filename = with_filename

    def display_data(self) -> dict[str, object]:
        return show_options(
            file_pattern=_shorten(self._patterns),
            compression=str(self._options.compression),
            validate_crc=self._options.validate_crc,
            batch_size=self._options.batch_size,
            batch_bytes=self._options.batch_bytes,
            error_handler=self._error_handler,
            max_corrupt_records=self._max_corrupt_records,
            with_filename=self._with_filename or None,
            desired_bundle_bytes=self._range_bytes,
        )

    def _read_blocks(self, source: Any) -> tuple[beam.PCollection[RecordBlock], list[Any]]:
        """Returns the blocks, and the PCollections of corrupt parts (empty if they are errors)."""
        return self._read_ranges(self._find_ranges(source))

    def _find_ranges(self, source: Any) -> beam.PCollection[KeyedRange]:
        """Returns the ranges of the files, which are given by patterns or by the input."""
        compression = self._options.compression
        if isinstance(source, beam.pvalue.PCollection):
            if self._patterns is not None:
                raise ValueError(
                    "Expected no file_pattern where the input is a PCollection of files, "
                    f"found {self._patterns!r}"
                )
            split = beam.ParDo(SplitFiles(self._range_bytes, compression))
        elif self._patterns is None:
            raise ValueError(
                "Expected file_pattern where the input is no PCollection of files, found none"
            )
        else:
            # Beam's Create would take two more steps, each 7 ms of a pipeline's startup time.
            source = source | "Impulse" >> beam.Impulse()
            split = beam.ParDo(SplitPatterns(self._patterns, self._range_bytes, compression))
        ranges = source | "Split" >> split.with_output_types(KeyedRange)
        # Distributes them: some runners keep all output of one element on one worker.
        return ranges | "Reshuffle" >> SpreadRanges()  # type: ignore[no-untyped-call]  # of Beam

    def _read_ranges(
        self, ranges: beam.PCollection[KeyedRange]
    ) -> tuple[beam.PCollection[RecordBlock], list[Any]]:
        """Like `_read_blocks`, for given ranges."""
        collect = self._collect_corrupt
        read = ReadRange(
            self._options, collect_corrupt=collect, max_corrupt_records=self._max_corrupt_records
        )
        outputs = ranges | "ReadRanges" >> beam.ParDo(read).with_outputs(
            CORRUPT, COVERED, main="blocks"
        )
        blocks, covered = outputs.blocks, outputs[COVERED]
        blocks.element_type = RecordBlock
        covered.element_type = beam.typehints.KV[str, beam.typehints.Any]
        _ = covered | "CheckCoverage" >> CheckCoverage()
        return blocks, [outputs[CORRUPT]] if collect else []

    def _handle_corrupt(self, *corrupt: list[Any]) -> None:
        handle_corrupt(itertools.chain(*corrupt), self._error_handler, self._max_corrupt_records)


def _shorten(patterns: tuple[str, ...] | None) -> str:
    if patterns is None:
        return "(elements of the input)"
    more = len(patterns) - _PATTERNS_SHOWN
    shown = ", ".join(patterns[:_PATTERNS_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


class CheckCoverage(beam.PTransform):
    """Fails the pipeline if the ranges read of a file do not tile it."""

    def expand(self, covered: beam.PCollection[Any]) -> None:
        _ = (
            group_later(covered)
            | "GroupByFile" >> beam.GroupByKey()
            | "Check" >> beam.ParDo(Apply(_check_file))
        )


def _check_file(found: tuple[str, Iterable[tuple[bool, int, int, int | None]]]) -> tuple[()]:
    file, ranges = found
    check_coverage(file, [CoveredRange(*covered) for covered in ranges])
    return ()


class ReadRecordBlocks(FileSource):
    """Reads TFRecord files as blocks, which other sources build on -> PCollection[RecordBlock].

    A `RecordBlock` holds some megabytes of records as stored in the file, and their positions. Use
    it to build your own transforms on records: for Beam a block costs as much as one `bytes`
    element. Files are split into byte ranges, which are distributed over the workers and, on
    runners that support it, split further while they are read. Each record is read exactly once, or
    the pipeline fails: see `tfrecord_beam.records.reader`.

    Apply it to a pipeline with `file_pattern`, or without it to a PCollection of paths, patterns,
    `FileMetadata` (from `fileio.MatchFiles`, `MatchContinuously`), `ReadableFile`, or `WrittenFile`
    (from `WriteToTFRecord`).

    Example::

      blocks = pipeline | ReadRecordBlocks("data/*.tfrecord", batch_size=1000)
      sizes = blocks | beam.Map(lambda block: block.num_bytes)

    Args:
      file_pattern: path, pattern or folder, or several; see `tfrecord_beam.records.paths`. A file
        matched by several of them is read once.
      batch_size: records in each block; the last of a range may have fewer. None: as many as fit
        into `batch_bytes`.
      batch_bytes: bound on the size of a block. None: 8 MiB without, 512 MiB with `batch_size`.
      compression: "auto": detected for each file from its content, else from its suffix. Or one
        codec for all files.
      validate_crc: False: the CRCs of records are not checked, and damaged payloads are passed on.
        A record that extends beyond the end of the file is still an error.
      error_handler: Beam error handler that receives a `CorruptRecord` for each part that cannot be
        read. None: such a part stops the pipeline.
      max_corrupt_records: fail if there are more of them. None: no limit.
      desired_bundle_bytes: size of the ranges into which files are split. A file that is no larger
        is one range, which no runner splits. None: 32 to 128 MiB, depending on the total size.

    Raises:
      ValueError: an option is out of range, or there is no pattern.
      NoMatchError: a pattern matches no file. Also a FileNotFoundError.
      CorruptRecordError: in the pipeline, a part of a file cannot be read.
      CoverageError: in the pipeline, the ranges of a file do not tile it.
    """

    def __init__(
        self,
        file_pattern: FilePattern | None = None,
        *,
        batch_size: int | None = None,
        batch_bytes: int | None = None,
        compression: str | None = "auto",
        validate_crc: bool = True,
        error_handler: ErrorHandler | None = None,
        max_corrupt_records: int | None = None,
        desired_bundle_bytes: int | None = None,
    ) -> None:
        super().__init__(
            file_pattern,
            ReadOptions(compression, validate_crc, batch_size, batch_bytes),
            error_handler=error_handler,
            max_corrupt_records=max_corrupt_records,
            desired_bundle_bytes=desired_bundle_bytes,
        )

    def expand(self, source: Any) -> beam.PCollection[RecordBlock]:
        blocks, corrupt = self._read_blocks(source)
        self._handle_corrupt(corrupt)
        return blocks


class RawRecordBeamSource(FileSource):
    """Reads TFRecord files as single records -> PCollection[bytes].

    Example::

      records = pipeline | RawRecordBeamSource("data/*.tfrecord")

    Args:
      file_pattern: as for `ReadRecordBlocks`, as are the options not listed here.
      with_filename: return (path, record) pairs.

    Raises:
      ValueError: as for `ReadRecordBlocks`, as are the other errors.
    """

    def __init__(
        self,
        file_pattern: FilePattern | None = None,
        *,
        compression: str | None = "auto",
        validate_crc: bool = True,
        error_handler: ErrorHandler | None = None,
        max_corrupt_records: int | None = None,
        with_filename: bool = False,
        desired_bundle_bytes: int | None = None,
    ) -> None:
        super().__init__(
            file_pattern,
            ReadOptions(compression, validate_crc),
            error_handler=error_handler,
            max_corrupt_records=max_corrupt_records,
            desired_bundle_bytes=desired_bundle_bytes,
            with_filename=with_filename,
        )

    def expand(self, source: Any) -> beam.PCollection[bytes]:
        blocks, corrupt = self._read_blocks(source)
        self._handle_corrupt(corrupt)
        if self._with_filename:
            return blocks | "Records" >> beam.FlatMap(
                lambda block: ((block.file, record) for record in block.records())
            ).with_output_types(tuple[str, bytes])
        return blocks | "Records" >> beam.FlatMap(RecordBlock.records).with_output_types(bytes)


class BeamSource(FileSource):
    """Reads the records of TFRecord files as Arrow batches -> PCollection[pa.RecordBatch].

    The rows are those of ``RawRecordBeamSource | RawRecordToRecordBatch``, but no record becomes a
    Python object in between. Columns are `large_list<int64>`, `large_list<float>` or
    `large_list<large_binary>`; a row is null if the record lacks the feature, or the feature has no
    kind. Records with steps also have a struct column ``##SEQUENCE##`` of lists of such lists, one
    per step. Batches have offset 0 and are not slices of larger ones.

    Example::

      batches = pipeline | BeamSource("data/*.tfrecord", "schema.pbtxt", columns=["age"])

    Args:
      file_pattern: as for `ReadRecordBlocks`, as are the options not listed here.
      schema: a TFMD `Schema`, a serialized one, or the path of its file. None: each batch has the
        columns found in its records, in byte order of their names. "infer": the columns found in
        all records of all files, which are read once in this process, when the source is created.
      columns: names of the columns to decode, in output order; None: all. For records with steps
        ``##SEQUENCE##`` means all fields of the struct, and ``##SEQUENCE##.NAME`` one of them.
        Without a schema, a warning in the log names those that no record has, and with one all of
        them if no record has any; not in unbounded pipelines.
      batch_size: rows of each batch; the last of a byte range may have fewer, and so may a batch
        that reaches another bound: `batch_bytes`, or 16 Mi rows times columns.
      batch_bytes: bound on the size of a batch's records in the file. None: 8 MiB without, 512 MiB
        with `batch_size`.
      raw_record_column_name: name of a last column with each record's own bytes.
      record_type: type of the records: "Example", "SequenceExample" or "ExampleListWithContext"; or
        "ByteArray" for undecoded records, in a column "byteArray" or `raw_record_column_name`.
      partition_columns: "hive": each folder ``name=value`` on a file's path also becomes a column,
        of the kind in the schema, else of bytes; see `tfrecord_beam.records.partition_columns`.
      with_filename: return (path, batch) pairs.

    Raises:
      SchemaError: the schema cannot be used, or a column is not in it. Also a ValueError.
      DecodeError: in the pipeline, a record is not a message of `record_type`, or does not fit the
        schema.
      ValueError: as for `ReadRecordBlocks`, as are the other errors; "infer" without
        `file_pattern`.
    """

    def __init__(
        self,
        file_pattern: FilePattern | None = None,
        schema: SchemaSource | None = None,
        *,
        columns: Sequence[str] | None = None,
        batch_size: int | None = None,
        batch_bytes: int | None = None,
        raw_record_column_name: str | None = None,
        record_type: RecordType = "Example",
        partition_columns: PartitionColumns | None = None,
        compression: str | None = "auto",
        validate_crc: bool = True,
        error_handler: ErrorHandler | None = None,
        max_corrupt_records: int | None = None,
        with_filename: bool = False,
        desired_bundle_bytes: int | None = None,
    ) -> None:
        options = ReadOptions(compression, validate_crc, batch_size, batch_bytes)
        columns = None if columns is None else as_names(columns, "columns")
        schema = fetch_schema(schema)
        if is_inferred(schema):
            if file_pattern is None:
                raise ValueError(
                    "Expected file_pattern with schema='infer', found none: what a PCollection of "
                    "files holds is not known before the pipeline runs"
                )
            schema = infer_for_reading(
                file_pattern,
                ReadOptions(compression, validate_crc),
                columns=columns,
                record_type=record_type,
                with_partitions=partition_columns is not None,
                skip_corrupt=error_handler is not None,
                file_system=BeamFileSystem(),
            )
        plan = decode_plan(
            schema,
            columns=columns,
            raw_record_column=raw_record_column_name,
            record_type=record_type,
        )
        self._decoder = choose_decoder(
            plan, record_type, partition_columns, only_planned=columns is not None
        )
        self._warn_of_lost = warn_of_lost_columns(
            schema, columns, plan, record_type, partition_columns, options
        )
        self._decoding = {
            "columns": plan_names(plan),
            "raw_record_column_name": raw_record_column_name,
            "record_type": record_type,
            "partition_columns": partition_columns,
        }
        super().__init__(
            file_pattern,
            options,
            error_handler=error_handler,
            max_corrupt_records=max_corrupt_records,
            desired_bundle_bytes=desired_bundle_bytes,
            with_filename=with_filename,
        )

    def expand(self, source: Any) -> beam.PCollection[pa.RecordBatch]:
        blocks, corrupt = self._read_blocks(source)
        batches, undecodable = decode(
            blocks,
            self._decoder.iter_block,
            collect_corrupt=self._error_handler is not None,
            with_filename=self._with_filename,
            warn_of_lost=self._warn_of_lost,
        )
        self._handle_corrupt(corrupt, undecodable)
        return batches

    def display_data(self) -> dict[str, object]:
        return {**super().display_data(), **show_options(**self._decoding)}
