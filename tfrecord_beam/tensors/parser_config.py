"""Configurations for TensorFlow's own parsers from a schema; TensorFlow is imported on use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.schema.arrow import SEQUENCE_COLUMN
from tfrecord_beam.schema.column_path import ColumnPath
from tfrecord_beam.schema.representations import (
    get_tensor_representations,
    source_columns,
    source_value_column,
)

if TYPE_CHECKING:
    import tensorflow as tf

    ParserConfig: TypeAlias = (
        tf.io.FixedLenFeature | tf.io.VarLenFeature | tf.io.SparseFeature | tf.io.RaggedFeature
    )

_TYPES = {
    schema_pb2.FeatureType.INT: ("int64", "int_value"),
    schema_pb2.FeatureType.FLOAT: ("float32", "float_value"),
    schema_pb2.FeatureType.BYTES: ("string", "bytes_value"),
}
"""The dtype of a feature's values, and the required kind of its default value."""


def example_parser_config(
    representation: schema_pb2.TensorRepresentation, feature_type: int
) -> ParserConfig:
    """Returns the configuration of `tf.io.parse_example` for a tensor.

    Args:
      representation: of the tensor.
      feature_type: the `FeatureType` of its values.

    Raises:
      SchemaError: the representation has no kind, refers to a field of a struct, or has a default
        value of another type; or the feature type is not INT, FLOAT or BYTES.
    """
    kind = representation.WhichOneof("kind")
    if kind is None:
        raise SchemaError("Expected a tensor representation of some kind, found one without a kind")
    if feature_type not in _TYPES:
        known = schema_pb2.FeatureType.values()
        name = schema_pb2.FeatureType.Name(feature_type) if feature_type in known else feature_type
        raise SchemaError(f"Expected features of type INT, FLOAT or BYTES, found {name}")
    return _PARSERS[kind](getattr(representation, kind), feature_type)


def example_parser_configs(
    schema: schema_pb2.Schema, representations: Mapping[str, schema_pb2.TensorRepresentation]
) -> tuple[dict[str, ParserConfig], dict[str, str]]:
    """Returns the configurations of `tf.io.parse_example` for the tensors of a schema.

    Returns:
      The configurations by parser key, which for dense and varlen tensors is their column; and the
      name of the tensor for each key.

    Raises:
      SchemaError: two tensors need the same key, a column does not exist, or a parser cannot make a
        tensor.
    """
    types = dict(_feature_types(schema))
    configs: dict[str, ParserConfig] = {}
    tensor_of: dict[str, str] = {}
    for name, representation in representations.items():
        column, feature_type = _find_feature(types, name, representation)
        key = str(column)
        if not _is_keyed_by_column(representation):
            # Any key that is not a column would do. Users of TFXIO know this one.
            single = len(source_columns(representation)) == 1
            key = f"_tfx_bsl_{name}_{column if single else name}"
        if key in configs:
            raise SchemaError(
                f"Expected one dense or varlen tensor of column {key!r}, for a parser makes no "
                f"more, found {tensor_of[key]!r} and {name!r}"
            )
        configs[key] = example_parser_config(representation, feature_type)
        tensor_of[key] = name
    return configs, tensor_of


def sequence_parser_configs(
    schema: schema_pb2.Schema,
) -> tuple[dict[str, ParserConfig], dict[str, ParserConfig]]:
    """Returns the configurations of `tf.io.parse_sequence_example` for the tensors of a schema.

    Returns:
      Those of the context and those of feature lists, by tensor name.

    Raises:
      SchemaError: the schema has no explicit representations, one refers to a column that does not
        exist, or a parser cannot make a tensor. A parser cannot rename dense and varlen tensors.
    """
    representations = get_tensor_representations(schema)
    if representations is None:
        raise SchemaError("Expected explicit tensor representations in the schema, found none")
    types = dict(_feature_types(schema))
    context, sequence = {}, {}
    for name, representation in representations.items():
        path, feature_type = _find_feature(types, name, representation)
        if path[:1] == (SEQUENCE_COLUMN,):
            inner = schema_pb2.TensorRepresentation()
            inner.CopyFrom(representation)
            del inner.ragged_tensor.feature_path.step[0]
            sequence[name] = example_parser_config(inner, feature_type)
        elif _is_keyed_by_column(representation) and name != str(path):
            # The parser would look for a feature of the tensor's name, and find none.
            raise SchemaError(
                f"Expected a dense or varlen tensor of the context to have the name of its column, "
                f"{str(path)!r}, found {name!r}"
            )
        else:
            context[name] = example_parser_config(representation, feature_type)
    return context, sequence


