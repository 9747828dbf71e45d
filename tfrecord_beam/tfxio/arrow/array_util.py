"""Arrow arrays of lists, strings and structs, under the names that TFXIO users know.

Of a slice only the visible values count. Values covered by a null list are not counted.
"""

from __future__ import annotations

import struct
from collections.abc import Container
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import check_instance, check_int, describe
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.schema.lists import PLAIN_LISTS, make_lists, to_singleton_lists
from tfrecord_beam.tensors.lists import flatten, offsets_of_parents

# By type id, which is much faster to look up than a type.
_LARGE_STRINGS = frozenset((pa.lib.Type_LARGE_BINARY, pa.lib.Type_LARGE_STRING))
_STRINGS = _LARGE_STRINGS | {pa.lib.Type_BINARY, pa.lib.Type_STRING}
_LISTS_OR_STRINGS = PLAIN_LISTS | _STRINGS
_INT64 = frozenset((pa.lib.Type_INT64,))
_STRUCTS = frozenset((pa.lib.Type_STRUCT,))

_OFFSET, _LARGE_OFFSET = struct.Struct("=i"), struct.Struct("=q")

_FEW = 16
"""So many null lists are filled in less time by joining what is between them than by `take`."""


def is_list_like(data_type: pa.DataType) -> bool:
    """Returns whether a type is `list` or `large_list`."""
    if isinstance(data_type, (pa.ListType, pa.LargeListType)):
        return True
    check_instance("data_type", data_type, pa.DataType)
    return False


def is_binary_like(data_type: pa.DataType) -> bool:
    """Returns whether a type is `binary`, `string` or a large one of these."""
    return data_type.id in _STRINGS


def get_innermost_nested_type(arrow_type: pa.DataType) -> pa.DataType:
    """Returns the type of the values in lists, at any depth."""
    while is_list_like(arrow_type):
        arrow_type = arrow_type.value_type
    return arrow_type


def GetElementLengths(array: pa.Array) -> pa.Array:
    """Returns the length of each list or string as `int64`, 0 for a null."""
    _check(array, "an array of lists or strings", _LISTS_OR_STRINGS)
    return _array_of(kernel.element_lengths(array), pa.int64())


ListLengthsFromListArray = GetElementLengths
"""The name that it had before it took strings."""


def GetFlattenedArrayParentIndices(array: pa.Array) -> pa.Array:
    """Returns for each value in `array.flatten()` the index of its list.

    They are `int32` for a `list`, `int64` for a `large_list`.
    """
    _check(array, "a list array", PLAIN_LISTS)
    splits, _, _ = kernel.row_splits(array)
    data_type = pa.int64() if pa.types.is_large_list(array.type) else pa.int32()
    return _array_of(_parents(splits, array.type), data_type)


def GetArrayNullBitmapAsByteArray(array: pa.Array) -> pa.Array:
    """Returns 1 for each null and 0 for other values, as `uint8`."""
    _check(array, "an array")
    return _array_of(_validity(array) ^ 1, pa.uint8())


def GetBinaryArrayTotalByteSize(array: pa.Array) -> int:
    """Returns the total size in bytes of the strings of an array, without their offsets."""
    _check(array, "an array of strings", _STRINGS)
    if not len(array):  # Then the buffer may be missing or empty.
        return 0
    read = _LARGE_OFFSET if array.type.id in _LARGE_STRINGS else _OFFSET
    offsets, first = array.buffers()[1], array.offset
    (begin,) = read.unpack_from(offsets, first * read.size)
    (end,) = read.unpack_from(offsets, (first + len(array)) * read.size)
    return int(end - begin)


def GetByteSize(array: pa.Array) -> int:
    """Returns the size of an array in bytes: values, offsets and validity of the slice.

    Raises:
      SchemaError: it contains types other than integers, float32 or float64, bools, strings, nulls,
        and lists and structs of these.
    """
    _check(array, "an array")
    num_bytes = kernel.byte_size(array)
    if num_bytes is None:
        raise _unsupported("integers, float32 or float64, bools, strings, lists or structs", array)
    return num_bytes


def IndexIn(values: pa.Array, value_set: pa.Array) -> pa.Array:
    """Returns the first index of each value in `value_set` as `int32`, null if it is not there."""
    _check(values, "an array")
    _check(value_set, "an array")
    try:
        return pc.index_in(values, value_set=value_set)
    except pa.ArrowException as error:
        raise SchemaError(
            f"Expected two arrays of comparable values, found {values.type} and {value_set.type}"
        ) from error


def FillNullLists(list_array: pa.Array, fill_with: pa.Array) -> pa.Array:
    """Returns the lists with `fill_with` in place of each null; the same array if none is null.

    Args:
      list_array: `list` or `large_list`.
      fill_with: of the type of the lists' values.
    """
    _check(list_array, "a list array", PLAIN_LISTS)
    value_type = list_array.type.value_type
    if not isinstance(fill_with, pa.Array) or not fill_with.type.equals(value_type):
        raise _unsupported(f"an array of {value_type}", fill_with)
    if list_array.null_count == 0:
        return list_array
    filling = _one_list(fill_with, list_array.type)
    validity = _validity(list_array)
    if list_array.null_count <= _FEW:
        parts: list[pa.Array] = []
        start = 0
        for row in np.flatnonzero(validity == 0).tolist():
            parts += list_array.slice(start, row - start), filling
            start = row + 1
        return pa.concat_arrays([*parts, list_array.slice(start)])
    rows = np.where(validity, np.arange(len(list_array)), len(list_array))
    # Eight times as fast as `pc.coalesce`, which does not support lists of nulls either.
    return pa.concat_arrays([list_array, filling]).take(pa.array(rows))


