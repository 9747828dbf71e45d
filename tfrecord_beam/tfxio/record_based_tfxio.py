"""TFXIO classes whose data are records, each of which becomes one row."""

from __future__ import annotations

import abc
import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam import transforms
from tfrecord_beam.options import check_list
from tfrecord_beam.records.paths import FilePattern
from tfrecord_beam.schema.arrow import arrow_schema, check_raw_record_column
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tfxio.dataset_options import TensorFlowDatasetOptions
from tfrecord_beam.tfxio.raw_record_column import (
    AppendRawRecordColumn as AppendRawRecordColumn,
    CreateRawRecordColumn as CreateRawRecordColumn,
)
from tfrecord_beam.tfxio.telemetry import (
    ProfileBatching,
    ProfileRawRecords,
    ProfileRecordBatches,
    ProfileRecordBlocks,
)
from tfrecord_beam.tfxio.tfxio import TFXIO

if TYPE_CHECKING:
    import tensorflow as tf


class RecordBasedTFXIO(TFXIO):
    """Data that are records, each of which becomes one row.

    Subclasses define how raw records are read, how they become batches, and the columns of these.

    Args:
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.
      logical_format: type of the records, such as ``tf_example``, for the metrics' names.
      physical_format: storage format, such as ``tfrecords_gzip``, for the metrics' names.
      raw_record_column_name: name of a last column (`large_list<large_binary>`) with each
        record's own bytes; None for no such column.

    Raises:
      ValueError: a raw-record column is requested but not supported, or the descriptors are not a
        list.
    """

    def __init__(
        self,
        telemetry_descriptors: Sequence[str] | None,
        logical_format: str,
        physical_format: str,
        raw_record_column_name: str | None = None,
    ) -> None:
        if raw_record_column_name is not None and not self.SupportAttachingRawRecords():
            raise ValueError(
                f"Expected no raw_record_column_name for {type(self).__name__}, which has no such "
                f"column, found {raw_record_column_name!r}"
            )
        if telemetry_descriptors is not None:
            check_list("telemetry_descriptors", telemetry_descriptors)
            telemetry_descriptors = [*telemetry_descriptors]
        self._telemetry_descriptors = telemetry_descriptors
        self._logical_format = logical_format
        self._physical_format = physical_format
        self._raw_record_column_name = raw_record_column_name

    @property
    def telemetry_descriptors(self) -> Sequence[str] | None:
        return self._telemetry_descriptors

    @property
    def raw_record_column_name(self) -> str | None:
        return self._raw_record_column_name

    def SupportAttachingRawRecords(self) -> bool:
        """Returns whether batches can have a raw-record column."""
        return False

    def RawRecordBeamSource(self) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is the records as a PCollection of `bytes`.

        ``pipeline | source.RawRecordBeamSource() | source.RawRecordToRecordBatch()`` is equivalent
        to ``pipeline | source.BeamSource()``, with the raw records in between.
        """
        return Chain(
            "RawRecordBeamSource",
            "ReadRawRecords" >> self._RawRecordBeamSourceInternal(),
            "CollectRawRecordTelemetry" >> ProfileRawRecords(*self._source_names),
        )

    def RawRecordToRecordBatch(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform that decodes raw records to record batches.

        Args:
          batch_size: as for `BeamSource`.
        """
        return self._with_batch_telemetry(
            "RawRecordToRecordBatch", self._RawRecordToRecordBatchInternal(batch_size), batch_size
        )

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        return Chain(
            "BeamSource", self.RawRecordBeamSource(), self.RawRecordToRecordBatch(batch_size)
        )

    def RawRecordTensorFlowDataset(self, options: TensorFlowDatasetOptions) -> tf.data.Dataset:
        """Returns the raw records as a `tf.data.Dataset`.

        Raises:
          NotImplementedError: always; `RawTfRecordTFXIO.TensorFlowDataset` does that.
        """
        raise NotImplementedError(
            f"{type(self).__name__} gives no tf.data.Dataset of raw records "
            "(RawTfRecordTFXIO.TensorFlowDataset does)"
        )

    def ArrowSchema(self) -> pa.Schema:
        schema = self._ArrowSchemaNoRawRecordColumn()
        check_raw_record_column(self._raw_record_column_name, schema.names)
        for field in arrow_schema((), self._raw_record_column_name):
            schema = schema.append(field)
        return schema

    @property
    def _source_names(self) -> tuple[Sequence[str] | None, str, str]:
        """The names that identify this source in metrics."""
        return self._telemetry_descriptors, self._logical_format, self._physical_format

    def _with_batch_telemetry(
        self, label: str, decode: beam.PTransform[Any, Any], batch_size: int | None
    ) -> beam.PTransform[Any, Any]:
        return Chain(
            label,
            "CollectBatchingTelemetry" >> ProfileBatching(self._telemetry_descriptors, batch_size),
            "Decode" >> decode,
            "CollectRecordBatchTelemetry" >> ProfileRecordBatches(*self._source_names),
        )

    def _block_source(
        self,
        read: beam.PTransform[Any, Any],
        decode: beam.PTransform[Any, Any],
        batch_size: int | None,
        blocks: str = "RecordBlocks",
    ) -> beam.PTransform[Any, Any]:
        """Returns a `BeamSource` that reads and decodes whole blocks of records or lines."""
        return Chain(
            "BeamSource",
            f"Read{blocks}" >> read,
            "CollectRawRecordTelemetry" >> ProfileRecordBlocks(*self._source_names),
            self._with_batch_telemetry(f"Decode{blocks}", decode, batch_size),
        )

    @abc.abstractmethod
    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is a PCollection of `bytes`."""

    @abc.abstractmethod
    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        """Returns a transform from `bytes` to batches, which have the raw-record column if any."""

    @abc.abstractmethod
    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        """Returns the schema of the batches without the raw-record column."""


class OverridableRecordBasedTFXIO(RecordBasedTFXIO):
    """A source composed of two transforms, without a schema or tensors.

    Args:
      telemetry_descriptors: as for `RecordBasedTFXIO`, as are the formats.
      logical_format: as for `RecordBasedTFXIO`.
      physical_format: as for `RecordBasedTFXIO`.
      raw_record_beam_source: called without arguments, returns the transform that reads the raw
        records.
      raw_record_to_record_batch: called with the batch size, or None, returns the transform that
        converts them to batches.
    """

    def __init__(
        self,
        telemetry_descriptors: Sequence[str] | None,
        logical_format: str,
        physical_format: str,
        raw_record_beam_source: Callable[[], beam.PTransform[Any, Any]],
        raw_record_to_record_batch: Callable[[int | None], beam.PTransform[Any, Any]],
    ) -> None:
        super().__init__(telemetry_descriptors, logical_format, physical_format)
        self._raw_record_beam_source = raw_record_beam_source
        self._raw_record_to_record_batch = raw_record_to_record_batch

    def TensorRepresentations(self) -> TensorRepresentations:
        raise self._not_known("tensors")

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        raise self._not_known("columns")

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        raise self._not_known("tensors")

    def _not_known(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not know its {what}")

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return self._raw_record_beam_source()

    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        return self._raw_record_to_record_batch(batch_size)


def ReadTfRecord(file_pattern: FilePattern) -> beam.PTransform[Any, Any]:
    """Returns a transform that reads the records of TFRecord files as `bytes`.

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
    """
    return transforms.RawRecordBeamSource(file_pattern)


class Chain(beam.PTransform[Any, Any]):
    """Applies transforms one after the other, under one label.

    Args:
      label: the default label.
      steps: the transforms.
    """

    def __init__(self, label: str, *steps: beam.PTransform[Any, Any]) -> None:
        super().__init__(label)
        self._steps = steps

    def expand(self, pbegin_or_pcoll: Any) -> Any:
        return functools.reduce(operator.or_, self._steps, pbegin_or_pcoll)


@beam.typehints.with_input_types(bytes)
@beam.typehints.with_output_types(bytes)
class PassOn(beam.PTransform[Any, Any]):
    """Passes its input on: the raw records of classes that do not read files."""

    def expand(self, raw_records: beam.PCollection[bytes]) -> beam.PCollection[bytes]:
        return raw_records
