"""How columns of any Arrow type become features.

=====================================================  =================================
Arrow type of a value                                  feature
=====================================================  =================================
integers of every width, bool                          ``int64_list``
date32, date64, time, timestamp, duration              ``int64_list``, in their own unit
float16, float32, float64, decimals                    ``float_list``
binary, string (also large, fixed-size and views)      ``bytes_list``, bytes untouched
dictionary                                             that of the dictionary's values
null                                                   no kind
=====================================================  =================================

date32 counts days since 1970 and date64 milliseconds. float64 and decimals are rounded to the
nearest float32, which has about seven digits. A uint64 of 2**63 or more, a finite number that is
too large for float32 and a string that is not UTF-8 are errors.

A row may be one value (stored as a list of one) or a list of values: `list`, `large_list`,
`list_view`, `large_list_view` or `fixed_size_list`. A row of a feature list is a list of either. A
null row becomes a feature without a kind, or no feature list; a null step becomes a feature without
a kind. A feature cannot hold a null among its values; see `NullValues`.

Other types are rejected: `struct` (except the column of feature lists), `map`, unions, intervals,
and more deeply nested lists, unless the schema represents them as a ragged tensor (see `ragged`).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from tfrecord_beam.errors import EncodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.options import MAX_INT
from tfrecord_beam.schema.advice import ANY_ADVICE, NESTED_ADVICE, advise
from tfrecord_beam.schema.lists import PLAIN_LISTS, flatten_lists, is_list, unnest
from tfrecord_beam.schema.text import are_utf8, find_non_utf8

NullValues = Literal["error", "drop", "fill"]
"""How to handle a null among the values of a list: raise an `EncodeError` when it is encoded; drop
it; or replace it by 0, 0.0 or empty bytes. Values of type `null` have no kind and stay null."""

# By type id, which is much faster to look up than a type.
_KINDS = {
    pa.lib.Type_INT64: Kind.INT64,
    pa.lib.Type_FLOAT: Kind.FLOAT,
    pa.lib.Type_BINARY: Kind.BYTES,
    pa.lib.Type_LARGE_BINARY: Kind.BYTES,
    pa.lib.Type_STRING: Kind.BYTES,
    pa.lib.Type_LARGE_STRING: Kind.BYTES,
    pa.lib.Type_NA: None,
}
"""Types of values that the kernel reads in place, also in `PLAIN_LISTS`."""

_STRINGS = {pa.lib.Type_STRING, pa.lib.Type_LARGE_STRING}
_VIEWS = {pa.lib.Type_STRING_VIEW, pa.lib.Type_BINARY_VIEW}


class _UnsupportedValueError(Exception):
    """A value that no feature can hold, at `index` in the array at hand."""

    def __init__(self, index: int, expected: str, found: object) -> None:
        super().__init__(index, expected, found)
        self.index = index
        self.expected = expected
        self.found = found


class _UnsupportedTypeError(Exception):
    """Values of some Arrow type cannot be features; the text is the advice."""


def to_features(
    name: str,
    column: pa.Array,
    *,
    is_feature_list: bool = False,
    null_values: NullValues = "error",
) -> pa.Array:
    """Returns a column in a layout that the kernel can encode: the same array if it already is.

    >>> to_features("x", pa.array([[True], None])).type
    LargeListType(large_list<item: int64>)

    Args:
      name: of the column, for error texts.
      column: rows of any type in the table above.
      is_feature_list: whether each row is a list of features.
      null_values: how to handle a null among the values of a feature.

    Raises:
      SchemaError: a type that is not in the table, or lists nested too deep or not at all.
      EncodeError: a value that no feature can hold, with its row.
    """
    levels, value_type = unnest(column.type)
    depth = len(levels)
    least, most = (1, 2) if is_feature_list else (0, 1)
    if not least <= depth <= most and not pt.is_null(column.type):
        expected = "lists of values or of lists" if is_feature_list else "values or lists of values"
        raise SchemaError(
            f"Expected {expected} for feature {name!r}, found {column.type}",
            Location(feature=name),
            None if is_feature_list else NESTED_ADVICE,
        )
    is_plain = value_type.id in _KINDS and PLAIN_LISTS.issuperset(levels)
    if is_plain and not _may_need_change(column, value_type, null_values):
        return column
    return convert(name, column, null_values, has_steps=is_feature_list)


def is_ready(data_type: pa.DataType) -> bool:
    """Returns whether `to_features` returns any column of a type as it is, with default options."""
    levels, value_type = unnest(data_type)
    is_plain = value_type.id in _KINDS and PLAIN_LISTS.issuperset(levels)
    return is_plain and len(levels) <= 1 and value_type.id not in _STRINGS


def convert(
    name: str,
    column: pa.Array,
    null_values: NullValues = "error",
    *,
    has_steps: bool = False,
) -> pa.Array:
    """Returns a column with its values converted to those of features, at any depth of lists.

    All lists become `large_list`, start at 0 and have no values below nulls.

    Args:
      name: of the column, for error texts.
      column: values, or lists of any depth.
      null_values: how to handle a null in a list, be it a value or an inner list.
      has_steps: whether the elements of the outermost lists are steps, which may be null.

    Raises:
      SchemaError: values of a type that is not in the table.
      EncodeError: a value that no feature can hold, with its row.
    """
    try:
        return _convert(column, "error" if has_steps else null_values, null_values)
    except (_UnsupportedTypeError, pa.ArrowNotImplementedError) as error:
        # Versions of pyarrow differ in the casts that they have.
        advice = str(error) if isinstance(error, _UnsupportedTypeError) else ANY_ADVICE
        raise SchemaError(
            f"Expected numbers, bytes, strings or lists of them for feature {name!r}, "
            f"found {column.type}",
            Location(feature=name),
            advice,
        ) from None
    except _UnsupportedValueError as error:
        raise EncodeError(
            f"Expected {error.expected} for feature {name!r}, found {error.found}",
            Location(record=error.index, feature=name),
        ) from None


def kind_of(features: pa.Array) -> Kind | None:
    """Returns the kind of the result of `to_features`; None if all values are null."""
    return _KINDS[unnest(features.type)[1].id]


def to_plain(array: pa.Array) -> pa.Array:
    """Returns the same values without dictionary and views, which pyarrow supports poorly."""
    if pt.is_dictionary(array.type):
        dictionary = to_plain(array.dictionary)
        return pa.DictionaryArray.from_arrays(array.indices, dictionary).dictionary_decode()
    if pt.is_string_view(array.type):
        return array.cast(pa.large_string())
    return array.cast(pa.large_binary()) if pt.is_binary_view(array.type) else array


def holds_text(data_type: pa.DataType) -> bool:
    """Returns whether the values of a column are strings."""
    value_type = unnest(data_type)[1]
    if pt.is_dictionary(value_type):
        value_type = value_type.value_type
    return value_type.id in _STRINGS or pt.is_string_view(value_type)


def _may_need_change(column: pa.Array, value_type: pa.DataType, null_values: NullValues) -> bool:
    """Returns whether plain values have nulls to drop or fill, or strings that are not UTF-8."""
    is_text = value_type.id in _STRINGS
    if null_values == "error" and not is_text:
        return False
    while is_list(column.type):
        column = column.values  # This may include values outside of a slice.
    return (null_values != "error" and column.null_count > 0) or (is_text and not are_utf8(column))


def _convert(array: pa.Array, nulls: NullValues, inner_nulls: NullValues) -> pa.Array:
    """Converts an array; `nulls` applies to the elements of its lists, `inner_nulls` below them."""
    if is_list(array.type):
        return _convert_lists(array, nulls, inner_nulls)
    if pt.is_dictionary(array.type) or array.type.id in _VIEWS:
        return _convert(to_plain(array), nulls, inner_nulls)
    if array.type.id in _STRINGS:
        return _checked_text(array)
    if array.type.id in _KINDS:
        return array
    if pt.is_integer(array.type) or pt.is_boolean(array.type):
        return _to_int64(array)
    if pt.is_temporal(array.type) and array.type.bit_width <= 64:
        return array.view(f"int{array.type.bit_width}").cast(pa.int64())
    if pt.is_floating(array.type) or pt.is_decimal(array.type):
        return _to_float32(array)
    if pt.is_fixed_size_binary(array.type):
        return array.cast(pa.large_binary())
    raise _UnsupportedTypeError(advise(array.type))


def _convert_lists(
    array: pa.Array, nulls: NullValues, inner_nulls: NullValues
) -> pa.LargeListArray:
    lists = flatten_lists(array)
    offsets = lists.offsets
    try:
        values = _convert(lists.values, inner_nulls, inner_nulls)
    except _UnsupportedValueError as error:
        row = lists.list_of(error.index)
        raise _UnsupportedValueError(row, error.expected, error.found) from None
    if nulls == "drop":
        offsets = np.append(0, np.cumsum(np.asarray(values.is_valid())))[offsets]
        values = values.drop_null()
    elif nulls == "fill":
        values = _filled(values)
    return pa.LargeListArray.from_arrays(
        pa.array(offsets, pa.int64()), values, mask=array.is_null()
    )


def _filled(values: pa.Array) -> pa.Array:
    if is_list(values.type):  # There are no values below its nulls.
        return pa.LargeListArray.from_arrays(values.offsets, values.values)
    if pt.is_null(values.type):
        return values
    is_number = pt.is_integer(values.type) or pt.is_floating(values.type)
    return pc.fill_null(values, pa.scalar(0 if is_number else b"", values.type))


def _checked_text(array: pa.Array) -> pa.Array:
    index = find_non_utf8(array)
    if index is not None:
        raise _UnsupportedValueError(index, "UTF-8 in a string", "other bytes")
    return array


def _to_int64(array: pa.Array) -> pa.Array:
    if array.type == pa.uint64():
        too_large = pc.greater(array, pa.scalar(MAX_INT, pa.uint64()))
        _refuse(array, too_large, "an integer below 2**63")
    return array.cast(pa.int64())


def _to_float32(array: pa.Array) -> pa.Array:
    rounded = array.cast(pa.float32())
    if not pt.is_float16(array.type):
        infinite = pc.is_inf(rounded)
        if pt.is_floating(array.type):
            infinite = pc.and_not(infinite, pc.is_inf(array))
        _refuse(array, infinite, "a number in the range of float32")
    return rounded


def _refuse(array: pa.Array, is_refused: pa.BooleanArray, expected: str) -> None:
    index = pc.index(is_refused, True).as_py()
    if index >= 0:
        raise _UnsupportedValueError(index, expected, array[index].as_py())
