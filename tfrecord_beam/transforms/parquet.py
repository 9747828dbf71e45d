"""The transform behind the TFXIO class for Parquet: files to record batches."""

from __future__ import annotations

from collections.abc import Iterator

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.options import check_int
from tfrecord_beam.records.convert.parquet_file import RowGroups, split_row_groups
from tfrecord_beam.records.parquet import read_row_groups
from tfrecord_beam.records.paths import match_files
from tfrecord_beam.records.ranges import MIN_RANGE_BYTES
from tfrecord_beam.transforms import (
    coders as coders,  # registers them
    metrics,
)
from tfrecord_beam.transforms.filesystem import BeamFileSystem
from tfrecord_beam.transforms.workers import Apply, LibraryDoFn


class ReadParquet(beam.PTransform):
    """Reads Parquet files as record batches -> PCollection[pa.RecordBatch].

    Row groups are distributed over the workers. Only the columns of the schema are read.

    Args:
      patterns: result of `normalize_patterns`.
      schema: the columns, see `tfrecord_beam.records.parquet.to_lists`.
      batch_size: rows of each batch; the last one of some row groups may have fewer. None: as many
        as fit into about 8 MiB, at most 65,536.
      min_bundle_bytes: minimum size of the row groups that one worker reads at a time; small row
        groups are combined to 32 MiB in any case.

    Raises:
      ValueError: an option is out of range.
      NoMatchError: a pattern matches no file.
      SchemaError: in the pipeline, a file lacks a column, or has one of another type.
      DecodeError: in the pipeline, a file cannot be read, or a value does not fit its type.
    """

    def __init__(
        self,
        patterns: tuple[str, ...],
        schema: pa.Schema,
        *,
        batch_size: int | None = None,
        min_bundle_bytes: int = 0,
    ) -> None:
        super().__init__()
        check_int("batch_size", batch_size, least=1, optional=True)
        check_int("min_bundle_size", min_bundle_bytes, least=0)
        BeamFileSystem().check_match(patterns)
        self._patterns = patterns
        self._schema = schema
        self._batch_size = batch_size
        self._min_bytes = max(min_bundle_bytes, MIN_RANGE_BYTES)

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection[pa.RecordBatch]:
        match = beam.ParDo(Apply(_match_files), self._patterns)
        split = beam.ParDo(Apply(_split_file), self._min_bytes)
        read = beam.ParDo(_ReadRowGroups(self._schema, self._batch_size))
        return (
            pipeline
            | "Impulse" >> beam.Impulse()
            | "Match" >> match.with_output_types(str)
            | "ReshuffleFiles" >> beam.Reshuffle()
            | "Split" >> split.with_output_types(RowGroups)
            | "ReshuffleRowGroups" >> beam.Reshuffle()
            | "Read" >> read.with_output_types(pa.RecordBatch)
        )


def _match_files(_: bytes, patterns: tuple[str, ...]) -> Iterator[str]:
    for file in match_files(patterns, BeamFileSystem()):
        metrics.count_file(file.path)
        yield file.path


def _split_file(path: str, min_bytes: int) -> Iterator[RowGroups]:
    return split_row_groups(path, BeamFileSystem().open, min_bytes)


class _ReadRowGroups(LibraryDoFn):
    def __init__(self, schema: pa.Schema, batch_size: int | None) -> None:
        self._schema = schema
        self._batch_size = batch_size
        self._timer = metrics.Timer("read_msec")

    def process(self, element: RowGroups) -> Iterator[pa.RecordBatch]:
        batches = read_row_groups(
            element, BeamFileSystem().open, self._schema, batch_size=self._batch_size
        )
        for batch in self._timer.measure(batches):
            metrics.count("batches")
            metrics.count("records", batch.num_rows)
            yield batch
