"""Decoding of lists of records, with the interface that TFXIO users know."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import check_list
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.schema.arrow import RecordPlan, RecordType, plan_schema


class BatchDecoder:
    """Decodes serialized records of one type. It can be pickled, and threads may share it.

    Args:
      plan: what to decode, see `tfrecord_beam.schema.arrow.decode_plan`.
      record_type: type of the records.
    """

    def __init__(self, plan: RecordPlan, record_type: RecordType) -> None:
        self._decoder = RecordDecoder(plan, record_type)
        self._arrow_schema = plan_schema(plan)

    def DecodeBatch(self, examples: Iterable[bytes]) -> pa.RecordBatch:
        """Returns one batch with a row for each record.

        Raises:
          DecodeError: a record has another type, or one of its features has a different kind than
            in the schema. `DecodeError.record` is the index of the record.
          ValueError: `examples` is not a list.
        """
        check_list("examples", examples)
        return self._decoder.decode_records(list(examples))

    def ArrowSchema(self) -> pa.Schema:
        """Returns the schema of all batches.

        Raises:
          SchemaError: there is none, because each batch has its own.
        """
        if self._arrow_schema is None:
            raise SchemaError(
                "Expected a TFMD schema to derive an Arrow schema from, found none",
                hint="give serialized_schema",
            )
        return self._arrow_schema
