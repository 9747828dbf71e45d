"""Arrow arrays of lists, strings and structs, under the names that TFXIO users know.

Slices count as what they show. Values that a null list spans count nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import check_instance, check_int, describe
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.tensors.lists import offsets_of_parents

_Offsets = np.ndarray[Any, np.dtype[Any]]

_UTF8 = (
    r"\A(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    r"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    r"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*\z"
)
"""Well-formed byte sequences: table 3-7 of the Unicode standard."""


def is_list_like(data_type: pa.DataType) -> bool:
    """Returns whether a type is `list` or `large_list`."""
    check_instance("data_type", data_type, pa.DataType)
    return pa.types.is_list(data_type) or pa.types.is_large_list(data_type)


def is_binary_like(data_type: pa.DataType) -> bool:
    """Returns whether a type is `binary`, `string` or a large one of these."""
    return _is_small_binary(data_type) or _is_large_binary(data_type)


def get_innermost_nested_type(arrow_type: pa.DataType) -> pa.DataType:
    """Returns the type of what lists hold, at any depth."""
    while is_list_like(arrow_type):
        arrow_type = arrow_type.value_type
    return arrow_type


def GetElementLengths(array: pa.Array) -> pa.Array:
    """Returns as `int64` how long each list or string is; 0 for a null."""
    return pa.array(_lengths(array).astype(np.int64, copy=False))


ListLengthsFromListArray = GetElementLengths
"""The name that it had before it took strings."""


def GetFlattenedArrayParentIndices(array: pa.Array) -> pa.Array:
    """Returns of each value in `array.flatten()` the index of the list that it is in.

    They are `int32` for a `list`, `int64` for a `large_list`.
    """
    _check(array, "a list array", is_list_like)
    return pa.array(_parent_indices(array))


def GetArrayNullBitmapAsByteArray(array: pa.Array) -> pa.Array:
    """Returns as `uint8` 1 for each null, 0 for all else."""
    _check(array, "an array")
    return pa.array(_validity(array) ^ 1)


def GetBinaryArrayTotalByteSize(array: pa.Array) -> int:
    """Returns how many bytes the strings of an array have, without their offsets."""
    _check(array, "an array of strings", is_binary_like)
    offsets = _offsets(array)
    return int(offsets[-1] - offsets[0])


def GetByteSize(array: pa.Array) -> int:
    """Returns how many bytes an array takes: values, offsets and validity, each of the slice.

    Raises:
      SchemaError: it holds something else than integers, float32 or float64, bools, strings,
        nulls, and lists and structs of these.
    """
    _check(array, "an array")
    data_type = array.type
    if pa.types.is_null(data_type):
        return 0
    num_bytes = 0 if array.buffers()[0] is None else _bytes_of_bits(len(array))
    if pa.types.is_boolean(data_type):
        return num_bytes + _bytes_of_bits(len(array))
    if pa.types.is_integer(data_type) or data_type in (pa.float32(), pa.float64()):
        return num_bytes + len(array) * (data_type.bit_width // 8)
    if pa.types.is_struct(data_type):
        return num_bytes + sum(GetByteSize(array.field(i)) for i in range(data_type.num_fields))
    if not is_list_like(data_type) and not is_binary_like(data_type):
        raise _unsupported("integers, float32 or float64, bools, strings, lists or structs", array)
    offsets = _offsets(array)
    first, last = int(offsets[0]), int(offsets[-1])
    num_bytes += offsets.nbytes
    if is_list_like(data_type):
        return num_bytes + GetByteSize(array.values.slice(first, last - first))
    return num_bytes + last - first


def IndexIn(values: pa.Array, value_set: pa.Array) -> pa.Array:
    """Returns as `int32` where each value first stands in `value_set`, null if nowhere."""
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
    _check(list_array, "a list array", is_list_like)
    _check(
        fill_with, f"an array of {list_array.type.value_type}", list_array.type.value_type.equals
    )
    if list_array.null_count == 0:
        return list_array
    filling = type(list_array).from_arrays([0, len(fill_with)], fill_with, type=list_array.type)
    rows = np.where(_validity(list_array), np.arange(len(list_array)), len(list_array))
    # Eight times as fast as `pc.coalesce`, which knows no lists of nulls either.
    return pa.concat_arrays([list_array, filling]).take(pa.array(rows))


def CooFromListArray(list_array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Returns where the values of nested lists are, as a sparse tensor has it.

    Returns:
      The indices of value 0, those of value 1, ..., flat, and the shape that has room for all
      lists; both `int64`. An array that is not of lists is a tensor of one dimension.
    """
    _check(list_array, "an array")
    shape = [len(list_array)]
    levels = []
    while is_list_like(list_array.type):
        lengths = _lengths(list_array)
        shape.append(int(lengths.max(initial=0)))
        parents = _parent_indices(list_array)
        positions = np.arange(len(parents))
        positions -= (np.cumsum(lengths) - lengths)[parents]
        levels.append((parents, positions))
        list_array = list_array.flatten()
    coo = np.empty((len(list_array), len(shape)), np.int64)
    ancestors: Any = slice(None)  # of each value, at first itself
    for dimension, (parents, positions) in reversed([*enumerate(levels, start=1)]):
        coo[:, dimension] = positions[ancestors]
        ancestors = parents[ancestors]
    coo[:, 0] = ancestors if levels else np.arange(len(list_array))
    return pa.array(coo.reshape(-1)), pa.array(shape, pa.int64())


