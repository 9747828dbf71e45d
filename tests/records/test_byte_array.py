"""Tests of records of type ByteArray, which are not looked into."""

from __future__ import annotations

import pathlib

import pyarrow as pa
import pytest
from apache_beam import Create
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.frames import framed
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import CorruptRecordError, DecodeError, SchemaError
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.table import iter_batches, read_table
from tfrecord_beam.schema.arrow import decode_plan
from tfrecord_beam.tfxio.raw_tf_record import RawBeamRecordTFXIO, RawTfRecordTFXIO
from tfrecord_beam.transforms.decode import RawRecordToRecordBatch
from tfrecord_beam.transforms.read import BeamSource

RECORDS = [b"", b"\0", bytes(range(256)), b"no message", b"\x0a\x05"]
COLUMN = pa.array([[record] for record in RECORDS], pa.large_list(pa.large_binary()))


@pytest.fixture
def file(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(framed(*RECORDS))
    return str(path)


def test_table(file: str) -> None:
    expected = pa.table({"byteArray": COLUMN})
    assert read_table(file, record_type="ByteArray").combine_chunks() == expected
    named = read_table(file, record_type="ByteArray", raw_record_column_name="raw")
    assert named.schema.names == ["raw"]


def test_batches(file: str) -> None:
    batches = list(iter_batches(file, record_type="ByteArray", batch_size=2))
    for batch in batches:
        batch.validate(full=True)
    assert [batch.num_rows for batch in batches] == [2, 2, 1]
    assert pa.Table.from_batches(batches).column(0).to_pylist() == COLUMN.to_pylist()


def test_pipelines(file: str) -> None:
    expected = [pa.record_batch({"byteArray": COLUMN})]
    assert run(BeamSource(file, record_type="ByteArray")).elements == expected
    decode = RawRecordToRecordBatch(record_type="ByteArray")
    rows = [
        row
        for batch in run(Create(RECORDS), decode).elements
        for row in batch.column("byteArray").to_pylist()
    ]
    assert sorted(rows) == sorted(COLUMN.to_pylist())


def test_tfxio_takes_any_content(file: str) -> None:
    files = run(RawTfRecordTFXIO(file, "raw", ["test"]).BeamSource()).elements
    memory = run(Create(RECORDS), RawBeamRecordTFXIO("text", "raw", ["test"]).BeamSource()).elements
    for batches in (files, memory):
        rows = [row for batch in batches for row in batch.column("raw").to_pylist()]
        assert sorted(rows) == sorted(COLUMN.to_pylist())


@given(records=st.lists(st.binary(max_size=20)))
def test_records(records: list[bytes]) -> None:
    decoder = RecordDecoder(decode_plan(None, record_type="ByteArray"), "ByteArray")
    batch = decoder.decode_records([memoryview(record) for record in records])
    batch.validate(full=True)
    assert batch.column(0).to_pylist() == [[record] for record in records]


@pytest.mark.parametrize("wrong", [None, "text", 5])
def test_records_that_are_no_bytes(wrong: object) -> None:
    decoder = RecordDecoder(decode_plan(None, record_type="ByteArray"), "ByteArray")
    with pytest.raises(DecodeError, match=r"Expected records as bytes, found .* record 1"):
        decoder.decode_records([b"", wrong])  # type: ignore[list-item]


def test_schema_and_columns_are_refused(file: str) -> None:
    with pytest.raises(SchemaError, match="found a schema"):
        read_table(file, schema_pb2.Schema(), record_type="ByteArray")
    with pytest.raises(SchemaError, match="found columns"):
        read_table(file, columns=["byteArray"], record_type="ByteArray")


def test_damage_is_found(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(framed(*RECORDS)[:-1])
    with pytest.raises(CorruptRecordError, match="record 4"):
        read_table(path, record_type="ByteArray")
