"""Beam pipelines that read a file and write its records again, for measurements from end to end.

The runner is the one of `beam_readers`. Each writes to a temporary folder and returns the number of
records in the files there.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from tensorflow_metadata.proto.v0 import schema_pb2

import tfrecord_beam
from tests.bench import readers


def _run(source: beam.PTransform[Any, Any], write: Any) -> int:
    """Runs a pipeline of a source and of the transform that `write` makes for a prefix."""
    with tempfile.TemporaryDirectory() as folder:
        pipeline = beam.Pipeline(runner=FnApiRunner())
        _ = pipeline | "Read" >> source | "Write" >> write(f"{folder}/a")
        pipeline.run().wait_until_finish()
        return tfrecord_beam.count(f"{folder}/a*", validate_crc=False)


def write_batches(path: Path, schema: schema_pb2.Schema, *, num_shards: int | None = None) -> int:
    """Reads, encodes and writes with the library."""
    return _run(
        tfrecord_beam.BeamSource(str(path), schema),
        lambda prefix: tfrecord_beam.WriteToTFRecord(prefix, schema, num_shards=num_shards),
    )


def write_batches_tfx_bsl(path: Path, schema: schema_pb2.Schema) -> int:
    """Reads and encodes with tfx_bsl, and writes with Beam, as its users do."""

    class EncodeAndWrite(beam.PTransform[Any, Any]):
        def __init__(self, prefix: str) -> None:
            super().__init__()
            self._prefix = prefix

        def expand(self, batches: Any) -> Any:
            coder: Any = importlib.import_module("tfx_bsl.coders.example_coder")
            encoder = coder.RecordBatchToExamplesEncoder(schema)
            return (
                batches
                | "Encode" >> beam.FlatMap(encoder.encode).with_output_types(bytes)
                | beam.io.WriteToTFRecord(self._prefix)
            )

    return _run(readers.tfx_bsl_beam_source(path, schema), EncodeAndWrite)


class _MakeRecords(beam.PTransform[Any, Any]):
    """Gives records as `bytes`, many times the same ones, at next to no cost of its own."""

    def __init__(self, size: int, count: int) -> None:
        super().__init__()
        self._size = size
        self._count = count

    def expand(self, pipeline: Any) -> Any:
        return pipeline | beam.Impulse() | beam.FlatMap(self._make).with_output_types(bytes)

    def _make(self, _: bytes) -> Iterator[bytes]:
        records = [bytes([i]) * self._size for i in range(256)]
        for i in range(self._count):
            yield records[i % 256]


def write_records(size: int, count: int, *, num_shards: int | None = None) -> int:
    """Writes records of `bytes` with the library."""
    return _run(
        _MakeRecords(size, count),
        lambda prefix: tfrecord_beam.WriteToTFRecord(prefix, num_shards=num_shards),
    )


def write_records_beam(size: int, count: int, *, num_shards: int = 0) -> int:
    """Writes records of `bytes` with Beam's own transform."""
    return _run(
        _MakeRecords(size, count),
        lambda prefix: beam.io.WriteToTFRecord(prefix, num_shards=num_shards),
    )
