"""The transform that converts files: wiring only, see `tfrecord_beam.records.convert`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.records.convert.columns import RecordColumns, choose_columns, choose_schema
from tfrecord_beam.records.convert.conversion import Conversion
from tfrecord_beam.records.convert.formats import Format
from tfrecord_beam.records.convert.parquet_file import split_row_groups
from tfrecord_beam.records.convert.sources import iter_file
from tfrecord_beam.records.convert.targets import write_file
from tfrecord_beam.records.ranges import MIN_RANGE_BYTES
from tfrecord_beam.records.writing.placing import check_free
from tfrecord_beam.records.writing.plan import WrittenFile
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.filesystem import BeamFileSystem, BeamOutputFileSystem, check_name
from tfrecord_beam.transforms.read import BeamSource, RawRecordBeamSource
from tfrecord_beam.transforms.workers import Apply
from tfrecord_beam.transforms.write import WriteToTFRecord


class ConvertFiles(beam.PTransform):
    """Converts files -> PCollection[WrittenFile], once they are in place.

    To TFRecord, files are named as by `WriteToTFRecord`: for the target ``a.tfrecord.gz`` they are
    ``a-00000-of-00004.tfrecord.gz``. For another format there is one file for each source file,
    with such a number if there are several; each of them is complete or absent.

    Args:
      conversion: what to convert; without a schema, all records may be read here to infer one.

    Raises:
      ValueError: as for `WriteToTFRecord`.
      WriteError: files exist already.
    """

    def __init__(self, conversion: Conversion) -> None:
        super().__init__()
        self._conversion = conversion
        if conversion.target_format is Format.TFRECORD:
            self._write = _make_write(conversion)
            return
        self._targets = conversion.name_targets()
        overwrite = conversion.mode == "overwrite"
        for target in self._targets:
            check_name(target)
            check_free(target, BeamOutputFileSystem(), overwrite=overwrite)
        self._columns = choose_columns(conversion)

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection[WrittenFile]:
        conversion = self._conversion
        if conversion.target_format is Format.TFRECORD:
            return pipeline | _make_read(conversion) | self._write
        pairs = list(zip(conversion.paths, self._targets, strict=True))
        convert = beam.ParDo(Apply(_convert_file), conversion, self._columns)
        return (
            pipeline
            | "Files" >> beam.Create(pairs)
            | "ReshuffleFiles" >> beam.Reshuffle()
            | "Convert" >> convert.with_output_types(WrittenFile)
        )


def _make_write(conversion: Conversion) -> WriteToTFRecord:
    is_from_records = conversion.source_format is Format.TFRECORD
    return WriteToTFRecord(
        conversion.target,
        None if is_from_records else conversion.schema,  # decoded rows need no check against it
        record_type=conversion.encoded_type,
        compression=conversion.codec,
        mode=conversion.mode,
        **conversion.shard_options,
    )


def _make_read(conversion: Conversion) -> beam.PTransform[Any, Any]:
    if conversion.copies_records:
        return RawRecordBeamSource(conversion.paths)
    if conversion.source_format is Format.TFRECORD:
        return BeamSource(
            conversion.paths,
            choose_schema(conversion),
            columns=conversion.columns,
            record_type=conversion.record_type,
            partition_columns=conversion.partition_columns,
        )
    return _ReadFiles(conversion)


class _ReadFiles(beam.PTransform):
    """Reads files of another format as record batches.

    One worker reads a whole file, or for Parquet a range of row groups.
    """

    def __init__(self, conversion: Conversion) -> None:
        super().__init__()
        self._conversion = conversion

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection[pa.RecordBatch]:
        conversion = self._conversion
        return (
            pipeline
            | "Files" >> beam.Create(conversion.paths)
            | "ReshuffleFiles" >> beam.Reshuffle()
            | "Split" >> beam.ParDo(Apply(_split_file), conversion.source_format)
            | "ReshuffleParts" >> beam.Reshuffle()
            | "Read" >> beam.ParDo(Apply(_read_part), conversion).with_output_types(pa.RecordBatch)
        )


def _split_file(path: str, file_format: Format) -> Iterator[tuple[str, range | None]]:
    """Yields a path with the row groups to read, or None for the whole file."""
    metrics.count_file(path)
    if file_format is not Format.PARQUET:
        yield path, None
        return
    for groups in split_row_groups(path, BeamFileSystem().open, MIN_RANGE_BYTES):
        yield path, range(groups.start, groups.stop)


def _read_part(part: tuple[str, range | None], conversion: Conversion) -> Iterator[pa.RecordBatch]:
    path, row_groups = part
    for batch in iter_file(
        BeamFileSystem().open(path),
        path,
        conversion.source_format,
        schema=conversion.schema,
        columns=conversion.columns,
        column_names=conversion.column_names,
        row_groups=row_groups,
    ):
        metrics.count("batches")
        metrics.count("records", batch.num_rows)
        yield batch


def _convert_file(
    pair: tuple[str, str], conversion: Conversion, columns: RecordColumns
) -> Iterator[WrittenFile]:
    """Converts one TFRecord file to one of another format."""
    path, target = pair
    num_rows, num_bytes = write_file(
        columns.iter_file(path, conversion, BeamFileSystem()),
        columns.arrow,
        target,
        conversion.target_format,
        BeamOutputFileSystem(),
        compression=conversion.compression,
        with_names=conversion.column_names is None,
        overwrite=conversion.mode == "overwrite",
        is_remade=True,
    )
    written = WrittenFile(target, num_rows, num_bytes)
    metrics.count_written(written)
    yield written
