"""The common part of the TFXIO classes for tf.Example and tf.SequenceExample records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam import transforms
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.paths import FilePattern, normalize_patterns
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.table import iter_batches
from tfrecord_beam.schema.arrow import RecordPlan, RecordType, decode_plan, plan_schema
from tfrecord_beam.schema.representations import source_columns
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.tfxio.dataset_options import (
    RecordBatchesOptions,
    TensorFlowDatasetOptions,
    check_dataset_options,
    check_options,
)
from tfrecord_beam.tfxio.dataset_util import make_files_dataset
from tfrecord_beam.tfxio.epochs import read_epochs
from tfrecord_beam.tfxio.record_based_tfxio import PassOn
from tfrecord_beam.tfxio.schema_based_tfxio import SchemaBasedTFXIO

if TYPE_CHECKING:
    import tensorflow as tf

_LOGICAL_FORMATS = {"Example": "tf_example", "SequenceExample": "tf_sequence_example"}
"""The types of records, as the names of metrics spell them."""


class ExampleBasedTFXIO(SchemaBasedTFXIO):
    """Records of one type, whatever their source. Subclasses define the type."""

    _record_type: ClassVar[RecordType]

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
            _LOGICAL_FORMATS[self._record_type],
            "unknown" if physical_format is None else physical_format,
            raw_record_column_name,
        )
        self._make_plan()  # raises if the schema cannot be used

    def SupportAttachingRawRecords(self) -> bool:
        return True

    def _make_plan(self) -> RecordPlan:
        return decode_plan(
            self._schema,
            raw_record_column=self.raw_record_column_name,
            record_type=self._record_type,
        )

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        plan = decode_plan(self.schema, record_type=self._record_type)
        return plan_schema(plan)

    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        return transforms.RawRecordToRecordBatch(
            self._schema,
            batch_size=batch_size,
            raw_record_column_name=self.raw_record_column_name,
            record_type=self._record_type,
        )


class ExampleCollectionTFXIO(ExampleBasedTFXIO):
    """Records that are elements of a PCollection."""

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return PassOn()


class ExampleFilesTFXIO(ExampleBasedTFXIO):
    """Records in TFRecord files.

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      schema: as for `SchemaBasedTFXIO`, as are the other arguments.
    """

    def __init__(
        self,
        file_pattern: FilePattern,
        schema: SchemaSource | None,
        raw_record_column_name: str | None,
        telemetry_descriptors: Sequence[str] | None,
    ) -> None:
        super().__init__(schema, raw_record_column_name, telemetry_descriptors, "tfrecords_gzip")
        self._file_pattern = normalize_patterns(file_pattern)

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is a PCollection of `pa.RecordBatch`.

        It decodes whole blocks of files, which is much faster than over single raw records.

        Args:
          batch_size: rows of a batch; the last one of each byte range of a file may have fewer.
            None: an efficient number.
        """
        read = transforms.ReadRecordBlocks(self._file_pattern, batch_size=batch_size)
        decode = transforms.DecodeRecordBlocks(
            self._schema,
            raw_record_column_name=self.raw_record_column_name,
            record_type=self._record_type,
        )
        return self._block_source(read, decode, batch_size)

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        check_options(options)
        if self._schema is None:
            # Without a schema, rows of different batches must be decoded together to be combined.
            return self._decode_raw(read_epochs(self._file_pattern, _read_raw, options))
        return read_epochs(self._file_pattern, self._read_files, options)

    def TensorFlowDataset(self, options: TensorFlowDatasetOptions) -> tf.data.Dataset:
        """Returns the tensors as a `tf.data.Dataset` whose elements are batches.

        This library reads and decodes the files, and only the columns that the tensors need.

        Raises:
          ValueError: there is no TFMD schema, an option is out of range, or there is no tensor with
            the name of the label.
        """
        check_dataset_options(options)
        representations = self.TensorRepresentations()
        columns = dict.fromkeys(
            str(path) for r in representations.values() for path in source_columns(r)
        )
        plan = decode_plan(self._schema, columns=[*columns], record_type=self._record_type)
        return make_files_dataset(
            self._file_pattern, plan, self._record_type, representations, options
        )

    def _read_files(self, files: list[str], size: ReadOptions) -> Iterator[pa.RecordBatch]:
        return iter_batches(
            files,
            schema=self._schema,
            batch_size=size.batch_size,
            batch_bytes=size.batch_bytes,
            raw_record_column_name=self.raw_record_column_name,
            record_type=self._record_type,
        )

    def _decode_raw(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the batches of raw records that `_read_raw` has read."""
        decoder = RecordDecoder(self._make_plan(), self._record_type)
        for batch in batches:
            records, *places = batch.columns
            try:
                yield decoder.decode_records(records.to_pylist())
            except DecodeError as error:
                file, offset, number = (column[error.record or 0].as_py() for column in places)
                raise error.located(file=file, offset=offset, record=number) from None

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return transforms.RawRecordBeamSource(self._file_pattern)


def _read_raw(files: list[str], size: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Yields batches of raw records, with the place of each: file, offset, number."""
    for block in iter_blocks(files, size):
        places = list(map(block.place_of, range(block.num_records)))
        yield pa.record_batch(
            {
                "record": pa.array(block.records(), pa.large_binary()),
                "file": pa.array((place.file for place in places), pa.large_string()),
                "offset": pa.array((place.offset for place in places), pa.int64()),
                "number": pa.array((place.record for place in places), pa.int64()),
            }
        )
