"""Converts Python objects to a column: as pyarrow does, but only if no value is lost or changed.

A value is

- an int, a float, a bool, a str or bytes, a Decimal or a date, or one of numpy's scalars,
- a list, a tuple or a numpy array of such values, or several levels of them,
- None, which is null.

All values of a column are of one of these kinds, and at one depth of lists: an int among floats
could not be told from a float any more. Only where a schema has the feature may they differ: ints
are taken for floats if it is one of floats, and they are exact; and a value beside lists is taken
for a list of one.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from tfrecord_beam.errors import EncodeError, Location
from tfrecord_beam.options import describe
from tfrecord_beam.schema.lists import is_list, unnest

_REFUSALS = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What pyarrow raises for values that it cannot make an array of."""

_LISTS = (list, tuple, np.ndarray)
_TEXT = "str or bytes"
_FAMILIES: list[tuple[str, tuple[type, ...]]] = [
    ("bool", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating)),
    (_TEXT, (str, bytes, bytearray, memoryview)),
]
"""Types whose values make one column; every other type makes one of its own. Of a type that is in
two of them the first counts."""

AnyArray = npt.NDArray[Any]

MOST_LEVELS = 8
"""Most levels of lists in a value: records hold two at most, and a list may hold itself."""

NO_TYPE = pa.null()
"""The type that is expected where nothing is."""


def infer_array(name: str, values: list[Any], expected: pa.DataType = NO_TYPE) -> pa.Array:
    """Returns the values of a column as an array, of a type that they show.

    >>> infer_array("x", [1, None, 2]).type
    DataType(int64)

    Args:
      name: of the column, for error texts.
      values: one for each row.
      expected: the type that a schema has for the column, or null where it has none. It counts
        where the values show no type, and for ints of a feature of floats.

    Raises:
      EncodeError: a value that cannot be, or not be in one column with those before, with its row.
    """
    column = values
    if any(issubclass(each, np.ndarray) for each in set(map(type, column))):
        column = [_plain(value) if isinstance(value, np.ndarray) else value for value in column]
    if not pt.is_null(expected):
        column = _to_lists(column)
    try:
        return _infer(column, expected)
    except _REFUSALS:
        pass
    refused = bisect.bisect_left(
        range(len(column)),
        True,
        key=lambda row: _find_refusal(column[: row + 1], expected) is not None,
    )
    before = _infer(column[:refused], expected).type
    wanted = str(before)
    hint: str | None = "that is what the rows before have"
    if pt.is_null(before):
        wanted, hint = "numbers, bool, str, bytes, or lists of one kind of them", None
    seen = column[: refused + 1]
    if isinstance(_find_refusal(seen, expected), UnicodeEncodeError):
        wanted, hint = "text that UTF-8 can hold", None
    elif set(map(_find_family, _leaf_types(seen))) == {"int", "float"}:
        hint = "a schema can say that ints are FLOAT, too"
    raise EncodeError(
        f"Expected {wanted} for feature {name!r}, found {describe(values[refused])}",
        Location(record=refused, feature=name),
        hint,
    )


def _to_lists(values: list[Any]) -> list[Any]:
    """Returns the values with single ones as lists of one, if there are lists among them."""
    types = set(map(type, values)) - {type(None)}
    lists = {each for each in types if issubclass(each, _LISTS)}
    if not lists or lists == types:
        return values
    return [value if value is None or isinstance(value, _LISTS) else [value] for value in values]


def _plain(array: Any) -> Any:
    """Returns a numpy array as what pyarrow takes for a list of values, or of lists."""
    if array.ndim > 1:
        return list(map(_plain, array))
    if array.ndim == 0 or array.dtype.hasobject:
        return array.tolist()
    return to_native(array)


def to_native(array: AnyArray) -> AnyArray:
    """Returns a numpy array in the byte order of the machine, which is the only one Arrow knows."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def combine(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Returns what `pyarrow.array` makes as one array: 2 GiB of str or bytes come in chunks."""
    if isinstance(array, pa.ChunkedArray):
        return array.cast(pa.large_binary()).combine_chunks()
    return array


def _find_refusal(values: Sequence[Any], expected: pa.DataType) -> Exception | None:
    try:
        _infer(values, expected)
    except _REFUSALS as error:
        return error
    return None


def _infer(values: Sequence[Any], expected: pa.DataType) -> pa.Array:
    """Returns the array of values; pyarrow finds its type, but what it would mix is refused."""
    types = _leaf_types(values)
    if any(issubclass(each, _LISTS) for each in types) or (dict in types and _are_deep(values)):
        raise TypeError(f"more than {MOST_LEVELS} levels of lists")
    families = set(map(_find_family, types))
    takes_ints = pt.is_floating(unnest(expected)[1])
    if len(families) > 1 and not (takes_ints and families == {"int", "float"}):
        raise TypeError(f"different types: {families}")
    array = combine(pa.array(values))
    if pt.is_null(unnest(array.type)[1]):
        return array if pt.is_null(expected) else array.cast(expected)
    if takes_ints and families == {"int"}:
        return array.cast(_with_leaf(array.type, pa.float64()))
    if families == {_TEXT} and not all(issubclass(each, str) for each in types):
        return array.cast(_with_leaf(array.type, pa.binary()))  # so that bytes do not count as str
    return array


def _leaf_types(values: Sequence[Any], levels: int = MOST_LEVELS) -> set[type]:
    """Returns the types of what is not null in lists; that of lists below so many levels."""
    types = set(map(type, values)) - {type(None)}
    sequences = {each for each in types if issubclass(each, _LISTS)}
    if not sequences or not levels:
        return types
    found = types - sequences
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    found |= {array.dtype.type for array in arrays}
    nested = (value for value in values if isinstance(value, (list, tuple)))
    return found | _leaf_types(list(itertools.chain.from_iterable(nested)), levels - 1)


def _are_deep(values: Sequence[Any], levels: int = MOST_LEVELS) -> bool:
    """Returns whether lists and mappings have more levels: pyarrow never ends in one of itself."""
    if not values or not levels:
        return bool(values)
    parts: list[Iterable[Any]] = [each for each in values if isinstance(each, (list, tuple))]
    parts += [each.values() for each in values if isinstance(each, dict)]
    return _are_deep(list(itertools.chain.from_iterable(parts)), levels - 1)


@functools.lru_cache
def _find_family(value_type: type) -> str:
    for name, types in _FAMILIES:
        if issubclass(value_type, types):
            return name
    return value_type.__qualname__


def _with_leaf(data_type: pa.DataType, leaf: pa.DataType) -> pa.DataType:
    return pa.list_(_with_leaf(data_type.value_type, leaf)) if is_list(data_type) else leaf
