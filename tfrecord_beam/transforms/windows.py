"""Grouping in unbounded pipelines, where the global window never ends."""

from __future__ import annotations

from typing import TypeVar

import apache_beam as beam
from apache_beam.transforms.window import FixedWindows

_T = TypeVar("_T")

_WINDOW_SECONDS = 60


def group_later(elements: beam.PCollection[_T]) -> beam.PCollection[_T]:
    """Returns the elements, ready to be grouped.

    Those of an unbounded input are put into fixed windows. All reports about a file have the
    timestamp of the element that named it, so they fall into one window. An unread element holds
    the watermark back, so the reports are not late, except for a file whose element was late
    itself, behind the watermark: Beam drops its reports here. Grouping them later would not help,
    because nothing says which report of a late file is the last.
    """
    if elements.is_bounded:
        return elements
    return elements | "WindowInto" >> beam.WindowInto(FixedWindows(_WINDOW_SECONDS))
