"""Tensor representations in a TFMD schema: how columns of a batch become a named tensor.

A `TensorRepresentation` specifies which columns a tensor is made of, and whether it is dense,
sparse or ragged. A schema has explicit ones in named groups; for features without one a
representation is inferred (`representation_inference`). The rules are those of TFX.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.column_path import ColumnPath
from tfrecord_beam.schema.names import check_known

TensorRepresentations = dict[str, schema_pb2.TensorRepresentation]
"""Tensor name -> its representation."""

DEFAULT_GROUP = ""
"""The group of explicit representations that is used by default."""


def get_tensor_representations(
    schema: schema_pb2.Schema, group: str = DEFAULT_GROUP
) -> TensorRepresentations | None:
    """Returns the explicit representations of `group`, sorted by name; None if there is none."""
    if group not in schema.tensor_representation_group:
        return None
    # Sorted, because the iteration order of a protobuf map differs from run to run.
    return dict(sorted(schema.tensor_representation_group[group].tensor_representation.items()))


def set_tensor_representations(
    schema: schema_pb2.Schema,
    representations: Mapping[str, schema_pb2.TensorRepresentation],
    group: str = DEFAULT_GROUP,
) -> None:
    """Replaces the explicit representations of `group`."""
    # Copied before the group is cleared: they may be views of the same group.
    copied = schema_pb2.TensorRepresentationGroup()
    for name, representation in representations.items():
        copied.tensor_representation[name].CopyFrom(representation)
    schema.tensor_representation_group[group].CopyFrom(copied)


def source_columns(representation: schema_pb2.TensorRepresentation) -> list[ColumnPath]:
    """Returns the columns that a tensor is made of; none if the representation has no kind."""
    kind = representation.WhichOneof("kind")
    if kind is None:
        return []
    value = source_value_column(representation)
    if kind == "sparse_tensor":
        indices = [ColumnPath(name) for name in representation.sparse_tensor.index_column_names]
        has_value = representation.sparse_tensor.HasField("value_column_name")
        return indices + ([value] if has_value else [])
    if kind == "ragged_tensor":
        # Row lengths are in the same struct as the values.
        partitions = representation.ragged_tensor.partition
        lengths = [p.row_length for p in partitions if p.HasField("row_length")]
        return [value] + [value.prefix(-1).child(name) for name in lengths]
    return [value]


def source_value_column(representation: schema_pb2.TensorRepresentation) -> ColumnPath:
    """Returns the column that holds the values of a tensor (and not its indices or row lengths).

    Raises:
      SchemaError: the representation has no kind.
    """
    kind = representation.WhichOneof("kind")
    if kind is None:
        raise SchemaError("Expected a tensor representation of some kind, found one without a kind")
    if kind == "ragged_tensor":
        return ColumnPath.from_proto(representation.ragged_tensor.feature_path)
    if kind == "sparse_tensor":
        return ColumnPath(representation.sparse_tensor.value_column_name)
    return ColumnPath(getattr(representation, kind).column_name)


def validate_tensor_representations(schema: schema_pb2.Schema, group: str = DEFAULT_GROUP) -> None:
    """Checks that the explicit representations of `group` cover the features exactly.

    Raises:
      SchemaError: the group does not exist, a representation refers to a column that is not a
        feature of the schema, or a feature is not in any representation.
    """
    check_known([group], schema.tensor_representation_group, "a tensor representation group")
    representations = get_tensor_representations(schema, group) or {}
    unused = set(_feature_paths(schema.feature)) - find_sources(representations, schema)
    if unused:
        raise SchemaError(
            "Expected each feature of the schema in a tensor representation, "
            f"found none for {_path_list(unused)}"
        )


def find_sources(
    representations: Mapping[str, schema_pb2.TensorRepresentation], schema: schema_pb2.Schema
) -> set[ColumnPath]:
    """Returns the columns that tensors are made of.

    Raises:
      SchemaError: a column is not a feature of `schema`.
    """
    sources = {path for r in representations.values() for path in source_columns(r)}
    unknown = sources.difference(_feature_paths(schema.feature))
    if unknown:
        raise SchemaError(
            "Expected tensor representations over features of the schema, "
            f"found the columns {_path_list(unknown)}"
        )
    return sources


def _feature_paths(
    features: Iterable[schema_pb2.Feature], parent: tuple[str, ...] = ()
) -> Iterator[ColumnPath]:
    """Yields the paths of features; for a STRUCT those of its fields."""
    for feature in features:
        path = ColumnPath((*parent, feature.name))
        if feature.type == schema_pb2.FeatureType.STRUCT:
            yield from _feature_paths(feature.struct_domain.feature, path)
        else:
            yield path


def _path_list(paths: set[ColumnPath]) -> str:
    """Returns column paths as a list for error texts."""
    return ", ".join(repr(str(path)) for path in sorted(paths))
