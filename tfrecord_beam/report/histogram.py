"""Counts of numbers in intervals: exact counts, in bounded memory, that merge in any order."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tfrecord_beam.records.block import Int64Array

DoubleArray = np.ndarray[Any, np.dtype[np.float64]]

MAX_INTERVALS = 1024
"""Maximum number of non-empty intervals in a histogram."""

_MAGNITUDE = np.int64((1 << 63) - 1)
"""The bits of a double, without its sign."""


def _no_numbers() -> Int64Array:
    return np.empty(0, np.int64)


@dataclasses.dataclass(eq=False)
class Histogram:
    """Counts of numbers by interval.

    The bits of finite doubles, read as integers, are in the order of the doubles. Without the last
    `shift` bits they are the numbers of intervals; at first each double is its own interval. If too
    many intervals are non-empty, pairs of neighbours are joined, so that every power of two has the
    same number of intervals. A part of the numbers never needs coarser intervals than all of them,
    so merging parts gives the same result as adding all numbers to one histogram.

    >>> histogram = Histogram()
    >>> histogram.add(np.array([1.0, 1.0, 1000.0]))
    >>> histogram.counts.tolist()
    [2, 1]

    Attributes:
      shift: number of bits that are dropped.
      keys: int64 [intervals], the numbers of the non-empty intervals, ascending.
      counts: int64 [intervals], how many numbers are in each.
    """

    shift: int = 0
    keys: Int64Array = dataclasses.field(default_factory=_no_numbers)
    counts: Int64Array = dataclasses.field(default_factory=_no_numbers)

    def add(self, numbers: DoubleArray, times: int = 1) -> None:
        """Adds finite numbers in the range of float32 or int64, each of them `times` times."""
        bits = (numbers + 0.0).view(np.int64)  # the sum turns -0.0 into 0.0
        keys = np.sort(np.where(bits < 0, bits ^ _MAGNITUDE, bits) >> self.shift)
        bounds = _find_runs(keys)
        self._merge(keys[bounds[:-1]], times * (bounds[1:] - bounds[:-1]))

    def merge(self, other: Histogram) -> None:
        """Adds the counts of another histogram."""
        shift = max(self.shift, other.shift)
        self.keys, self.counts = _sum_runs(self.keys >> (shift - self.shift), self.counts)
        self.shift = shift
        self._merge(*_sum_runs(other.keys >> (shift - other.shift), other.counts))

    def bounds(self) -> tuple[DoubleArray, DoubleArray]:
        """Returns where each interval begins (inclusive) and where it ends (exclusive)."""
        return _number_of(self.keys << self.shift), _number_of((self.keys + 1) << self.shift)

    def _merge(self, keys: Int64Array, counts: Int64Array) -> None:
        """Adds the counts of intervals, whose keys are distinct and ascending."""
        if len(self.keys):
            index = np.searchsorted(self.keys, keys)
            if np.array_equal(self.keys.take(index, mode="clip"), keys):  # the usual case
                self.counts = self.counts.copy()
                self.counts[index] += counts
                return
            keys, counts = np.concatenate((self.keys, keys)), np.concatenate((self.counts, counts))
            order = np.argsort(keys)
            keys, counts = _sum_runs(keys[order], counts[order])
        while len(keys) > MAX_INTERVALS:
            self.shift += 1
            keys, counts = _sum_runs(keys >> 1, counts)
        self.keys, self.counts = keys, counts


def _number_of(key: Int64Array) -> DoubleArray:
    """Returns the doubles with these keys; the inverse of the mapping in `Histogram.add`."""
    return np.where(key < 0, key ^ _MAGNITUDE, key).view(np.float64)


def _sum_runs(keys: Int64Array, counts: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Returns the distinct keys of ascending ones, and the sum of the counts for each."""
    firsts = _find_runs(keys)[:-1]
    return keys[firsts], np.add.reduceat(counts, firsts) if len(keys) else counts


def _find_runs(keys: Int64Array) -> Int64Array:
    """Returns where runs of equal keys begin, followed by the end of the last run."""
    is_bound = np.ones(len(keys) + 1, bool)
    np.not_equal(keys[1:], keys[:-1], out=is_bound[1:-1])
    return np.flatnonzero(is_bound)
