"""TFXIO for undecoded records: one column with each record's own bytes."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import transforms
from tfrecord_beam.options import describe
from tfrecord_beam.records.paths import FilePattern, normalize_patterns
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.table import iter_batches
from tfrecord_beam.schema.names import as_names, check_known
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tfxio.dataset_options import (
    RecordBatchesOptions,
    TensorFlowDatasetOptions,
    check_options,
)
from tfrecord_beam.tfxio.dataset_util import make_raw_record_dataset
from tfrecord_beam.tfxio.epochs import read_epochs
from tfrecord_beam.tfxio.record_based_tfxio import PassOn, RecordBasedTFXIO
from tfrecord_beam.tfxio.tfxio import TFXIO

if TYPE_CHECKING:
    import tensorflow as tf


class _RawRecordBase(RecordBasedTFXIO):
    """The common part of the classes for raw records, whatever their source."""

    def __init__(
        self,
        raw_record_column_name: str,
        telemetry_descriptors: Sequence[str] | None,
        physical_format: str,
    ) -> None:
        if not isinstance(raw_record_column_name, str):
            raise ValueError(
                "Expected raw_record_column_name to be the name of the column, "
                f"found {describe(raw_record_column_name)}"
            )
        super().__init__(telemetry_descriptors, "bytes", physical_format, raw_record_column_name)
        self._column_name = raw_record_column_name
        self._tensor_names: Sequence[str] = (raw_record_column_name,)

    def SupportAttachingRawRecords(self) -> bool:
        return True

    def TensorRepresentations(self) -> TensorRepresentations:
        return {
            name: schema_pb2.TensorRepresentation(dense_tensor={"column_name": name, "shape": {}})
            for name in self._tensor_names
        }

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        return pa.schema([])

    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        return transforms.RawRecordToRecordBatch(
            batch_size=batch_size,
            raw_record_column_name=self.raw_record_column_name,
            record_type="ByteArray",
        )

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        names = as_names(tensor_names, "tensors")
        check_known(names, self._tensor_names, "tensors")
        projected = copy.copy(self)
        projected._tensor_names = tuple(dict.fromkeys(names))
        return projected


class RawTfRecordTFXIO(_RawRecordBase):
    """Reads the records of TFRecord files, whatever they are, as a column of bytes.

    Example::

      batches = pipeline | RawTfRecordTFXIO("data/*.tfrecord", "raw", ["trainer"]).BeamSource()

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      raw_record_column_name: name of the column (`large_list<large_binary>`, one value a row).
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.

    Raises:
      ValueError: there is no file pattern, or no name for the column.
    """

    def __init__(
        self,
        file_pattern: FilePattern,
        raw_record_column_name: str,
        telemetry_descriptors: Sequence[str] | None,
    ) -> None:
        super().__init__(raw_record_column_name, telemetry_descriptors, "tfrecords_gzip")
        self._file_pattern = normalize_patterns(file_pattern)

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is a PCollection of `pa.RecordBatch`.

        It converts whole blocks of files, which is much faster than going through single records.

        Args:
          batch_size: rows of a batch; the last one of each byte range of a file may have fewer.
            None: an efficient number.
        """
        read = transforms.ReadRecordBlocks(self._file_pattern, batch_size=batch_size)
        decode = transforms.DecodeRecordBlocks(
            raw_record_column_name=self.raw_record_column_name, record_type="ByteArray"
        )
        return self._block_source(read, decode, batch_size)

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        check_options(options)
        return read_epochs(self._file_pattern, self._read_files, options)

    def TensorFlowDataset(self, options: TensorFlowDatasetOptions) -> tf.data.Dataset:
        """Returns the records as a `tf.data.Dataset` whose elements are batches.

        An element is a dict from the column's name to a vector of strings.

        Raises:
          ValueError: an option is out of range.
        """
        return make_raw_record_dataset(self._file_pattern, self._column_name, options)

    def _read_files(self, files: list[str], size: ReadOptions) -> Iterator[pa.RecordBatch]:
        return iter_batches(
            files,
            batch_size=size.batch_size,
            batch_bytes=size.batch_bytes,
            raw_record_column_name=self._column_name,
            record_type="ByteArray",
        )

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return transforms.RawRecordBeamSource(self._file_pattern)


class RawBeamRecordTFXIO(_RawRecordBase):
    """Makes batches of one column of a PCollection of `bytes`.

    `BeamSource` and `RawRecordBeamSource` are applied to that PCollection.

    Example::

      batches = records | RawBeamRecordTFXIO("text", "raw", ["trainer"]).BeamSource()

    Args:
      physical_format: where the records come from, such as ``text``, for the metrics' names.
      raw_record_column_name: name of the column (`large_list<large_binary>`, one value a row).
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.

    Raises:
      ValueError: there is no name for the column.
    """

    def __init__(
        self,
        physical_format: str,
        raw_record_column_name: str,
        telemetry_descriptors: Sequence[str] | None,
    ) -> None:
        super().__init__(raw_record_column_name, telemetry_descriptors, physical_format)

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return PassOn()
