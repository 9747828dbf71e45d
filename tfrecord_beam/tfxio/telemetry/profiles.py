"""Beam metrics of TFXIO: its namespaces, its names and its values.

The namespace is ``tfx.<descriptors>.io``, a name reads
``LogicalFormat[tf_example]-PhysicalFormat[tfrecords_gzip]-num_rows``.
"""

from __future__ import annotations

import array
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.metrics.metric import Metrics
from apache_beam.metrics.metricbase import Counter, Distribution

from tfrecord_beam.options import check_list, describe
from tfrecord_beam.records.block import Int64Array, RecordBlock
from tfrecord_beam.records.lines import LineBlock
from tfrecord_beam.tfxio.telemetry.util import MakeTfxNamespace
from tfrecord_beam.tfxio.value_counts import VALUE_TYPES, count_cells, count_columns, count_values
from tfrecord_beam.transforms.metrics import update_distribution
from tfrecord_beam.transforms.workers import LibraryDoFn

_T = TypeVar("_T")
_BlockT = TypeVar("_BlockT", RecordBlock, LineBlock)

_LENGTHS_HELD = 1 << 16
"""Number of raw records after which their lengths are counted, even within a bundle."""


class ProfileRawRecords(beam.PTransform[Any, Any]):
    """Passes raw records on and counts them: PCollection[bytes] -> PCollection[bytes].

    Metrics: counter `num_raw_records`, distribution `raw_record_byte_size`.

    Args:
      telemetry_descriptors: names of the component that reads; None: ``UNKNOWN_COMPONENT``.
      logical_format: type of the records, such as ``tf_example``.
      physical_format: storage format, such as ``tfrecords_gzip``.

    Raises:
      ValueError: a format contains one of ``[]-``, or the descriptors are a str.
    """

    def __init__(
        self, telemetry_descriptors: Sequence[str] | None, logical_format: str, physical_format: str
    ) -> None:
        super().__init__()
        self._metrics = _Metrics(telemetry_descriptors, logical_format, physical_format)

    def expand(self, records: beam.PCollection[Any]) -> beam.PCollection[Any]:
        return records | "Profile" >> beam.ParDo(_CountRawRecords(self._metrics))


class ProfileRecordBlocks(ProfileRawRecords):
    """Passes blocks of records or lines on, with the metrics of `ProfileRawRecords`."""

    def expand(self, records: beam.PCollection[Any]) -> beam.PCollection[Any]:
        return records | "Profile" >> beam.ParDo(_CountRecordBlocks(self._metrics))


class ProfileRecordBatches(beam.PTransform[Any, Any]):
    """Passes record batches on and counts their content.

    Metrics of every batch: distributions `num_rows` and `record_batch_byte_size`, counters
    `num_cells[INT|FLOAT|STRING|NULL|OTHER]` of non-null cells by the type of their values (in a
    column of type null all cells count). Metrics of a sample of batches, with one entry per row:
    distributions `num_columns` (non-null cells), `num_feature_values` and
    `num_feature_values[INT|FLOAT|STRING|NULL|OTHER]` (values in a cell; for a struct, in each
    field).

    Args:
      telemetry_descriptors: names of the component that reads; None: ``UNKNOWN_COMPONENT``.
      logical_format: type of the records, such as ``tf_example``.
      physical_format: storage format, such as ``tfrecords_gzip``.
      distribution_update_probability: fraction of the batches for which metrics by row are updated.

    Raises:
      ValueError: a format contains one of ``[]-``, or the descriptors are a str.
    """

    def __init__(
        self,
        telemetry_descriptors: Sequence[str] | None,
        logical_format: str,
        physical_format: str,
        distribution_update_probability: float = 0.1,
    ) -> None:
        super().__init__()
        self._metrics = _Metrics(telemetry_descriptors, logical_format, physical_format)
        self._probability = distribution_update_probability

    def expand(self, batches: beam.PCollection[pa.RecordBatch]) -> beam.PCollection[pa.RecordBatch]:
        return batches | "Profile" >> beam.ParDo(
            _CountRecordBatches(self._metrics, self._probability)
        )


class ProfileBatching(beam.PTransform[Any, Any]):
    """Passes elements on and counts the requested batch size, once per pipeline.

    Metrics in ``tfx.<descriptors>``: counter `desired_batch_size` (0 if none was requested), and
    `tfxio_use_byte_size_batching`, which is 0: there is no such flag here.

    Args:
      telemetry_descriptors: names of the component that reads; None: ``Unknown``.
      batch_size: rows of a batch, or None.
    """

    def __init__(self, telemetry_descriptors: Sequence[str] | None, batch_size: int | None) -> None:
        super().__init__()
        descriptors = () if telemetry_descriptors is None else telemetry_descriptors
        check_list("telemetry_descriptors", descriptors)
        self._namespace = MakeTfxNamespace([*descriptors] or ["Unknown"])
        self._batch_size = batch_size or 0

    def expand(self, elements: beam.PCollection[_T]) -> beam.PCollection[_T]:
        _ = (
            elements.pipeline
            | "Once" >> beam.Impulse()
            | "Count" >> beam.ParDo(_CountBatching(self._namespace, self._batch_size))
        )
        return elements


