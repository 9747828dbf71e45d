"""Tests of tfrecord_beam.transforms.rows."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.portability.api import schema_pb2
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from apache_beam.typehints.schemas import typing_to_runner_api

from tests.schema.schemas import parse_schema
from tests.tfxio.example_files import NUM_RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import run
from tfrecord_beam import BeamSource, DecodeError, EncodeError, FromRows, SchemaError, ToRows

PEOPLE = parse_schema(
    """
    feature { name: "age" type: INT shape { dim { size: 1 } } }
    feature { name: "name" type: BYTES shape {} string_domain { value: "Ann" } }
    feature { name: "scores" type: FLOAT }
    """
)


def people(*rows: tuple[Any, Any, Any]) -> pa.RecordBatch:
    kinds = (pa.int64(), pa.large_binary(), pa.float32())
    columns = [pa.array(values, pa.large_list(kind)) for values, kind in zip(zip(*rows), kinds)]
    return pa.RecordBatch.from_arrays(columns, ["age", "name", "scores"])


BATCH = people(([42], [b"Ann"], [0.5, 1.5]), ([7], None, []), (None, [b"Bo"], None))


def to_rows(transform: ToRows, *batches: pa.RecordBatch) -> list[Any]:
    create = beam.Create(batches).with_output_types(pa.RecordBatch)
    return run(create, transform, beam.Reshuffle()).elements  # which encodes them


def test_rows_of_lists() -> None:
    rows = to_rows(ToRows(PEOPLE), BATCH)
    by_age = {row.age and row.age[0]: row for row in rows}
    assert tuple(by_age[42]) == ([42], [b"Ann"], [0.5, 1.5])
    assert (by_age[7].name, by_age[7].scores) == (None, [])
    assert (by_age[None].name, by_age[None].scores) == ([b"Bo"], None)


def test_rows_of_scalars_and_text() -> None:
    rows = to_rows(ToRows(PEOPLE, columns=["name", "age"], scalars=True, strings=True), BATCH)
    assert {tuple(row) for row in rows} == {("Ann", 42), (None, 7), ("Bo", None)}


def test_beam_knows_their_schema() -> None:
    pipeline = beam.Pipeline()
    batches = pipeline | beam.Create([BATCH])
    rows = batches | ToRows(PEOPLE, scalars=["age"], strings=True)
    fields = typing_to_runner_api(rows.element_type).row_type.schema.fields
    assert [field.name for field in fields] == ["age", "name", "scores"]
    assert all(field.type.nullable for field in fields)
    assert fields[0].type.atomic_type == schema_pb2.INT64
    elements = [field.type.array_type.element_type.atomic_type for field in fields[1:]]
    assert elements == [schema_pb2.STRING, schema_pb2.FLOAT]


class TakeTables(beam.DoFn):
    """A step that takes rows in batches, by Beam's own means."""

    # Beam cannot read the annotation below where annotations are texts.
    def get_input_batch_type(self, input_element_type: object) -> type:
        table: type = pa.Table
        return table

    @beam.DoFn.yields_elements  # type: ignore[untyped-decorator]
    def process_batch(self, batch: pa.Table) -> Iterator[Any]:
        yield batch.schema, batch.to_pylist()


def test_beam_makes_tables_of_them() -> None:
    create = beam.Create([BATCH]).with_output_types(pa.RecordBatch)
    to_rows = ToRows(PEOPLE, scalars=["age"], strings=True)
    take: beam.DoFn = TakeTables()  # type: ignore[no-untyped-call]
    parts = run(create, to_rows, beam.ParDo(take)).elements
    rows = [row for _, part in parts for row in part]
    assert rows[0] == {"age": 42, "name": ["Ann"], "scores": [0.5, 1.5]}
    assert len(rows) == BATCH.num_rows
    assert parts[0][0].field("age").type == pa.int64()
    assert parts[0][0].field("scores").type.value_type == pa.float32()


