"""Makes ragged tensors from list columns, which may be nested and inside structs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.schema.column_path import ColumnPath
from tfrecord_beam.schema.representations import source_value_column
from tfrecord_beam.tensors.columns import (
    ListColumn,
    Lists,
    find_column,
    find_row,
    list_lengths,
    to_splits,
)
from tfrecord_beam.tensors.specs import AnyArray, RaggedSpec, RaggedValue


class RaggedConverter:
    """Makes ragged tensors from the lists of one column, which partitions may split further.

    Each level of lists is a ragged dimension, and so is each partition, except that uniform row
    lengths at the end of the partitions become inner dimensions of the values.

    Args:
      name: of the tensor.
      representation: of the tensor.
      schema: that of the batches.

    Raises:
      SchemaError: the column or one of row lengths does not exist or has another type, or a uniform
        row length is not positive.
    """

    def __init__(
        self, name: str, representation: schema_pb2.TensorRepresentation, schema: pa.Schema
    ) -> None:
        ragged = representation.ragged_tensor
        path = source_value_column(representation)
        self._column = find_column(schema, path, name)
        partitions = [_find_partition(schema, p, path, self._column) for p in ragged.partition]
        inner_shape: list[int] = []
        while partitions and isinstance(size := partitions[-1], int):
            inner_shape.insert(0, size)
            partitions.pop()
        self._partitions = partitions
        self._inner_shape = tuple(inner_shape)
        self._is_int32 = ragged.row_partition_dtype == schema_pb2.TensorRepresentation.INT32
        rank = self._column.depth + len(self._partitions)
        self.spec = RaggedSpec(
            self._column.dtype,
            (None,) * (1 + rank) + self._inner_shape,
            rank,
            np.dtype(np.int32 if self._is_int32 else np.int64),
        )

    def __call__(self, batch: kernel.BatchReader) -> RaggedValue:
        """Returns the tensor of a batch.

        Raises:
          DecodeError: the values of a row cannot be split into the partitions, a value or a row
            length is null, or a split is too large for int32.
        """
        lists = self._column.read(batch)
        splits = lists.splits
        if self._partitions or self._inner_shape:
            splits = self._partition(batch, lists)
        if self._is_int32:
            splits = tuple(self._to_int32(one, lists) for one in splits)
        values = lists.values
        if self._inner_shape:
            values = values.reshape(-1, *self._inner_shape)
        return RaggedValue(values, splits)

    def _partition(self, batch: kernel.BatchReader, lists: Lists) -> tuple[AnyArray, ...]:
        """Returns all row splits; the partitions are applied from the innermost outwards."""
        counts = list_lengths(lists.splits[-1])  # of the elements in each list of the column
        counts = self._divide(lists, counts, math.prod(self._inner_shape))
        inner: list[AnyArray] = []
        for partition in reversed(self._partitions):
            if isinstance(partition, int):
                inner.append(np.arange(0, counts.sum() + 1, partition))
                counts = self._divide(lists, counts, partition)
            else:
                lengths = partition.read(batch)
                inner.append(to_splits(lengths.values))
                counts = _sum_lengths(partition, lengths, lists, counts)
        return (*lists.splits[:-1], to_splits(counts), *reversed(inner))

    def _divide(self, lists: Lists, counts: Int64Array, size: int) -> Int64Array:
        """Returns how many groups of `size` there are in each list."""
        if size == 1:
            return counts
        groups, rest = np.divmod(counts, size)
        if rest.any():
            position = int(np.argmax(rest != 0))
            raise self._column.error(
                f"Expected lists that can be cut into rows of {size}",
                f"one of {counts[position]}",
                lists.row_of_list(position),
            )
        return groups

    def _to_int32(self, splits: AnyArray, lists: Lists) -> AnyArray:
        if splits[-1] > np.iinfo(np.int32).max:
            raise self._column.error(
                "Expected no more values than int32 row splits can count",
                f"{splits[-1]}",
                len(lists.splits[0]) - 2,
                "let the row_partition_dtype be INT64, or make batches of fewer rows",
            )
        return splits.astype(np.int32)


def _find_partition(
    schema: pa.Schema, partition: Any, path: ColumnPath, values: ListColumn
) -> int | ListColumn:
    """Returns a uniform row length, or the column of row lengths in the struct of the values."""
    if not partition.HasField("row_length"):
        if partition.uniform_row_length < 1:
            raise SchemaError(
                "Expected a row_length, or a uniform_row_length of at least 1, for ragged tensor "
                f"{values.tensor!r}, found {partition.uniform_row_length}"
            )
        return int(partition.uniform_row_length)
    column = find_column(
        schema, (*path[:-1], partition.row_length), values.tensor, depth=values.depth
    )
    if column.dtype.kind not in "iu":
        raise SchemaError(
            f"Expected integers in column {column.name!r} of row lengths for tensor "
            f"{column.tensor!r}, found {column.value_type}"
        )
    return column


def _sum_lengths(
    column: ListColumn, lengths: Lists, lists: Lists, counts: Int64Array
) -> Int64Array:
    """Returns how many row lengths each list has, after checking that they sum up to its length."""
    for level, (found, expected) in enumerate(zip(lengths.splits[:-1], lists.splits, strict=False)):
        if not np.array_equal(found, expected):
            position = int(np.argmax(list_lengths(found) != list_lengths(expected)))
            row = find_row(lists.splits[:level], position)
            raise column.error("Expected as many lists as there are of values", "others", row)
    if len(lengths.values) and lengths.values.min() < 0:
        position = int(np.argmax(lengths.values < 0))
        row = lengths.row_of_value(position)
        raise column.error("Expected row lengths of at least 0", f"{lengths.values[position]}", row)
    sums = list_lengths(to_splits(lengths.values)[lengths.splits[-1]])
    if not np.array_equal(sums, counts):
        position = int(np.argmax(sums != counts))
        row = lengths.row_of_list(position)
        raise column.error(
            f"Expected row lengths that sum up to {counts[position]}", f"{sums[position]}", row
        )
    return list_lengths(lengths.splits[-1])
