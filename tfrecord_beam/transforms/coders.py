"""Coders for elements that move between workers, registered when this module is imported.

Beam would pickle a record batch: ten rows of a batch of a million take 8 MB that way, and a few
hundred bytes as Arrow IPC.
"""

from __future__ import annotations

import pickle
from typing import Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.lines import LineBlock


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


class _BlockCoder(beam.coders.Coder):
    """Pickles a block, which reduces itself to its records, and estimates its size cheaply."""

    def encode(self, value: RecordBlock | LineBlock) -> bytes:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> Any:
        return pickle.loads(encoded)

    def is_deterministic(self) -> bool:
        return False


class RecordBlockCoder(_BlockCoder):
    """Encodes `RecordBlock`."""

    def estimate_size(self, value: RecordBlock) -> int:
        return value.num_bytes + 32 * value.num_records

    def to_type_hint(self) -> type[RecordBlock]:
        return RecordBlock


class LineBlockCoder(_BlockCoder):
    """Encodes `LineBlock`."""

    def estimate_size(self, value: LineBlock) -> int:
        return len(value.data) + 16 * value.num_lines

    def to_type_hint(self) -> type[LineBlock]:
        return LineBlock


beam.coders.registry.register_coder(pa.RecordBatch, RecordBatchCoder)
beam.coders.registry.register_coder(RecordBlock, RecordBlockCoder)
beam.coders.registry.register_coder(LineBlock, LineBlockCoder)
