"""The TFXIO classes for other formats than tf.Example against those of tfx-bsl, in pipelines."""

from __future__ import annotations

import inspect
import pathlib
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.compat.peers import import_peer
from tests.tfxio import csv_files
from tests.tfxio.example_files import RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import run
from tfrecord_beam.tfxio import csv_tfxio, parquet_tfxio, raw_tf_record
from tfrecord_beam.tfxio.coders import csv_decoder

peer_csv = import_peer("tfx_bsl.tfxio.csv_tfxio")
peer_decoder = import_peer("tfx_bsl.coders.csv_decoder")
peer_parquet = import_peer("tfx_bsl.tfxio.parquet_tfxio")
peer_raw = import_peer("tfx_bsl.tfxio.raw_tf_record")

CLASSES = [
    (csv_tfxio.CsvTFXIO, peer_csv.CsvTFXIO),
    (csv_tfxio.BeamRecordCsvTFXIO, peer_csv.BeamRecordCsvTFXIO),
    (parquet_tfxio.ParquetTFXIO, peer_parquet.ParquetTFXIO),
    (raw_tf_record.RawTfRecordTFXIO, peer_raw.RawTfRecordTFXIO),
    (raw_tf_record.RawBeamRecordTFXIO, peer_raw.RawBeamRecordTFXIO),
    (csv_decoder.ParseCSVLine, peer_decoder.ParseCSVLine),
    (csv_decoder.ColumnTypeInferrer, peer_decoder.ColumnTypeInferrer),
    (csv_decoder.BatchedCSVRowsToRecordBatch, peer_decoder.BatchedCSVRowsToRecordBatch),
    (csv_decoder.GetArrowSchema, peer_decoder.GetArrowSchema),
]


def signature(function: Any) -> list[tuple[str, Any]]:
    parameters = inspect.signature(function).parameters.values()
    return [(parameter.name, parameter.default) for parameter in parameters]


@pytest.mark.parametrize(("ours", "theirs"), CLASSES)
def test_arguments_are_the_same(ours: Any, theirs: Any) -> None:
    assert signature(ours) == signature(theirs)


def test_column_types_have_the_same_names_and_values() -> None:
    assert {t.name: t.value for t in csv_decoder.ColumnType} == {
        t.name: t.value for t in peer_decoder.ColumnType
    }
    assert csv_decoder.ColumnInfo._fields == peer_decoder.ColumnInfo._fields


def rows(batches: Sequence[pa.RecordBatch]) -> list[str]:
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


def check(ours: Any, theirs: Any, *heads: Any) -> None:
    """Compares what the sources give, and what they count of the data."""
    found = run(*(head() for head in heads), ours.BeamSource(10))
    expected = run(*(head() for head in heads), theirs.BeamSource(10))
    schema = expected.elements[0].schema
    assert all(batch.schema == schema for batch in [*found.elements, *expected.elements])
    assert rows(found.elements) == rows(expected.elements)
    for name, value in expected.in_namespace("tfx.test.io").items():
        if "num_raw_records" in name or "raw_record_byte_size" in name or "num_cells" in name:
            assert found.in_namespace("tfx.test.io")[name] == value


@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["schema", "inferred"])
def test_csv(schema: schema_pb2.Schema | None, tmp_path: pathlib.Path) -> None:
    """Without raw records, whose column tfx_bsl names once more for each batch."""
    csv_files.write_files(tmp_path)
    options: dict[str, Any] = {
        "telemetry_descriptors": ["test"],
        "schema": schema,
        **csv_files.OPTIONS,
    }
    pattern = {"file_pattern": str(tmp_path / "*.csv*"), "skip_header_lines": 1}
    ours = csv_tfxio.CsvTFXIO(**pattern, **options)  # type: ignore[arg-type]
    theirs = peer_csv.CsvTFXIO(**pattern, **options)
    check(ours, theirs)
    check(
        csv_tfxio.BeamRecordCsvTFXIO("text", **options),
        peer_csv.BeamRecordCsvTFXIO("text", **options),
        lambda: beam.Create(csv_files.LINES),
    )
    if schema is not None:
        assert ours.ArrowSchema() == theirs.ArrowSchema()
        assert ours.TensorRepresentations() == theirs.TensorRepresentations()


def test_raw_records(tmp_path: pathlib.Path) -> None:
    files = list(map(str, write_files(tmp_path)))
    ours = raw_tf_record.RawTfRecordTFXIO(files, "raw", ["test"])
    theirs = peer_raw.RawTfRecordTFXIO(files, "raw", ["test"])
    assert ours.ArrowSchema() == theirs.ArrowSchema()
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    check(ours, theirs)
    check(
        raw_tf_record.RawBeamRecordTFXIO("text", "raw", ["test"]),
        peer_raw.RawBeamRecordTFXIO("text", "raw", ["test"]),
        lambda: beam.Create(RECORDS),
    )


def test_parquet_of_lists(tmp_path: pathlib.Path) -> None:
    """Columns that have the types of the schema already: tfx_bsl converts no others."""
    schema = schema_pb2.Schema(
        feature=[{"name": "b", "type": "BYTES"}, {"name": "a", "type": "INT"}]
    )
    arrow_schema = pa.schema(
        [("b", pa.large_list(pa.large_binary())), ("a", pa.large_list(pa.int64()))]
    )
    table = pa.table({"b": [[b"x"], None], "a": [[1, 2], []]}, schema=arrow_schema)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    arguments: dict[str, Any] = {
        "file_pattern": str(tmp_path / "a.parquet"),
        "schema": schema,
        "telemetry_descriptors": ["test"],
    }
    ours = parquet_tfxio.ParquetTFXIO(**arguments)
    theirs = peer_parquet.ParquetTFXIO(**arguments)
    assert ours.ArrowSchema() == theirs.ArrowSchema() == arrow_schema
    check(ours, theirs)
