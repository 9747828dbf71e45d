"""Coders of tf.Example without Beam, under the names that TFXIO users know."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.schema.arrow import decode_plan
from tfrecord_beam.tfxio.coders.batch_decoder import BatchDecoder


class ExamplesToRecordBatchDecoder(BatchDecoder):
    """Decodes serialized ``tf.train.Example`` records into record batches.

    It can be pickled, and several threads may use it at once.

    >>> ExamplesToRecordBatchDecoder().DecodeBatch([b"", b""]).num_rows
    2

    Args:
      serialized_schema: a serialized TFMD `Schema`, whose features are the columns in their order.
        None: the columns of a batch are the features found in its records, in byte order of their
        names.

    Raises:
      SchemaError: the bytes are not a schema, or a feature is not INT, FLOAT or BYTES.
    """

    def __init__(self, serialized_schema: bytes | None = None) -> None:
        super().__init__(decode_plan(serialized_schema), "Example")


class RecordBatchToExamplesEncoder:
    """Encodes record batches as serialized ``tf.train.Example`` records.

    It can be pickled, and several threads may use it at once. See `tfrecord_beam.schema.encoding`
    for how Arrow types are stored. A null row is a feature without a kind.

    >>> batch = pa.record_batch({"a": [[1], None]})
    >>> [ExampleToNumpyDict(record) for record in RecordBatchToExamplesEncoder().encode(batch)]
    [{'a': array([1])}, {'a': None}]

    Args:
      schema: a TFMD `Schema` whose ragged tensor representations, of all groups, define how columns
        of nested lists are written. None: there are no such columns.

    Raises:
      SchemaError: it is not a schema, or represents one ragged tensor in different ways.
    """

    def __init__(self, schema: schema_pb2.Schema | None = None) -> None:
        self._schema = schema
        self._encoder = RecordEncoder(schema)

    def __reduce__(
        self,
    ) -> tuple[type[RecordBatchToExamplesEncoder], tuple[schema_pb2.Schema | None]]:
        return RecordBatchToExamplesEncoder, (self._schema,)

    def encode(self, record_batch: pa.RecordBatch) -> list[bytes]:
        """Returns one record for each row.

        Raises:
          SchemaError: a column of a type that cannot be encoded, or duplicate names.
          EncodeError: a value that a record cannot hold, with its row and feature.
        """
        return self._encoder.encode_records(record_batch)


def RecordBatchToExamples(record_batch: pa.RecordBatch) -> list[bytes]:
    """Returns one serialized ``tf.train.Example`` for each row.

    Like `RecordBatchToExamplesEncoder` without a schema.
    """
    return RecordBatchToExamplesEncoder().encode(record_batch)


def ExampleToNumpyDict(serialized: bytes) -> dict[str, npt.NDArray[np.generic] | None]:
    """Returns the features of one serialized ``tf.train.Example`` by name.

    >>> ExampleToNumpyDict(RecordBatchToExamples(pa.record_batch({"a": [[1, 2]]}))[0])
    {'a': array([1, 2])}

    Args:
      serialized: the record.

    Returns:
      For each feature its values, int64, float32 or `bytes` objects in a one-dimensional array;
      None if it has no kind.

    Raises:
      DecodeError: the bytes are not a ``tf.train.Example``.
    """
    batch = RecordDecoder(decode_plan(None)).decode_records([serialized])
    return {
        name: None if column.null_count else column.flatten().to_numpy(zero_copy_only=False)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
