"""What CSV has beyond the contract of all TFXIO classes (`test_contract`)."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.schemas import parse_schema
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records import ranges
from tfrecord_beam.tfxio.csv_tfxio import BeamRecordCsvTFXIO, CsvTFXIO
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions

INT = pa.large_list(pa.int64())
FLOAT = pa.large_list(pa.float32())
STRING = pa.large_list(pa.large_binary())

SCHEMA = parse_schema(
    """
    feature { name: "c" type: BYTES }
    feature { name: "a" type: INT }
    """
)


def rows(batches: Sequence[pa.RecordBatch]) -> list[dict[str, Any]]:
    return sorted((row for batch in batches for row in batch.to_pylist()), key=repr)


def test_columns_have_the_order_of_the_lines(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"1,2,x\n")
    tfxio = CsvTFXIO(tmp_path / "a.csv", ["a", "b", "c"], schema=SCHEMA)
    assert tfxio.ArrowSchema() == pa.schema([("a", INT), ("c", STRING)])
    [batch] = run(tfxio.BeamSource()).elements
    assert batch.schema == tfxio.ArrowSchema()
    assert batch.to_pydict() == {"a": [[1]], "c": [[b"x"]]}


def test_types_are_those_of_all_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b,c\n1,1,\n")
    (tmp_path / "b.csv").write_bytes(b"a,b,c\n2.5,x,\n")
    tfxio = CsvTFXIO(str(tmp_path), ["a", "b", "c"], skip_header_lines=1)
    batches = run(tfxio.BeamSource()).elements
    expected = pa.schema([("a", FLOAT), ("b", STRING), ("c", pa.null())])
    assert [batch.schema for batch in batches] == [expected, expected]
    assert rows(batches) == [
        {"a": [1.0], "b": [b"1"], "c": None},
        {"a": [2.5], "b": [b"x"], "c": None},
    ]


def test_types_are_those_of_all_lines_in_memory() -> None:
    tfxio = BeamRecordCsvTFXIO("memory", ["a"])
    batches = run(beam.Create([b"1", b"2.5"]), tfxio.BeamSource(1)).elements
    assert [batch.schema for batch in batches] == [pa.schema([("a", FLOAT)])] * 2


def test_types_are_those_of_a_window() -> None:
    lines = [(0, b"1"), (1, b"2"), (10, b"3"), (11, b"4.5")]
    stamped: Any = beam.MapTuple(lambda time, line: TimestampedValue(line, time))
    head: list[Any] = [
        beam.Create(lines, reshuffle=False),
        stamped.with_output_types(bytes),
        beam.WindowInto(FixedWindows(10)),
    ]
    batches = run(*head, BeamRecordCsvTFXIO("memory", ["a"]).BeamSource()).elements
    found = sorted((str(batch.schema.types[0]), batch.to_pydict()["a"]) for batch in batches)
    assert found == [(str(FLOAT), [[3.0], [4.5]]), (str(INT), [[1], [2]])]


def test_ranges_have_each_line_once(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "MIN_RANGE_BYTES", 1000)
    monkeypatch.setattr(ranges, "MAX_RANGE_BYTES", 1000)
    lines = [b"%d,%s" % (i, b"x" * (i * 37 % 90)) for i in range(500)]
    (tmp_path / "a.csv").write_bytes(b"id,text\n" + b"\n".join(lines))
    tfxio = CsvTFXIO(tmp_path, ["id", "text"], skip_header_lines=1, raw_record_column_name="raw")
    result = run(tfxio.BeamSource(batch_size=7))
    assert len(result.elements) > 72  # of 500 lines: many ranges have a rest
    assert all(batch.num_rows <= 7 for batch in result.elements)
    found = rows(result.elements)
    assert sorted(row["id"] for row in found) == [[i] for i in range(500)]
    assert sorted(row["raw"][0] for row in found) == sorted(lines)


def test_batches_have_the_size_asked_for(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"".join(b"%d\n\n" % i for i in range(10)))
    batches = run(CsvTFXIO(tmp_path, ["a"], schema=None).BeamSource(4)).elements
    assert [batch.num_rows for batch in batches] == [4, 4, 2]


@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["schema", "inferred"])
def test_record_batches_without_beam(
    schema: schema_pb2.Schema | None, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b,c\n1,2,x\n\n3,4,y\n")
    (tmp_path / "b.csv").write_bytes(b"a,b,c\n5,6,z\n")
    tfxio = CsvTFXIO(tmp_path, ["a", "b", "c"], schema=schema, skip_header_lines=1)
    options = RecordBatchesOptions(2, num_epochs=2, shuffle=False)
    batches = list(tfxio.RecordBatches(options))
    assert [batch.num_rows for batch in batches] == [2, 2, 2]
    assert [row["c"] for batch in batches for row in batch.to_pylist()] == [
        [b"x"],
        [b"y"],
        [b"z"],
    ] * 2
    shuffled = list(tfxio.RecordBatches(options._replace(shuffle=True, num_epochs=1)))
    assert rows(shuffled) == rows(run(tfxio.BeamSource()).elements)
    with pytest.raises(ValueError, match=r"^Expected batch_size"):
        tfxio.RecordBatches(options._replace(batch_size=0))


def test_error_names_the_place(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,x\nx,y\n")
    schema = parse_schema('feature { name: "a" type: INT }')
    tfxio = CsvTFXIO(path, ["a", "b"], schema=schema, skip_header_lines=1)
    with pytest.raises(Exception, match=r"found b'x' - at .*a\.csv:8, line 3, feature 'a'"):
        run(tfxio.BeamSource())
    with pytest.raises(Exception, match=r"Expected a line of 1 cell, found 2 - at .*a\.csv:0, li"):
        run(CsvTFXIO(path, ["a"]).BeamSource())


def test_projection_decodes_no_other_column(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"no number,2,x\n")
    projected = CsvTFXIO(tmp_path, ["a", "b", "c"], schema=SCHEMA).Project(["c"])
    [batch] = run(projected.BeamSource()).elements
    assert batch.to_pydict() == {"c": [[b"x"]]}


def test_arguments_that_cannot_be(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SchemaError, match=r"^Expected features of the schema among 'a', 'b', foun"):
        CsvTFXIO(tmp_path, ["a", "b"], schema=SCHEMA)
    with pytest.raises(ValueError, match=r"^Expected file_pattern"):
        CsvTFXIO([], ["a"])
    with pytest.raises(FileNotFoundError, match=r"^Expected files at '.*none'"):
        CsvTFXIO(tmp_path / "none", ["a"]).BeamSource()
    (tmp_path / "a.csv").write_bytes(b"1\n")
    for batch_size in (0, -1, "7"):
        with pytest.raises(ValueError, match=r"^Expected batch_size"):
            CsvTFXIO(tmp_path, ["a"]).BeamSource(batch_size)  # type: ignore[arg-type]


def test_schema_may_be_a_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "schema.pbtxt"
    path.write_text('feature { name: "a" type: INT }')
    tfxio = BeamRecordCsvTFXIO("memory", ["a"], schema=path)
    assert tfxio.ArrowSchema() == pa.schema([("a", INT)])
    assert tfxio.TensorRepresentations() == {
        "a": schema_pb2.TensorRepresentation(varlen_sparse_tensor={"column_name": "a"})
    }
