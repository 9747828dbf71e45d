"""Merges the summaries of parts of the data to one of all data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import apache_beam as beam


class _Mergeable(Protocol):
    def merge(self, other: Any, /) -> None: ...


class Merge(beam.CombineFn):
    """Combines summaries of parts by their method `merge`.

    Args:
      create: returns the summary of no data.
      finish: converts the summary of all data to the result; None: the summary is the result.
    """

    def __init__(
        self, create: Callable[[], _Mergeable], finish: Callable[[Any], Any] | None = None
    ) -> None:
        self._create = create
        self._finish = finish

    def create_accumulator(self) -> _Mergeable:
        return self._create()

    def add_input(self, accumulator: _Mergeable, summary: _Mergeable) -> _Mergeable:
        accumulator.merge(summary)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[_Mergeable]) -> _Mergeable:
        merged = self._create()
        for accumulator in accumulators:
            merged.merge(accumulator)
        return merged

    def extract_output(self, accumulator: _Mergeable) -> Any:
        return accumulator if self._finish is None else self._finish(accumulator)