def test_there_and_back(tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    direct = run(BeamSource(tmp_path, SCHEMA)).elements
    back = run(BeamSource(tmp_path, SCHEMA), ToRows(SCHEMA), FromRows(SCHEMA)).elements
    assert {batch.schema for batch in back} == {direct[0].schema}
    assert sorted_rows(back) == sorted_rows(direct)
    assert len(sorted_rows(back)) == NUM_RECORDS


_PICKLED = pytest.mark.skipif(
    tuple(map(int, beam.__version__.split(".")[:2])) <= (2, 60),
    reason="This Beam pickles rows with such a field, and cannot unpickle them",
)


@pytest.mark.parametrize("name", [pytest.param("self", marks=_PICKLED), "as_dict"])
def test_fields_that_are_names_of_rows_themselves(name: str) -> None:
    schema = parse_schema(f'feature {{ name: "{name}" type: INT }}')
    given = pa.record_batch({name: pa.array([[1]], pa.large_list(pa.int64()))})
    [row] = to_rows(ToRows(schema), given)
    assert getattr(row, name) == [1]
    [back] = run(beam.Create([given]), ToRows(schema), FromRows(schema)).elements
    assert back.to_pylist() == [{name: [1]}]


@pytest.mark.parametrize("name", ["capital-gain", "a.b", "1st", "class", "_age", ""])
def test_names_that_no_field_of_a_row_can_have(name: str) -> None:
    schema = parse_schema(
        f'feature {{ name: "{name}" type: INT }} feature {{ name: "age" type: INT }}'
    )
    text = (
        "^Expected names that fields of Beam rows can have, which are identifiers of Python "
        rf"without an underscore at the start, found {re.escape(repr(name))} "
        r"\(select other columns, or rename the feature in the data and the schema\)$"
    )
    with pytest.raises(SchemaError, match=text):
        ToRows(schema)
    given = pa.record_batch({"age": pa.array([[1]], pa.large_list(pa.int64()))})
    [row] = to_rows(ToRows(schema, columns=["age"]), given)
    assert row.age == [1]
    [batch] = run(beam.Create([{name: 1, "age": 2}]), FromRows(schema)).elements
    assert batch.to_pylist() == [{name: [1], "age": [2]}]


def sorted_rows(batches: list[pa.RecordBatch]) -> list[Any]:
    return sorted((row for batch in batches for row in batch.to_pylist()), key=repr)


class Person(NamedTuple):
    age: int
    name: str | None


@pytest.mark.parametrize("row", [{"age": 42, "name": "Ann"}, Person(42, "Ann")])
def test_batches_of_any_rows(row: Any) -> None:
    [batch] = run(beam.Create([row]), FromRows()).elements
    assert batch.to_pylist() == [{"age": [42], "name": [b"Ann"]}]
    [batch] = run(beam.Create([row]), FromRows(PEOPLE)).elements
    assert batch.schema.names == ["age", "name", "scores"]
    assert batch.schema.field("scores").type == pa.large_list(pa.float32())


def test_rows_of_windows_stay_apart() -> None:
    rows = beam.Create([TimestampedValue({"age": second}, second) for second in range(4)])
    batches = run(rows, beam.Map(lambda row: row), beam.WindowInto(FixedWindows(2)), FromRows())
    found = [batch.column("age").flatten().to_pylist() for batch in batches.elements]
    assert sorted(map(sorted, found)) == [[0, 1], [2, 3]]


def test_batch_without_a_column() -> None:
    with pytest.raises(SchemaError, match=r"Expected .* for feature 'name', found none"):
        to_rows(ToRows(PEOPLE), BATCH.drop_columns(["name"]))
    with pytest.raises(SchemaError, match=r"Expected large_list<.*float>.* found large_list"):
        to_rows(ToRows(PEOPLE), BATCH.set_column(2, "scores", BATCH.column("age")))


def test_values_that_do_not_fit() -> None:
    with pytest.raises(DecodeError, match=r"Expected at most one value for feature 'age', found 2"):
        to_rows(ToRows(PEOPLE, scalars=True), people(([1, 2], None, None)))
    with pytest.raises(DecodeError, match=r"Expected UTF-8 text for feature 'name', found "):
        to_rows(ToRows(PEOPLE, strings=True), people((None, [b"\xff"], None)))
    with pytest.raises(EncodeError, match=r"Expected rows, found b'a'"):
        run(beam.Create([b"a"]), FromRows())
    with pytest.raises(EncodeError, match=r"Expected a RecordBatch, bytes, .* found 5"):
        run(beam.Create([5]), FromRows())


def test_schema_that_gives_no_fields() -> None:
    with pytest.raises(
        SchemaError, match=r"^Expected a schema, which gives the fields of the rows, found none"
    ):
        ToRows(None)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match=r"Expected type INT, FLOAT or BYTES for feature 'n'"):
        ToRows(parse_schema('feature { name: "n" }'))


def test_rows_that_do_not_fit_the_schema() -> None:
    with pytest.raises(SchemaError, match=r"'weight'"):
        run(beam.Create([{"weight": 1.5}]), FromRows(PEOPLE))
    with pytest.raises(SchemaError, match=r"'age'"):
        run(beam.Create([{"age": "old"}]), FromRows(PEOPLE))
