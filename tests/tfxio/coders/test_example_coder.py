"""The decoder of lists of serialized tf.Example records."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.test_ragged import add_ragged
from tests.wire import bytes_list, entry, example, floats, int64
from tfrecord_beam.errors import DecodeError, EncodeError, SchemaError
from tfrecord_beam.tfxio.coders.example_coder import (
    ExamplesToRecordBatchDecoder,
    ExampleToNumpyDict,
    RecordBatchToExamples,
    RecordBatchToExamplesEncoder,
)

SCHEMA = schema_pb2.Schema(
    feature=[{"name": "s", "type": "BYTES"}, {"name": "i", "type": "INT"}]
).SerializeToString()
RECORDS = [
    example(entry("i", int64(1, 2)), entry("f", floats(0.5))),
    example(entry("s", bytes_list(b"x")), entry("i", int64())),
]


def test_columns_follow_the_schema() -> None:
    decoder = ExamplesToRecordBatchDecoder(SCHEMA)
    batch = decoder.DecodeBatch(RECORDS)
    assert batch.schema == decoder.ArrowSchema()
    assert batch.schema == pa.schema(
        {"s": pa.large_list(pa.large_binary()), "i": pa.large_list(pa.int64())}
    )
    assert batch.to_pydict() == {"s": [None, [b"x"]], "i": [[1, 2], []]}


def test_without_a_schema_columns_follow_the_records() -> None:
    decoder = ExamplesToRecordBatchDecoder()
    assert decoder.DecodeBatch(RECORDS).to_pydict() == {
        "f": [[0.5], None],
        "i": [[1, 2], []],
        "s": [None, [b"x"]],
    }
    with pytest.raises(SchemaError, match=r"^Expected a TFMD schema .* \(give serialized_schema\)"):
        decoder.ArrowSchema()


def test_empty_schema_has_no_columns() -> None:
    decoder = ExamplesToRecordBatchDecoder(b"")
    assert decoder.ArrowSchema() == pa.schema([])
    batch = decoder.DecodeBatch(RECORDS)
    assert (batch.num_rows, batch.num_columns) == (2, 0)


@pytest.mark.parametrize("schema", [SCHEMA, None])
def test_decoder_can_be_pickled(schema: bytes | None) -> None:
    decoder = ExamplesToRecordBatchDecoder(schema)
    copy = pickle.loads(pickle.dumps(decoder))
    assert copy.DecodeBatch(RECORDS) == decoder.DecodeBatch(RECORDS)


def test_bad_record_is_named() -> None:
    decoder = ExamplesToRecordBatchDecoder(SCHEMA)
    bad = example(entry("i", floats(1.0)))
    with pytest.raises(
        DecodeError, match=r"^Expected int64_list for feature 'i', found float"
    ) as e:
        decoder.DecodeBatch([*RECORDS, bad])
    assert e.value.record == 2
    assert decoder.DecodeBatch(RECORDS).num_rows == 2


def test_bad_schema_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"^Expected a serialized TFMD Schema"):
        ExamplesToRecordBatchDecoder(b"\xff")
    struct = schema_pb2.Schema(feature=[{"name": "x", "type": "STRUCT"}])
    with pytest.raises(SchemaError, match=r"for feature 'x', found STRUCT$"):
        ExamplesToRecordBatchDecoder(struct.SerializeToString())


@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["schema", "none"])
def test_examples_of_any_iterable(schema: bytes | None) -> None:
    decoder = ExamplesToRecordBatchDecoder(schema)
    expected = decoder.DecodeBatch(RECORDS)
    assert decoder.DecodeBatch(record for record in RECORDS) == expected
    assert decoder.DecodeBatch(np.array(RECORDS, object)) == expected
    assert decoder.DecodeBatch(iter(())).num_rows == 0


# --- Encoding ---------------------------------------------------------------------------


def test_encoder_gives_what_the_decoder_takes() -> None:
    decoder = ExamplesToRecordBatchDecoder(SCHEMA)
    batch = decoder.DecodeBatch(RECORDS)
    records = RecordBatchToExamples(batch)
    assert records == RecordBatchToExamplesEncoder().encode(batch)
    assert decoder.DecodeBatch(records) == batch


def test_encoder_with_a_schema_can_be_pickled() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "x", ["v"], "l", group="any")
    encoder = RecordBatchToExamplesEncoder(schema)
    batch = pa.record_batch({"x": [[[1, 2], []], None]})
    records = [
        example(entry("v", int64(1, 2)), entry("l", int64(2, 0))),
        example(entry("v", b""), entry("l", b"")),
    ]
    assert encoder.encode(batch) == records
    assert pickle.loads(pickle.dumps(encoder)).encode(batch) == records
    with pytest.raises(SchemaError, match="ragged tensor"):
        RecordBatchToExamples(batch)


def test_encoder_names_row_and_feature() -> None:
    with pytest.raises(EncodeError) as raised:
        RecordBatchToExamples(pa.record_batch({"x": [[1], [None]]}))
    assert (raised.value.record, raised.value.feature) == (1, "x")


def test_encoder_takes_no_sequences() -> None:
    with pytest.raises(SchemaError, match="for feature '##SEQUENCE##', found struct"):
        RecordBatchToExamples(pa.record_batch({"##SEQUENCE##": [{"x": [[1]]}]}))


def test_example_to_numpy_dict() -> None:
    record = example(
        entry("i", int64(1, 2)),
        entry("f", floats(0.5)),
        entry("b", bytes_list(b"x", b"\xff\0")),
        entry("empty", int64()),
        entry("none"),
    )
    found = ExampleToNumpyDict(record)
    assert found.pop("none") is None
    arrays = {name: array for name, array in found.items() if array is not None}
    assert {name: (array.dtype.name, array.tolist()) for name, array in arrays.items()} == {
        "i": ("int64", [1, 2]),
        "f": ("float32", [0.5]),
        "b": ("object", [b"x", b"\xff\0"]),
        "empty": ("int64", []),
    }
    assert ExampleToNumpyDict(b"") == {}
    with pytest.raises(DecodeError, match=r"^Expected a serialized tf\.train\.Example, found "):
        ExampleToNumpyDict(b"\xff")
