"""Rows as deferred data frames of Beam, and back."""

from __future__ import annotations

import importlib
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest

from tests.tfxio.pipelines import run
from tests.transforms.test_rows import BATCH, PEOPLE
from tfrecord_beam import FromRows, ToRows

try:
    convert: Any = importlib.import_module("apache_beam.dataframe.convert")
except (ImportError, AttributeError) as error:  # the latter with a pandas that is too new for it
    pytest.skip(f"Beam's data frames need apache-beam[dataframe]: {error}", allow_module_level=True)


class Grow(beam.PTransform):
    """Makes people a year older, and leaves out those of whom no age is known."""

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        people = convert.to_dataframe(rows)
        people = people.loc[people.age > 0]
        people["age"] = people.age + 1
        return convert.to_pcollection(people)


def test_there_and_back() -> None:
    create = beam.Create([BATCH]).with_output_types(pa.RecordBatch)
    to_rows = ToRows(PEOPLE, scalars=True, strings=True)
    [batch] = run(create, to_rows, Grow(), FromRows(PEOPLE)).elements
    assert batch.to_pylist() == [
        {"age": [43], "name": [b"Ann"], "scores": [0.5, 1.5]},
        {"age": [8], "name": None, "scores": []},
    ]
