"""Properties of whole arrays: where lists end, size in bytes, number of invalid strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import types

from tfrecord_beam.kernel.reference.coordinates import coordinates, parent_indices
from tfrecord_beam.kernel.reference.utf8 import is_utf8

_BINARY = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}


def element_lengths(array: Any) -> npt.NDArray[np.int64]:
    """Returns the length of each list or string."""
    return np.diff(row_splits(array)[0])


def row_splits(array: Any) -> tuple[npt.NDArray[np.int64], int, int | None]:
    """Returns where lists end, the length of the longest, and where their values begin."""
    array = _to_storage(array)
    if not (_is_list(array.type) or _is_string(array.type)):
        raise ValueError("Expected an array of lists or strings, found another")
    offsets = _offsets(array)
    lengths = np.diff(offsets) * array.is_valid().to_numpy(zero_copy_only=False)
    splits = np.zeros(len(array) + 1, np.int64)
    splits[1:] = np.cumsum(lengths)
    first, last = int(offsets[0]), int(offsets[-1])
    return splits, int(max(lengths, default=0)), first if splits[-1] == last - first else None


def value_lists(
    array: Any,
) -> tuple[npt.NDArray[np.int64], int, npt.NDArray[Any]] | None:
    """Returns lists of numbers or strings: their row splits, the longest length, the values."""
    array = _to_storage(array)
    if not _is_list(array.type):
        return None
    values = _to_storage(array.values)
    is_string = _is_string(values.type)
    if (_bit_width(values.type) is None and not is_string) or values.null_count:
        return None
    splits, longest, first = row_splits(array)
    if first is None:
        return None
    values = values.slice(first, splits[-1]).view(_BINARY.get(values.type, values.type))
    return splits, longest, values.to_numpy(zero_copy_only=not is_string)


def sparse_lists(
    array: Any,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[np.int64]] | None:
    """Returns the same lists as the parts of a sparse tensor."""
    found = value_lists(array)
    if found is None:
        return None
    splits, longest, values = found
    return coordinates([splits]), values, np.array([len(splits) - 1, longest], np.int64)


def sparse_columns(
    values: Any, indices: Sequence[Any], sizes: Sequence[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[np.int64]] | None:
    """Returns the same for lists of values and, for each dimension, lists of their indices."""
    if len(indices) != len(sizes):
        raise ValueError("Expected a size for each column of indices, found others")
    found = value_lists(values)
    if found is None:
        return None
    splits, _, flat = found
    columns = [parent_indices(splits)]
    for column, size in zip(map(value_lists, indices), sizes, strict=True):
        if column is None or column[2].dtype != np.int64 or not np.array_equal(column[0], splits):
            return None
        end = np.iinfo(np.int64).max if size < 0 else size
        if ((column[2] < 0) | (column[2] >= end)).any():
            return None
        columns.append(column[2])
    return np.stack(columns, axis=1), flat, np.array([len(splits) - 1, *sizes], np.int64)


def byte_size(array: Any) -> int | None:
    """Returns the size of an array in bytes, None if it contains a type that is not supported."""
    array = _to_storage(array)
    data_type = array.type
    if types.is_null(data_type):
        return 0
    validity = 0 if array.buffers()[0] is None else _bytes_of_bits(len(array))
    if types.is_boolean(data_type):
        return validity + _bytes_of_bits(len(array))
    bit_width = _bit_width(data_type)
    if bit_width is not None:
        return validity + len(array) * bit_width // 8
    if types.is_struct(data_type):
        return _total(validity, *(array.field(i) for i in range(data_type.num_fields)))
    if not (_is_list(data_type) or _is_string(data_type)):
        return None
    offsets = _offsets(array)
    first, last = int(offsets[0]), int(offsets[-1])
    if _is_string(data_type):
        return validity + offsets.nbytes + last - first
    return _total(validity + offsets.nbytes, array.values.slice(first, last - first))


def count_invalid_utf8(array: Any) -> int:
    """Returns how many strings are not UTF-8."""
    array = _to_storage(array)
    if not _is_string(array.type):
        raise ValueError("Expected an array of strings, found another")
    values = array.view(_BINARY.get(array.type, array.type)).to_pylist()
    return sum(value is not None and not is_utf8(value) for value in values)


def _to_storage(array: Any) -> pa.Array:
    """Returns an array from any library as a pyarrow array; for an extension type, its storage."""
    array = pa.array(array)
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _total(size: int, *children: pa.Array) -> int | None:
    sizes = [byte_size(child) for child in children]
    return None if None in sizes else sum(filter(None, sizes), size)


def _bit_width(data_type: pa.DataType) -> int | None:
    """Returns the width of a numeric type in bits, None for other types."""
    is_number = types.is_integer(data_type) or data_type in (pa.float32(), pa.float64())
    return int(data_type.bit_width) if is_number else None


def _is_list(data_type: pa.DataType) -> bool:
    return bool(types.is_list(data_type) or types.is_large_list(data_type))


def _is_string(data_type: pa.DataType) -> bool:
    return data_type in (pa.binary(), pa.string(), pa.large_binary(), pa.large_string())


def _offsets(array: pa.Array) -> npt.NDArray[Any]:
    """Returns where each list or string begins, followed by the end of the last one."""
    is_narrow = types.is_list(array.type) or array.type in (pa.binary(), pa.string())
    dtype = np.dtype(np.int32 if is_narrow else np.int64)
    if not len(array):  # Then the buffer may be missing or empty.
        return np.zeros(1, dtype)
    buffer = array.buffers()[1]
    return np.frombuffer(buffer, dtype, len(array) + 1, array.offset * dtype.itemsize)


def _bytes_of_bits(num_bits: int) -> int:
    return (num_bits + 7) // 8
