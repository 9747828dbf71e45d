"""Coders of what moves between workers, registered when this module is imported.

Beam would pickle a record batch: ten rows of a batch of a million become 8 MB, as Arrow IPC some
hundred bytes.
"""

from __future__ import annotations

import pickle

import apache_beam as beam
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
    """Pickles a `RecordBlock`, which says what to keep of it, and tells its size without that."""

    def encode(self, value: RecordBlock) -> bytes:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> RecordBlock:
        block: RecordBlock = pickle.loads(encoded)
        return block

    def estimate_size(self, value: RecordBlock) -> int:
        return value.num_bytes + 32 * value.num_records

    def is_deterministic(self) -> bool:
        return False

    def to_type_hint(self) -> type[RecordBlock]:
        return RecordBlock


beam.coders.registry.register_coder(pa.RecordBatch, RecordBatchCoder)
beam.coders.registry.register_coder(RecordBlock, RecordBlockCoder)
