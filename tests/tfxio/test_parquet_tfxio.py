"""Parquet as TFXIO: the columns of a schema, or of the first file."""

from __future__ import annotations

import pathlib
import pickle
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.schemas import parse_schema
from tests.tfxio.pipelines import Distribution, run
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions
from tfrecord_beam.tfxio.parquet_tfxio import ParquetTFXIO
from tfrecord_beam.tfxio.record_based_tfxio import RecordBasedTFXIO
from tfrecord_beam.tfxio.tfxio import TFXIO
from tfrecord_beam.transforms import parquet

INT = pa.large_list(pa.int64())
FLOAT = pa.large_list(pa.float32())
BYTES = pa.large_list(pa.large_binary())

SCHEMA = parse_schema(
    """
    feature { name: "words" type: BYTES }
    feature { name: "id" type: INT }
    feature { name: "score" type: FLOAT }
    """
)
ARROW_SCHEMA = pa.schema([("words", BYTES), ("id", INT), ("score", FLOAT)])


def row_of(i: int) -> dict[str, Any]:
    return {
        "id": [i],
        "score": [i / 2] if i % 3 else None,
        "words": [b"word"] * (i % 4) if i % 5 else None,
    }


ROWS = [row_of(i) for i in range(57)]


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """Files of other column orders and types than the schema's, one without rows."""
    columns = {
        "id": pa.array([row["id"][0] for row in ROWS], pa.int32()),
        "more": pa.array(range(57), pa.timestamp("us")),
        "score": pa.array([row["score"] and row["score"][0] for row in ROWS], pa.float64()),
        "words": pa.array([row["words"] for row in ROWS], pa.list_(pa.binary())),
    }
    table = pa.table(columns)
    names = ["words", "score", "id"]
    for name, part in (
        ("a.parquet", table[:30]),
        ("b.parquet", table[30:].select(names)),
        ("c.parquet", table[:0]),
    ):
        pyarrow.parquet.write_table(part, tmp_path / name, row_group_size=10)
    return tmp_path


def rows(batches: Sequence[pa.RecordBatch]) -> list[str]:
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


def expected(*columns: str) -> list[str]:
    return sorted(repr({name: row[name] for name in columns}) for row in ROWS)


