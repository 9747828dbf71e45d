"""Beam pipelines that read a file and count, for the measurements from end to end.

The runner is named, Beam's in-process one for tests and small jobs (`FnApiRunner`): it needs no
download, and what it adds to each element is what workers of other runners add.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.metrics.metric import Metrics, MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from tensorflow_metadata.proto.v0 import schema_pb2

import tfrecord_beam
from tests.bench import readers
from tfrecord_beam.transforms.metrics import NAMESPACE


class _Count(beam.DoFn):
    """Counts records with next to no cost of its own: one metric update a bundle."""

    def __init__(self) -> None:
        self._counter = Metrics.counter("bench", "records")
        self._count = 0

    def process(self, element: Any) -> Iterable[None]:
        self._count += element.num_rows if isinstance(element, pa.RecordBatch) else 1
        return ()

    def finish_bundle(self) -> None:
        self._counter.inc(self._count)
        self._count = 0


def count(source: beam.PTransform[Any, Any], *, workers: int | None = None) -> int:
    """Runs `source` and returns the number of records that came out, in batches or one by one.

    Args:
      source: a PTransform from a pipeline to record batches or `bytes`.
      workers: None to run in this process, else the number of worker processes.
    """
    options = PipelineOptions([])
    if workers is not None:
        options = PipelineOptions(
            [], direct_running_mode="multi_processing", direct_num_workers=workers
        )
    pipeline = beam.Pipeline(runner=FnApiRunner(), options=options)
    _ = pipeline | "Read" >> source | "Count" >> beam.ParDo(_Count())
    return _run(pipeline, "bench")


def infer(path: Path) -> int:
    """Infers a schema with `tfrecord_beam.InferSchema` and returns the number of records."""
    pipeline = beam.Pipeline(runner=FnApiRunner())
    _ = pipeline | tfrecord_beam.InferSchema(str(path))
    return _run(pipeline, NAMESPACE)


def _run(pipeline: beam.Pipeline, namespace: str) -> int:
    """Runs a pipeline and returns its counters of records."""
    result = pipeline.run()
    result.wait_until_finish()
    wanted = MetricsFilter().with_namespace(namespace).with_name("records")
    return sum(counter.result for counter in result.metrics().query(wanted)["counters"])


def read_batches(path: Path, schema: schema_pb2.Schema, *, workers: int | None = None) -> int:
    """Reads record batches with `tfrecord_beam.BeamSource`."""
    return count(tfrecord_beam.BeamSource(str(path), schema), workers=workers)


def read_batches_tfx_bsl(
    path: Path, schema: schema_pb2.Schema, *, workers: int | None = None
) -> int:
    """Reads record batches with tfx_bsl's `TFExampleRecord.BeamSource`."""
    return count(readers.tfx_bsl_beam_source(path, schema), workers=workers)


def read_records(path: Path) -> int:
    """Reads single records with `tfrecord_beam.RawRecordBeamSource`."""
    return count(tfrecord_beam.RawRecordBeamSource(str(path)))


def read_records_beam(path: Path) -> int:
    """Reads single records with Beam's own `ReadFromTFRecord`."""
    return count(beam.io.ReadFromTFRecord(str(path)))
