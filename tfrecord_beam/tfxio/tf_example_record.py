"""TFXIO for records that are serialized ``tf.train.Example`` messages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import transforms
from tfrecord_beam.records.convert import RecordDecoder
from tfrecord_beam.records.paths import normalize_patterns
from tfrecord_beam.records.table import iter_batches
from tfrecord_beam.schema.arrow import arrow_schema, decode_plan
from tfrecord_beam.schema.representations import source_columns
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.tensors.tf_dataset import make_dataset
from tfrecord_beam.tensors.to_numpy import BatchConverter
from tfrecord_beam.tfxio.dataset_options import (
    RecordBatchesOptions,
    TensorFlowDatasetOptions,
    check_dataset_options,
    check_options,
)
from tfrecord_beam.tfxio.epochs import read_epochs, read_files_in_threads
from tfrecord_beam.tfxio.record_based_tfxio import PassOn
from tfrecord_beam.tfxio.schema_based_tfxio import SchemaBasedTFXIO
from tfrecord_beam.tfxio.tfxio import TFXIO

if TYPE_CHECKING:
    import tensorflow as tf

_RECORD = "record"
"""Column of raw records on their way through `RecordBatches`; it is the only one there."""


class _TFExampleBase(SchemaBasedTFXIO):
    """What there is to know of tf.Example records, wherever they come from."""

    def __init__(
        self,
        schema: SchemaSource | None,
        raw_record_column_name: str | None,
        telemetry_descriptors: Sequence[str] | None,
        physical_format: str | None,
    ) -> None:
        super().__init__(
            schema,
            telemetry_descriptors,
            "tf_example",
            physical_format or "unknown",
            raw_record_column_name,
        )
        self._plan = decode_plan(self._schema, raw_record_column=raw_record_column_name)

    def SupportAttachingRawRecords(self) -> bool:
        return True

    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        return transforms.RawRecordToRecordBatch(
            self._schema,
            batch_size=batch_size,
            raw_record_column_name=self.raw_record_column_name,
        )


class TFExampleRecord(_TFExampleBase):
    """Reads tf.Example records from TFRecord files.

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      validate: not used.
      schema: TFMD schema whose features are the columns: a `Schema`, a serialized one or the path
        of its file. None: the columns of each batch are those that its records show.
      raw_record_column_name: name of a last column with each record's own bytes, or None.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.

    Raises:
      ValueError: there is no file pattern; the schema has a feature that is not INT, FLOAT or
        BYTES, or one with the name of the raw-record column.
    """

    def __init__(
        self,
        file_pattern: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        validate: bool = True,
        schema: SchemaSource | None = None,
        raw_record_column_name: str | None = None,
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        super().__init__(schema, raw_record_column_name, telemetry_descriptors, "tfrecords_gzip")
        self._file_pattern = normalize_patterns(file_pattern)

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform that gives a PCollection of `pa.RecordBatch`.

        It decodes whole blocks of files, which is much faster than over single raw records.

        Args:
          batch_size: rows of a batch, the last one of each byte range of a file may have fewer.
            None: as many as are efficient.
        """
        return self._block_source(self._file_pattern, self._schema, batch_size)

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        """Yields record batches, read without Beam.

        Raises:
          ValueError: an option is out of range.
          FileNotFoundError: a pattern means no file.
        """
        check_options(options)
        batches = read_epochs(self._file_pattern, self._read_files, options)
        return batches if self._schema is not None else self._decode_raw_records(batches)

    def TensorFlowDataset(self, options: TensorFlowDatasetOptions) -> tf.data.Dataset:
        """Returns the tensors as a `tf.data.Dataset` whose elements are batches.

        Files are read and decoded by this library, and only the columns that tensors are made of.

        Raises:
          ValueError: there is no TFMD schema, an option is out of range, or there is no tensor of
            the name of the label.
        """
        check_dataset_options(options)
        representations = self.TensorRepresentations()
        columns = dict.fromkeys(
            path.initial_step() for r in representations.values() for path in source_columns(r)
        )
        plan = decode_plan(self._schema, columns=[*columns])
        converter = BatchConverter(arrow_schema(plan.columns or ()), representations)
        read_files = read_files_in_threads(RecordDecoder(plan), options)
        return make_dataset(
            lambda: read_epochs(self._file_pattern, read_files, options),
            converter,
            label=options.label_key,
            prefetch=options.prefetch_buffer_size,
        )

    def _read_files(self, files: list[str], batch_size: int) -> Iterator[pa.RecordBatch]:
        if self._schema is None:
            # Without a schema rows of different batches may not fit together until they are
            # decoded together. Until then a row is its raw record.
            return iter_batches(
                files,
                schema=schema_pb2.Schema(),
                batch_size=batch_size,
                raw_record_column_name=_RECORD,
            )
        return iter_batches(
            files,
            schema=self._schema,
            batch_size=batch_size,
            raw_record_column_name=self.raw_record_column_name,
        )

    def _decode_raw_records(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = RecordDecoder(self._plan)
        for batch in batches:
            yield decoder.decode_records(batch.column(_RECORD).flatten().to_pylist())

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return transforms.RawRecordBeamSource(self._file_pattern)

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        return TFExampleRecord(
            self._file_pattern,
            schema=self._projected_schema(tensor_names),
            raw_record_column_name=self.raw_record_column_name,
            telemetry_descriptors=self.telemetry_descriptors,
        )


class TFExampleBeamRecord(_TFExampleBase):
    """Makes batches of a PCollection of serialized tf.Example records.

    `BeamSource` and `RawRecordBeamSource` are applied to that PCollection.

    Args:
      physical_format: where the records come from, such as ``text``, for the metrics' names.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.
      schema: as for `TFExampleRecord`.
      raw_record_column_name: as for `TFExampleRecord`.

    Raises:
      ValueError: as for `TFExampleRecord`.
    """

    def __init__(
        self,
        physical_format: str,
        telemetry_descriptors: Sequence[str] | None = None,
        schema: SchemaSource | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__(schema, raw_record_column_name, telemetry_descriptors, physical_format)

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return PassOn()

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        return TFExampleBeamRecord(
            self._physical_format,
            self.telemetry_descriptors,
            self._projected_schema(tensor_names),
            self.raw_record_column_name,
        )
