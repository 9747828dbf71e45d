"""The summary of one feature, in addition to the statistics for an inferred schema."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.report.numbers import NumberSummary
from tfrecord_beam.report.strings import StringSummary
from tfrecord_beam.schema.encoding import kind_of
from tfrecord_beam.schema.lists import is_list


@dataclasses.dataclass
class FeatureSummary:
    """The summary of one feature, whose kind may differ from record to record.

    Attributes:
      num_values: number of values in its lists; for a feature of steps, the number of steps, then
        the number of values in a step.
      ints: its integers.
      floats: its floats.
      strings: its bytes.
    """

    num_values: list[NumberSummary] = dataclasses.field(default_factory=list)
    ints: NumberSummary = dataclasses.field(default_factory=NumberSummary)
    floats: NumberSummary = dataclasses.field(default_factory=NumberSummary)
    strings: StringSummary = dataclasses.field(default_factory=StringSummary)

    def add(self, column: pa.Array) -> None:
        """Adds the rows of a column, in a layout yielded by `feature_columns`."""
        kind = kind_of(column)
        depth = 0
        while is_list(column.type):
            lengths = pc.list_value_length(column).drop_null()
            self._num_values_at(depth).add(np.asarray(lengths).astype(np.int64, copy=False))
            column, depth = column.flatten(), depth + 1
        values = column.drop_null() if column.null_count else column
        if kind is Kind.INT64:
            self.ints.add(np.asarray(values))
        elif kind is Kind.FLOAT:
            self.floats.add(np.asarray(values))
        elif kind is Kind.BYTES:
            self.strings.add(values)

    def merge(self, other: FeatureSummary) -> None:
        """Adds another summary of the feature."""
        for depth, num_values in enumerate(other.num_values):
            self._num_values_at(depth).merge(num_values)
        self.ints.merge(other.ints)
        self.floats.merge(other.floats)
        self.strings.merge(other.strings)

    def _num_values_at(self, depth: int) -> NumberSummary:
        while len(self.num_values) <= depth:
            self.num_values.append(NumberSummary())
        return self.num_values[depth]
