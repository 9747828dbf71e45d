"""Which tensors features become by themselves, and beside explicit representations."""

from __future__ import annotations

import logging
import re

import pytest
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.schemas import parse_schema
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.representation_inference import (
    DISQUALIFYING_STAGES,
    infer_tensor_representations,
    infer_tensor_representations_from_mixed_schema,
)

INDEX_AND_VALUE = """
    feature { name: "i" type: INT int_domain { min: 0 max: 9 } }
    feature { name: "j" type: INT }
    feature { name: "v" type: FLOAT }
"""
EXPLICIT_X = """
    tensor_representation_group {
      key: ""
      value { tensor_representation {
        key: "x" value { dense_tensor { column_name: "a" shape { dim { size: 3 } } } }
      } }
    }
"""


def infer(text: str) -> dict[str, str]:
    """Returns the inferred representations, each as one line of protobuf text."""
    inferred = infer_tensor_representations(parse_schema(text))
    return {name: one_line(representation) for name, representation in inferred.items()}


def one_line(representation: schema_pb2.TensorRepresentation) -> str:
    return str(text_format.MessageToString(representation, as_one_line=True))


def test_feature_with_a_shape_is_dense() -> None:
    assert infer(
        """
        feature { name: "scalar" type: INT shape {} presence { min_fraction: 1 } }
        feature {
          name: "matrix" type: FLOAT
          shape { dim { size: 2 } dim { size: 3 } } presence { min_fraction: 1 }
        }
        """
    ) == {
        "scalar": 'dense_tensor { column_name: "scalar" shape { } }',
        "matrix": (
            'dense_tensor { column_name: "matrix" shape { dim { size: 2 } dim { size: 3 } } }'
        ),
    }


def test_other_features_are_of_variable_length() -> None:
    features = 'feature { name: "x" type: INT value_count { min: 1 max: 1 } } feature { name: "u" }'
    assert infer(features) == {
        "x": 'varlen_sparse_tensor { column_name: "x" }',
        "u": 'varlen_sparse_tensor { column_name: "u" }',
    }
    assert infer(features + " represent_variable_length_as_ragged: true") == {
        "x": 'ragged_tensor { feature_path { step: "x" } }',
        "u": 'ragged_tensor { feature_path { step: "u" } }',
    }


def test_struct_is_one_ragged_tensor_a_field() -> None:
    assert infer(
        """
        feature {
          name: "s" type: STRUCT
          struct_domain { feature { name: "a" type: INT } feature { name: "b" deprecated: true } }
        }
        """
    ) == {
        "s.a": 'ragged_tensor { feature_path { step: "s" step: "a" } }',
        "s.b": 'ragged_tensor { feature_path { step: "s" step: "b" } }',
    }


def test_sparse_feature_takes_its_parts() -> None:
    assert infer(
        INDEX_AND_VALUE
        + """
        feature { name: "x" type: INT }
        sparse_feature {
          name: "s" index_feature { name: "i" } index_feature { name: "j" }
          value_feature { name: "v" }
        }
        """
    ) == {
        "s": (
            "sparse_tensor { dense_shape { dim { size: 10 } dim { size: -1 } } "
            'index_column_names: "i" index_column_names: "j" value_column_name: "v" }'
        ),
        "x": 'varlen_sparse_tensor { column_name: "x" }',
    }


@pytest.mark.parametrize(("is_sorted", "is_set"), [("true", True), ("false", False)])
def test_only_sorted_sparse_features_say_so(is_sorted: str, is_set: bool) -> None:
    schema = parse_schema(
        f"""{INDEX_AND_VALUE}
        sparse_feature {{
          name: "s" is_sorted: {is_sorted} index_feature {{ name: "i" }}
          value_feature {{ name: "v" }}
        }}"""
    )
    sparse = infer_tensor_representations(schema)["s"].sparse_tensor
    assert sparse.HasField("already_sorted") is sparse.already_sorted is is_set


