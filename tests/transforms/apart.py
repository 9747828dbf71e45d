"""Applies a transform that sets records aside, and gives both what is good and what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apache_beam as beam
from apache_beam.transforms.error_handling import ErrorHandler

from tests.tfxio.pipelines import run
from tfrecord_beam.records.corruption import CorruptRecord


class Apart(beam.PTransform[Any, Any]):
    """A transform with one of Beam's error handlers; its output holds the corrupt records too.

    Args:
      make: returns the transform for a handler.
    """

    def __init__(self, make: Callable[[ErrorHandler], beam.PTransform[Any, Any]]) -> None:
        super().__init__()
        self._make = make

    def expand(self, input_or_inputs: Any) -> Any:
        with ErrorHandler("Corrupt" >> beam.Map(_pass)) as handler:
            good = input_or_inputs | self._make(handler)
        return (good, handler.output()) | "GoodAndCorrupt" >> beam.Flatten()


def _pass(element: Any) -> Any:
    return element


def run_apart(
    *head: beam.PTransform[Any, Any], make: Callable[[ErrorHandler], beam.PTransform[Any, Any]]
) -> tuple[list[Any], list[CorruptRecord], dict[str, Any]]:
    """Runs a pipeline; returns its elements, the corrupt records in order, and the counters."""
    result = run(*head, Apart(make))
    good = [each for each in result.elements if not isinstance(each, CorruptRecord)]
    corrupt = [each for each in result.elements if isinstance(each, CorruptRecord)]
    corrupt.sort(key=lambda each: (each.file or "", each.offset or 0))
    return good, corrupt, dict(result.in_namespace("tfrecord_beam"))
