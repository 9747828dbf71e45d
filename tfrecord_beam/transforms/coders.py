"""Coders of what moves between workers, registered when this module is imported.

Beam would pickle a record batch: ten rows of a batch of a million become 8 MB, as Arrow IPC some
hundred bytes.
"""

from __future__ import annotations

import pickle

import apache_beam as beam
import numpy as np
import pyarrow as pa

from tfrecord_beam.records.block import RecordBlock


class RecordBatchCoder(beam.coders.Coder):
    """Encodes `pa.RecordBatch` as an Arrow IPC stream of one batch."""

    def encode(self, value: pa.RecordBatch) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, value.schema) as writer:
            writer.write_batch(value)
        encoded: bytes = sink.getvalue().to_pybytes()
        return encoded

    def decode(self, encoded: bytes) -> pa.RecordBatch:
        with pa.ipc.open_stream(encoded) as reader:
            return reader.read_next_batch()

    def estimate_size(self, value: pa.RecordBatch) -> int:
        return int(value.nbytes)

    def is_deterministic(self) -> bool:
        return False

    def to_type_hint(self) -> type:
        hint: type = pa.RecordBatch
        return hint


class RecordBlockCoder(beam.coders.Coder):
    """Encodes a `RecordBlock` as its frames and where they are."""

    def encode(self, value: RecordBlock) -> bytes:
        block = value.compact()
        return pickle.dumps(
            (
                block.file,
                block.position,
                bytes(block.data),
                block.offsets.tobytes(),
                block.lengths.tobytes(),
                block.first_record,
            ),
            protocol=pickle.HIGHEST_PROTOCOL,
        )

    def decode(self, encoded: bytes) -> RecordBlock:
        file, position, data, offsets, lengths, first_record = pickle.loads(encoded)
        return RecordBlock(
            file,
            position,
            memoryview(data),
            np.frombuffer(offsets, np.int64),
            np.frombuffer(lengths, np.int64),
            first_record,
        )

    def estimate_size(self, value: RecordBlock) -> int:
        return value.num_bytes + 32 * value.num_records

    def is_deterministic(self) -> bool:
        return False

    def to_type_hint(self) -> type[RecordBlock]:
        return RecordBlock


beam.coders.registry.register_coder(pa.RecordBatch, RecordBatchCoder)
beam.coders.registry.register_coder(RecordBlock, RecordBlockCoder)
