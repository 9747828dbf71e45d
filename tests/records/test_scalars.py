"""Tests of columns as single values and as text."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import text_format
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.frames import framed
from tfrecord_beam.errors import DecodeError, SchemaError
from tfrecord_beam.kernel.reference.protos import Example, SequenceExample
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.scalars import ColumnForms, choose_forms
from tfrecord_beam.records.table import iter_batches, read_table

SCHEMA = text_format.Parse(
    """
    string_domain { name: "colors" value: "red" }
    feature { name: "no_dimension" type: INT shape {} }
    feature { name: "size_1" type: FLOAT shape { dim { size: 1 } dim { size: 1 } } }
    feature { name: "size_2" type: FLOAT shape { dim { size: 2 } } }
    feature { name: "any_size" type: FLOAT shape { dim {} } }
    feature { name: "one" type: BYTES value_count { min: 1 max: 1 } domain: "colors" }
    feature { name: "at_most_one" type: INT value_count { max: 1 } }
    feature { name: "many" type: BYTES value_count { min: 1 } string_domain {} }
    feature { name: "url" type: BYTES url_domain {} }
    feature { name: "prose" type: BYTES natural_language_domain {} }
    feature { name: "tagged" type: BYTES annotation { tag: "utf-8" } }
    feature { name: "image" type: BYTES image_domain {} shape {} }
    feature { name: "bool" type: INT bool_domain {} }
    """,
    schema_pb2.Schema(),
)


def write(path: pathlib.Path, *rows: dict[str, Sequence[Any] | None]) -> str:
    """Writes Examples; a feature of text is bytes."""
    names = {name: None for row in rows for name in row}
    batch = pa.record_batch({name: pa.array([row.get(name) for row in rows]) for name in names})
    path.write_bytes(framed(*RecordEncoder().encode_records(batch)))
    return str(path)


def schema_of(text: str) -> schema_pb2.Schema:
    return text_format.Parse(text, schema_pb2.Schema())


def test_columns_that_a_schema_says() -> None:
    forms = choose_forms(SCHEMA, scalars=True, strings=True)
    assert forms.scalars == {"no_dimension", "size_1", "one", "at_most_one", "image"}
    assert forms.strings == {"one", "many", "url", "prose", "tagged"}
    assert choose_forms(SCHEMA) == ColumnForms()
    assert choose_forms(SCHEMA, scalars=["many"]).scalars == {"many"}


def test_table(tmp_path: pathlib.Path) -> None:
    path = write(
        tmp_path / "a.tfrecord",
        {"age": [1], "name": ["é"], "tags": ["a", "b"], "raw": ["r"]},
        {"age": [], "name": None, "tags": [], "raw": ["s"]},
        {"age": None, "name": [""], "tags": None, "raw": ["t"]},
    )
    schema = schema_of(
        """
        feature { name: "age" type: INT shape {} }
        feature { name: "name" type: BYTES value_count { max: 1 } string_domain {} }
        feature { name: "tags" type: BYTES string_domain {} }
        feature { name: "raw" type: BYTES shape {} }
        """
    )
    table = read_table(path, schema, scalars=True, strings=True)
    assert table.schema == pa.schema(
        {
            "age": pa.int64(),
            "name": pa.large_string(),
            "tags": pa.large_list(pa.large_string()),
            "raw": pa.large_binary(),
        }
    )
    assert table.to_pydict() == {
        "age": [1, None, None],
        "name": ["é", None, ""],
        "tags": [["a", "b"], [], None],
        "raw": [b"r", b"s", b"t"],
    }
    named = read_table(path, scalars=["age"], strings=["tags"])
    assert named.schema.field("age").type == pa.int64()
    assert named.schema.field("tags").type == pa.large_list(pa.large_string())
    assert named.schema.field("name").type == pa.large_list(pa.large_binary())
    assert read_table(path, schema).schema.field("age").type == pa.large_list(pa.int64())


def test_table_without_rows(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "a.tfrecord")
    schema = schema_of('feature { name: "age" type: INT shape {} }')
    assert read_table(path, schema, scalars=True).schema == pa.schema({"age": pa.int64()})


def test_column_that_some_files_lack(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "a", {"x": [1]})
    write(tmp_path / "b", {"x": [2], "y": [0.5]})
    table = read_table(tmp_path, scalars=["x", "y"])
    assert table.to_pydict() == {"x": [1, 2], "y": [None, 0.5]}


@given(
    rows=st.lists(st.none() | st.lists(st.integers(0, 99), max_size=1), max_size=20),
    data=st.data(),
)
def test_values_are_kept(rows: list[list[int] | None], data: st.DataObject) -> None:
    """Of slices too."""
    start = data.draw(st.integers(0, len(rows)))
    column = pa.array(rows, pa.large_list(pa.int64()))
    batch = pa.record_batch({"x": column}).slice(start)
    found = ColumnForms(frozenset({"x"})).convert(batch, DecodeError("").location)
    found.validate(full=True)
    assert found.column(0).to_pylist() == [row[0] if row else None for row in rows[start:]]


def test_several_values_are_an_error(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "a", {"x": [1]}, {"x": None}, {"x": [2]}, {"x": [3, 4]})
    for batch_size in (None, 3):
        with pytest.raises(DecodeError) as caught:
            list(iter_batches(path, scalars=["x"], batch_size=batch_size))
        assert str(caught.value) == (
            f"Expected at most one value for feature 'x', found 2 - at {path}, record 3"
        )


def test_bytes_that_are_no_text_are_an_error(tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch({"x": [[b"a"], None, [b"b", b"\xff"]]})
    path = tmp_path / "a"
    path.write_bytes(framed(*RecordEncoder().encode_records(batch)))
    for scalars in ([], ["y"]):
        with pytest.raises(DecodeError, match=r"text for feature 'x', found b'\\xff' .* record 2"):
            read_table(path, scalars=scalars, strings=["x"])
    path.write_bytes(framed(*RecordEncoder().encode_records(pa.record_batch({"x": [[b"\xff"]]}))))
    with pytest.raises(DecodeError, match=r"text for feature 'x', found b'\\xff' .* record 0"):
        read_table(path, scalars=["x"], strings=["x"])


def test_record_is_not_told_where_some_are_left_out(tmp_path: pathlib.Path) -> None:
    good = [Example(), Example()]
    good[0].features.feature["x"].int64_list.value.append(1)
    good[1].features.feature["x"].int64_list.value.extend([1, 2])
    path = tmp_path / "a"
    path.write_bytes(framed(b"\xff", *(example.SerializeToString() for example in good)))
    with pytest.raises(DecodeError, match="found 2") as caught:
        read_table(path, scalars=["x"], error_handler=lambda record: None)
    assert caught.value.record is None
    assert caught.value.file == str(path)


def test_column_of_two_kinds_is_an_error(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "a", {"x": [1]})
    write(tmp_path / "b", {"x": [0.5]})
    with pytest.raises(DecodeError, match=r"feature 'x' as at .*/a:0, record 0, found float_list"):
        read_table(tmp_path, scalars=["x"])


def test_rows_without_columns(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "a", {"x": [1]}, {"x": [2]})
    [batch] = iter_batches(path, columns=[], scalars=["x"])
    assert (batch.num_rows, batch.num_columns) == (2, 0)


def test_steps_stay_lists(tmp_path: pathlib.Path) -> None:
    record = SequenceExample()
    record.context.feature["x"].int64_list.value.append(1)
    record.feature_lists.feature_list["x"].feature.add().int64_list.value.append(2)
    path = tmp_path / "a"
    path.write_bytes(framed(record.SerializeToString()))
    table = read_table(path, record_type="SequenceExample", scalars=["x"])
    assert table.to_pylist() == [{"x": 1, "##SEQUENCE##": {"x": [[2]]}}]


@pytest.mark.parametrize("option", ["scalars", "strings"])
@pytest.mark.parametrize(
    ("choice", "text"),
    [
        (True, "Expected a schema for"),
        ("x", "Expected a list of columns"),
        (5, "Expected a list of columns"),
        (None, "Expected a list of columns"),
        ([b"x"], "Expected names"),
        (["x", "x"], "found 'x' twice"),
    ],
)
def test_wrong_choices(option: str, choice: Any, text: str) -> None:
    with pytest.raises(SchemaError, match=text):
        choose_forms(None, **{option: choice})


def test_unknown_name() -> None:
    with pytest.raises(SchemaError, match=r"found 'ona' \(did you mean 'one'\?\)"):
        choose_forms(SCHEMA, scalars=["ona"])
