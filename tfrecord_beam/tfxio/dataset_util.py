"""Datasets of TensorFlow over TFRecord files; `make_tf_record_dataset` is known to TFXIO users."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.paths import FilePattern, normalize_patterns
from tfrecord_beam.schema.arrow import RecordPlan, RecordType, decode_plan, plan_schema
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tensors.tf_dataset import make_dataset
from tfrecord_beam.tensors.to_numpy import BatchConverter
from tfrecord_beam.tfxio.dataset_options import TensorFlowDatasetOptions, check_dataset_options
from tfrecord_beam.tfxio.epochs import read_epochs, read_files_in_threads

if TYPE_CHECKING:
    import tensorflow as tf

_RECORDS = "records"


def make_tf_record_dataset(
    file_pattern: FilePattern,
    batch_size: int,
    drop_final_batch: bool,
    num_epochs: int | None,
    shuffle: bool,
    shuffle_buffer_size: int,
    shuffle_seed: int | None,
    reader_num_threads: int = -1,
    sloppy_ordering: bool = False,
) -> tf.data.Dataset:
    """Returns a dataset of batches of serialized records, each a vector of strings.

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      batch_size: as in `TensorFlowDatasetOptions`.
      drop_final_batch: as in `TensorFlowDatasetOptions`.
      num_epochs: as in `TensorFlowDatasetOptions`.
      shuffle: as in `TensorFlowDatasetOptions`.
      shuffle_buffer_size: as in `TensorFlowDatasetOptions`.
      shuffle_seed: as in `TensorFlowDatasetOptions`.
      reader_num_threads: as in `TensorFlowDatasetOptions`.
      sloppy_ordering: as in `TensorFlowDatasetOptions`.

    Raises:
      ValueError: there is no file pattern, or an option is out of range.
    """
    options = TensorFlowDatasetOptions(
        batch_size,
        drop_final_batch,
        num_epochs,
        shuffle,
        shuffle_buffer_size,
        shuffle_seed,
        reader_num_threads=reader_num_threads,
        sloppy_ordering=sloppy_ordering,
    )
    dataset = make_raw_record_dataset(normalize_patterns(file_pattern), _RECORDS, options)
    return dataset.map(operator.itemgetter(_RECORDS))


def make_raw_record_dataset(
    patterns: Sequence[str], tensor_name: str, options: TensorFlowDatasetOptions
) -> tf.data.Dataset:
    """Returns a dataset whose elements are dicts with one tensor, of serialized records.

    Raises:
      ValueError: an option is out of range, or the label is another tensor.
    """
    check_dataset_options(options)
    plan = decode_plan(None, raw_record_column=tensor_name, record_type="ByteArray")
    representation = schema_pb2.TensorRepresentation(
        dense_tensor={"column_name": tensor_name, "shape": {}}
    )
    return make_files_dataset(patterns, plan, "ByteArray", {tensor_name: representation}, options)


def make_files_dataset(
    patterns: Sequence[str],
    plan: RecordPlan,
    record_type: RecordType,
    representations: TensorRepresentations,
    options: TensorFlowDatasetOptions,
) -> tf.data.Dataset:
    """Returns a dataset of the tensors in TFRecord files.

    Args:
      patterns: of files.
      plan: the columns from which tensors are made.
      record_type: type of the records.
      representations: for each tensor, how it is made from columns.
      options: checked by the caller.

    Raises:
      ValueError: there is no tensor with the name of the label.
    """
    decoder = RecordDecoder(plan, record_type)

    def decode(block: RecordBlock) -> list[pa.RecordBatch]:
        return [*decoder.iter_block(block)]

    read_files = read_files_in_threads(decode, options)
    return make_dataset(
        lambda: read_epochs(patterns, read_files, options),
        BatchConverter(plan_schema(plan), representations),
        label=options.label_key,
        prefetch=options.prefetch_buffer_size,
    )
