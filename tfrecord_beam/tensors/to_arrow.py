"""Converts tensors to columns of record batches, with representations that convert them back.

This module does not need TensorFlow: it converts the parts of a tensor to numpy arrays, which works
for eager tensors, their ``...Value`` tuples and plain arrays. Numbers are not copied.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.schema.lists import make_lists
from tfrecord_beam.tensors.specs import AnyArray


class TensorMismatchError(SchemaError, TypeError):
    """A tensor does not match its specification; also a TypeError, which users of TFXIO expect."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TensorColumns(abc.ABC):
    """Converts one tensor to columns of a batch.

    Attributes:
      name: name of the tensor.
      spec: the specification, as error texts show it.
      dtype: type of its elements; object for strings.
    """

    name: str
    spec: str
    dtype: np.dtype[Any]

    @property
    def value_type(self) -> pa.DataType:
        """The Arrow type of the elements: that of numpy, `large_binary` for strings."""
        return pa.large_binary() if self.dtype == object else pa.from_numpy_dtype(self.dtype)

    @abc.abstractmethod
    def fields(self) -> list[pa.Field]:
        """Returns name and type of each column."""

    @abc.abstractmethod
    def representation(self) -> schema_pb2.TensorRepresentation:
        """Returns the representation that makes the tensor from these columns."""

    @abc.abstractmethod
    def convert(self, tensor: Any) -> list[pa.Array]:
        """Returns the columns, in the order of `fields`.

        Raises:
          TensorMismatchError: the tensor does not have the expected kind, element type or shape.
          SchemaError: the parts of the tensor are inconsistent, or columns cannot express it.
        """

    def _elements(self, tensor: Any) -> AnyArray:
        """Returns a dense tensor, or a part of a sparse or ragged one, as an array."""
        if self.dtype == object and isinstance(tensor, Sequence):
            return np.asarray(tensor, object)  # dtype "S" would strip trailing zero bytes
        return np.asarray(tensor)

    def _values(self, elements: AnyArray) -> pa.Array:
        """Returns the elements as a flat array."""
        is_string = elements.dtype.kind in "OSU"
        if elements.dtype != self.dtype and not (is_string and self.dtype == object):
            raise self._mismatch(_describe(elements))
        if elements.dtype.kind in "SU":
            elements = elements.astype(object)  # pyarrow reads U as UTF-32 bytes, or rejects both
        try:
            values = pa.array(elements.reshape(-1), self.value_type)
        except (pa.ArrowException, TypeError) as error:
            raise self._mismatch(f"elements that are none ({error})") from error
        if values.null_count:
            raise self._mismatch("None among its elements")
        return values

    def _mismatch(self, found: str) -> TensorMismatchError:
        return TensorMismatchError(f"Expected {self.spec} for tensor {self.name!r}, found {found}")

    def _fault(self, expected: str, found: str, hint: str | None = None) -> SchemaError:
        return SchemaError(f"Expected {expected} in tensor {self.name!r}, found {found}", hint=hint)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DenseColumn(TensorColumns):
    """A dense tensor: one list per row, with the elements in row-major order.

    Attributes:
      shape: sizes of the dimensions after that of the batch.
    """

    shape: tuple[int, ...]

    def fields(self) -> list[pa.Field]:
        return [pa.field(self.name, pa.large_list(self.value_type))]

    def representation(self) -> schema_pb2.TensorRepresentation:
        shape = {"shape": {"dim": [{"size": size} for size in self.shape]}} if self.shape else {}
        return schema_pb2.TensorRepresentation(dense_tensor={"column_name": self.name, **shape})

    def convert(self, tensor: Any) -> list[pa.Array]:
        elements = self._elements(tensor)
        if elements.shape[1:] != self.shape or not elements.ndim:
            raise self._mismatch(_describe(elements))
        size = math.prod(self.shape)
        offsets = (
            np.arange(0, elements.size + 1, size) if size else np.zeros(len(elements) + 1, int)
        )
        return [make_lists(offsets, self._values(elements))]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RaggedColumn(TensorColumns):
    """A ragged tensor: nested lists, with the elements of uniform inner dimensions flattened.

    Attributes:
      ragged_rank: depth of the lists.
      inner_shape: sizes of the uniform dimensions within the innermost lists.
      row_splits_dtype: type of the tensor's row splits, int32 or int64.
    """

    ragged_rank: int
    inner_shape: tuple[int, ...]
    row_splits_dtype: np.dtype[Any]

    def fields(self) -> list[pa.Field]:
        data_type = self.value_type
        for _ in range(self.ragged_rank):
            data_type = pa.large_list(data_type)
        return [pa.field(self.name, data_type)]

    def representation(self) -> schema_pb2.TensorRepresentation:
        return schema_pb2.TensorRepresentation(
            ragged_tensor={
                "feature_path": {"step": [self.name]},
                "partition": [{"uniform_row_length": size} for size in self.inner_shape],
                "row_partition_dtype": self.row_splits_dtype.name.upper(),
            }
        )

    def convert(self, tensor: Any) -> list[pa.Array]:
        all_splits: list[AnyArray] = []
        for _ in range(self.ragged_rank):
            if not hasattr(tensor, "row_splits"):
                raise self._mismatch(f"a tensor of ragged rank {len(all_splits)}")
            all_splits.append(np.asarray(tensor.row_splits))
            tensor = tensor.values
        elements = self._elements(tensor)
        if elements.shape[1:] != self.inner_shape or not elements.ndim:
            raise self._mismatch(f"flat values that are {_describe(elements)}")
        column, length = self._values(elements), len(elements)
        inner_size = math.prod(self.inner_shape)
        for splits in reversed(all_splits):
            self._check_splits(splits, length)
            offsets = splits if inner_size == 1 else splits * inner_size
            column = make_lists(offsets.astype(np.int64, copy=False), column)
            length, inner_size = len(column), 1
        return [column]

    def _check_splits(self, splits: AnyArray, length: int) -> None:
        if splits.dtype != self.row_splits_dtype or splits.ndim != 1 or not len(splits):
            raise self._mismatch(f"row splits that are {_describe(splits)}")
        if splits[0] != 0 or splits[-1] != length:
            raise self._fault(f"row splits from 0 to {length}", f"{splits[0]} to {splits[-1]}")
        if (splits[1:] < splits[:-1]).any():
            raise self._fault("row splits that ascend", "one below that before it")


