"""TFXIO for records that a TensorFlow graph decodes. TensorFlow is imported on use."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.metrics.metric import Metrics
from apache_beam.utils.shared import Shared
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import transforms
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.paths import FilePattern, normalize_patterns
from tfrecord_beam.schema.arrow import check_raw_record_column, project_batch
from tfrecord_beam.schema.names import as_names, check_known
from tfrecord_beam.schema.representations import TensorRepresentations, source_columns
from tfrecord_beam.tfxio.coders.tf_graph_record_decoder import LoadedDecoder, load_decoder
from tfrecord_beam.tfxio.dataset_options import TensorFlowDatasetOptions, check_dataset_options
from tfrecord_beam.tfxio.dataset_util import make_raw_record_dataset
from tfrecord_beam.tfxio.raw_record_column import AppendRawRecordColumn
from tfrecord_beam.tfxio.record_based_tfxio import Chain, PassOn, RecordBasedTFXIO
from tfrecord_beam.tfxio.telemetry.util import MakeTfxNamespace
from tfrecord_beam.tfxio.tensor_to_arrow import TensorsToRecordBatchConverter
from tfrecord_beam.tfxio.tfxio import TFXIO
from tfrecord_beam.transforms.collect import Collect
from tfrecord_beam.transforms.workers import LibraryDoFn

if TYPE_CHECKING:
    import tensorflow as tf

_RECORDS = "records"


class RecordToTensorTFXIO(RecordBasedTFXIO):
    """The common part of the classes for records that a graph decodes, whatever their source.

    Args:
      saved_decoder_path: where `save_decoder` has put the decoder; workers load it from there.
      telemetry_descriptors: as for `RecordBasedTFXIO`.
      physical_format: as for `RecordBasedTFXIO`.
      raw_record_column_name: as for `RecordBasedTFXIO`.

    Raises:
      ValueError: the decoder cannot be used, or has a column of the raw-record column's name.
    """

    def __init__(
        self,
        saved_decoder_path: str,
        telemetry_descriptors: Sequence[str] | None,
        physical_format: str,
        raw_record_column_name: str | None,
    ) -> None:
        super().__init__(telemetry_descriptors, "tensor", physical_format, raw_record_column_name)
        self._saved_decoder_path = saved_decoder_path
        decoder = load_decoder(saved_decoder_path)
        converter = TensorsToRecordBatchConverter(decoder.output_type_specs())
        self._decoded_schema = converter.arrow_schema()
        self._representations = converter.tensor_representations()
        check_raw_record_column(raw_record_column_name, self._decoded_schema.names)
        index = decoder.record_index_tensor_name
        self._record_index_column = (
            None if index is None else _list_column(index, self._representations[index])
        )

    def SupportAttachingRawRecords(self) -> bool:
        return True

    def TensorRepresentations(self) -> TensorRepresentations:
        return dict(self._representations)

    def DecodeFunction(self) -> Any:
        """Returns the decoder's function from a tensor of records to a dict of tensors."""
        return load_decoder(self._saved_decoder_path).decode_record

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        wanted = {path[0] for r in self._representations.values() for path in source_columns(r)}
        return pa.schema([field for field in self._decoded_schema if field.name in wanted])

    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        return Chain("DecodeRecords", "Batch" >> Collect(batch_size), self._decode())

    def _decode(self) -> beam.PTransform[Any, Any]:
        return "DecodeWithGraph" >> beam.ParDo(
            _DecodeRecords(
                self._saved_decoder_path,
                self.telemetry_descriptors,
                self.raw_record_column_name,
                self._record_index_column,
                self.ArrowSchema().names,
            )
        )

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        names = as_names(tensor_names, "tensors")
        check_known(names, self._representations, "tensors")
        projected = copy.copy(self)
        projected._representations = {name: self._representations[name] for name in names}
        return projected


