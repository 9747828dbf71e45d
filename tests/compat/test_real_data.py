"""Real data, where they lie beside the project: rows are those that TensorFlow parses."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.compat.peers import import_peer
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.records.table import read_table
from tfrecord_beam.schema.tfmd import load_schema
from tfrecord_beam.tfxio.tf_example_record import TFExampleRecord

tf = import_peer("tensorflow")
peer_record = import_peer("tfx_bsl.tfxio.tf_example_record")

DATA = pathlib.Path(__file__).parents[3] / "shared" / "data"

TAXI = ("taxi/*.tfrecord.gz", 2902)
PENGUIN = ("penguin/*.tfrecord.gz", 234)

Rows = list[dict[str, list[Any]]]


def find(pattern: str) -> list[pathlib.Path]:
    """Returns the files of a pattern in the data folder; without any the test is skipped."""
    found = sorted(DATA.glob(pattern))
    if not found:
        pytest.skip(f"there are no files {DATA / pattern}")
    return found


def parse(files: Sequence[pathlib.Path], schema: pa.Schema) -> Rows:
    """Returns what TensorFlow's own parser for Examples makes of files, null lists as empty."""
    features = {field.name: tf.io.RaggedFeature(dtype_of(field.type)) for field in schema}
    paths = [str(file) for file in files]
    dataset = tf.data.TFRecordDataset(paths, "GZIP").batch(1000)
    rows: Rows = []
    for records in dataset:
        parsed = tf.io.parse_example(records, features)
        columns = [parsed[name].to_list() for name in schema.names]
        rows.extend(dict(zip(schema.names, row)) for row in zip(*columns))
    return rows


def dtype_of(column_type: pa.DataType) -> Any:
    if pa.types.is_null(column_type):  # no record has a value
        return tf.string
    dtypes = {pa.int64(): tf.int64, pa.float32(): tf.float32, pa.large_binary(): tf.string}
    return dtypes[column_type.value_type]


def rows_of(table: pa.Table | pa.RecordBatch) -> Rows:
    return [{name: values or [] for name, values in row.items()} for row in table.to_pylist()]


@pytest.mark.parametrize(("pattern", "num_rows"), [TAXI, PENGUIN], ids=["taxi", "penguin"])
def test_examples(pattern: str, num_rows: int) -> None:
    files = find(pattern)
    table = read_table(files)
    assert table.num_rows == num_rows
    assert rows_of(table) == parse(files, table.schema)


def test_examples_of_a_schema() -> None:
    files = find("taxi/train*.tfrecord.gz")
    schema = load_schema(DATA / "taxi" / "schema.pbtxt")
    table = read_table(files, schema)
    assert table.schema.names == [feature.name for feature in schema.feature]
    assert table.num_rows == 3 * 826
    assert rows_of(table) == parse(files, table.schema)


def test_tfxio_of_a_schema() -> None:
    """Batches, tensors and their columns as tfx-bsl has them, nulls told from empty lists."""
    patterns = [str(file) for file in find("taxi/*.tfrecord.gz")]
    schema = load_schema(DATA / "taxi" / "schema.pbtxt")
    ours = TFExampleRecord(patterns, schema=schema)
    theirs = peer_record.TFExampleRecord(patterns, schema=schema)
    assert ours.ArrowSchema().equals(theirs.ArrowSchema())
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    found, expected = (
        sorted(repr(row) for batch in run(one.BeamSource()).elements for row in batch.to_pylist())
        for one in (ours, theirs)
    )
    assert len(found) == TAXI[1]
    assert found == expected


def test_census(tmp_path: pathlib.Path) -> None:
    """Text that TensorFlow writes as Examples: numbers as floats, the rest as bytes."""
    (source,) = find("census/adult.test")
    path = tmp_path / "census.tfrecord.gz"
    with (
        source.open(newline="") as lines,
        tf.io.TFRecordWriter(str(path), "GZIP") as writer,
    ):
        records = [record for record in csv.reader(lines, skipinitialspace=True) if len(record) > 1]
        for record in records:
            writer.write(census_example(record))
    table = read_table(path)
    assert table.num_rows == len(records) == 16281
    assert rows_of(table) == parse([path], table.schema)
    ages = table.column("00").combine_chunks().flatten().to_pylist()
    assert ages == [float(record[0]) for record in records]


def census_example(record: Sequence[str]) -> bytes:
    example = tf.train.Example()
    for number, cell in enumerate(record):
        feature = example.features.feature[f"{number:02}"]
        if cell == "?":
            continue  # a feature without a kind
        if cell.isdecimal():
            feature.float_list.value.append(float(cell))
        else:
            feature.bytes_list.value.append(cell.encode())
    data: bytes = example.SerializeToString()
    return data


def test_sequence_examples_are_refused() -> None:
    """On purpose: tfx-bsl reads them as Examples and loses their feature lists."""
    (path,) = find("sequence/*.tfrecord.gz")
    with pytest.raises(DecodeError, match=r"tf\.train\.SequenceExample") as caught:
        read_table(path)
    assert caught.value.location.record == 0
    batches = run(peer_record.TFExampleRecord(str(path), schema=schema_pb2.Schema()).BeamSource())
    assert sum(batch.num_rows for batch in batches.elements) == 10500
