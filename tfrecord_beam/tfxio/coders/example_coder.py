"""Coders of tf.Example without Beam, under the names that TFXIO users know."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import check_list
from tfrecord_beam.records.convert import RecordDecoder
from tfrecord_beam.schema.arrow import arrow_schema, decode_plan


class ExamplesToRecordBatchDecoder:
    """Decodes serialized ``tf.train.Example`` records into record batches.

    It can be pickled, and several threads may use it at once.

    >>> ExamplesToRecordBatchDecoder().DecodeBatch([b"", b""]).num_rows
    2

    Args:
      serialized_schema: a serialized TFMD `Schema`, whose features are the columns in their order.
        None: the columns of a batch are the features that its records show, in byte order of
        their names.

    Raises:
      SchemaError: these bytes are no schema, or one with a feature that is not INT, FLOAT or BYTES.
    """

    def __init__(self, serialized_schema: bytes | None = None) -> None:
        plan = decode_plan(serialized_schema)
        self._decoder = RecordDecoder(plan)
        self._arrow_schema = None if plan.columns is None else arrow_schema(plan.columns)

    def DecodeBatch(self, examples: Iterable[bytes]) -> pa.RecordBatch:
        """Returns one batch with a row for each record.

        Raises:
          DecodeError: a record is no ``tf.train.Example``, or a feature in it is of another kind
            than in the schema. `DecodeError.record` says which record.
          ValueError: `examples` is no list.
        """
        check_list("examples", examples)
        return self._decoder.decode_records(list(examples))

    def ArrowSchema(self) -> pa.Schema:
        """Returns the schema of all batches.

        Raises:
          SchemaError: there is none, because each batch has one of its own.
        """
        if self._arrow_schema is None:
            raise SchemaError(
                "Expected a TFMD schema to derive an Arrow schema from, found none",
                hint="give serialized_schema",
            )
        return self._arrow_schema
