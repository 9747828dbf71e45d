"""Tensor representations of a TFMD schema, under the names that TFXIO users know.

Each function calls its counterpart in `tfrecord_beam.schema`; those for TensorFlow's parsers are in
`tfrecord_beam.tensors`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.options import check_instance, check_int
from tfrecord_beam.schema import projection, representation_inference, representations
from tfrecord_beam.schema.column_path import ColumnPath
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tensors import parser_config

_DEFAULT_TENSOR_REPRESENTATION_GROUP = representations.DEFAULT_GROUP
_DISQUALIFYING_LIFECYCLE_STAGES = representation_inference.DISQUALIFYING_STAGES


def GetTensorRepresentationsFromSchema(
    schema: schema_pb2.Schema,
    tensor_representation_group_name: str = _DEFAULT_TENSOR_REPRESENTATION_GROUP,
) -> TensorRepresentations | None:
    """Returns the explicit representations of a group, or None without such a group."""
    check_instance("schema", schema, schema_pb2.Schema)
    check_instance("tensor_representation_group_name", tensor_representation_group_name, str)
    return representations.get_tensor_representations(schema, tensor_representation_group_name)


def SetTensorRepresentationsInSchema(
    schema: schema_pb2.Schema,
    tensor_representations: Mapping[str, schema_pb2.TensorRepresentation],
    tensor_representation_group_name: str = _DEFAULT_TENSOR_REPRESENTATION_GROUP,
) -> None:
    """Replaces the explicit representations of a group."""
    check_instance("schema", schema, schema_pb2.Schema)
    check_instance("tensor_representations", tensor_representations, Mapping)
    for name, representation in tensor_representations.items():
        check_instance("each name of a tensor", name, str)
        check_instance(
            f"the representation of {name!r}", representation, schema_pb2.TensorRepresentation
        )
    check_instance("tensor_representation_group_name", tensor_representation_group_name, str)
    representations.set_tensor_representations(
        schema, tensor_representations, tensor_representation_group_name
    )


def ValidateTensorRepresentationsInSchema(
    schema: schema_pb2.Schema,
    tensor_representation_group_name: str = _DEFAULT_TENSOR_REPRESENTATION_GROUP,
) -> None:
    """Raises SchemaError unless the representations of a group cover the features exactly."""
    check_instance("schema", schema, schema_pb2.Schema)
    check_instance("tensor_representation_group_name", tensor_representation_group_name, str)
    representations.validate_tensor_representations(schema, tensor_representation_group_name)


def InferTensorRepresentationsFromSchema(schema: schema_pb2.Schema) -> TensorRepresentations:
    """Returns the representations inferred from the features of a schema alone."""
    check_instance("schema", schema, schema_pb2.Schema)
    return representation_inference.infer_tensor_representations(schema)


def InferTensorRepresentationsFromMixedSchema(schema: schema_pb2.Schema) -> TensorRepresentations:
    """Returns the explicit representations of a schema and, for the rest, inferred ones."""
    check_instance("schema", schema, schema_pb2.Schema)
    return representation_inference.infer_tensor_representations_from_mixed_schema(schema)


def ProjectTensorRepresentationsInSchema(
    schema: schema_pb2.Schema, tensor_names: Iterable[str]
) -> schema_pb2.Schema:
    """Returns the schema of the named tensors: their representations and source features."""
    check_instance("schema", schema, schema_pb2.Schema)
    return projection.project_tensor_representations(schema, tensor_names)


def GetSourceColumnsFromTensorRepresentation(
    tensor_representation: schema_pb2.TensorRepresentation,
) -> list[ColumnPath]:
    """Returns the columns from which a tensor is made."""
    check_instance("tensor_representation", tensor_representation, schema_pb2.TensorRepresentation)
    return representations.source_columns(tensor_representation)


def GetSourceValueColumnFromTensorRepresentation(
    tensor_representation: schema_pb2.TensorRepresentation,
) -> ColumnPath:
    """Returns the column that holds the values of a tensor."""
    check_instance("tensor_representation", tensor_representation, schema_pb2.TensorRepresentation)
    return representations.source_value_column(tensor_representation)


def CreateTfExampleParserConfig(
    tensor_representation: schema_pb2.TensorRepresentation, feature_type: int
) -> Any:
    """Returns the configuration of `tf.io.parse_example` for a tensor."""
    check_instance("tensor_representation", tensor_representation, schema_pb2.TensorRepresentation)
    check_int("feature_type", feature_type, least=0)
    return parser_config.example_parser_config(tensor_representation, feature_type)


def CreateTfSequenceExampleParserConfig(
    schema: schema_pb2.Schema,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the configurations of `tf.io.parse_sequence_example`, for context and sequences."""
    check_instance("schema", schema, schema_pb2.Schema)
    return parser_config.sequence_parser_configs(schema)
