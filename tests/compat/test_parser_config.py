"""Configurations of TensorFlow's parsers against tfx-bsl's."""

from __future__ import annotations

from typing import Any

import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.compat.peers import import_peer
from tests.tensors.batches import RAGGED, VARLEN, dense, ragged, representation, sparse
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tfxio import tensor_representation_util as ours

theirs = import_peer("tfx_bsl.tfxio.tensor_representation_util")

SEQUENCE = "##SEQUENCE##"
TYPES = ["INT", "FLOAT", "BYTES"]


def type_of(name: str) -> Any:
    return schema_pb2.FeatureType.Value(name)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    "text",
    [
        dense(),
        dense(2, 3),
        dense(2, -1),
        VARLEN,
        sparse(4, -1),
        sparse(),
        RAGGED,
        ragged("i", 2, dtype="INT32"),
        'sparse_tensor { index_column_names: "i" value_column_name: "v" '
        "dense_shape { dim { size: 3 } } already_sorted: true }",
    ],
)
def test_same_config(text: str, type_: str) -> None:
    arguments = (representation(text), type_of(type_))
    expected = theirs.CreateTfExampleParserConfig(*arguments)
    assert ours.CreateTfExampleParserConfig(*arguments) == expected


@pytest.mark.parametrize(
    ("type_", "default"),
    [("INT", "int_value: 3"), ("FLOAT", "float_value: 1.5"), ("BYTES", 'bytes_value: "a"')],
)
def test_same_default_value(type_: str, default: str) -> None:
    arguments = (representation(dense(2, default=default)), type_of(type_))
    expected = theirs.CreateTfExampleParserConfig(*arguments)
    assert ours.CreateTfExampleParserConfig(*arguments) == expected


@pytest.mark.parametrize(
    ("text", "type_", "message"),
    [
        ("", "INT", "Expected a tensor representation of some kind"),
        (VARLEN, "STRUCT", "Expected features of type INT, FLOAT or BYTES, found STRUCT"),
        (VARLEN, "TYPE_UNKNOWN", "found TYPE_UNKNOWN"),
        (dense(default='bytes_value: "a"'), "INT", "Expected int_value as the default value of"),
        (ragged(path="v.a"), "INT", "Expected a ragged tensor of a column"),
        ("ragged_tensor {}", "INT", "Expected a ragged tensor of a column"),
    ],
)
def test_both_refuse(text: str, type_: str, message: str) -> None:
    with pytest.raises((ValueError, NotImplementedError)):
        theirs.CreateTfExampleParserConfig(representation(text), type_of(type_))
    with pytest.raises(SchemaError, match=message):
        ours.CreateTfExampleParserConfig(representation(text), type_of(type_))


def sequence_schema(**tensors: str) -> schema_pb2.Schema:
    children = [{"name": "x", "type": "INT"}, {"name": "i", "type": "INT"}]
    schema = schema_pb2.Schema(
        feature=[
            {"name": "v", "type": "FLOAT"},
            {"name": SEQUENCE, "type": "STRUCT", "struct_domain": {"feature": children}},
        ]
    )
    ours.SetTensorRepresentationsInSchema(
        schema, {name: representation(text) for name, text in tensors.items()}
    )
    return schema


@pytest.mark.parametrize(
    "tensors",
    [
        {},
        {"v": VARLEN, "x": ragged(path=f"{SEQUENCE}.x")},
        {"x": ragged("i", 2, path=f"{SEQUENCE}.x", dtype="INT32"), "v": dense(2)},
        {"w": RAGGED},
        {"x": ragged(path=f"{SEQUENCE}.x"), "y": ragged(path=f"{SEQUENCE}.x")},
    ],
)
def test_same_sequence_configs(tensors: dict[str, str]) -> None:
    schema = sequence_schema(**tensors)
    expected = theirs.CreateTfSequenceExampleParserConfig(schema)
    assert ours.CreateTfSequenceExampleParserConfig(schema) == expected


@pytest.mark.parametrize(
    "text", ["", 'varlen_sparse_tensor { column_name: "z" }', ragged(path=f"{SEQUENCE}.z")]
)
def test_both_refuse_sequence_tensors(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        theirs.CreateTfSequenceExampleParserConfig(sequence_schema(t=text))
    with pytest.raises(SchemaError, match=r"^Expected "):
        ours.CreateTfSequenceExampleParserConfig(sequence_schema(t=text))


@pytest.mark.parametrize("text", [dense(), VARLEN])
def test_context_tensors_that_a_parser_cannot_rename(text: str) -> None:
    context, _ = theirs.CreateTfSequenceExampleParserConfig(sequence_schema(t=text))
    assert [*context] == ["t"]  # of which TensorFlow finds no feature
    with pytest.raises(SchemaError, match=r"name of its column, 'v', found 't'"):
        ours.CreateTfSequenceExampleParserConfig(sequence_schema(t=text))


def example_schema(**tensors: str) -> schema_pb2.Schema:
    types = {"v": "FLOAT", "i": "INT", "n": "INT"}
    schema = schema_pb2.Schema(feature=[{"name": n, "type": t} for n, t in types.items()])
    ours.SetTensorRepresentationsInSchema(
        schema, {name: representation(text) for name, text in tensors.items()}
    )
    return schema


def parser_config(package: str, schema: schema_pb2.Schema) -> Any:
    source = import_peer(f"{package}.tfxio.tf_example_record").TFExampleRecord
    return source("unread", schema=schema)._GetTfExampleParserConfig()


@pytest.mark.parametrize(
    "tensors",
    [
        {},
        {"t": dense(2)},
        {"t": VARLEN, "u": VARLEN.replace('"v"', '"i"')},
        {"t": sparse(3), "v": VARLEN},
        {"t": RAGGED, "u": ragged(2)},
        {"t": ragged("i")},
    ],
    ids=str,
)
def test_same_example_configs(tensors: dict[str, str]) -> None:
    schema = example_schema(**tensors)
    assert parser_config("tfrecord_beam", schema) == parser_config("tfx_bsl", schema)


def test_two_tensors_of_one_column() -> None:
    schema = example_schema(t=dense(), u=VARLEN)
    with pytest.raises(ValueError, match="duplicate"):
        parser_config("tfx_bsl", schema)
    with pytest.raises(
        SchemaError, match=r"one dense or varlen tensor of column 'v'.* 't' and 'u'"
    ):
        parser_config("tfrecord_beam", schema)


def test_sequence_configs_need_representations() -> None:
    with pytest.raises(SchemaError, match="Expected explicit tensor representations"):
        ours.CreateTfSequenceExampleParserConfig(schema_pb2.Schema())
