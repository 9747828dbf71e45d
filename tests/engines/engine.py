"""Runs pipelines on an engine and collects what they gave, also from workers that are apart."""

from __future__ import annotations

import collections
import dataclasses
import os
import pathlib
import pickle
import uuid
from collections.abc import Callable
from typing import Any

import apache_beam as beam
from apache_beam.metrics import MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions

from tfrecord_beam.transforms.metrics import NAMESPACE


@dataclasses.dataclass(frozen=True)
class Engine:
    """An engine that is ready for pipelines.

    Attributes:
      options: pipeline options that lead to it.
    """

    options: tuple[str, ...]

    def run(self, build: Callable[[beam.Pipeline], object], *options: str) -> dict[str, int]:
        """Runs the pipeline that `build` makes, and returns the library's counters by name."""
        pipeline = beam.Pipeline(options=PipelineOptions([*self.options, *options]))
        build(pipeline)
        result = pipeline.run()
        result.wait_until_finish()
        counters = result.metrics().query(MetricsFilter().with_namespace(NAMESPACE))["counters"]
        totals: collections.Counter[str] = collections.Counter()
        for counter in counters:  # each once for each step that counts
            totals[counter.key.metric.name] += counter.committed
        return totals


def prism_options(prism: str, worker_pool: str) -> tuple[str, ...]:
    """Returns the options of pipelines that run on a Prism with the workers of a pool."""
    return (
        "--runner=PrismRunner",
        f"--job_endpoint={prism}",
        "--environment_type=EXTERNAL",
        f"--environment_config={worker_pool}",
    )


class Collect(beam.PTransform):
    """Takes all elements to a folder, from where `collected` brings them to the test."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__()
        self._folder = folder

    def default_label(self) -> str:
        return f"Collect {self._folder.name}"

    def expand(self, elements: beam.PCollection[Any]) -> None:
        self._folder.mkdir()
        _ = elements | beam.ParDo(_Collect(os.fspath(self._folder)))


class _Collect(beam.DoFn):
    """Writes the elements of a bundle when it has all of them: those of one that fails are lost."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def start_bundle(self) -> None:
        self._elements: list[Any] = []

    def process(self, element: Any) -> None:
        self._elements.append(element)

    def finish_bundle(self) -> None:
        bundle = pathlib.Path(self._folder, uuid.uuid4().hex)
        bundle.write_bytes(pickle.dumps(self._elements))


def collected(folder: pathlib.Path) -> list[Any]:
    """Returns what `Collect` took there, in any order."""
    return [element for bundle in folder.iterdir() for element in pickle.loads(bundle.read_bytes())]
