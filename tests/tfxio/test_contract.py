"""One contract for every TFXIO class: whichever way data are read, they are the same.

A class takes part through an entry in `SOURCES`.
"""

from __future__ import annotations

import itertools
import pathlib
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.tfxio import csv_files
from tests.tfxio.example_files import EMPTY_SCHEMA, NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import Distribution, Run, run
from tfrecord_beam.tfxio.coders.example_coder import ExamplesToRecordBatchDecoder
from tfrecord_beam.tfxio.csv_tfxio import BeamRecordCsvTFXIO, CsvTFXIO
from tfrecord_beam.tfxio.record_based_tfxio import RecordBasedTFXIO
from tfrecord_beam.tfxio.tf_example_record import TFExampleBeamRecord, TFExampleRecord

DESCRIPTORS = ["contract"]


class Source(NamedTuple):
    """A TFXIO class over records of `SCHEMA`.

    Attributes:
      make: from the folder of the files, and keyword arguments schema and raw_record_column_name.
      head: what comes before its transforms in a pipeline.
      records: the raw records.
      rows: what they hold, by the schema.
      prefix: of the names of its metrics.
    """

    make: Callable[..., RecordBasedTFXIO]
    head: Callable[[], Sequence[beam.PTransform[Any, Any]]]
    records: Sequence[bytes]
    rows: Sequence[Mapping[str, Any]]
    prefix: str

    def rows_of(self, columns: Sequence[str]) -> list[str]:
        """Returns the rows of some columns in the order of `rows`."""
        return sorted(repr({name: row[name] for name in columns}) for row in self.rows)


def make_record(folder: pathlib.Path, **options: Any) -> RecordBasedTFXIO:
    files = write_files(folder)
    return TFExampleRecord(files, telemetry_descriptors=DESCRIPTORS, **options)


def make_beam_record(folder: pathlib.Path, **options: Any) -> RecordBasedTFXIO:
    return TFExampleBeamRecord("memory", DESCRIPTORS, **options)


def make_csv(folder: pathlib.Path, **options: Any) -> RecordBasedTFXIO:
    return CsvTFXIO(
        csv_files.write_files(folder),
        telemetry_descriptors=DESCRIPTORS,
        skip_header_lines=1,
        **csv_files.OPTIONS,
        **options,
    )


def make_beam_csv(folder: pathlib.Path, **options: Any) -> RecordBasedTFXIO:
    return BeamRecordCsvTFXIO(
        "memory", telemetry_descriptors=DESCRIPTORS, **csv_files.OPTIONS, **options
    )


COLUMNS = {"sparse_score": ["score", "index"], "name": ["name"], "id": ["id"]}
"""The columns that make each tensor."""

ROWS = ExamplesToRecordBatchDecoder(SCHEMA.SerializeToString()).DecodeBatch(RECORDS).to_pylist()
SOURCES = {
    "TFExampleRecord": Source(
        make_record,
        tuple,
        RECORDS,
        ROWS,
        "LogicalFormat[tf_example]-PhysicalFormat[tfrecords_gzip]-",
    ),
    "TFExampleBeamRecord": Source(
        make_beam_record,
        lambda: [beam.Create(RECORDS)],
        RECORDS,
        ROWS,
        "LogicalFormat[tf_example]-PhysicalFormat[memory]-",
    ),
    "CsvTFXIO": Source(
        make_csv,
        tuple,
        csv_files.LINES,
        csv_files.ROWS,
        "LogicalFormat[csv]-PhysicalFormat[text]-",
    ),
    "BeamRecordCsvTFXIO": Source(
        make_beam_csv,
        lambda: [beam.Create(csv_files.LINES)],
        csv_files.LINES,
        csv_files.ROWS,
        "LogicalFormat[csv]-PhysicalFormat[memory]-",
    ),
}


@pytest.fixture(params=SOURCES.values(), ids=list(SOURCES))
def source(request: pytest.FixtureRequest) -> Source:
    """Each class in turn."""
    found: Source = request.param
    return found


def rows(batches: Sequence[pa.RecordBatch]) -> list[str]:
    """Returns the rows in an order of their own; batches come in any order and of any size."""
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


def check_batches(batches: Sequence[pa.RecordBatch]) -> None:
    for batch in batches:
        batch.validate(full=True)
        assert all(column.offset == 0 for column in batch.columns)
    assert sum(batch.num_rows for batch in batches) == NUM_RECORDS


