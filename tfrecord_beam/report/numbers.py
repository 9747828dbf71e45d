"""Summaries of numbers (values, lengths, sizes): exact, and independent of their order."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np

from tfrecord_beam.report.histogram import Histogram

Numbers = np.ndarray[Any, np.dtype[Any]]
"""int64 or float32 [numbers]."""

_MANTISSA_BITS = 24
"""Of a 32-bit float, including the implicit leading bit."""


@dataclasses.dataclass
class NumberSummary:
    """The summary of many numbers.

    >>> summary = NumberSummary()
    >>> summary.add(np.array([1, 2, 0]))
    >>> summary.count, summary.zeros, summary.mean
    (3, 1, 1.0)

    Attributes:
      count: how many numbers there are, including those that are not finite.
      zeros: how many are 0.
      nans: how many are NaN.
      infinities: how many are infinite, of either sign.
      extremes: the smallest and the largest finite number; None: there is none.
      total: the exact sum of the finite numbers.
      histogram: of the finite numbers.
    """

    count: int = 0
    zeros: int = 0
    nans: int = 0
    infinities: int = 0
    extremes: tuple[float, float] | None = None
    total: Fraction = Fraction()
    histogram: Histogram = dataclasses.field(default_factory=Histogram)

    @property
    def num_finite(self) -> int:
        """How many are finite."""
        return self.count - self.nans - self.infinities

    @property
    def mean(self) -> float | None:
        """The mean of the finite numbers, rounded once."""
        return float(self.total / self.num_finite) if self.num_finite else None

    def add(self, numbers: Numbers) -> None:
        """Adds numbers.

        Args:
          numbers: int64 or float32 [numbers], of any values.
        """
        self.count += len(numbers)
        if numbers.dtype.kind == "f":
            is_finite = np.isfinite(numbers)
            if not is_finite.all():
                nans = int(np.isnan(numbers).sum())
                self.nans += nans
                self.infinities += len(numbers) - int(is_finite.sum()) - nans
                numbers = numbers[is_finite]
        if len(numbers):
            self._add_finite(numbers)

    def merge(self, other: NumberSummary) -> None:
        """Adds another summary."""
        self.count += other.count
        self.zeros += other.zeros
        self.nans += other.nans
        self.infinities += other.infinities
        if other.extremes is not None:
            self._add_extremes(*other.extremes)
        self.total += other.total
        self.histogram.merge(other.histogram)

    def _add_finite(self, numbers: Numbers) -> None:
        minimum, maximum = numbers.min().item() + 0, numbers.max().item() + 0  # -0.0 is 0.0
        self._add_extremes(minimum, maximum)
        if minimum == maximum:  # often so for lengths
            self.zeros += 0 if minimum else len(numbers)
            self.total += Fraction(minimum) * len(numbers)
            self.histogram.add(np.array([minimum], np.float64), len(numbers))
            return
        self.zeros += len(numbers) - int(np.count_nonzero(numbers))
        self.total += _sum_ints(numbers) if numbers.dtype.kind == "i" else _sum_floats(numbers)
        self.histogram.add(numbers.astype(np.float64))

    def _add_extremes(self, minimum: float, maximum: float) -> None:
        known = self.extremes or (minimum, maximum)
        self.extremes = min(known[0], minimum), max(known[1], maximum)


def _sum_ints(numbers: Numbers) -> Fraction:
    """Returns the exact sum of integers: the sums of their upper and lower halves fit 64 bits."""
    high, low = numbers >> 32, numbers & 0xFFFFFFFF
    return Fraction((int(high.sum()) << 32) + int(low.sum()))


def _sum_floats(numbers: Numbers) -> Fraction:
    """Returns the exact sum of 32-bit floats.

    The mantissas with one exponent sum up to integers far below 2**53, which doubles hold exactly.
    """
    mantissas, exponents = np.frexp(numbers)
    lowest = int(exponents.min())
    sums = np.bincount(exponents - lowest, np.ldexp(mantissas.astype(np.float64), _MANTISSA_BITS))
    total = sum(int(each) << power for power, each in enumerate(sums.tolist()) if each)
    return Fraction(total) * Fraction(2) ** (lowest - _MANTISSA_BITS)
