"""Infers the tensor of each feature for which the schema has no tensor representation.

A sparse feature is a sparse tensor, made of its index and value features. Of the other features,
each field of a STRUCT is a ragged tensor, a feature with a shape is dense, and the rest have
variable length: sparse, or ragged if the schema requests it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import Location, SchemaError
from tfrecord_beam.schema.column_path import ColumnPath
from tfrecord_beam.schema.representations import (
    TensorRepresentations,
    get_tensor_representations,
    source_columns,
)

_logger = logging.getLogger(__name__)

DISQUALIFYING_STAGES = (
    schema_pb2.DEPRECATED,
    schema_pb2.DISABLED,
    schema_pb2.PLANNED,
    schema_pb2.ALPHA,
    schema_pb2.DEBUG_ONLY,
    schema_pb2.VALIDATION_DERIVED,
)
"""Features in one of these lifecycle stages are columns but not tensors."""


def infer_tensor_representations_from_mixed_schema(
    schema: schema_pb2.Schema,
) -> TensorRepresentations:
    """Returns the explicit representations of the default group and, for the rest, inferred ones.

    A tensor is not inferred for a feature that is already a source column of an explicit one. If it
    has the name of an explicit tensor made of other columns, the explicit one wins, with a warning
    in the log.

    Raises:
      SchemaError: see `infer_tensor_representations`.
    """
    result = get_tensor_representations(schema) or {}
    sources = {str(path) for r in result.values() for path in source_columns(r)}
    for name, representation in _infer(schema, except_for=sources).items():
        if name in sources:
            continue
        if name in result:
            _logger.warning(
                "Feature %r is no tensor: an explicit tensor representation over other columns "
                "has its name.",
                name,
            )
        else:
            result[name] = representation
    return result


def infer_tensor_representations(schema: schema_pb2.Schema) -> TensorRepresentations:
    """Returns the representations inferred from the features of `schema` alone.

    Sparse features come first, then the other features in schema order. Features that are
    deprecated or in one of the `DISQUALIFYING_STAGES` are left out.

    Raises:
      SchemaError: a feature has a shape without being always present (`presence.min_fraction` 1),
        parts of a sparse feature are missing, its index domains are not from 0 to a maximum, or a
        STRUCT contains another STRUCT or a sparse feature.
    """
    return _infer(schema, except_for=())


def _infer(schema: schema_pb2.Schema, *, except_for: Collection[str]) -> TensorRepresentations:
    remaining = {feature.name: feature for feature in schema.feature}
    result = {}
    for sparse_feature in filter(is_in_use, schema.sparse_feature):
        result[sparse_feature.name] = _sparse_tensor(sparse_feature, remaining)
    for feature in filter(is_in_use, remaining.values()):
        if feature.type == schema_pb2.FeatureType.STRUCT:
            result.update(_tensors_of_struct(feature))
        elif feature.name in except_for:
            continue
        elif feature.HasField("shape"):
            result[feature.name] = _dense_tensor(feature)
        elif schema.represent_variable_length_as_ragged:
            result[feature.name] = _ragged_tensor(ColumnPath(feature.name))
        else:
            result[feature.name] = schema_pb2.TensorRepresentation(
                varlen_sparse_tensor={"column_name": feature.name}
            )
    return result


def is_in_use(feature: schema_pb2.Feature | schema_pb2.SparseFeature) -> bool:
    """Returns whether a feature is neither deprecated nor in one of `DISQUALIFYING_STAGES`."""
    return not feature.deprecated and feature.lifecycle_stage not in DISQUALIFYING_STAGES


def _dense_tensor(feature: schema_pb2.Feature) -> schema_pb2.TensorRepresentation:
    if feature.presence.min_fraction != 1:
        raise SchemaError(
            f"Expected presence.min_fraction 1 for feature {feature.name!r} with a shape, "
            f"found {feature.presence.min_fraction:g}",
            Location(feature=feature.name),
            "use value_count instead of shape for a feature that may be missing",
        )
    return schema_pb2.TensorRepresentation(
        dense_tensor={"column_name": feature.name, "shape": feature.shape}
    )


def _ragged_tensor(path: ColumnPath) -> schema_pb2.TensorRepresentation:
    return schema_pb2.TensorRepresentation(ragged_tensor={"feature_path": path.to_proto()})


def _tensors_of_struct(
    struct: schema_pb2.Feature,
) -> Iterator[tuple[str, schema_pb2.TensorRepresentation]]:
    if struct.struct_domain.sparse_feature:
        raise SchemaError(
            f"Expected no sparse feature in STRUCT feature {struct.name!r}, "
            f"found {struct.struct_domain.sparse_feature[0].name!r}",
            Location(feature=struct.name),
        )
    for child in struct.struct_domain.feature:
        if child.type == schema_pb2.FeatureType.STRUCT:
            raise SchemaError(
                f"Expected no STRUCT in STRUCT feature {struct.name!r}, found {child.name!r}",
                Location(feature=struct.name),
            )
        path = ColumnPath((struct.name, child.name))
        yield str(path), _ragged_tensor(path)


def _sparse_tensor(
    sparse: schema_pb2.SparseFeature, remaining: dict[str, schema_pb2.Feature]
) -> schema_pb2.TensorRepresentation:
    """Removes the parts of a sparse feature from `remaining` and makes one tensor of them."""
    indices = [_take_part(sparse, "index", f.name, remaining) for f in sparse.index_feature]
    value = _take_part(sparse, "value", sparse.value_feature.name, remaining)
    representation = schema_pb2.TensorRepresentation(
        sparse_tensor={
            "dense_shape": {"dim": [{"size": _index_size(sparse, f)} for f in indices]},
            "index_column_names": [feature.name for feature in indices],
            "value_column_name": value.name,
        }
    )
    if sparse.is_sorted:
        representation.sparse_tensor.already_sorted = True
    return representation


def _take_part(
    sparse: schema_pb2.SparseFeature,
    role: str,
    name: str,
    remaining: dict[str, schema_pb2.Feature],
) -> schema_pb2.Feature:
    if name not in remaining:
        raise SchemaError(
            f"Expected the {role} feature {name!r} of sparse feature {sparse.name!r} in the "
            "schema, found none, or one that a sparse feature uses already",
            Location(feature=sparse.name),
        )
    return remaining.pop(name)


def _index_size(sparse: schema_pb2.SparseFeature, index: schema_pb2.Feature) -> int:
    """Returns the size of the dimension of an index feature, -1 if it is unknown."""
    if not index.HasField("int_domain"):
        return -1
    domain = index.int_domain
    if domain.HasField("min") and domain.min == 0 and domain.HasField("max"):
        return int(domain.max) + 1
    minimum = domain.min if domain.HasField("min") else "no minimum"
    maximum = domain.max if domain.HasField("max") else "no maximum"
    raise SchemaError(
        f"Expected an int_domain from 0 to a maximum for index feature {index.name!r} of sparse "
        f"feature {sparse.name!r}, found {minimum} to {maximum}",
        Location(feature=sparse.name),
    )
