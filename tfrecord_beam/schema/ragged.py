"""Stores ragged tensors as features: the values in one, row lengths in others.

A column of lists of lists is one tensor with several ragged dimensions. A record holds it in the
form that TFX reads (`TensorRepresentation.RaggedTensor`): all values in the feature that
`feature_path` names and, for each `row_length` partition, outermost first, the lengths of the lists
at that depth in the feature that it names. A uniform partition has no list level of its own: its
rows are contiguous in the lists of the partition before it, whose lengths count each such row as
one element.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import EncodeError, Location, SchemaError
from tfrecord_beam.schema.encoding import NullValues, convert
from tfrecord_beam.schema.lists import list_depth


class RowLengths(NamedTuple):
    """The feature that holds the lengths of the lists at one depth.

    Attributes:
      name: of the feature.
      unit: how many elements of such a list count as one, due to uniform partitions after it.
    """

    name: str
    unit: int = 1


@dataclasses.dataclass(frozen=True)
class RaggedColumn:
    """The features that hold the column of a ragged tensor.

    Attributes:
      path: the path of the values; a feature's name if it has one step.
      row_lengths: the features with row lengths, outermost first.
    """

    path: tuple[str, ...]
    row_lengths: tuple[RowLengths, ...]

    @property
    def names(self) -> list[str]:
        """The names of all features, that of the values first."""
        return [*self.path, *(lengths.name for lengths in self.row_lengths)]


def ragged_columns(schema: schema_pb2.Schema) -> dict[str, RaggedColumn]:
    """Returns the ragged tensors of all groups by their names, which are those of the columns.

    Raises:
      SchemaError: two groups represent one tensor in different ways.
    """
    found: dict[str, RaggedColumn] = {}
    for group in schema.tensor_representation_group.values():
        for name, representation in group.tensor_representation.items():
            if not representation.HasField("ragged_tensor"):
                continue
            column = _ragged_column(representation.ragged_tensor)
            if found.setdefault(name, column) != column:
                raise SchemaError(
                    f"Expected one ragged representation of tensor {name!r}, found several"
                )
    return found


def _ragged_column(ragged: schema_pb2.TensorRepresentation.RaggedTensor) -> RaggedColumn:
    row_lengths: list[RowLengths] = []
    for partition in ragged.partition:
        if partition.HasField("row_length"):
            row_lengths.append(RowLengths(partition.row_length))
        elif row_lengths:
            name, unit = row_lengths[-1]
            row_lengths[-1] = RowLengths(name, unit * partition.uniform_row_length)
    return RaggedColumn(tuple(ragged.feature_path.step), tuple(row_lengths))


def split_ragged(
    name: str, column: pa.Array, ragged: RaggedColumn, null_values: NullValues = "error"
) -> dict[str, pa.Array]:
    """Returns the features of a ragged tensor by name: its values, then its row lengths.

    >>> column = pa.array([[[1, 2], []], None])
    >>> features = split_ragged("x", column, RaggedColumn(("values",), (RowLengths("lengths"),)))
    >>> {name: array.to_pylist() for name, array in features.items()}
    {'values': [[1, 2], None], 'lengths': [[2, 0], None]}

    Unless null values are dropped or filled, a null among inner lists has a null length, which is
    an error once it is encoded.

    Args:
      name: of the column, for error texts.
      column: rows that are lists, with one more level of nesting for each row length.
      ragged: how they are represented.
      null_values: how to handle a null in a list; a null inner list is filled as an empty one.

    Raises:
      SchemaError: the path of the values has not exactly one step, lists are nested to another
        depth, two features have the same name, or `convert` rejects the values.
      EncodeError: a value that no feature can hold, or a list that is not made of whole uniform
        rows.
    """
    if len(ragged.path) != 1:
        raise SchemaError(
            f"Expected the values of ragged tensor {name!r} in a feature of their own, "
            f"found the path {'.'.join(ragged.path)!r}"
        )
    if len(set(ragged.names)) != len(ragged.names):
        raise SchemaError(
            f"Expected features of different names for ragged tensor {name!r}, found {ragged.names}"
        )
    if pt.is_null(column.type):
        return dict.fromkeys(ragged.names, column)
    _check_depth(name, column.type, ragged)
    nulls = column.is_null()
    lists = convert(name, column, null_values)
    features: list[pa.Array] = []
    for row_lengths in ragged.row_lengths:
        inner = lists.values
        lengths = _count(name, lists, row_lengths.unit)
        features.append(pa.LargeListArray.from_arrays(lists.offsets, lengths, mask=nulls))
        # A row ends where its last inner list ends.
        ends = inner.offsets.take(lists.offsets)
        lists = pa.LargeListArray.from_arrays(ends, inner.values, mask=nulls)
    return dict(zip(ragged.names, [lists, *features], strict=True))


def _count(name: str, lists: pa.LargeListArray, unit: int) -> pa.Array:
    """Returns the length of each inner list, counted in units."""
    lengths = pc.list_value_length(lists.values)
    if unit == 1:
        return lengths
    if unit < 1:
        raise SchemaError(
            f"Expected uniform_row_length of at least 1 for ragged tensor {name!r}, found less"
        )
    counts = pc.divide(lengths, unit)
    wrong = pc.index(pc.equal(pc.multiply(counts, unit), lengths), False).as_py()
    if wrong >= 0:
        row = int(np.searchsorted(lists.offsets.to_numpy(), wrong, side="right")) - 1
        raise EncodeError(
            f"Expected lists of a multiple of {unit} elements in ragged tensor {name!r}, "
            f"found one of {lengths[wrong]}",
            Location(record=row, feature=name),
        )
    return counts


def _check_depth(name: str, data_type: pa.DataType, ragged: RaggedColumn) -> None:
    expected = 1 + len(ragged.row_lengths)
    depth = list_depth(data_type)
    if depth != expected:
        raise SchemaError(
            f"Expected lists nested {expected} deep for ragged tensor {name!r}, "
            f"found {depth} in {data_type}",
            Location(feature=name),
            hint="each row_length partition in the schema stands for one level of lists",
        )
