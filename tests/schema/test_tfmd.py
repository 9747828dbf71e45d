"""Loading TFMD schemas from each form they come in, and the columns they ask for."""

from __future__ import annotations

import pathlib
import re

import pytest
from google.protobuf import json_format, text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import NoMatchError, SchemaError
from tfrecord_beam.kernel.plan import Column, Kind
from tfrecord_beam.schema.tfmd import load_schema, schema_columns

SCHEMA = schema_pb2.Schema(
    feature=[
        {"name": "age", "type": "INT"},
        {"name": "height", "type": "FLOAT"},
        {"name": "names", "type": "BYTES", "deprecated": True},
    ]
)
FORMS = {
    "schema.pbtxt": text_format.MessageToString(SCHEMA).encode(),
    "schema.pb": SCHEMA.SerializeToString(),
    "schema.json": json_format.MessageToJson(SCHEMA).encode(),
    "text.pb": text_format.MessageToString(SCHEMA).encode(),
    "binary.pbtxt": SCHEMA.SerializeToString(),
    "no_suffix": SCHEMA.SerializeToString(),
}


@pytest.mark.parametrize("as_type", [str, pathlib.Path])
@pytest.mark.parametrize("name", FORMS)
def test_file_of_each_form_is_loaded(
    name: str, as_type: type[str] | type[pathlib.Path], tmp_path: pathlib.Path
) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    assert load_schema(as_type(path)) == SCHEMA


def test_schema_and_its_bytes_are_loaded() -> None:
    assert load_schema(SCHEMA) is SCHEMA
    assert load_schema(SCHEMA.SerializeToString()) == SCHEMA
    assert load_schema(b"") == schema_pb2.Schema()


def test_binary_schema_without_control_bytes_is_loaded(tmp_path: pathlib.Path) -> None:
    """Names of 32 bytes and more make a serialized schema that looks like text."""
    schema = schema_pb2.Schema(feature=[{"name": "n" * 32}])
    path = tmp_path / "schema.pb"
    path.write_bytes(schema.SerializeToString())
    assert path.read_bytes().isascii()
    assert load_schema(path) == schema


def test_binary_schema_that_is_a_comment_as_text_is_loaded(tmp_path: pathlib.Path) -> None:
    schema = schema_pb2.Schema(feature=[{"name": "#features", "type": "INT"}])
    data = schema.SerializeToString()
    assert text_format.Parse(data, schema_pb2.Schema()) == schema_pb2.Schema()
    path = tmp_path / "schema.pb"
    path.write_bytes(data)
    assert load_schema(path) == schema
    path.write_bytes(b"\n# no feature yet\n")
    assert load_schema(path) == schema_pb2.Schema()


@pytest.mark.parametrize("name", ["none.pbtxt", "none.json", "none.parquet"])
def test_missing_file_is_not_found(tmp_path: pathlib.Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(NoMatchError) as caught:
        load_schema(path)
    assert str(caught.value) == f"Expected a schema at {str(path)!r}, found no file"
    path.mkdir()
    with pytest.raises(SchemaError) as found:
        load_schema(path)
    assert str(found.value) == f"Expected a schema at {str(path)!r}, found a folder"


def test_error_in_text_is_located(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "schema.pbtxt"
    path.write_text('feature {\n  nane: "age"\n}\n')
    with pytest.raises(SchemaError, match=r"^Expected a TFMD Schema .*, found: 2:\d+ .*nane") as e:
        load_schema(path)
    assert e.value.file == str(path)


@pytest.mark.parametrize("name", ["schema.pb", "schema.json"])
def test_file_of_something_else_is_refused(name: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x0a\xff\xff")
    with pytest.raises(SchemaError, match=r"^Expected a TFMD Schema as protobuf text") as caught:
        load_schema(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("name", ["schema.pbtxt", "schema.json"])
def test_byte_order_mark_is_skipped(name: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbf" + FORMS[name])
    assert load_schema(path) == SCHEMA


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["schema.pbtxt", "schema.pb", "schema.json"])
def test_empty_file_is_refused(name: str, content: bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SchemaError) as caught:
        load_schema(path)
    assert str(caught.value) == (
        "Expected a TFMD Schema as protobuf text, protobuf binary or JSON, found an empty file - "
        f"at {path} (Schema() is one without features)"
    )


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.json", b"[]", r": no JSON object"),
        ("a.json", b'""', r": no JSON object"),
        ("a.json", b'{"featur": []}', r": .*no field named \"featur\""),
        ("a.json", b'{"a": 1, "a": 2}', r": .*duplicate key"),
        ("a.json", b'{"a":' * 100_000, r": .*recursion"),
        ("a.pbtxt", b"struct { feature {" * 3000, r": .*"),
        ("a.pbtxt", b"feature { struct_domain { " * 3000, r": .*recursion.*"),
        ("a.pb", b"\x01\xff", r" other bytes"),
        ("a.pb", b"H\x01", r": .*no field named \"H\""),  # a field that no schema has
    ],
)
def test_what_was_found_is_said_in_a_line(
    name: str, content: bytes, found: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=rf"^Expected a TFMD Schema .*, found{found}") as caught:
        load_schema(path)
    assert "\n" not in str(caught.value)


def test_other_sources_are_refused() -> None:
    with pytest.raises(SchemaError, match=r"^Expected a serialized TFMD Schema, found other bytes"):
        load_schema(b"\x0a\xff\xff")
    with pytest.raises(SchemaError, match=r"^Expected a serialized TFMD Schema, found other bytes"):
        load_schema(b"H\x01")  # a field that no schema has
    for source, found in (({"feature": []}, r"{'feature': \[\]}"), ("", "''"), (5, "5")):
        with pytest.raises(SchemaError, match=rf"^Expected a TFMD Schema, .*, found {found}$"):
            load_schema(source)  # type: ignore[arg-type]


def test_columns_follow_the_schema() -> None:
    assert schema_columns(SCHEMA) == (
        Column("age", Kind.INT64),
        Column("height", Kind.FLOAT),
        Column("names", Kind.BYTES),
    )
    assert schema_columns(schema_pb2.Schema()) == ()


@pytest.mark.parametrize(
    ("feature", "found"),
    [({"name": "s", "type": "STRUCT"}, "STRUCT"), ({"name": "s"}, "none")],
)
def test_feature_of_another_type_is_refused(feature: dict[str, str], found: str) -> None:
    text = f"Expected type INT, FLOAT or BYTES for feature 's', found {found}"
    with pytest.raises(SchemaError, match=f"^{re.escape(text)}$") as caught:
        schema_columns(schema_pb2.Schema(feature=[feature]))
    assert caught.value.feature == "s"


def test_feature_named_twice_is_refused() -> None:
    schema = schema_pb2.Schema(
        feature=[{"name": "a", "type": "INT"}, {"name": "a", "type": "FLOAT"}]
    )
    with pytest.raises(
        SchemaError, match=r"^Expected different features in the schema, found 'a' twice$"
    ):
        schema_columns(schema)


@pytest.mark.parametrize("name", FORMS)
def test_file_is_loaded_by_its_url(name: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    assert load_schema(path.as_uri()) == SCHEMA


def test_url_of_a_bad_or_missing_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "schema.json"
    with pytest.raises(FileNotFoundError):
        load_schema(path.as_uri())
    path.write_bytes(b"no schema")
    with pytest.raises(SchemaError, match=r"^Expected a TFMD Schema as protobuf text") as caught:
        load_schema(path.as_uri())
    assert caught.value.file == path.as_uri()