class TFRecordToTensorTFXIO(RecordToTensorTFXIO):
    """Reads records from TFRecord files and decodes them with a TensorFlow graph.

    Example::

      tfxio = TFRecordToTensorTFXIO("data/*.tfrecord", "decoder", ["trainer"])
      batches = pipeline | tfxio.BeamSource()

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      saved_decoder_path: where `save_decoder` has put the decoder; workers load it from there.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.
      raw_record_column_name: name of a last column with each record's own bytes, or None.

    Raises:
      ValueError: there is no file pattern; the decoder cannot be used, or has a column of the
        raw-record column's name.
    """

    def __init__(
        self,
        file_pattern: FilePattern,
        saved_decoder_path: str,
        telemetry_descriptors: Sequence[str] | None,
        raw_record_column_name: str | None = None,
    ) -> None:
        patterns = normalize_patterns(file_pattern)
        super().__init__(
            saved_decoder_path, telemetry_descriptors, "tfrecords_gzip", raw_record_column_name
        )
        self._file_pattern = patterns

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is a PCollection of `pa.RecordBatch`.

        Args:
          batch_size: records that are decoded together, the last ones of each byte range of a file
            may be fewer. None: as many as have 8 MiB.
        """
        decode = Chain(
            "DecodeRecords",
            "Records" >> beam.Map(_list_records).with_output_types(list[bytes]),
            self._decode(),
        )
        read = transforms.ReadRecordBlocks(self._file_pattern, batch_size=batch_size)
        return self._block_source(read, decode, batch_size)

    def TensorFlowDataset(self, options: TensorFlowDatasetOptions) -> tf.data.Dataset:
        """Returns the decoded tensors as a `tf.data.Dataset`.

        Args:
          options: `batch_size` counts records, which may differ from the number of rows.

        Raises:
          ValueError: an option is out of range, or there is no tensor with the name of the label.
        """
        check_dataset_options(options)
        label = options.label_key
        if label is not None:
            check_known([label], self._representations, "label_key, which is the name of a tensor")
        decode = self.DecodeFunction()

        def decode_records(batch: dict[str, tf.Tensor]) -> Any:
            decoded = decode(batch[_RECORDS])
            tensors = {name: decoded[name] for name in self._representations}
            return tensors if label is None else (tensors, tensors.pop(label))

        records = options._replace(label_key=None)
        return make_raw_record_dataset(self._file_pattern, _RECORDS, records).map(decode_records)

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return transforms.RawRecordBeamSource(self._file_pattern)


class BeamRecordToTensorTFXIO(RecordToTensorTFXIO):
    """Decodes a PCollection of records with a TensorFlow graph.

    `BeamSource` and `RawRecordBeamSource` are applied to that PCollection.

    Example::

      tfxio = BeamRecordToTensorTFXIO("decoder", ["trainer"], "text", None)
      batches = records | tfxio.BeamSource()

    Args:
      saved_decoder_path: where `save_decoder` has put the decoder; workers load it from there.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.
      physical_format: where the records come from, such as ``text``, for the metrics' names.
      raw_record_column_name: name of a last column with each record's own bytes, or None.
      experimental_use_singleton_decoder: not used: a worker process always loads one decoder.

    Raises:
      ValueError: as for `TFRecordToTensorTFXIO`.
    """

    def __init__(
        self,
        saved_decoder_path: str,
        telemetry_descriptors: Sequence[str] | None,
        physical_format: str,
        raw_record_column_name: str | None,
        experimental_use_singleton_decoder: bool = False,
    ) -> None:
        super().__init__(
            saved_decoder_path, telemetry_descriptors, physical_format, raw_record_column_name
        )

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return PassOn()


def _list_column(name: str, representation: schema_pb2.TensorRepresentation) -> str:
    """Returns the list column of the tensor of record indices."""
    columns = source_columns(representation)
    kind = representation.WhichOneof("kind")
    if kind not in ("ragged_tensor", "varlen_sparse_tensor") or len(columns[0]) != 1:
        raise SchemaError(
            f"Expected a ragged or sparse tensor of two dimensions as record index {name!r}, "
            f"found {kind}"
        )
    return columns[0][0]


def _list_records(block: RecordBlock) -> list[bytes]:
    return list(block.records())


@beam.typehints.with_input_types(list[bytes])
@beam.typehints.with_output_types(pa.RecordBatch)
class _DecodeRecords(LibraryDoFn):
    def __init__(
        self,
        saved_decoder_path: str,
        telemetry_descriptors: Sequence[str] | None,
        raw_record_column_name: str | None,
        record_index_column: str | None,
        columns: Sequence[str],
    ) -> None:
        self._path = saved_decoder_path
        self._shared = Shared()
        self._raw_record_column_name = raw_record_column_name
        self._record_index_column = record_index_column
        self._columns = columns
        self._load_seconds = Metrics.distribution(
            MakeTfxNamespace(telemetry_descriptors or ["UNKNOWN_COMPONENT"]),
            "record_to_tensor_tfxio_decoder_load_seconds",
        )
        self._loaded_in: int | None = None

    def setup(self) -> None:
        begin = time.perf_counter()
        self._decoder: LoadedDecoder = self._shared.acquire(lambda: load_decoder(self._path))
        self._converter = TensorsToRecordBatchConverter(self._decoder.output_type_specs())
        self._loaded_in = int(time.perf_counter() - begin)

    def process(self, records: Sequence[bytes]) -> Iterator[pa.RecordBatch]:
        batch = self._converter.convert(self._decoder.decode_record(records))
        if self._raw_record_column_name is not None:
            batch = AppendRawRecordColumn(
                batch, self._raw_record_column_name, records, self._record_index_column
            )
        yield project_batch(batch, self._columns)

    def finish_bundle(self) -> None:
        if self._loaded_in is not None:
            self._load_seconds.update(self._loaded_in)
            self._loaded_in = None
