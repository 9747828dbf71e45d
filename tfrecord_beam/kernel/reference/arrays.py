"""Properties of whole arrays: where lists end, size in bytes, number of invalid strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import types

from tfrecord_beam.kernel.reference.utf8 import is_utf8

_BINARY = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}


def element_lengths(array: Any) -> npt.NDArray[np.int64]:
    """Returns the length of each list or string."""
    return np.diff(row_splits(array)[0])


def row_splits(array: Any) -> tuple[npt.NDArray[np.int64], int, int | None]:
    """Returns where lists end, the length of the longest, and where their values begin."""
    array = to_storage(array)
    if not (is_list(array.type) or is_string(array.type)):
        raise ValueError("Expected an array of lists or strings, found another")
    offsets = _offsets(array)
    lengths = np.diff(offsets) * array.is_valid().to_numpy(zero_copy_only=False)
    splits = np.zeros(len(array) + 1, np.int64)
    splits[1:] = np.cumsum(lengths)
    first, last = int(offsets[0]), int(offsets[-1])
    return splits, int(max(lengths, default=0)), first if splits[-1] == last - first else None


def byte_size(array: Any) -> int | None:
    """Returns the size of an array in bytes, None if it contains a type that is not supported."""
    array = to_storage(array)
    data_type = array.type
    if types.is_null(data_type):
        return 0
    validity = 0 if array.buffers()[0] is None else _bytes_of_bits(len(array))
    if types.is_boolean(data_type):
        return validity + _bytes_of_bits(len(array))
    width = bit_width(data_type)
    if width is not None:
        return validity + len(array) * width // 8
    if types.is_struct(data_type):
        return _total(validity, *(array.field(i) for i in range(data_type.num_fields)))
    if not (is_list(data_type) or is_string(data_type)):
        return None
    offsets = _offsets(array)
    first, last = int(offsets[0]), int(offsets[-1])
    if is_string(data_type):
        return validity + offsets.nbytes + last - first
    return _total(validity + offsets.nbytes, array.values.slice(first, last - first))


def count_invalid_utf8(array: Any) -> int:
    """Returns how many strings are not UTF-8."""
    array = to_storage(array)
    if not is_string(array.type):
        raise ValueError("Expected an array of strings, found another")
    values = array.view(_BINARY.get(array.type, array.type)).to_pylist()
    return sum(value is not None and not is_utf8(value) for value in values)


def to_storage(array: Any) -> pa.Array:
    """Returns an array from any library as a pyarrow array; for an extension type, its storage."""
    array = pa.array(array)
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _total(size: int, *children: pa.Array) -> int | None:
    sizes = [byte_size(child) for child in children]
    return None if None in sizes else sum(filter(None, sizes), size)


def bit_width(data_type: pa.DataType) -> int | None:
    """Returns the width of a numeric type in bits, None for other types."""
    is_number = types.is_integer(data_type) or data_type in (pa.float32(), pa.float64())
    return int(data_type.bit_width) if is_number else None


def is_list(data_type: pa.DataType) -> bool:
    """Returns whether a type is `list` or `large_list`."""
    return bool(types.is_list(data_type) or types.is_large_list(data_type))


def is_string(data_type: pa.DataType) -> bool:
    """Returns whether a type is `binary`, `string` or a large one of these."""
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
