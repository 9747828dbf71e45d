"""Transforms that count the input of a pipeline, under the names that TFXIO users know."""

from __future__ import annotations

import collections

import apache_beam as beam
import pyarrow as pa
from apache_beam.metrics.metric import Metrics
from apache_beam.metrics.metricbase import Counter

from tfrecord_beam.options import check_instance
from tfrecord_beam.schema.representations import TensorRepresentations


class TrackRecordBatchBytes(beam.PTransform):
    """Counts the bytes of batches: PCollection[pa.RecordBatch] -> PCollection[int], their sizes.

    Args:
      counter_namespace: namespace of the counter.
      counter_name: its name.

    Raises:
      ValueError: one of them is not a str, or is empty.
    """

    def __init__(self, counter_namespace: str, counter_name: str) -> None:
        super().__init__()
        check_instance("counter_namespace", counter_namespace, str)
        check_instance("counter_name", counter_name, str)
        self._counter = Metrics.counter(counter_namespace, counter_name)

    def expand(self, dataset: beam.PCollection[pa.RecordBatch]) -> beam.PCollection[int]:
        return dataset | "CountedBytes" >> beam.Map(_count_bytes, self._counter).with_output_types(
            int
        )


class TrackTensorRepresentations(beam.PTransform):
    """Counts tensors by kind: PCollection[TensorRepresentations] -> PCollection[None].

    The counters are `dense_tensor`, `varlen_sparse_tensor`, `sparse_tensor` and `ragged_tensor`.

    Args:
      counter_namespace: namespace of the counters.

    Raises:
      ValueError: it is not a str.
    """

    def __init__(self, counter_namespace: str) -> None:
        super().__init__()
        check_instance("counter_namespace", counter_namespace, str)
        self._namespace = counter_namespace

    def expand(
        self, tensor_representations: beam.PCollection[TensorRepresentations]
    ) -> beam.PCollection[None]:
        return tensor_representations | "IncrementCounters" >> beam.Map(
            _count_kinds, self._namespace
        )


def _count_bytes(batch: pa.RecordBatch, counter: Counter) -> int:
    num_bytes: int = batch.nbytes
    counter.inc(num_bytes)
    return num_bytes


def _count_kinds(representations: TensorRepresentations, namespace: str) -> None:
    kinds = collections.Counter(r.WhichOneof("kind") for r in representations.values())
    for kind, count in kinds.items():
        if kind is not None:
            Metrics.counter(namespace, kind).inc(count)
