"""Counts of numbers in intervals: exact counts, in bounded memory, that merge in any order."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

Int64Array = np.ndarray[Any, np.dtype[np.int64]]
DoubleArray = np.ndarray[Any, np.dtype[np.float64]]

MAX_INTERVALS = 1024
"""How many intervals of one histogram may hold something."""

_FINEST = 42
"""The first `shift`: a power of two has 1,024 intervals, and each integer up to 2,048 its own."""

_MAGNITUDE = np.int64((1 << 63) - 1)


def _no_numbers() -> Int64Array:
    return np.empty(0, np.int64)


@dataclasses.dataclass(eq=False)
class Histogram:
    """How many of the numbers are in which interval, which are finer where the numbers are small.

    The bits of finite doubles, read as integers, are in the order of the doubles. Without their
    last `shift` bits they number intervals, of which each power of two has equally many. Where too
    many intervals would hold something, pairs of neighbours become one. A part of the numbers
    never needs coarser intervals than all of them, so parts merge to what all would have given.

    >>> histogram = Histogram()
    >>> histogram.add(np.array([1.0, 1.0, 1000.0]))
    >>> histogram.numbers().tolist(), histogram.counts.tolist()
    ([1.0, 1000.0], [2, 1])

    Attributes:
      shift: how many bits are left out.
      keys: int64 [intervals], the numbers of those that hold something, ascending.
      counts: int64 [intervals], how many numbers each holds.
    """

    shift: int = _FINEST
    keys: Int64Array = dataclasses.field(default_factory=_no_numbers)
    counts: Int64Array = dataclasses.field(default_factory=_no_numbers)

    def add(self, numbers: DoubleArray, times: int = 1) -> None:
        """Takes finite numbers in, each so many times."""
        bits = (numbers + 0.0).view(np.int64)  # a sum, lest there be a -0.0
        keys = np.sort(np.where(bits < 0, bits ^ _MAGNITUDE, bits) >> self.shift)
        bounds = _find_runs(keys)
        self._merge(keys[bounds[:-1]], times * (bounds[1:] - bounds[:-1]))

    def merge(self, other: Histogram) -> None:
        """Takes in all that another one counted."""
        shift = max(self.shift, other.shift)
        self.keys, self.counts = _sum_by_key(self.keys >> (shift - self.shift), self.counts)
        self.shift = shift
        self._merge(*_sum_by_key(other.keys >> (shift - other.shift), other.counts))

    def numbers(self) -> DoubleArray:
        """Returns the number of each interval that is nearest to zero."""
        magnitudes = (np.where(self.keys < 0, ~self.keys, self.keys) << self.shift).view(np.float64)
        return np.where(self.keys < 0, -magnitudes, magnitudes)

    def _merge(self, keys: Int64Array, counts: Int64Array) -> None:
        """Adds counts to those of intervals, whose numbers are distinct and ascending."""
        if len(self.keys):
            index = np.searchsorted(self.keys, keys)
            if np.array_equal(self.keys.take(index, mode="clip"), keys):  # as most often
                self.counts = self.counts.copy()
                self.counts[index] += counts
                return
            keys, counts = _sum_by_key(
                np.concatenate((self.keys, keys)), np.concatenate((self.counts, counts))
            )
        while len(keys) > MAX_INTERVALS:
            self.shift += 1
            keys, counts = _sum_by_key(keys >> 1, counts)
        self.keys, self.counts = keys, counts


def _sum_by_key(keys: Int64Array, counts: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Returns the distinct keys, ascending, and the sum of the counts of each."""
    order = np.argsort(keys)
    keys, counts = keys[order], counts[order]
    firsts = _find_runs(keys)[:-1]
    return keys[firsts], np.add.reduceat(counts, firsts) if len(keys) else counts


def _find_runs(keys: Int64Array) -> Int64Array:
    """Returns where runs of equal keys begin, and behind them where the last one ends."""
    is_bound = np.ones(len(keys) + 1, bool)
    np.not_equal(keys[1:], keys[:-1], out=is_bound[1:-1])
    return np.flatnonzero(is_bound)