def CountInvalidUTF8(array: pa.Array) -> int:
    """Returns how many strings are not UTF-8; a null is none of them."""
    _check(array, "an array of strings", is_binary_like)
    is_large = _is_large_binary(array.type)
    if not pa.types.is_binary(array.type) and not pa.types.is_large_binary(array.type):
        array = array.view(pa.large_binary() if is_large else pa.binary())
    try:
        array.cast(pa.large_string() if is_large else pa.string())
    except pa.ArrowInvalid:  # which tells of one of them only
        return int(pc.match_substring_regex(array, _UTF8).false_count)
    return 0


def MakeListArrayFromParentIndicesAndValues(
    num_parents: int, parent_indices: pa.Array, values: pa.Array, empty_list_as_null: bool = True
) -> pa.Array:
    """Returns a `large_list` array of values that say which list they are in.

    Args:
      num_parents: how many lists there are.
      parent_indices: `int64`, ascending, one for each value.
      values: of any type; not copied.
      empty_list_as_null: whether a list without values is null and not empty.
    """
    check_int("num_parents", num_parents, least=0)
    _check(parent_indices, "int64 parent indices", pa.types.is_int64)
    _check(values, "an array")
    if len(parent_indices) != len(values) or parent_indices.null_count:
        raise SchemaError(
            f"Expected a parent index for each of {len(values)} values, found "
            f"{len(parent_indices) - parent_indices.null_count}"
        )
    offsets = offsets_of_parents(parent_indices.to_numpy(), num_parents)
    nulls = pa.array(offsets[1:] == offsets[:-1]) if empty_list_as_null else None
    return pa.LargeListArray.from_arrays(offsets, values, mask=nulls)


def ToSingletonListArray(array: pa.Array) -> pa.Array:
    """Returns a `large_list` array with a list of one for each value, null for a null."""
    _check(array, "an array")
    if array.null_count == 0:
        return pa.LargeListArray.from_arrays(np.arange(len(array) + 1), array)
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(_validity(array), out=offsets[1:])
    return pa.LargeListArray.from_arrays(offsets, array.drop_null(), mask=array.is_null())


def flatten_nested(
    array: pa.Array, return_parent_indices: bool = False
) -> tuple[pa.Array, Int64Array | None]:
    """Returns what lists hold, at any depth, and on request the row that each value is of.

    An array that is not of lists comes back as it is.
    """
    _check(array, "an array")
    rows: Any = None
    while is_list_like(array.type):
        if return_parent_indices:
            parents = _parent_indices(array)
            rows = parents if rows is None else rows[parents]
        array = array.flatten()
    if return_parent_indices and rows is None:
        rows = np.arange(len(array))
    return array, rows


def get_field(struct_array: pa.StructArray, field: str | int) -> pa.Array:
    """Returns a field of structs, null where the struct is null.

    Args:
      struct_array: the structs.
      field: its name or index.

    Raises:
      FieldNotFoundError: there is no such field.
    """
    _check(struct_array, "an array of structs", pa.types.is_struct)
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
    """There is no such column or field; also a KeyError, as users of TFXIO know it."""


def _is_small_binary(data_type: pa.DataType) -> bool:
    return pa.types.is_binary(data_type) or pa.types.is_string(data_type)


def _is_large_binary(data_type: pa.DataType) -> bool:
    return pa.types.is_large_binary(data_type) or pa.types.is_large_string(data_type)


def _check(array: Any, expected: str, *is_expected: Callable[[pa.DataType], bool]) -> None:
    """Raises SchemaError unless `array` is an Arrow array of an expected type."""
    if not isinstance(array, pa.Array) or not all(holds(array.type) for holds in is_expected):
        raise _unsupported(expected, array)


def _unsupported(expected: str, array: Any) -> SchemaError:
    found = array.type if isinstance(array, pa.Array) else type(array).__name__
    return SchemaError(f"Expected {expected}, found {found}")


def _bytes_of_bits(num_bits: int) -> int:
    return (num_bits + 7) // 8


def _offsets(array: pa.Array) -> _Offsets:
    """Returns where each list or string begins, and at last where the last one ends."""
    is_large = pa.types.is_large_list(array.type) or _is_large_binary(array.type)
    dtype = np.dtype(np.int64 if is_large else np.int32)
    buffer = array.buffers()[1]
    if not len(array):  # Then there may be no buffer, or one that is empty.
        return np.zeros(1, dtype)
    return np.frombuffer(buffer, dtype, len(array) + 1, array.offset * dtype.itemsize)


def _validity(array: pa.Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Returns 0 for each null, 1 for all else."""
    if array.null_count == 0:
        return np.ones(len(array), np.uint8)
    bitmap = array.buffers()[0]
    if bitmap is None:  # Of a type without one, in which all are null.
        return np.zeros(len(array), np.uint8)
    first_byte, first_bit = divmod(array.offset, 8)
    bits = np.frombuffer(bitmap, np.uint8, offset=first_byte)
    return np.unpackbits(bits, count=first_bit + len(array), bitorder="little")[first_bit:]


def _lengths(array: pa.Array) -> _Offsets:
    """Returns how long each list or string is, as int32 or, if it is a large one, int64."""
    _check(array, "an array of lists or strings", lambda t: is_list_like(t) or is_binary_like(t))
    lengths = np.diff(_offsets(array))
    if array.null_count:
        lengths *= _validity(array)
    return lengths


def _parent_indices(array: pa.Array) -> _Offsets:
    lengths = _lengths(array)
    return np.repeat(np.arange(len(array), dtype=lengths.dtype), lengths)
