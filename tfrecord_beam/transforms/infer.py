"""The transform that infers schemas: statistics of blocks or batches are merged to one schema."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.inference import RecordObserver
from tfrecord_beam.records.partition_columns import PartitionColumns
from tfrecord_beam.records.paths import FilePattern
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.schema.arrow import RecordType
from tfrecord_beam.schema.inference import make_schema
from tfrecord_beam.schema.statistics import DatasetStatistics, InferenceOptions, OnConflict
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.corrupt import CORRUPT, ErrorHandler, drain_corrupt
from tfrecord_beam.transforms.display import show_options
from tfrecord_beam.transforms.merge import Merge
from tfrecord_beam.transforms.read import FileSource
from tfrecord_beam.transforms.workers import Apply


class InferSchema(FileSource):
    """Infers the TFMD schema of all records -> PCollection[Schema] with one element.

    Apply it to a pipeline with `file_pattern`, or without it to a PCollection of any record
    batches: columns of other Arrow types count as the features that they become when written. With
    windows there is one schema per window. See `tfrecord_beam.schema.inference` for the rules;
    `tfrecord_beam.infer_schema` returns the same without Beam.

    Example::

      schema = pipeline | InferSchema("data/*.tfrecord", infer_shape=True)
      _ = schema | beam.Map(str) | beam.io.WriteToText("schema", ".pbtxt", shard_name_template="")

    Args:
      file_pattern: path, pattern or folder, or several; see `tfrecord_beam.records.paths`.
      record_type: as for `BeamSource`, as are the options not listed here.
      infer_shape: set a shape for features that have the same number of values in all records.
      int_domains: set the range of values of INT features.
      string_domains: list the values of BYTES features that have at most this many distinct
        values, all of them UTF-8; 0: of none.
      content_domains: distinguish images, language and UTF-8 from other bytes, by all values.
      on_conflict: for a feature that has different kinds in different records: "error", or "drop"
        to omit it, with a warning and a comment in the schema.

    Raises:
      SchemaError: in the pipeline, a feature has different kinds, or a column has a type that no
        feature can hold.
      DecodeError: in the pipeline, a record is not a message of `record_type`.
      ValueError: as for `BeamSource`, as are the other errors.
    """

    def __init__(
        self,
        file_pattern: FilePattern | None = None,
        *,
        record_type: RecordType = "Example",
        compression: str | None = "auto",
        validate_crc: bool = True,
        infer_shape: bool = False,
        int_domains: bool = False,
        string_domains: int = 0,
        content_domains: bool = False,
        on_conflict: OnConflict = "error",
        partition_columns: PartitionColumns | None = None,
        error_handler: ErrorHandler | None = None,
        max_corrupt_records: int | None = None,
        desired_bundle_bytes: int | None = None,
    ) -> None:
        self._inference = InferenceOptions(
            infer_shape, int_domains, string_domains, content_domains, on_conflict
        )
        if partition_columns is not None and file_pattern is None:
            raise ValueError(
                "Expected file_pattern with partition_columns, found none: batches have no path"
            )
        self._observer = RecordObserver(record_type, partition_columns=partition_columns)
        self._shown = show_options(
            record_type=record_type,
            partition_columns=partition_columns,
            **dataclasses.asdict(self._inference),
        )
        super().__init__(
            file_pattern,
            ReadOptions(compression, validate_crc),
            error_handler=error_handler,
            max_corrupt_records=max_corrupt_records,
            desired_bundle_bytes=desired_bundle_bytes,
        )

    def expand(self, source: Any) -> beam.PCollection[schema_pb2.Schema]:
        if self._patterns is None and isinstance(source, beam.PCollection):
            statistics = source | "Observe" >> beam.Map(_observe_batch, self._inference)
        else:
            statistics = self._observe_files(source)
        statistics.element_type = DatasetStatistics
        merge = beam.CombineGlobally(
            Merge(functools.partial(DatasetStatistics, self._inference), make_schema)
        )
        if not statistics.windowing.is_default():
            merge = merge.without_defaults()
        schema = statistics | "Merge" >> merge
        schema.element_type = schema_pb2.Schema
        return schema

    def display_data(self) -> dict[str, object]:
        return {**super().display_data(), **self._shown}

    def _observe_files(self, source: Any) -> beam.PCollection[DatasetStatistics]:
        blocks, corrupt = self._read_blocks(source)
        collect = self._error_handler is not None
        observe = beam.ParDo(Apply(_observe_block), self._observer, self._inference, collect)
        outputs = blocks | "Observe" >> observe.with_outputs(CORRUPT, main="statistics")
        self._handle_corrupt(corrupt, [outputs[CORRUPT]] if collect else [])
        return outputs.statistics


def _observe_block(
    block: RecordBlock, observer: RecordObserver, options: InferenceOptions, collect_corrupt: bool
) -> Iterator[Any]:
    corrupt: list[CorruptRecord] = []
    statistics = DatasetStatistics(options)
    observer.observe(block, statistics, corrupt.append if collect_corrupt else None)
    metrics.count_kernel()
    yield from drain_corrupt(corrupt)
    yield statistics


def _observe_batch(batch: pa.RecordBatch, options: InferenceOptions) -> DatasetStatistics:
    statistics = DatasetStatistics(options)
    statistics.add(batch)
    return statistics