class _Metrics:
    """Makes the metrics of one source."""

    def __init__(
        self, telemetry_descriptors: Sequence[str] | None, logical_format: str, physical_format: str
    ) -> None:
        for value in (logical_format, physical_format):
            if not isinstance(value, str) or set("[]-").intersection(value):
                raise ValueError(
                    f"Expected a format without '[', ']' and '-', found {describe(value)}"
                )
        if telemetry_descriptors is None:
            telemetry_descriptors = ["UNKNOWN_COMPONENT"]
        self._namespace = MakeTfxNamespace(telemetry_descriptors) + ".io"
        self._prefix = f"LogicalFormat[{logical_format}]-PhysicalFormat[{physical_format}]-"

    def counter(self, name: str) -> Counter:
        return Metrics.counter(self._namespace, self._prefix + name)

    def distribution(self, name: str) -> Distribution:
        return Metrics.distribution(self._namespace, self._prefix + name)


class _RawRecordMetrics:
    def __init__(self, source: _Metrics) -> None:
        self._num_records = source.counter("num_raw_records")
        self._byte_size = source.distribution("raw_record_byte_size")

    def update(self, lengths: Int64Array) -> None:
        self._num_records.inc(len(lengths))
        _update(self._byte_size, lengths)


@beam.typehints.with_input_types(bytes)
@beam.typehints.with_output_types(bytes)
class _CountRawRecords(LibraryDoFn):
    """Counts many records at once: an update of a metric costs as much as a record."""

    def __init__(self, source: _Metrics) -> None:
        self._metrics = _RawRecordMetrics(source)

    def start_bundle(self) -> None:
        self._lengths = array.array("q")

    def process(self, raw_record: bytes) -> Iterable[bytes]:
        self._lengths.append(len(raw_record))
        if len(self._lengths) >= _LENGTHS_HELD:
            self.finish_bundle()
        yield raw_record

    def finish_bundle(self) -> None:
        self._metrics.update(np.array(self._lengths))
        self._lengths = array.array("q")


@beam.typehints.with_input_types(_BlockT)
@beam.typehints.with_output_types(_BlockT)
class _CountRecordBlocks(LibraryDoFn):
    def __init__(self, source: _Metrics) -> None:
        self._metrics = _RawRecordMetrics(source)

    def process(self, block: _BlockT) -> Iterable[_BlockT]:
        self._metrics.update(np.asarray(block.lengths))
        yield block


@beam.typehints.with_input_types(pa.RecordBatch)
@beam.typehints.with_output_types(pa.RecordBatch)
class _CountRecordBatches(LibraryDoFn):
    def __init__(self, source: _Metrics, probability: float) -> None:
        self._probability = probability
        self._num_rows = source.distribution("num_rows")
        self._byte_size = source.distribution("record_batch_byte_size")
        self._num_columns = source.distribution("num_columns")
        self._num_values = source.distribution("num_feature_values")
        self._num_values_of = {
            t: source.distribution(f"num_feature_values[{t}]") for t in VALUE_TYPES
        }
        self._num_cells_of = {t: source.counter(f"num_cells[{t}]") for t in VALUE_TYPES}

    def process(self, batch: pa.RecordBatch) -> Iterable[pa.RecordBatch]:
        self._num_rows.update(batch.num_rows)
        self._byte_size.update(batch.nbytes)
        for value_type, num_cells in count_cells(batch):
            self._num_cells_of[value_type].inc(num_cells)
        if random.random() < self._probability:
            _update(self._num_columns, count_columns(batch))
            for value_type, num_values in count_values(batch):
                _update(self._num_values, num_values)
                _update(self._num_values_of[value_type], num_values)
        yield batch


class _CountBatching(LibraryDoFn):
    def __init__(self, namespace: str, batch_size: int) -> None:
        self._use_byte_size = Metrics.counter(namespace, "tfxio_use_byte_size_batching")
        self._desired = Metrics.counter(namespace, "desired_batch_size")
        self._batch_size = batch_size

    def process(self, _: bytes) -> Iterator[None]:
        self._use_byte_size.inc(0)
        self._desired.inc(self._batch_size)
        yield from ()


def _update(distribution: Distribution, values: Int64Array) -> None:
    if len(values):
        update_distribution(
            distribution,
            count=len(values),
            total=int(values.sum()),
            minimum=int(values.min()),
            maximum=int(values.max()),
        )
