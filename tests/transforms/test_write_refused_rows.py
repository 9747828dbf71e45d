"""Rows that cannot be written go to an error handler, and the others into files."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.transforms.error_handling import CollectingErrorHandler

from tests.schema.schemas import parse_schema
from tests.tfxio.pipelines import run
from tfrecord_beam import EncodeError, SchemaError, WriteToTFRecord, read_table
from tfrecord_beam.transforms.metrics import NAMESPACE

SCHEMA = parse_schema(
    """
    feature { name: "age" type: INT }
    feature { name: "day" type: BYTES }
    """
)


class _Write(beam.PTransform):
    """Writes elements and gives what was refused."""

    def __init__(self, elements: list[Any], prefix: pathlib.Path, **options: Any) -> None:
        super().__init__()
        self._elements = elements
        self._handler = CollectingErrorHandler()
        self._write = WriteToTFRecord(
            prefix, SCHEMA, num_shards=2, error_handler=self._handler, **options
        )

    def expand(self, pipeline: Any) -> Any:
        with self._handler:
            _ = pipeline | beam.Create(self._elements, reshuffle=False) | self._write
        return self._handler.output()


GOOD = [{"age": age, "day": "mon"} for age in (1, 2, [3, 4], None, True)]
BAD = [
    {"age": "old", "day": "mon"},
    {"age": 1, "day": "mon", "more": 2},
    {"age": [1, None], "day": "tue"},
    {"age": 5, "day": 7},
    8,
]


def test_rows(tmp_path: pathlib.Path) -> None:
    elements = [each for pair in zip(GOOD, BAD, strict=True) for each in pair]
    found = run(_Write(elements, tmp_path / "a"))
    ages = read_table(str(tmp_path / "a*"))["age"].to_pylist()
    assert sorted(ages, key=str) == sorted([[1], [2], [3, 4], None, [1]], key=str)
    refused = {str(row): (kind, text) for row, (kind, text, _) in found.elements}
    assert sorted(refused) == sorted(map(str, BAD))
    assert refused[str(BAD[0])] == (
        SchemaError,
        "Expected int64_list for feature 'age', found bytes_list "
        "(cast the column, or change the schema)",
    )
    assert refused["8"][0] is EncodeError
    assert all("Error: " + text in lines[-1] for _, (_, text, lines) in found.elements)
    assert found.in_namespace(NAMESPACE)["refused_rows"] == len(BAD)


def test_batches_with_partitions(tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch({"age": [1, 2, 3], "day": [["mon"], ["mon", "tue"], ["tue"]]})
    found = run(_Write([batch], tmp_path / "a", partition_by=["day"]))
    [(row, (kind, text, _))] = found.elements
    assert row.to_pylist() == [{"age": 2, "day": ["mon", "tue"]}]
    assert (kind, "'day'" in text, "record" in text) == (EncodeError, True, False)
    for day, age in (("mon", 1), ("tue", 3)):
        assert read_table(tmp_path / f"day={day}")["age"].to_pylist() == [[age]]


def test_records_pass(tmp_path: pathlib.Path) -> None:
    assert run(_Write([b"", b""], tmp_path / "a")).elements == []
    assert read_table(str(tmp_path / "a*")).num_rows == 2


@pytest.mark.parametrize("options", [{}, {"schema": SCHEMA, "ordered": True, "num_shards": 1}])
def test_what_it_needs(options: dict[str, Any], tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"^Expected a schema, and no ordered=True, with error_h"):
        WriteToTFRecord(tmp_path / "a", error_handler=CollectingErrorHandler(), **options)
