"""Encodes the batches of a write as records, by partition."""

from __future__ import annotations

import itertools
import time

import pyarrow as pa

from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.hive import Partition
from tfrecord_beam.records.writing.encoding import RowEncoding
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.partitions import partition_rows
from tfrecord_beam.schema.features import FeatureKinds, check_kinds, merge_kinds

EncodedRows = list[tuple[Partition, FramedRecords]]
"""The records of a batch, by partition."""


class BatchEncoder:
    """Encodes batches, and checks that each feature has the same kind in all of them.

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


def encode_rows(
    batch: pa.RecordBatch, batches: BatchEncoder, options: WriteOptions, encoding: RowEncoding
) -> EncodedRows:
    """Returns the records of a batch by partition.

    Args:
      batch: the rows, with their partition columns.
      batches: what encodes them.
      options: the partition columns, and whether they are in the records.
      encoding: what the schema says of these columns.

    Raises:
      SchemaError: as `BatchEncoder.encode` and `partition_rows`, as is EncodeError; or a column
        would read back from the names of folders as other values.
    """
    if options.partition_by is None:
        return [((), batches.encode(batch))]
    rows = partition_rows(batch, options.partition_by)
    if not options.keep_partition_columns:
        expected = encoding.folder_kinds
        check_kinds({name: kind for name, kind in rows.kinds.items() if name in expected}, expected)
        batches.add_kinds(rows.kinds)
        others = [name for name in batch.schema.names if name not in options.partition_by]
        batch = batch.select(others)
    frames = batches.encode(batch).take(rows.order)
    bounds = itertools.pairwise(rows.bounds.tolist())
    return [
        (partition, frames.slice(start, stop))
        for partition, (start, stop) in zip(rows.partitions, bounds, strict=True)
    ]
