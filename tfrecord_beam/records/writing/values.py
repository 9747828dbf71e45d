"""Python objects as a column: what pyarrow makes of them, if that is all of them and nothing else.

A value is

- an int, a float, a bool, a str or bytes, a Decimal or a date, or one of numpy's scalars,
- a list, a tuple or a numpy array of such values, or several levels of them,
- None, which is null.

All values of a column are of one of these kinds, and at one depth of lists: an int among floats
could not be told from a float any more. Only where a schema says that the feature is one of floats
are ints taken for floats, if they are exact.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from tfrecord_beam.errors import EncodeError, Location
from tfrecord_beam.options import describe
from tfrecord_beam.schema.lists import is_list

_REFUSALS = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What pyarrow raises for values that it cannot make an array of."""

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
    if any(issubclass(each, np.ndarray) for each in set(map(type, values))):
        values = [_plain(value) if isinstance(value, np.ndarray) else value for value in values]
    try:
        return _infer(values, expected)
    except _REFUSALS:
        pass
    refused = bisect.bisect_left(
        range(len(values)), True, key=lambda row: _is_refused(values[: row + 1], expected)
    )
    before = _infer(values[:refused], expected).type
    known = "numbers, bool, str, bytes, or lists of one kind of them"
    raise EncodeError(
        f"Expected {known if pt.is_null(before) else before} for feature {name!r}, "
        f"found {describe(values[refused])}",
        Location(record=refused, feature=name),
        None if pt.is_null(before) else "that is what the rows before have",
    )


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


def _is_refused(values: Sequence[Any], expected: pa.DataType) -> bool:
    try:
        _infer(values, expected)
    except _REFUSALS:
        return True
    return False


def _infer(values: Sequence[Any], expected: pa.DataType) -> pa.Array:
    """Returns the array of values; pyarrow finds its type, but what it would mix is refused."""
    types = _leaf_types(values)
    families = set(map(_find_family, types))
    takes_ints = pt.is_floating(_leaf(expected))
    if len(families) > 1 and not (takes_ints and families == {"int", "float"}):
        raise TypeError(f"different types: {families}")
    array = combine(pa.array(values))
    if pt.is_null(_leaf(array.type)):
        return array if pt.is_null(expected) else array.cast(expected)
    if takes_ints and families == {"int"}:
        return array.cast(_with_leaf(array.type, pa.float64()))
    if families == {_TEXT} and not all(issubclass(each, str) for each in types):
        return array.cast(_with_leaf(array.type, pa.binary()))  # lest bytes count as str
    return array


def _leaf_types(values: Sequence[Any]) -> set[type]:
    """Returns the types of what is not null, at any depth of lists."""
    types = set(map(type, values)) - {type(None)}
    sequences = {each for each in types if issubclass(each, (list, tuple, np.ndarray))}
    if not sequences:
        return types
    found = types - sequences
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    found |= {array.dtype.type for array in arrays}
    nested = (value for value in values if isinstance(value, (list, tuple)))
    return found | _leaf_types(list(itertools.chain.from_iterable(nested)))


@functools.lru_cache
def _find_family(value_type: type) -> str:
    for name, types in _FAMILIES:
        if issubclass(value_type, types):
            return name
    return value_type.__qualname__


def _leaf(data_type: pa.DataType) -> pa.DataType:
    return _leaf(data_type.value_type) if is_list(data_type) else data_type


def _with_leaf(data_type: pa.DataType, leaf: pa.DataType) -> pa.DataType:
    return pa.list_(_with_leaf(data_type.value_type, leaf)) if is_list(data_type) else leaf
