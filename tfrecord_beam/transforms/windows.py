"""Grouping in unbounded pipelines, where the global window never ends."""

from __future__ import annotations

from typing import TypeVar

import apache_beam as beam
from apache_beam.transforms.window import FixedWindows

_T = TypeVar("_T")

_WINDOW_SECONDS = 60


def group_later(elements: beam.PCollection[_T]) -> beam.PCollection[_T]:
    """Returns the elements, ready to be grouped.

    Those of an unbounded input are put into fixed windows. All that is said of a file has the
    timestamp of the element that named it, so it falls into one window.
    """
    if elements.is_bounded:
        return elements
    return elements | "WindowInto" >> beam.WindowInto(FixedWindows(_WINDOW_SECONDS))
