"""Decoding of ``tf.train.SequenceExample`` records, with the interface that TFXIO users know."""

from __future__ import annotations

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import describe
from tfrecord_beam.schema.arrow import decode_plan
from tfrecord_beam.tfxio.coders.batch_decoder import BatchDecoder


class SequenceExamplesToRecordBatchDecoder(BatchDecoder):
    """Decodes serialized ``tf.train.SequenceExample`` records into record batches.

    It can be pickled, and several threads may use it at once.

    >>> SequenceExamplesToRecordBatchDecoder("steps").DecodeBatch([b"", b""]).num_rows
    2

    Args:
      sequence_feature_column_name: name of the struct column that holds the feature lists, and of
        the STRUCT feature that describes them in the schema.
      serialized_schema: a serialized TFMD `Schema`. Empty: the columns of a batch are those found
        in its records, in byte order of their names.

    Raises:
      SchemaError: the bytes are not a schema, or a feature cannot be decoded.
    """

    def __init__(self, sequence_feature_column_name: str, serialized_schema: bytes = b"") -> None:
        if not isinstance(sequence_feature_column_name, str):
            raise SchemaError(
                "Expected sequence_feature_column_name as str, "
                f"found {describe(sequence_feature_column_name)}"
            )
        is_empty = isinstance(serialized_schema, (bytes, str)) and not serialized_schema
        plan = decode_plan(
            None if is_empty else serialized_schema,
            record_type="SequenceExample",
            sequence_column=sequence_feature_column_name,
        )
        super().__init__(plan, "SequenceExample")
