"""Batches of one write, one after the other, to records."""

from __future__ import annotations

import time

import pyarrow as pa

from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.writing.frames import FramedRecords
from tfrecord_beam.schema.features import FeatureKinds, merge_kinds


class BatchEncoder:
    """Encodes batches, in all of which a feature is of one kind.

    >>> batches = BatchEncoder(RecordEncoder())
    >>> batches.encode(pa.record_batch({"age": [42, 43]})).num_records
    2
    >>> batches.kinds
    {'age': <Kind.INT64: 3>}

    Args:
      encoder: what makes records of a batch.

    Attributes:
      kinds: the kind of each feature that the batches showed.
      seconds: how long encoding took.
    """

    def __init__(self, encoder: RecordEncoder) -> None:
        self._encoder = encoder
        self._schema: pa.Schema | None = None
        self.kinds: FeatureKinds = {}
        self.seconds = 0.0

    def encode(self, batch: pa.RecordBatch) -> FramedRecords:
        """Returns the records of a batch. One that is refused leaves the kinds as they are.

        Raises:
          SchemaError: as `RecordEncoder.encode_frames`, as is EncodeError; also if a feature has
            another kind than in an earlier batch.
        """
        begin = time.perf_counter()
        frames = self._encoder.encode_frames(batch)
        self.seconds += time.perf_counter() - begin
        if self._schema is None or not batch.schema.equals(self._schema):
            self.add_kinds(self._encoder.kinds(batch))
            self._schema = batch.schema
        return frames

    def add_kinds(self, kinds: FeatureKinds) -> None:
        """Adds kinds of features that are no part of the records.

        Raises:
          SchemaError: a feature has another kind in an earlier batch.
        """
        self.kinds = merge_kinds([self.kinds, kinds])
