"""Makes dense tensors from a list column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tensors.columns import find_column, list_lengths
from tfrecord_beam.tensors.specs import AnyArray, DenseSpec

_KINDS = {
    "i": ("int_value", "uint_value"),
    "u": ("int_value", "uint_value"),
    "f": ("float_value",),
    "O": ("bytes_value",),
}
"""The kinds of default values allowed for each kind of dtype."""

_NULL_HINT = "give the tensor a default_value, or another representation"


class DenseConverter:
    """Makes arrays [rows, *shape] from a column in which every row has that many values.

    Args:
      name: of the tensor.
      representation: of the tensor. Its default value replaces null lists, not empty ones.
      schema: that of the batches.

    Raises:
      SchemaError: the column does not exist or has another type, or the shape or the default value
        is invalid for it.
    """

    def __init__(
        self, name: str, representation: schema_pb2.TensorRepresentation, schema: pa.Schema
    ) -> None:
        dense = representation.dense_tensor
        self._shape = tuple(dim.size for dim in dense.shape.dim)
        if min(self._shape, default=0) < 0:
            raise SchemaError(
                f"Expected a shape of sizes from 0 for dense tensor {name!r}, "
                f"found {list(self._shape)}"
            )
        self._size = math.prod(self._shape)
        self._column = find_column(schema, [dense.column_name], name, depth=1)
        self._default: Any = None
        if dense.HasField("default_value"):
            self._default = _default_value(dense.default_value, self._column.dtype, name)
        self.spec = DenseSpec(self._column.dtype, (None, *self._shape))

    def __call__(self, batch: kernel.BatchReader) -> AnyArray:
        """Returns the tensor of a batch.

        Raises:
          DecodeError: a row has the wrong number of values, or a value is null.
        """
        lists = self._column.read(batch)
        rows = len(lists.splits[0]) - 1
        if lists.longest <= self._size and len(lists.values) == rows * self._size:
            return lists.values.reshape(rows, *self._shape)
        lengths = list_lengths(lists.splits[0])
        is_wrong = lengths != self._size
        is_null = self._column.is_null(batch)
        if self._default is not None:
            is_wrong &= ~is_null
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            found = "a null list" if is_null[row] else f"one of length {lengths[row]}"
            hint = _NULL_HINT if is_null[row] else None
            raise self._column.error(f"Expected a list of length {self._size}", found, row, hint)
        tensor = np.empty((rows, self._size), self._column.dtype)
        tensor.fill(self._default)  # np.full would strip trailing zero bytes from bytes
        tensor[~is_null] = lists.values.reshape(-1, self._size)
        return tensor.reshape(rows, *self._shape)


def _default_value(default: Any, dtype: np.dtype[Any], name: str) -> Any:
    """Returns the default value for a column, after checking that it is valid for its dtype."""
    kind = default.WhichOneof("kind")
    type_name = "bytes" if dtype.kind == "O" else dtype.name
    if kind not in _KINDS[dtype.kind]:
        raise SchemaError(
            f"Expected {' or '.join(_KINDS[dtype.kind])} as the default value of {type_name} "
            f"tensor {name!r}, found {kind or 'none'}"
        )
    value = getattr(default, kind)
    if dtype.kind == "O" or not math.isfinite(value):
        return value
    low, high = _limits(dtype)
    if not low <= value <= high:
        raise SchemaError(
            f"Expected a default value in the range of {type_name} for tensor {name!r}, "
            f"found {value}"
        )
    return value


def _limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    if dtype.kind == "f":
        return float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