def _find_feature(
    types: Mapping[ColumnPath, int], name: str, representation: schema_pb2.TensorRepresentation
) -> tuple[ColumnPath, int]:
    """Returns the column of a tensor's values, and the type of that feature."""
    path = source_value_column(representation)
    if path not in types:
        raise SchemaError(
            f"Expected a feature of the schema for tensor {name!r}, found {str(path)!r}"
        )
    return path, types[path]


def _is_keyed_by_column(representation: schema_pb2.TensorRepresentation) -> bool:
    """Returns whether the key of a tensor's config is its column; others name theirs inside."""
    return representation.WhichOneof("kind") in ("dense_tensor", "varlen_sparse_tensor")


def _feature_types(schema: schema_pb2.Schema) -> Iterator[tuple[ColumnPath, int]]:
    """Yields the type of each feature, and of the feature lists that are fields of one column."""
    for feature in schema.feature:
        if feature.type != schema_pb2.FeatureType.STRUCT:
            yield ColumnPath([feature.name]), feature.type
        elif feature.name == SEQUENCE_COLUMN:
            for child in feature.struct_domain.feature:
                yield ColumnPath([feature.name, child.name]), child.type


def _dtype(feature_type: int) -> tf.DType:
    with ExtraImport():
        import tensorflow as tf

    return tf.as_dtype(_TYPES[feature_type][0])


def _fixed_len(dense: Any, feature_type: int) -> tf.io.FixedLenFeature:
    with ExtraImport():
        import tensorflow as tf

    shape = [dim.size for dim in dense.shape.dim]
    default = None
    if dense.HasField("default_value"):
        _, wanted = _TYPES[feature_type]
        kind = dense.default_value.WhichOneof("kind")
        if kind != wanted:
            raise SchemaError(
                f"Expected {wanted} as the default value of column {dense.column_name!r}, "
                f"found {kind or 'none'}"
            )
        default = [getattr(dense.default_value, kind)] * math.prod(shape)
    return tf.io.FixedLenFeature(shape, _dtype(feature_type), default)


def _var_len(varlen: Any, feature_type: int) -> tf.io.VarLenFeature:
    with ExtraImport():
        import tensorflow as tf

    return tf.io.VarLenFeature(_dtype(feature_type))


def _sparse(sparse: Any, feature_type: int) -> tf.io.SparseFeature:
    with ExtraImport():
        import tensorflow as tf

    return tf.io.SparseFeature(
        list(sparse.index_column_names),
        sparse.value_column_name,
        _dtype(feature_type),
        [dim.size for dim in sparse.dense_shape.dim],
        sparse.already_sorted,
    )


def _ragged(ragged: Any, feature_type: int) -> tf.io.RaggedFeature:
    with ExtraImport():
        import tensorflow as tf

    if len(ragged.feature_path.step) != 1:
        raise SchemaError(
            "Expected a ragged tensor of a column, which a parser can make, "
            f"found the path {list(ragged.feature_path.step)}"
        )
    is_int32 = ragged.row_partition_dtype == schema_pb2.TensorRepresentation.INT32
    return tf.io.RaggedFeature(
        _dtype(feature_type),
        ragged.feature_path.step[0],
        [
            tf.io.RaggedFeature.RowLengths(partition.row_length)
            if partition.HasField("row_length")
            else tf.io.RaggedFeature.UniformRowLength(partition.uniform_row_length)
            for partition in ragged.partition
        ],
        tf.int32 if is_int32 else tf.int64,
    )


_PARSERS: dict[str, Callable[[Any, int], ParserConfig]] = {
    "dense_tensor": _fixed_len,
    "varlen_sparse_tensor": _var_len,
    "sparse_tensor": _sparse,
    "ragged_tensor": _ragged,
}