def additive(result: Run, prefix: str) -> dict[str, Any]:
    """Returns of the metrics what does not depend on where batches are cut."""
    found: dict[str, Any] = {}
    for name, value in result.in_namespace("tfx.contract.io").items():
        base = name.removeprefix(prefix)
        if base == "num_rows" and isinstance(value, Distribution):
            found[base] = value.sum
        elif base in ("num_raw_records", "raw_record_byte_size") or base.startswith("num_cells"):
            found[base] = value
    return found | result.in_namespace("tfx.contract")


@pytest.mark.parametrize(
    ("schema", "raw", "batch_size"),
    [
        (SCHEMA, None, None),
        (SCHEMA, "raw", 7),
        (EMPTY_SCHEMA, None, 7),
        (EMPTY_SCHEMA, "raw", None),
        (None, None, 7),
        (None, "raw", None),
    ],
    ids=["schema", "schema-raw-7", "empty-7", "empty-raw", "none-7", "none-raw"],
)
def test_source_is_equal_to_its_parts(
    source: Source,
    schema: schema_pb2.Schema | None,
    raw: str | None,
    batch_size: int | None,
    tmp_path: pathlib.Path,
) -> None:
    tfxio = source.make(tmp_path, schema=schema, raw_record_column_name=raw)
    whole = run(*source.head(), tfxio.BeamSource(batch_size))
    parts = run(
        *source.head(), tfxio.RawRecordBeamSource(), tfxio.RawRecordToRecordBatch(batch_size)
    )
    for result in (whole, parts):
        check_batches(result.elements)
        assert all(batch.num_rows <= (batch_size or NUM_RECORDS) for batch in result.elements)
        if schema is not None:
            assert all(batch.schema == tfxio.ArrowSchema() for batch in result.elements)
    if schema is not None:  # Else the columns of a batch depend on the records in it.
        assert rows(whole.elements) == rows(parts.elements)
        assert additive(whole, source.prefix) == additive(parts, source.prefix)
    if raw is not None:
        for result in (whole, parts):
            found = [batch.column("raw").flatten().to_pylist() for batch in result.elements]
            assert sorted(itertools.chain(*found)) == sorted(source.records)


def test_rows_are_those_of_the_records(source: Source, tmp_path: pathlib.Path) -> None:
    tfxio = source.make(tmp_path, schema=SCHEMA)
    batches = run(*source.head(), tfxio.BeamSource()).elements
    assert rows(batches) == source.rows_of(["name", "id", "score", "index", "old"])


def test_metrics_count_the_data(source: Source, tmp_path: pathlib.Path) -> None:
    tfxio = source.make(tmp_path, schema=SCHEMA)
    metrics = additive(run(*source.head(), tfxio.BeamSource(5)), source.prefix)
    sizes = [len(record) for record in source.records]
    cells = {name: sum(row[name] is not None for row in source.rows) for name in source.rows[0]}
    assert metrics == {
        "num_raw_records": NUM_RECORDS,
        "raw_record_byte_size": Distribution(NUM_RECORDS, sum(sizes), min(sizes), max(sizes)),
        "num_rows": NUM_RECORDS,
        "num_cells[INT]": cells["id"] + cells["index"] + cells["old"],
        "num_cells[FLOAT]": cells["score"],
        "num_cells[STRING]": cells["name"],
        "desired_batch_size": 5,
        "tfxio_use_byte_size_batching": 0,
    }


@pytest.mark.parametrize(
    "tensors", [["name"], ["sparse_score"], ["id", "sparse_score"], []], ids="+".join
)
@pytest.mark.parametrize("raw", [None, "raw"])
def test_projection_reads_only_the_columns_of_its_tensors(
    source: Source, tensors: list[str], raw: str | None, tmp_path: pathlib.Path
) -> None:
    tfxio = source.make(tmp_path, schema=SCHEMA, raw_record_column_name=raw)
    projected = tfxio.Project(tensors)
    wanted = {column for tensor in tensors for column in COLUMNS[tensor]}
    columns = [feature.name for feature in SCHEMA.feature if feature.name in wanted]
    assert projected.ArrowSchema().names == columns + ([raw] if raw else [])
    everything = tfxio.TensorRepresentations()
    assert projected.TensorRepresentations() == {name: everything[name] for name in tensors}
    batches = run(*source.head(), projected.BeamSource()).elements
    check_batches(batches)
    assert all(batch.schema == projected.ArrowSchema() for batch in batches)
    assert rows([batch.select(columns) for batch in batches]) == source.rows_of(columns)


