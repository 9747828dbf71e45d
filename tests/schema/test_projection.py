"""Cutting a schema to the features of some tensors."""

from __future__ import annotations

import re

import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.schemas import parse_schema
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.projection import project_tensor_representations
from tfrecord_beam.schema.representation_inference import (
    infer_tensor_representations_from_mixed_schema,
)

SCHEMA = """
    feature { name: "a" type: INT int_domain { min: 1 } }
    feature { name: "i" type: INT }
    feature { name: "v" type: FLOAT }
    feature { name: "b" type: BYTES shape { dim { size: 2 } } presence { min_fraction: 1 } }
    feature {
      name: "s" type: STRUCT
      struct_domain { feature { name: "c" type: INT } feature { name: "d" type: FLOAT } }
    }
    sparse_feature {
      name: "sparse" index_feature { name: "i" } value_feature { name: "v" }
    }
    tensor_representation_group {
      key: ""
      value {
        tensor_representation {
          key: "x" value { varlen_sparse_tensor { column_name: "a" } }
        }
        tensor_representation {
          key: "y" value { ragged_tensor { feature_path { step: "a" } } }
        }
        tensor_representation {
          key: "lost"
          value { ragged_tensor { feature_path { step: "a" } partition { row_length: "gone" } } }
        }
      }
    }
"""


def feature_names(schema: schema_pb2.Schema) -> list[str]:
    return [feature.name for feature in schema.feature]


@pytest.mark.parametrize(
    ("tensors", "features"),
    [
        ([], []),
        (["x"], ["a"]),
        (["y", "x", "x"], ["a"]),
        (["b"], ["b"]),
        (["b", "x"], ["a", "b"]),
        (["sparse"], ["i", "v"]),
        (["s.d", "sparse", "y"], ["a", "i", "v", "s"]),
    ],
)
def test_projected_schema_has_the_tensors_and_their_columns(
    tensors: list[str], features: list[str]
) -> None:
    """Explicit (x, y) and inferred tensors (the others) are named alike."""
    schema = parse_schema(SCHEMA)
    everything = infer_tensor_representations_from_mixed_schema(schema)
    projected = project_tensor_representations(schema, tensors)
    assert feature_names(projected) == features
    assert infer_tensor_representations_from_mixed_schema(projected) == {
        name: everything[name] for name in tensors
    }
    assert schema == parse_schema(SCHEMA)


def test_features_are_kept_as_they_are() -> None:
    schema = parse_schema(SCHEMA)
    projected = project_tensor_representations(schema, ["b", "x"])
    assert list(projected.feature) == [schema.feature[0], schema.feature[3]]


def test_struct_keeps_only_the_fields_in_use() -> None:
    projected = project_tensor_representations(parse_schema(SCHEMA), ["s.d"])
    assert list(projected.feature) == list(
        parse_schema(
            """feature {
                 name: "s" type: STRUCT struct_domain { feature { name: "d" type: FLOAT } }
               }"""
        ).feature
    )


def test_projection_can_be_projected_again() -> None:
    schema = parse_schema(SCHEMA)
    once = project_tensor_representations(schema, ["sparse", "x", "b"])
    assert project_tensor_representations(once, ["b"]) == project_tensor_representations(
        schema, ["b"]
    )


@pytest.mark.parametrize(
    ("tensors", "text"),
    [
        (
            ["x", "spares"],
            "Expected tensors among 'lost', 'x', 'y', 'sparse', 'b', 's.c', 's.d', "
            "found 'spares' (did you mean 'sparse'?)",
        ),
        ("x", "Expected a list of tensors, found 'x' (write ['x'])"),
        (
            ["lost"],
            "Expected tensor representations over features of the schema, found the columns 'gone'",
        ),
    ],
)
def test_tensors_that_cannot_be_projected_are_refused(tensors: list[str], text: str) -> None:
    with pytest.raises(SchemaError, match=f"^{re.escape(text)}$"):
        project_tensor_representations(parse_schema(SCHEMA), tensors)