@pytest.mark.parametrize(
    "mark",
    ["deprecated: true"]
    + [f"lifecycle_stage: {schema_pb2.LifecycleStage.Name(s)}" for s in DISQUALIFYING_STAGES],
)
def test_features_out_of_use_are_no_tensors(mark: str) -> None:
    assert infer(
        f"""{INDEX_AND_VALUE}
        feature {{ name: "x" {mark} shape {{ dim {{ size: 1 }} }} }}
        sparse_feature {{
          name: "s" {mark} index_feature {{ name: "none" }} value_feature {{ name: "v" }}
        }}"""
    ).keys() == {"i", "j", "v"}


@pytest.mark.parametrize("stage", ["UNKNOWN_STAGE", "BETA", "PRODUCTION"])
def test_features_in_use_are_tensors(stage: str) -> None:
    assert infer(f'feature {{ name: "x" lifecycle_stage: {stage} }}').keys() == {"x"}


def sparse_with_index(index: str) -> str:
    return f"""
        feature {{ name: "i" {index} }} feature {{ name: "v" }}
        sparse_feature {{
          name: "s" index_feature {{ name: "i" }} value_feature {{ name: "v" }}
        }}"""


DOMAIN_TEXT = (
    "Expected an int_domain from 0 to a maximum for index feature 'i' of sparse feature 's', found "
)
PART_TEXT = "in the schema, found none, or one that a sparse feature uses already"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'feature { name: "x" shape {} presence { min_fraction: 0.5 } }',
            "Expected presence.min_fraction 1 for feature 'x' with a shape, found 0.5",
        ),
        ('feature { name: "x" shape {} }', "for feature 'x' with a shape, found 0 (use value_cou"),
        (sparse_with_index("int_domain { max: 3 }"), DOMAIN_TEXT + "no minimum to 3"),
        (sparse_with_index("int_domain { min: 1 max: 3 }"), DOMAIN_TEXT + "1 to 3"),
        (sparse_with_index("int_domain { min: 0 }"), DOMAIN_TEXT + "0 to no maximum"),
        (
            'sparse_feature { name: "s" value_feature { name: "w" } }',
            "Expected the value feature 'w' of sparse feature 's' " + PART_TEXT,
        ),
        (
            INDEX_AND_VALUE
            + """sparse_feature {
                   name: "s" index_feature { name: "i" } index_feature { name: "i" }
                   value_feature { name: "v" }
                 }""",
            "Expected the index feature 'i' of sparse feature 's' " + PART_TEXT,
        ),
        (
            """feature {
                 name: "p" type: STRUCT
                 struct_domain { feature { name: "q" type: STRUCT } }
               }""",
            "Expected no STRUCT in STRUCT feature 'p', found 'q'",
        ),
        (
            'feature { name: "p" type: STRUCT struct_domain { sparse_feature { name: "q" } } }',
            "Expected no sparse feature in STRUCT feature 'p', found 'q'",
        ),
    ],
)
def test_schema_that_contradicts_itself_is_refused(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)):
        infer(text)


def infer_mixed(text: str) -> list[str]:
    return list(infer_tensor_representations_from_mixed_schema(parse_schema(text)))


def test_without_explicit_representations_all_are_inferred() -> None:
    schema = parse_schema('feature { name: "a" } feature { name: "b" }')
    assert infer_tensor_representations_from_mixed_schema(schema) == infer_tensor_representations(
        schema
    )


def test_source_columns_of_explicit_representations_are_not_inferred() -> None:
    assert infer_mixed('feature { name: "a" } feature { name: "b" }' + EXPLICIT_X) == ["x", "b"]


def test_feature_that_an_explicit_representation_uses_need_not_be_inferable() -> None:
    """Here an explicit default may stand for missing values, so that presence is no matter."""
    assert infer_mixed('feature { name: "a" shape {} }' + EXPLICIT_X) == ["x"]


def test_explicit_representation_wins_over_a_feature_of_its_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    schema = parse_schema('feature { name: "a" } feature { name: "x" }' + EXPLICIT_X)
    with caplog.at_level(logging.WARNING):
        representations = infer_tensor_representations_from_mixed_schema(schema)
    assert list(representations) == ["x"]
    assert representations["x"].HasField("dense_tensor")
    assert "Feature 'x' is no tensor" in caplog.text


def test_other_groups_do_not_count() -> None:
    text = 'feature { name: "a" }' + EXPLICIT_X.replace('key: ""', 'key: "serving"')
    assert infer_mixed(text) == ["a"]