def test_projection_of_a_projection(source: Source, tmp_path: pathlib.Path) -> None:
    tfxio = source.make(tmp_path, schema=SCHEMA)
    twice = tfxio.Project(["name", "sparse_score"]).Project(["name"])
    assert twice.ArrowSchema().names == ["name"]
    with pytest.raises(ValueError, match=r"^Expected tensors among 'name', found 'id'"):
        twice.Project(["id"])


def test_tensor_that_is_not_there_is_refused(source: Source, tmp_path: pathlib.Path) -> None:
    tfxio = source.make(tmp_path, schema=SCHEMA)
    with pytest.raises(ValueError, match=r"among .*'id'.*, found 'nam' \(did you mean 'name'\?\)"):
        tfxio.Project(["nam"])
    with pytest.raises(ValueError, match=r"^Expected a list of tensors, found 'name'"):
        tfxio.Project("name")


def test_without_a_schema_it_is_not_known_what_is_there(
    source: Source, tmp_path: pathlib.Path
) -> None:
    tfxio = source.make(tmp_path)
    for ask in (tfxio.ArrowSchema, tfxio.TensorRepresentations, lambda: tfxio.Project(["id"])):
        with pytest.raises(
            ValueError, match=r"^Expected a TFMD schema .*, found none \(give schem"
        ):
            ask()


def test_empty_schema_has_no_columns(source: Source, tmp_path: pathlib.Path) -> None:
    tfxio = source.make(tmp_path, schema=EMPTY_SCHEMA)
    assert tfxio.ArrowSchema() == pa.schema([])
    assert tfxio.TensorRepresentations() == {}
    assert tfxio.Project([]).ArrowSchema() == pa.schema([])


def test_schema_that_cannot_be_used_is_refused_at_once(
    source: Source, tmp_path: pathlib.Path
) -> None:
    struct = schema_pb2.Schema(feature=[{"name": "x", "type": "STRUCT"}])
    with pytest.raises(
        ValueError, match=r"^Expected type INT, FLOAT or BYTES for feature 'x', fou"
    ):
        source.make(tmp_path, schema=struct)
    with pytest.raises(ValueError, match=r"^Expected a raw-record column with a name of its own"):
        source.make(tmp_path, schema=SCHEMA, raw_record_column_name="id")


def test_schema_is_what_it_was_at_first(source: Source, tmp_path: pathlib.Path) -> None:
    schema = schema_pb2.Schema()
    schema.CopyFrom(SCHEMA)
    tfxio = source.make(tmp_path, schema=schema)
    del schema.feature[:]
    assert tfxio.ArrowSchema().names == ["name", "id", "score", "index", "old"]


def test_object_can_be_pickled(source: Source, tmp_path: pathlib.Path) -> None:
    tfxio = source.make(tmp_path, schema=SCHEMA, raw_record_column_name="raw").Project(["id"])
    copy = pickle.loads(pickle.dumps(tfxio))
    assert copy.ArrowSchema() == tfxio.ArrowSchema()
    assert rows(run(*source.head(), copy.BeamSource()).elements) == rows(
        run(*source.head(), tfxio.BeamSource()).elements
    )


def test_source_can_be_used_twice_under_labels(source: Source, tmp_path: pathlib.Path) -> None:
    tfxio = source.make(tmp_path, schema=SCHEMA)

    class Both(beam.PTransform[Any, Any]):
        def expand(self, input_or_inputs: Any) -> Any:
            start = input_or_inputs
            return (
                start | "First" >> tfxio.BeamSource(),
                start | "Second" >> tfxio.BeamSource(),
            ) | beam.Flatten()

    batches = run(*source.head(), Both()).elements
    assert sum(batch.num_rows for batch in batches) == 2 * NUM_RECORDS


def test_projection_has_what_the_class_has(source: Source, tmp_path: pathlib.Path) -> None:
    tfxio = source.make(tmp_path, schema=SCHEMA, raw_record_column_name="raw")
    once = tfxio.Project(["id", "name"])
    for projected in (once, pickle.loads(pickle.dumps(once.Project(["id"])))):
        found: Any = projected
        assert found.raw_record_column_name == "raw"
        assert found.telemetry_descriptors == DESCRIPTORS
        parts = found.RawRecordBeamSource(), found.RawRecordToRecordBatch(7)
        batches = run(*source.head(), *parts).elements
        assert max(batch.num_rows for batch in batches) == 7
        assert rows(batches) == rows(run(*source.head(), found.BeamSource()).elements)
        with pytest.raises(AttributeError, match=r"no attribute 'Sauce'$"):
            found.Sauce  # noqa: B018