def CooFromListArray(list_array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Returns the indices and the dense shape of nested lists as a sparse tensor.

    Returns:
      The indices of value 0, those of value 1, ..., flat, and the smallest shape that holds all
      lists; both `int64`. An array that is not of lists is a one-dimensional tensor.
    """
    _check(list_array, "an array")
    shape = [len(list_array)]
    levels = []
    while list_array.type.id in PLAIN_LISTS:
        splits, longest, list_array = flatten(list_array)
        levels.append(splits)
        shape.append(longest)
    coo = kernel.coordinates(levels) if levels else np.arange(len(list_array))
    int64 = pa.int64()
    return _array_of(coo.reshape(-1), int64), _array_of(np.array(shape, np.int64), int64)


def CountInvalidUTF8(array: pa.Array) -> int:
    """Returns how many strings are not UTF-8; nulls are not counted."""
    _check(array, "an array of strings", _STRINGS)
    return kernel.count_invalid_utf8(array)


def MakeListArrayFromParentIndicesAndValues(
    num_parents: int, parent_indices: pa.Array, values: pa.Array, empty_list_as_null: bool = True
) -> pa.Array:
    """Returns a `large_list` array from values and the index of the list of each.

    Args:
      num_parents: number of lists.
      parent_indices: `int64`, ascending, one for each value.
      values: of any type; not copied.
      empty_list_as_null: whether a list without values is null and not empty.
    """
    check_int("num_parents", num_parents, least=0)
    _check(parent_indices, "int64 parent indices", _INT64)
    _check(values, "an array")
    if len(parent_indices) != len(values) or parent_indices.null_count:
        raise SchemaError(
            f"Expected a parent index for each of {len(values)} values, found "
            f"{len(parent_indices) - parent_indices.null_count}"
        )
    offsets = offsets_of_parents(parent_indices.to_numpy(), num_parents)
    return make_lists(offsets, values, offsets[1:] > offsets[:-1] if empty_list_as_null else None)


def ToSingletonListArray(array: pa.Array) -> pa.Array:
    """Returns a `large_list` array in which each value is a list of one, and null stays null."""
    _check(array, "an array")
    return to_singleton_lists(array)


def flatten_nested(
    array: pa.Array, return_parent_indices: bool = False
) -> tuple[pa.Array, Int64Array | None]:
    """Returns the values in lists, at any depth, and on request the row of each value.

    An array that is not of lists is returned unchanged.
    """
    _check(array, "an array")
    rows: Any = None
    while is_list_like(array.type):
        data_type = array.type
        splits, _, array = flatten(array)
        if return_parent_indices:
            parents = _parents(splits, data_type)
            rows = parents if rows is None else rows[parents]
    if return_parent_indices and rows is None:
        rows = np.arange(len(array))
    return array, rows


def get_field(struct_array: pa.StructArray, field: str | int) -> pa.Array:
    """Returns a field of structs, null where the struct is null.

    Args:
      struct_array: the structs.
      field: its name or index.

    Raises:
      FieldNotFoundError: the field does not exist.
    """
    _check(struct_array, "an array of structs", _STRUCTS)
    data_type = struct_array.type
    if isinstance(field, bool) or not isinstance(field, (int, str)):
        raise SchemaError(f"Expected the name or index of a field, found {describe(field)}")
    index = data_type.get_field_index(field) if isinstance(field, str) else field
    if not 0 <= index < data_type.num_fields:
        raise FieldNotFoundError(f"Expected a struct with one field {field!r}, found {data_type}")
    if struct_array.null_count == 0:
        return struct_array.field(index)
    return pc.struct_field(struct_array, [index])


class FieldNotFoundError(SchemaError, KeyError):
    """A column or field does not exist; also a KeyError, which TFXIO users expect."""


def _check(array: Any, expected: str, type_ids: Container[int] | None = None) -> None:
    """Raises SchemaError unless `array` is an Arrow array of one of these types."""
    if not isinstance(array, pa.Array) or not (type_ids is None or array.type.id in type_ids):
        raise _unsupported(expected, array)


def _unsupported(expected: str, array: Any) -> SchemaError:
    found = array.type if isinstance(array, pa.Array) else type(array).__name__
    return SchemaError(f"Expected {expected}, found {found}")


def _parents(splits: Int64Array, data_type: pa.DataType) -> np.ndarray[Any, np.dtype[Any]]:
    """Returns for each value the index of its list, in the offset type of the lists."""
    parents = kernel.parent_indices(splits)
    return parents if pa.types.is_large_list(data_type) else parents.astype(np.int32)


def _one_list(values: pa.Array, data_type: pa.DataType) -> pa.Array:
    """Returns a `list` or `large_list` array of one list."""
    offset = _LARGE_OFFSET if pa.types.is_large_list(data_type) else _OFFSET
    offsets = pa.py_buffer(offset.pack(0) + offset.pack(len(values)))
    return pa.Array.from_buffers(data_type, 1, [None, offsets], children=[values])


def _array_of(values: np.ndarray[Any, np.dtype[Any]], data_type: pa.DataType) -> pa.Array:
    """Returns the result of `pa.array`, whose type depends on its argument."""
    return pa.Array.from_buffers(data_type, len(values), [None, pa.py_buffer(values)])


def _validity(array: pa.Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Returns 0 for each null, 1 for other values."""
    if array.null_count == 0:
        return np.ones(len(array), np.uint8)
    bitmap = array.buffers()[0]
    if bitmap is None:  # The null type, which has no bitmap, and only nulls.
        return np.zeros(len(array), np.uint8)
    first_byte, first_bit = divmod(array.offset, 8)
    bits = np.frombuffer(bitmap, np.uint8, -1, first_byte)
    return np.unpackbits(bits, count=first_bit + len(array), bitorder="little")[first_bit:]