@pytest.mark.parametrize("batch_size", [None, 7])
def test_batches_have_the_schema(
    folder: pathlib.Path, batch_size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MIN_RANGE_BYTES", 1)
    tfxio = ParquetTFXIO(str(folder / "*.parquet"), schema=SCHEMA)
    assert tfxio.ArrowSchema() == ARROW_SCHEMA
    whole = run(tfxio.BeamSource(batch_size)).elements
    parts = run(tfxio.RawRecordBeamSource(), tfxio.RawRecordToRecordBatch(batch_size)).elements
    for batches in (whole, parts):
        for batch in batches:
            batch.validate(full=True)
            assert batch.schema == ARROW_SCHEMA
            assert batch.num_rows <= (batch_size or 57)
            assert all(column.offset == 0 for column in batch.columns)
        assert rows(batches) == expected("words", "id", "score")
    assert len(whole) == (6 if batch_size is None else 11)  # row groups of 10 rows


def test_no_column_leaves_the_rows(folder: pathlib.Path) -> None:
    tfxio: Any = ParquetTFXIO(str(folder / "*.parquet"), schema=SCHEMA).Project([])
    whole = run(tfxio.BeamSource()).elements
    parts = run(tfxio.RawRecordBeamSource(), tfxio.RawRecordToRecordBatch()).elements
    for batches in (whole, parts):
        assert sum(batch.num_rows for batch in batches) == len(ROWS)
        assert {batch.num_columns for batch in batches} == {0}


def test_record_batches_without_beam(folder: pathlib.Path) -> None:
    tfxio = ParquetTFXIO(folder, schema=SCHEMA)
    options = RecordBatchesOptions(10, num_epochs=1, shuffle=False)
    batches = list(tfxio.RecordBatches(options))
    assert [batch.num_rows for batch in batches] == [10] * 5 + [7]
    assert [row for batch in batches for row in batch.column("id").to_pylist()] == [
        [i] for i in range(57)
    ]
    shuffled = list(tfxio.RecordBatches(options._replace(shuffle=True)))
    assert rows(shuffled) == expected("words", "id", "score")


def test_metrics_count_the_data(folder: pathlib.Path) -> None:
    tfxio = ParquetTFXIO(folder, schema=SCHEMA, telemetry_descriptors=["test"])
    found = run(tfxio.BeamSource()).in_namespace("tfx.test.io")
    prefix = "LogicalFormat[parquet]-PhysicalFormat[parquet]-"
    assert found[prefix + "num_cells[INT]"] == 57
    assert found[prefix + "num_cells[STRING]"] == sum(row["words"] is not None for row in ROWS)
    num_rows = found[prefix + "num_rows"]
    assert isinstance(num_rows, Distribution)
    assert num_rows.sum == 57


def test_columns_are_those_of_the_first_file(folder: pathlib.Path) -> None:
    names = ["score", "id"]
    tfxio = ParquetTFXIO(folder, column_names=names)
    assert tfxio.ArrowSchema() == pa.schema([("score", FLOAT), ("id", INT)])
    batches = run(tfxio.BeamSource()).elements
    assert all(batch.schema == tfxio.ArrowSchema() for batch in batches)
    assert rows(batches) == expected(*names)
    assert ParquetTFXIO(folder).ArrowSchema().field("more").type == INT  # of timestamps
    pyarrow.parquet.write_table(pa.table({"x": [{"a": 1}]}), folder / "struct")
    with pytest.raises(SchemaError, match=r"for feature 'x', found struct<a: int64>"):
        ParquetTFXIO(folder / "struct").ArrowSchema()
    with pytest.raises(SchemaError, match=r"^Expected columns of .*a\.parquet among .*, found 'x'"):
        ParquetTFXIO(folder, column_names=["x"]).ArrowSchema()
    for ask in (tfxio.TensorRepresentations, lambda: tfxio.Project(["id"])):
        with pytest.raises(SchemaError, match=r"^Expected a TFMD schema .* ParquetTFXIO\)$"):
            ask()


def test_column_names_choose_and_order(folder: pathlib.Path) -> None:
    tfxio = ParquetTFXIO(folder, column_names=["score", "more", "words", "id"], schema=SCHEMA)
    assert tfxio.ArrowSchema().names == ["score", "words", "id"]
    assert tfxio.Project(["id", "score"]).ArrowSchema().names == ["score", "id"]
    with pytest.raises(SchemaError, match=r"^Expected features of the schema among 'id', found "):
        ParquetTFXIO(folder, column_names=["id"], schema=SCHEMA)


@pytest.mark.parametrize("tensors", [["id"], ["words", "score"], []])
def test_projection_reads_only_the_columns_of_its_tensors(
    folder: pathlib.Path, tensors: list[str]
) -> None:
    tfxio = ParquetTFXIO(folder, schema=SCHEMA, telemetry_descriptors=["test"])
    projected: TFXIO = pickle.loads(pickle.dumps(tfxio.Project(tensors)))
    assert projected.ArrowSchema().names == tensors
    representations = tfxio.TensorRepresentations()
    assert projected.TensorRepresentations() == {name: representations[name] for name in tensors}
    batches = run(projected.BeamSource()).elements
    assert sum(batch.num_rows for batch in batches) == 57
    assert rows(batches) == expected(*tensors)
    with pytest.raises(ValueError, match=r"^Expected tensors among .*, found 'more'"):
        projected.Project(["more"])


def test_file_that_lacks_a_column(folder: pathlib.Path) -> None:
    schema = schema_pb2.Schema(feature=[{"name": "more", "type": "INT"}])
    [batch] = run(ParquetTFXIO(folder / "a.parquet", schema=schema).BeamSource()).elements
    assert batch.column("more").to_pylist() == [[number] for number in range(30)]
    with pytest.raises(Exception, match=r"^Expected columns among .*, found 'more' - at .*b\.parq"):
        run(ParquetTFXIO(folder / "b.parquet", schema=schema).BeamSource())


def test_arguments_that_cannot_be(folder: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"^Expected min_bundle_size to be an int of at least 0"):
        ParquetTFXIO(folder, min_bundle_size=-1)
    with pytest.raises(ValueError, match=r"^Expected different column_names, found 'a' twice$"):
        ParquetTFXIO(folder, column_names=["a", "a"])
    with pytest.raises(ValueError, match=r"^Expected file_pattern"):
        ParquetTFXIO([])
    with pytest.raises(FileNotFoundError, match=r"^Expected files at"):
        ParquetTFXIO(folder / "none", schema=SCHEMA).BeamSource()
    with pytest.raises(ValueError, match=r"^Expected type INT, FLOAT or BYTES for feature 'x'"):
        ParquetTFXIO(folder, schema=schema_pb2.Schema(feature=[{"name": "x", "type": "STRUCT"}]))
    tfxio: RecordBasedTFXIO = ParquetTFXIO(folder, schema=SCHEMA)
    assert tfxio.raw_record_column_name is None
    for batch_size in (0, "7"):
        with pytest.raises(ValueError, match=r"^Expected batch_size"):
            tfxio.BeamSource(batch_size)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"^Expected batch_size"):
            tfxio.RawRecordToRecordBatch(batch_size)  # type: ignore[arg-type]