class _Parts(NamedTuple):
    """The parts of a sparse tensor.

    Attributes:
      indices: int64 [values, rank].
      values: in row order.
      offsets: of the rows in the values.
      without_gaps: whether the last indices are 0, 1, 2, ... in each row.
    """

    indices: AnyArray
    values: pa.Array
    offsets: Int64Array
    without_gaps: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Sparse(TensorColumns):
    """The common part of the kinds of sparse tensors.

    Attributes:
      shape: sizes of the dimensions after that of the batch, None if unknown.
    """

    shape: tuple[int | None, ...]

    def _parts(self, tensor: Any) -> _Parts:
        if not hasattr(tensor, "dense_shape"):
            raise self._mismatch(_describe(np.asarray(tensor)))
        indices, elements = np.asarray(tensor.indices), self._elements(tensor.values)
        num_rows, *sizes = np.asarray(tensor.dense_shape).tolist()
        known = zip(self.shape, sizes, strict=False)
        rank = len(self.shape) + 1
        if len(sizes) != len(self.shape) or any(a not in (None, b) for a, b in known):
            raise self._mismatch(f"one of dense shape {[num_rows, *sizes]}")
        if indices.shape != (len(elements), rank) or indices.dtype != np.int64:
            raise self._fault(f"int64 indices of shape {[len(elements), rank]}", _describe(indices))
        found = None
        if num_rows >= 0:
            found = kernel.splits_of_coordinates(indices, [num_rows, *sizes])
        if found is None:
            raise self._bad_indices(indices, num_rows, sizes)
        return _Parts(indices, self._values(elements), *found)

    def _bad_indices(self, indices: AnyArray, num_rows: int, sizes: Sequence[int]) -> SchemaError:
        outside = ((indices[:, 1:] < 0) | (indices[:, 1:] >= sizes)).any(axis=1)
        if outside.any():
            return self._fault(
                f"indices within the dense shape {[num_rows, *sizes]}",
                str(indices[np.argmax(outside)].tolist()),
            )
        return self._fault(
            f"indices in order of rows below {num_rows}",
            "others",
            "put them in order with tf.sparse.reorder",
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class VarLenColumn(_Sparse):
    """A sparse tensor whose rows have values from the left without gaps: one list per row.

    The size of the second dimension is not kept: converted back, it is the length of the longest
    row.
    """

    def fields(self) -> list[pa.Field]:
        return [pa.field(self.name, pa.large_list(self.value_type))]

    def representation(self) -> schema_pb2.TensorRepresentation:
        return schema_pb2.TensorRepresentation(varlen_sparse_tensor={"column_name": self.name})

    def convert(self, tensor: Any) -> list[pa.Array]:
        indices, values, offsets, without_gaps = self._parts(tensor)
        if not without_gaps:
            raise self._gap(indices, offsets)
        return [make_lists(offsets, values)]

    def _gap(self, indices: Int64Array, offsets: Int64Array) -> SchemaError:
        positions = np.arange(len(indices)) - np.repeat(offsets[:-1], np.diff(offsets))
        first = np.flatnonzero(indices[:, 1] != positions)[0]
        return self._fault(
            f"index {[int(indices[first, 0]), int(positions[first])]} next, in rows without gaps "
            "from the left,",
            str(indices[first].tolist()),
            "name the tensor in generic_sparse_tensor_names to keep positions",
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class SparseColumns(_Sparse):
    """Any sparse tensor: the values of each row, and their indices by dimension.

    Attributes:
      value_column: name of the column of values.
      index_columns: names of the index columns, one for each dimension except that of the batch.
    """

    value_column: str
    index_columns: tuple[str, ...]

    def fields(self) -> list[pa.Field]:
        values = pa.field(self.value_column, pa.large_list(self.value_type))
        indices = [pa.field(name, pa.large_list(pa.int64())) for name in self.index_columns]
        return [values, *indices]

    def representation(self) -> schema_pb2.TensorRepresentation:
        dims = [{"size": -1 if size is None else size} for size in self.shape]
        return schema_pb2.TensorRepresentation(
            sparse_tensor={
                "dense_shape": {"dim": dims},
                "value_column_name": self.value_column,
                "index_column_names": self.index_columns,
            }
        )

    def convert(self, tensor: Any) -> list[pa.Array]:
        indices, values, offsets, _ = self._parts(tensor)
        columns = [values, *(pa.array(column) for column in indices.T[1:])]
        return [make_lists(offsets, column) for column in columns]


def columns_schema(columns: Sequence[TensorColumns]) -> pa.Schema:
    """Returns the schema of the batches that `convert_tensors` returns.

    Raises:
      SchemaError: two columns have the same name.
    """
    tensor_of: dict[str, str] = {}
    for tensor in columns:
        for field in tensor.fields():
            if field.name in tensor_of:
                raise SchemaError(
                    f"Expected columns of different names, found {field.name!r} for the tensors "
                    f"{tensor_of[field.name]!r} and {tensor.name!r}"
                )
            tensor_of[field.name] = tensor.name
    return pa.schema([field for tensor in columns for field in tensor.fields()])


def convert_tensors(
    columns: Sequence[TensorColumns], schema: pa.Schema, tensors: Mapping[str, Any]
) -> pa.RecordBatch:
    """Returns the tensors as one batch.

    Args:
      columns: how each tensor becomes columns.
      schema: the result of `columns_schema` for them.
      tensors: by name.

    Raises:
      TensorMismatchError: a tensor does not match its specification.
      SchemaError: a tensor is missing or unknown, or batch sizes differ.
    """
    names = [tensor.name for tensor in columns]
    if set(names) != set(tensors):
        raise SchemaError(f"Expected the tensors {names}, found {sorted(tensors)}")
    arrays = []
    for tensor in columns:
        arrays += tensor.convert(tensors[tensor.name])
        if len(arrays[-1]) != len(arrays[0]):
            raise SchemaError(
                f"Expected tensors of one batch size, found {len(arrays[0])} for tensor "
                f"{names[0]!r} and {len(arrays[-1])} for tensor {tensor.name!r}"
            )
    return pa.record_batch(arrays, schema=schema)


def _describe(array: AnyArray) -> str:
    return f"{array.dtype} of shape {list(array.shape)}"
