"""The library and its peers without Beam: functions that read a file and count its records.

Each peer is imported on use: it may not be installed.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

import tfrecord_beam

BATCH_SIZE = 1000
"""Records in a batch: what tfx_bsl's own pipelines grow to, and a common choice for tf.data."""


def iterate_batches(
    path: Path, schema: schema_pb2.Schema | None, *, threads: int | None = None
) -> int:
    """Reads a file in batches with `tfrecord_beam.iter_batches`."""
    batches = tfrecord_beam.iter_batches(path, schema, threads=threads)
    return sum(batch.num_rows for batch in batches)


def read_table(path: Path, schema: schema_pb2.Schema, *, threads: int | None = None) -> int:
    """Reads a file whole with `tfrecord_beam.read_table`."""
    rows: int = tfrecord_beam.read_table(path, schema, threads=threads).num_rows
    return rows


def tfx_bsl_decoder(schema: schema_pb2.Schema) -> Callable[[Sequence[bytes]], pa.RecordBatch]:
    """Returns tfx_bsl's function from serialized Examples to a record batch."""
    coder: Any = importlib.import_module("tfx_bsl.coders.example_coder")
    decode: Callable[[Sequence[bytes]], pa.RecordBatch]
    decode = coder.ExamplesToRecordBatchDecoder(schema.SerializeToString()).DecodeBatch
    return decode


def tfx_bsl_sequence_decoder(
    schema: schema_pb2.Schema,
) -> Callable[[Sequence[bytes]], pa.RecordBatch]:
    """Returns tfx_bsl's function from serialized SequenceExamples to a record batch."""
    coder: Any = importlib.import_module("tfx_bsl.coders.sequence_example_coder")
    make_decoder = coder.SequenceExamplesToRecordBatchDecoder
    decode: Callable[[Sequence[bytes]], pa.RecordBatch]
    decode = make_decoder("##SEQUENCE##", schema.SerializeToString()).DecodeBatch
    return decode


def tfx_bsl_beam_source(path: Path, schema: schema_pb2.Schema) -> Any:
    """Returns tfx_bsl's PTransform that reads the record batches of a file."""
    record: Any = importlib.import_module("tfx_bsl.tfxio.tf_example_record")
    return record.TFExampleRecord(str(path), schema=schema).BeamSource()


def read_tf_data(path: Path, schema: schema_pb2.Schema, *, threads: int | None) -> int:
    """Reads and parses a file with tf.data.

    Args:
      path: a TFRecord file of Examples, compressed with gzip if its name says so.
      schema: the features to parse.
      threads: 1 for one thread for everything, None for what TensorFlow chooses by itself
        (`AUTOTUNE` and prefetching). To be called once in a process with one choice.
    """
    tf = _tensorflow(threads)
    dataset = tf.data.TFRecordDataset(
        str(path), compression_type="GZIP" if path.suffix == ".gz" else ""
    ).batch(BATCH_SIZE)
    parse = functools.partial(tf.io.parse_example, features=_feature_spec(tf, schema))
    if threads is None:
        dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        dataset = dataset.prefetch(tf.data.AUTOTUNE)
    else:
        options = tf.data.Options()
        options.threading.private_threadpool_size = threads
        options.autotune.enabled = False
        dataset = dataset.map(parse).with_options(options)
    name = schema.feature[0].name
    return sum(int(batch[name].shape[0]) for batch in dataset)


def _tensorflow(threads: int | None) -> Any:
    tf: Any = importlib.import_module("tensorflow")
    if threads is not None:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    return tf


def _feature_spec(tf: Any, schema: schema_pb2.Schema) -> dict[str, Any]:
    types = {
        schema_pb2.INT: tf.int64,
        schema_pb2.FLOAT: tf.float32,
        schema_pb2.BYTES: tf.string,
    }
    return {
        feature.name: (
            tf.io.FixedLenFeature([dim.size for dim in feature.shape.dim], types[feature.type])
            if feature.HasField("shape")
            else tf.io.VarLenFeature(types[feature.type])
        )
        for feature in schema.feature
    }
