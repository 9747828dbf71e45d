"""Makes sparse tensors from list columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.tensors.columns import ListColumn, Lists, find_column, list_lengths
from tfrecord_beam.tensors.specs import SparseSpec, SparseValue


class VarlenConverter:
    """Makes sparse tensors [rows, length of the longest row] from one column.

    Args:
      name: of the tensor.
      representation: of the tensor.
      schema: that of the batches.

    Raises:
      SchemaError: the column does not exist, or has another type.
    """

    def __init__(
        self, name: str, representation: schema_pb2.TensorRepresentation, schema: pa.Schema
    ) -> None:
        path = [representation.varlen_sparse_tensor.column_name]
        self._column = find_column(schema, path, name, depth=1)
        self.spec = SparseSpec(self._column.dtype, (None, None))

    def __call__(self, batch: kernel.BatchReader) -> SparseValue:
        """Returns the tensor of a batch.

        Raises:
          DecodeError: a value is null.
        """
        found = batch.sparse_lists(self._column.index)
        if found is not None:
            return SparseValue(*found)
        lists = self._column.read(batch)
        shape = np.array([len(lists.splits[0]) - 1, lists.longest], np.int64)
        return SparseValue(kernel.coordinates(lists.splits), lists.values, shape)


class SparseConverter:
    """Makes sparse tensors from a column of values and one index column for each dimension.

    Values keep their order within each row.

    Args:
      name: of the tensor.
      representation: of the tensor. A size of -1 in its shape is unknown.
      schema: that of the batches.

    Raises:
      SchemaError: a column does not exist or has another type, or the number of dimensions differs
        from the number of index columns.
    """

    def __init__(
        self, name: str, representation: schema_pb2.TensorRepresentation, schema: pa.Schema
    ) -> None:
        sparse = representation.sparse_tensor
        self._sizes = [dim.size for dim in sparse.dense_shape.dim]
        if len(self._sizes) != len(sparse.index_column_names):
            raise SchemaError(
                f"Expected a dense_shape of as many sizes as sparse tensor {name!r} has index "
                f"columns, {len(sparse.index_column_names)}, found {self._sizes}"
            )
        self._values = find_column(schema, [sparse.value_column_name], name, depth=1)
        self._indices = [
            _find_index_column(schema, column, name) for column in sparse.index_column_names
        ]
        self._index_columns = [column.index for column in self._indices]
        shape = [None if size < 0 else size for size in self._sizes]
        self.spec = SparseSpec(self._values.dtype, (None, *shape))

    def __call__(self, batch: kernel.BatchReader) -> SparseValue:
        """Returns the tensor of a batch.

        Raises:
          DecodeError: a row has more or fewer indices than values, an index is outside of the
            shape, or a value or an index is null.
        """
        found = batch.sparse_columns(self._values.index, self._index_columns, self._sizes)
        return self._read(batch) if found is None else SparseValue(*found)

    def _read(self, batch: kernel.BatchReader) -> SparseValue:
        lists = self._values.read(batch)
        (splits,) = lists.splits
        indices = [kernel.parent_indices(splits)]
        for column, size in zip(self._indices, self._sizes, strict=True):
            found = column.read(batch)
            _check_indices(found, column, size, splits)
            indices.append(found.values)
        shape = np.array([len(splits) - 1, *self._sizes], np.int64)
        coordinates = np.stack(indices, axis=1, dtype=np.int64, casting="unsafe")
        return SparseValue(coordinates, lists.values, shape)


def _find_index_column(schema: pa.Schema, name: str, tensor: str) -> ListColumn:
    column = find_column(schema, [name], tensor, depth=1)
    if column.dtype.kind not in "iu":
        raise SchemaError(
            f"Expected integers in index column {name!r} for tensor {tensor!r}, "
            f"found {schema.field(column.index).type}"
        )
    return column


def _check_indices(lists: Lists, column: ListColumn, size: int, splits: Int64Array) -> None:
    """Raises DecodeError unless there is one index in range for each value."""
    if not np.array_equal(lists.splits[0], splits):
        found, lengths = list_lengths(lists.splits[0]), list_lengths(splits)
        row = int(np.argmax(found != lengths))
        raise column.error(
            f"Expected as many indices as values, {lengths[row]},", str(found[row]), row
        )
    values = lists.values
    end = np.iinfo(np.int64).max if size < 0 else size
    is_outside = (values < 0) | (values >= end)
    if is_outside.any():
        position = int(np.argmax(is_outside))
        bound = "of at least 0" if size < 0 else f"from 0 to {size - 1}"
        row = lists.row_of_value(position)
        raise column.error(f"Expected indices {bound}", str(values[position]), row)
