"""Tests of tfrecord_beam.schema.diff: what changed from one schema to another."""

from __future__ import annotations

import pathlib

import pytest

from tests.schema.schemas import parse_schema
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.diff import SchemaChange, diff_schemas

BASE = """
feature { name: "age" type: INT presence { min_fraction: 1 min_count: 1 } int_domain { max: 9 } }
feature { name: "word" type: BYTES domain: "word" in_environment: ["A", "B"] }
feature { name: "##SEQUENCE##" type: STRUCT struct_domain {
  feature { name: "x" type: INT }
  feature { name: "y" type: FLOAT }
} }
string_domain { name: "word" value: ["a", "b"] }
tensor_representation_group { key: "" value { tensor_representation {
  key: "t" value { varlen_sparse_tensor { column_name: "age" } } } } }
"""


@pytest.mark.parametrize(
    ("find", "replace", "lines"),
    [
        ("type: INT presence", "type: FLOAT presence", ["~ feature 'age': type: INT -> FLOAT"]),
        (
            "min_fraction: 1 min_count: 1",
            "min_count: 1",
            [
                "~ feature 'age': presence: { min_fraction: 1.0 min_count: 1 } -> { min_count: 1 }",
            ],
        ),
        ("int_domain { max: 9 }", "", ["~ feature 'age': int_domain: { max: 9 } -> nothing"]),
        (
            "int_domain { max: 9 }",
            "int_domain {}",
            ["~ feature 'age': int_domain: { max: 9 } -> { }"],
        ),
        (
            'name: "x" type: INT',
            'name: "z" type: INT',
            [
                "- feature '##SEQUENCE##', feature 'x': { name: \"x\" type: INT }",
                "+ feature '##SEQUENCE##', feature 'z': { name: \"z\" type: INT }",
            ],
        ),
        ('"A", "B"', '"C", "B", "D"', ["~ feature 'word': in_environment: 'A' -> 'C', 'D'"]),
        ('"A", "B"', '"B", "A"', []),
        ('["a", "b"]', '["b", "a", "ä"]', ["~ string_domain 'word': value: nothing -> 'ä'"]),
        (
            'name: "x" type: INT',
            'name: "x"',
            ["~ feature '##SEQUENCE##', feature 'x': type: INT -> nothing"],
        ),
        (
            'feature { name: "y" type: FLOAT }',
            "",
            ["- feature '##SEQUENCE##', feature 'y': { name: \"y\" type: FLOAT }"],
        ),
        (
            'column_name: "age"',
            'column_name: "word"',
            [
                "~ tensor_representation_group '', tensor_representation 't': varlen_sparse_tensor"
                ': { column_name: "age" } -> { column_name: "word" }'
            ],
        ),
        (
            "string_domain {",
            "represent_variable_length_as_ragged: true\nstring_domain {",
            ["~ represent_variable_length_as_ragged: nothing -> True"],
        ),
        (
            "type: STRUCT struct_domain {",
            "type: STRUCT deprecated: true struct_domain {",
            ["~ feature '##SEQUENCE##': deprecated: nothing -> True"],
        ),
    ],
)
def test_change(find: str, replace: str, lines: list[str]) -> None:
    assert find in BASE
    old, new = parse_schema(BASE), parse_schema(BASE.replace(find, replace, 1))
    changes = diff_schemas(old, new)
    assert list(map(str, changes)) == lines
    backwards = [
        SchemaChange(change.path, change.field, change.new, change.old)
        for change in diff_schemas(new, old)
    ]
    assert sorted(backwards, key=str) == sorted(changes, key=str)


def test_order_does_not_count() -> None:
    features = ['feature { name: "a" type: INT }', 'feature { name: "b" type: INT }']
    old, new = map(parse_schema, (" ".join(features), " ".join(features[::-1])))
    assert diff_schemas(old, new) == diff_schemas(new, new) == []


def test_struct_that_is_new() -> None:
    old, new = (
        parse_schema('feature { name: "s" }'),
        parse_schema('feature { name: "s" struct_domain {} }'),
    )
    assert diff_schemas(old, new) == [SchemaChange(("feature", "s"), "struct_domain", None, "{ }")]


def test_sources(tmp_path: pathlib.Path) -> None:
    (tmp_path / "s.pbtxt").write_text(BASE)
    assert diff_schemas(tmp_path / "s.pbtxt", parse_schema(BASE).SerializeToString()) == []
    with pytest.raises(SchemaError, match=r"^Expected a TFMD Schema, its serialized bytes or the "):
        diff_schemas(parse_schema(BASE), 5)  # type: ignore[arg-type]
