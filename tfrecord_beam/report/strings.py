"""Summaries of bytes: their lengths and, if there are few distinct values, their frequencies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.report.numbers import NumberSummary

MAX_DISTINCT = 1000
"""How many different values are counted one by one."""

MAX_VALUE_BYTES = 128
"""How long a value may be for that: longer ones are no names of anything."""


@dataclasses.dataclass
class StringSummary:
    """The summary of many bytes values.

    Attributes:
      lengths: how long they are, in bytes.
      frequencies: how often each comes; None: they are too many, or one is too long.
    """

    lengths: NumberSummary = dataclasses.field(default_factory=NumberSummary)
    frequencies: dict[bytes, int] | None = dataclasses.field(default_factory=dict)

    def add(self, values: pa.Array) -> None:
        """Takes in values of a type of bytes, none of them null."""
        self.lengths.add(np.asarray(pc.binary_length(values)).astype(np.int64, copy=False))
        if self.frequencies is not None:
            self._add_frequencies(_count(values) if self._are_short() else None)

    def merge(self, other: StringSummary) -> None:
        """Takes in all that another summary knows."""
        self.lengths.merge(other.lengths)
        self._add_frequencies(other.frequencies)

    def most_frequent(self, count: int) -> list[tuple[bytes, int]]:
        """Returns the most frequent values, and how often each comes."""
        by_count = sorted((self.frequencies or {}).items(), key=lambda each: (-each[1], each[0]))
        return by_count[:count]

    def _are_short(self) -> bool:
        return self.lengths.most is None or self.lengths.most <= MAX_VALUE_BYTES

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
