"""Summaries of bytes: their lengths and, if there are few distinct values, their frequencies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.report.numbers import NumberSummary

MAX_DISTINCT = 1000
"""Maximum number of distinct values that are counted one by one."""

MAX_VALUE_BYTES = 128
"""Maximum length of such a value: longer values are unlikely to be categories."""


@dataclasses.dataclass
class StringSummary:
    """The summary of many bytes values.

    Attributes:
      lengths: their lengths in bytes.
      frequencies: how often each value occurs; None: there are too many, or one is too long.
    """

    lengths: NumberSummary = dataclasses.field(default_factory=NumberSummary)
    frequencies: dict[bytes, int] | None = dataclasses.field(default_factory=dict)

    def add(self, values: pa.Array) -> None:
        """Adds values of a bytes type, none of them null."""
        self.lengths.add(np.asarray(pc.binary_length(values)).astype(np.int64, copy=False))
        if self.frequencies is not None:
            self._add_frequencies(_count(values) if self._are_short() else None)

    def merge(self, other: StringSummary) -> None:
        """Adds another summary."""
        self.lengths.merge(other.lengths)
        self._add_frequencies(other.frequencies)

    def most_frequent(self, count: int) -> list[tuple[bytes, int]]:
        """Returns the most frequent values, and how often each occurs."""
        by_count = sorted((self.frequencies or {}).items(), key=lambda each: (-each[1], each[0]))
        return by_count[:count]

    def _are_short(self) -> bool:
        return self.lengths.extremes is None or self.lengths.extremes[1] <= MAX_VALUE_BYTES

    def _add_frequencies(self, found: dict[bytes, int] | None) -> None:
        known = self.frequencies
        if known is None or found is None:
            self.frequencies = None
            return
        for value, count in found.items():
            known[value] = known.get(value, 0) + count
        if len(known) > MAX_DISTINCT:
            self.frequencies = None


def _count(values: pa.Array) -> dict[bytes, int] | None:
    found = pc.value_counts(values)
    if len(found) > MAX_DISTINCT:
        return None
    distinct = found.field("values").cast(pa.large_binary())
    return dict(zip(distinct.to_pylist(), found.field("counts").to_pylist(), strict=True))
