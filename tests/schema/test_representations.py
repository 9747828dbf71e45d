"""Explicit tensor representations: groups, source columns, validation."""

from __future__ import annotations

import re

import pytest
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.schemas import parse_schema
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.representations import (
    get_tensor_representations,
    set_tensor_representations,
    source_columns,
    source_value_column,
    validate_tensor_representations,
)


def parse(text: str) -> schema_pb2.TensorRepresentation:
    return text_format.Parse(text, schema_pb2.TensorRepresentation())


DENSE = parse('dense_tensor { column_name: "x" }')
VARLEN = parse('varlen_sparse_tensor { column_name: "x" }')
SPARSE = parse('sparse_tensor { value_column_name: "v" index_column_names: ["i", "j"] }')
SPARSE_NO_VALUE = parse('sparse_tensor { index_column_names: ["i"] }')
RAGGED = parse(
    """ragged_tensor {
         feature_path { step: "s" step: "v" }
         partition { row_length: "l" }
         partition { uniform_row_length: 2 }
         partition { row_length: "m" }
       }"""
)


@pytest.mark.parametrize(
    ("representation", "expected"),
    [
        (DENSE, [("x",)]),
        (VARLEN, [("x",)]),
        (SPARSE, [("i",), ("j",), ("v",)]),
        (SPARSE_NO_VALUE, [("i",)]),
        (RAGGED, [("s", "v"), ("s", "l"), ("s", "m")]),
        (schema_pb2.TensorRepresentation(), []),
    ],
)
def test_source_columns(
    representation: schema_pb2.TensorRepresentation, expected: list[tuple[str, ...]]
) -> None:
    assert source_columns(representation) == expected


@pytest.mark.parametrize(
    ("representation", "expected"),
    [(DENSE, ("x",)), (VARLEN, ("x",)), (SPARSE, ("v",)), (RAGGED, ("s", "v"))],
)
def test_source_value_column(
    representation: schema_pb2.TensorRepresentation, expected: tuple[str, ...]
) -> None:
    assert source_value_column(representation) == expected


def test_representation_without_a_kind_has_no_value_column() -> None:
    with pytest.raises(SchemaError, match=r"found one without a kind$"):
        source_value_column(schema_pb2.TensorRepresentation())


def test_group_is_replaced_and_read_back_in_order_of_names() -> None:
    schema = schema_pb2.Schema()
    assert get_tensor_representations(schema) is None
    set_tensor_representations(schema, {"z": DENSE, "a": VARLEN})
    set_tensor_representations(schema, {"other": SPARSE}, "serving")
    assert list((get_tensor_representations(schema) or {}).items()) == [("a", VARLEN), ("z", DENSE)]
    assert get_tensor_representations(schema, "serving") == {"other": SPARSE}
    set_tensor_representations(schema, {})
    assert get_tensor_representations(schema) == {}


def test_group_can_be_set_to_part_of_itself() -> None:
    schema = schema_pb2.Schema()
    set_tensor_representations(schema, {"z": DENSE, "a": VARLEN})
    representations = get_tensor_representations(schema) or {}
    set_tensor_representations(schema, {"z": representations["z"]})
    assert get_tensor_representations(schema) == {"z": DENSE}


STRUCT_SCHEMA = """
    feature { name: "x" type: INT }
    feature {
      name: "s" type: STRUCT
      struct_domain {
        feature { name: "v" type: INT }
        feature { name: "l" type: INT }
        feature { name: "m" type: INT }
      }
    }
"""


def test_representations_that_cover_the_features_are_valid() -> None:
    schema = parse_schema(STRUCT_SCHEMA)
    set_tensor_representations(schema, {"x": VARLEN, "again": DENSE, "r": RAGGED}, "group")
    validate_tensor_representations(schema, "group")


@pytest.mark.parametrize(
    ("representations", "text"),
    [
        (
            {"x": VARLEN, "r": RAGGED, "s": SPARSE},
            "Expected tensor representations over features of the schema, "
            "found the columns 'i', 'j', 'v'",
        ),
        (
            {"x": VARLEN},
            "Expected each feature of the schema in a tensor representation, "
            "found none for 's.l', 's.m', 's.v'",
        ),
    ],
)
def test_representations_that_do_not_cover_the_features_are_refused(
    representations: dict[str, schema_pb2.TensorRepresentation], text: str
) -> None:
    schema = parse_schema(STRUCT_SCHEMA)
    set_tensor_representations(schema, representations)
    with pytest.raises(SchemaError, match=f"^{re.escape(text)}$"):
        validate_tensor_representations(schema)


def test_group_that_does_not_exist_is_not_valid() -> None:
    schema = parse_schema(STRUCT_SCHEMA)
    set_tensor_representations(schema, {}, "serving")
    with pytest.raises(SchemaError, match=r"group among 'serving', found 'server' .did you mean"):
        validate_tensor_representations(schema, "server")
