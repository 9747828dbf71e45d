"""Ragged tensors as features: the values in one, the lengths of rows in others.

A column of lists of lists is one tensor with several ragged dimensions. A record holds it as TFX
reads it (`TensorRepresentation.RaggedTensor`): all values in the feature that `feature_path` names,
and for each `row_length` partition, from the outermost one on, the lengths of the lists at that
depth in the feature that it names. Uniform partitions hold nothing: their dimensions are not lists.
"""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import Location, SchemaError
from tfrecord_beam.schema.encoding import convert, is_list


@dataclasses.dataclass(frozen=True)
class RaggedColumn:
    """Which features hold the column of a ragged tensor.

    Attributes:
      path: the path of the values; a feature's name if it has one step.
      row_lengths: the names of the features with row lengths, outermost first.
    """

    path: tuple[str, ...]
    row_lengths: tuple[str, ...]


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
            ragged = representation.ragged_tensor
            lengths = [p.row_length for p in ragged.partition if p.HasField("row_length")]
            column = RaggedColumn(tuple(ragged.feature_path.step), tuple(lengths))
            if found.setdefault(name, column) != column:
                raise SchemaError(
                    f"Expected one ragged representation of tensor {name!r}, found several"
                )
    return found


def split_ragged(name: str, column: pa.Array, ragged: RaggedColumn) -> dict[str, pa.Array]:
    """Returns the features of a ragged tensor by name: its values, then its row lengths.

    >>> column = pa.array([[[1, 2], []], None])
    >>> features = split_ragged("x", column, RaggedColumn(("values",), ("lengths",)))
    >>> {name: array.to_pylist() for name, array in features.items()}
    {'values': [[1, 2], None], 'lengths': [[2, 0], None]}

    A null among inner lists has a null length, which is an error once it is encoded.

    Args:
      name: of the column, for error texts.
      column: rows that are lists, nested once more for each row length.
      ragged: how they are represented.

    Raises:
      SchemaError: the values are in a struct or nowhere, lists are nested to another depth, two
        features have one name, or what `convert` refuses.
      EncodeError: a value that no feature can hold, with its row.
    """
    if len(ragged.path) != 1:
        raise SchemaError(
            f"Expected the values of ragged tensor {name!r} in a feature of their own, "
            f"found the path {'.'.join(ragged.path)!r}"
        )
    if pt.is_null(column.type):
        return dict.fromkeys((*ragged.path, *ragged.row_lengths), column)
    _check_depth(name, column.type, ragged)
    nulls = column.is_null()
    lists = convert(name, column)
    features: dict[str, pa.Array] = {}
    for row_length in ragged.row_lengths:
        inner = lists.values
        features[row_length] = pa.LargeListArray.from_arrays(
            lists.offsets, pc.list_value_length(inner), mask=nulls
        )
        # A row ends where its last inner list does.
        ends = inner.offsets.take(lists.offsets)
        lists = pa.LargeListArray.from_arrays(ends, inner.values, mask=nulls)
    if len({*ragged.row_lengths, *ragged.path}) != len(ragged.row_lengths) + 1:
        raise SchemaError(
            f"Expected features of different names for ragged tensor {name!r}, "
            f"found {[*ragged.path, *ragged.row_lengths]}"
        )
    return {ragged.path[0]: lists, **features}


def _check_depth(name: str, data_type: pa.DataType, ragged: RaggedColumn) -> None:
    expected = 1 + len(ragged.row_lengths)
    depth, inner = 0, data_type
    while is_list(inner):
        depth, inner = depth + 1, inner.value_type
    if depth != expected:
        raise SchemaError(
            f"Expected lists nested {expected} deep for ragged tensor {name!r}, "
            f"found {depth} in {data_type}",
            Location(feature=name),
            hint="each row_length partition in the schema stands for one level of lists",
        )
