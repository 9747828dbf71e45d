"""Runs small pipelines in this process and returns what they gave."""

from __future__ import annotations

import collections
import dataclasses
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.metrics import MetricsFilter
from apache_beam.runners import PipelineRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

_collected: dict[str, list[Any]] = {}


@dataclasses.dataclass(frozen=True)
class Distribution:
    """The value of a Beam distribution."""

    count: int
    sum: int
    min: int
    max: int


class Run(NamedTuple):
    """What a pipeline gave.

    Attributes:
      elements: of the PCollection, in any order.
      metrics: by namespace and name; of counters an int, the sum over all steps.
    """

    elements: list[Any]
    metrics: dict[tuple[str, str], int | Distribution]

    def in_namespace(self, namespace: str) -> dict[str, int | Distribution]:
        """Returns the metrics of one namespace by name."""
        return {name: value for (space, name), value in self.metrics.items() if space == namespace}


def run(*transforms: beam.PTransform[Any, Any], runner: PipelineRunner | None = None) -> Run:
    """Runs a pipeline of these transforms, one after the other.

    Args:
      transforms: the first starts the pipeline.
      runner: one whose workers are threads of this process; None: one without threads.
    """
    key = uuid.uuid4().hex
    pipeline = beam.Pipeline(runner=runner or FnApiRunner())
    pcoll: Any = pipeline
    for transform in transforms:
        pcoll = pcoll | transform
    _ = pcoll | "Collect" >> beam.ParDo(_Collect(key))
    result = pipeline.run()
    result.wait_until_finish()
    return Run(_collected.pop(key, []), dict(_read_metrics(result)))


def _read_metrics(result: Any) -> Iterator[tuple[tuple[str, str], int | Distribution]]:
    found = result.metrics().query(MetricsFilter())
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for counter in found["counters"]:  # One for each step that counts.
        counts[counter.key.metric.namespace, counter.key.metric.name] += counter.committed
    yield from counts.items()
    for each in found["distributions"]:
        value = each.committed
        yield (
            (each.key.metric.namespace, each.key.metric.name),
            Distribution(value.count, value.sum, value.min, value.max),
        )


class _Collect(beam.DoFn):
    def __init__(self, key: str) -> None:
        self._key = key

    def process(self, element: Any) -> tuple[()]:
        _collected.setdefault(self._key, []).append(element)
        return ()
