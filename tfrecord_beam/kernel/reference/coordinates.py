"""Lists given by their row splits, or by the coordinates of their values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]

_MAX_NUMBERS = 1 << 48
"""More do not fit into any memory, and could overflow."""


def parent_indices(splits: Int64Array) -> Int64Array:
    """Returns for each value the index of the list that contains it."""
    lengths = np.diff(_check_splits(splits))
    return np.repeat(np.arange(len(lengths)), lengths)


def coordinates(levels: Sequence[Int64Array]) -> Int64Array:
    """Returns the coordinates of each value of nested lists, one row per value."""
    if not levels:
        raise ValueError("Expected at least one level, found none")
    found: list[tuple[int, ...]] = [(row,) for row in range(len(_check_splits(levels[0])) - 1)]
    for splits in levels:
        lists = len(_check_splits(splits)) - 1
        if lists != len(found):
            raise ValueError(f"Expected a level of {len(found)} lists, found {lists}")
        found = [
            (*outer, place)
            for outer, (start, end) in zip(found, pairwise(splits.tolist()), strict=True)
            for place in range(end - start)
        ]
    return np.array(found, np.int64).reshape(-1, 1 + len(levels))


def splits_of_coordinates(
    coordinates: Int64Array, shape: Sequence[int]
) -> tuple[Int64Array, bool] | None:
    """Returns the row splits of values with these coordinates, and whether there are no gaps."""
    if not shape or shape[0] < 0 or coordinates.ndim != 2 or coordinates.shape[1] != len(shape):
        raise ValueError("Expected as many coordinates of each value as sizes, found others")
    _check_room(shape[0])
    rows = coordinates[:, 0]
    if (coordinates < 0).any() or (coordinates >= shape).any() or (np.diff(rows) < 0).any():
        return None
    splits = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int64)
    places = np.arange(len(rows)) - splits[rows]
    return splits, bool((coordinates[:, -1] == places).all())


def _check_splits(splits: Any) -> Int64Array:
    array = np.asarray(splits)
    if array.ndim != 1 or not array.size or array.dtype != np.int64:
        raise ValueError("Expected row splits, in one piece, found another array")
    if array[0] != 0 or (np.diff(array) < 0).any():
        raise ValueError("Expected row splits that ascend from 0")
    _check_room(array[-1])
    return array


def _check_room(numbers: int) -> None:
    if numbers > _MAX_NUMBERS:
        raise MemoryError
