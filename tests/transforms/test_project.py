"""Tests of tfrecord_beam.transforms.project."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.transforms.display import DisplayData

from tests.frames import framed
from tests.tfxio.example_files import RECORDS, SCHEMA
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.transforms.project import Project
from tfrecord_beam.transforms.read import BeamSource

BATCH = pa.record_batch({"a": [[1]], "b": [[2.0]], "c": [[b"3"]]})


@pytest.mark.parametrize("columns", [["a"], ["c", "a"], [], ("b",), ["a", "b", "c"]])
def test_columns_in_the_order_asked_for(columns: Any) -> None:
    [batch] = run(beam.Create([BATCH]), Project(columns)).elements
    assert batch.equals(BATCH.select(list(columns)))
    assert batch.num_rows == 1


def test_same_as_to_read_these_columns(tmp_path: pathlib.Path) -> None:
    (tmp_path / "f").write_bytes(framed(*RECORDS))
    read = run(BeamSource(tmp_path, SCHEMA, columns=["score", "id"])).elements
    projected = run(BeamSource(tmp_path, SCHEMA), Project(["score", "id"])).elements
    assert pa.Table.from_batches(read).equals(pa.Table.from_batches(projected))


def test_unknown_column_fails_the_pipeline() -> None:
    with pytest.raises(SchemaError, match=r"Expected columns among 'a', 'b', 'c', found 'd'"):
        run(beam.Create([BATCH]), Project(["d"]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "a"], "^Expected different columns, found 'a' twice"),
        ("a", r"^Expected a list of columns, found 'a' \(write \['a'\]\)"),
        ([1], "^Expected names of columns as str, found 1"),
    ],
)
def test_columns_are_checked_at_once(columns: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Project(columns)


def test_display_data_and_type() -> None:
    items = DisplayData.create_from(Project(["b", "a"])).items
    assert [(item.key, item.value) for item in items] == [("columns", "b, a")]
    output = beam.Pipeline() | beam.Create([BATCH]) | Project(["a"])
    assert output.element_type == pa.RecordBatch
