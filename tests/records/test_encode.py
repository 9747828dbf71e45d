"""Tests of tfrecord_beam.records.encode."""

from __future__ import annotations

import pickle
from typing import cast

import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.test_ragged import add_ragged
from tests.wire import NO_KIND, bytes_list, delimited, entry, example, floats, int64
from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.schema.encoding import NullValues


def test_columns_of_many_types() -> None:
    batch = pa.record_batch(
        {
            "z": pa.array([True, None]),
            "a": pa.array([[0.5], []], pa.list_(pa.float64())),
            "s": pa.array(["x", "x"]).dictionary_encode(),
            "n": pa.nulls(2),
        }
    )
    expected = [
        example(
            entry("z", int64(1)),
            entry("a", floats(0.5)),
            entry("s", bytes_list(b"x")),
            entry("n", NO_KIND),
        ),
        example(
            entry("z", NO_KIND), entry("a", floats()), entry("s", bytes_list(b"x")), entry("n", b"")
        ),
    ]
    assert RecordEncoder().encode_records(batch) == expected
    assert list(RecordEncoder().encode_frames(batch).records()) == expected
    absent = RecordEncoder(null_as_absent=True).encode_records(batch[1:])
    assert absent == [example(entry("a", floats()), entry("s", bytes_list(b"x")))]


def test_batch_without_columns() -> None:
    batch = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert RecordEncoder().encode_records(batch) == [example()] * 2


SEQUENCES = pa.array(
    [{"x": [[1], None, []], "a": [["s"]]}, None, {"x": [], "a": None}, {"x": None, "a": [None]}],
    pa.struct([("x", pa.list_(pa.list_(pa.int32()))), ("a", pa.list_(pa.list_(pa.string())))]),
)


def feature_list(name: str, *features: bytes) -> bytes:
    return entry(name, b"".join(delimited(1, one) for one in features))


@pytest.mark.parametrize("name", ["##SEQUENCE##", "steps"])
def test_sequence_examples(name: str) -> None:
    encoder = RecordEncoder(
        record_type="SequenceExample",
        feature_list_columns=None if name == "##SEQUENCE##" else [name],
    )
    batch = pa.record_batch({name: SEQUENCES, "a": [7, 7, 7, 7]})
    context = example(entry("a", int64(7)))
    records = encoder.encode_records(batch)
    assert records == [
        context + delimited(2, lists)
        for lists in (
            feature_list("x", int64(1), NO_KIND, int64()) + feature_list("a", bytes_list(b"s")),
            b"",
            feature_list("x"),
            feature_list("a", NO_KIND),
        )
    ]
    assert encoder.encode_records(batch[2:]) == records[2:]
    assert list(encoder.encode_frames(batch).records()) == records


def test_struct_in_examples() -> None:
    with pytest.raises(
        SchemaError, match=r"^Expected numbers, bytes, .* for feature '##SEQUENCE##.*SequenceExampl"
    ):
        RecordEncoder().encode_frames(pa.record_batch({"##SEQUENCE##": SEQUENCES}))


def test_records_that_are_already_there() -> None:
    encoder = RecordEncoder(record_type="ByteArray")
    batch = pa.record_batch({"record": [b"\xff", b""]})
    assert encoder.encode_records(batch) == [b"\xff", b""]
    assert list(encoder.encode_frames(batch).records()) == [b"\xff", b""]
    assert encoder.kinds(batch) == {}
    with pytest.raises(EncodeError, match=r"in each row, found null - at record 1, feature 'r'$"):
        encoder.encode_frames(pa.record_batch({"r": [b"", None]}))


def test_kinds_are_those_of_the_types() -> None:
    batch = pa.record_batch(
        {
            "x": pa.array([None], pa.list_(pa.int8())),
            "y": pa.nulls(1),
            "##SEQUENCE##": SEQUENCES[:1],
        }
    )
    encoder = RecordEncoder(record_type="SequenceExample")
    expected = {
        "x": Kind.INT64,
        "y": None,
        "##SEQUENCE##.x": Kind.INT64,
        "##SEQUENCE##.a": Kind.BYTES,
    }
    assert encoder.kinds(batch) == expected
    assert encoder.kinds(batch[:0]) == expected
    # Values do not matter.
    assert RecordEncoder().kinds(pa.record_batch({"x": [2.0**1000]})) == {"x": Kind.FLOAT}
    with pytest.raises(SchemaError, match=r"^Expected numbers, bytes"):
        RecordEncoder().kinds(pa.record_batch({"x": [{"y": 1}]}))


def test_batch_that_must_match_the_schema() -> None:
    schema = schema_pb2.Schema()
    schema.feature.add(name="x", type="INT")
    schema.feature.add(name="s", type="BYTES")
    encoder = RecordEncoder(schema, match_schema=True)
    good = pa.record_batch({"s": ["a"], "x": [1]})
    assert encoder.encode_records(good) == RecordEncoder().encode_records(good)
    for columns, message in (
        ({"x": [1]}, "Expected a column for each feature of the schema, found none for 's'"),
        ({"x": [1], "s": ["a"], "t": [2]}, "Expected features of the schema among 'x', 's', fou"),
        ({"x": ["a"], "s": ["a"]}, "Expected int64_list for feature 'x', found bytes_list"),
    ):
        batch = pa.record_batch(columns)
        with pytest.raises(SchemaError, match=f"^{message}"):
            encoder.encode_frames(batch)
        assert len(RecordEncoder(schema).encode_records(batch)) == 1


def test_null_values() -> None:
    batch = pa.record_batch({"x": [[1, None], None]})
    with pytest.raises(EncodeError, match="feature 'x', found one - at record 0 "):
        RecordEncoder().encode_frames(batch)
    for null_values, expected in (("drop", int64(1)), ("fill", int64(1, 0))):
        records = RecordEncoder(null_values=cast("NullValues", null_values)).encode_records(batch)
        assert records == [example(entry("x", expected)), example(entry("x", NO_KIND))]


def test_ragged_tensor() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "x", ["values"], "lengths", 2)
    batch = pa.record_batch({"a": [1, 2], "x": [[[1, 2, 3, 4], [5, 6]], None], "z": [3, 4]})
    assert RecordEncoder(schema).encode_records(batch) == [
        example(
            entry("a", int64(1)),
            entry("values", int64(1, 2, 3, 4, 5, 6)),
            entry("lengths", int64(2, 1)),
            entry("z", int64(3)),
        ),
        example(
            entry("a", int64(2)),
            entry("values", NO_KIND),
            entry("lengths", NO_KIND),
            entry("z", int64(4)),
        ),
    ]
    with pytest.raises(EncodeError, match="of feature 'lengths', found one - at record 0"):
        RecordEncoder(schema).encode_frames(pa.record_batch({"x": [[[1, 2], None]]}))
    with pytest.raises(SchemaError, match=r"^Expected different features, found 'values' twice$"):
        RecordEncoder(schema).encode_frames(pa.record_batch({"values": [1], "x": [[[1, 2]]]}))


def test_representation_that_is_not_used_does_not_matter() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "x", ["##SEQUENCE##", "x"])
    batch = pa.record_batch({"a": [1]})
    assert RecordEncoder(schema).encode_records(batch) == [example(entry("a", int64(1)))]
    with pytest.raises(SchemaError, match=r"found the path '##SEQUENCE##\.x'$"):
        RecordEncoder(schema).encode_frames(pa.record_batch({"x": [[1]]}))


def test_names_that_come_twice() -> None:
    batch = pa.record_batch([pa.array([1])] * 2, names=["a", "a"])
    with pytest.raises(
        SchemaError, match=r"^Expected different columns of a batch, found 'a' twic"
    ):
        RecordEncoder().encode_frames(batch)


@pytest.mark.parametrize("batch", [None, pa.table({"a": [1]}), [b""]])
def test_what_is_no_batch(batch: pa.RecordBatch) -> None:
    with pytest.raises(SchemaError, match=r"^Expected a pyarrow\.RecordBatch, found "):
        RecordEncoder().encode_frames(batch)


def test_batches_of_changing_schemas() -> None:
    """An encoder knows the last schema of batches that it need not look at."""
    batches = [
        pa.record_batch({"a": [1, None], "b": [[b"x"], None]}),
        pa.record_batch({"a": [1], "c": [[b"x"]]}),
        pa.record_batch({"b": [[b"x"]], "a": [1]}),
        pa.record_batch({"a": [1.5], "b": [[b"x"]]}),
        pa.record_batch({"a": ["x"], "b": [[b"x"]]}),
        pa.record_batch({"a": pa.nulls(1), "b": [[b"x"]]}),
        pa.RecordBatch.from_struct_array(pa.array([{}], pa.struct([]))),
    ]
    encoder = RecordEncoder()
    for first in batches:
        for second in batches:
            for batch in (first, second, second[1:]):
                expected = RecordEncoder().encode_records(batch)
                assert encoder.encode_records(batch) == expected
                assert list(encoder.encode_frames(batch).records()) == expected


def test_failure_with_a_known_schema_leaves_no_trace() -> None:
    encoder = RecordEncoder()
    good, bad = pa.record_batch({"a": [[1]]}), pa.record_batch({"a": [[1], [None]]})
    for _ in range(2):
        assert encoder.encode_records(good) == [example(entry("a", int64(1)))]
        with pytest.raises(EncodeError, match="feature 'a', found one - at record 1 "):
            encoder.encode_frames(bad)


def test_options_hold_for_known_schemas() -> None:
    batch = pa.record_batch({"a": pa.array([[1, None]]), "b": pa.nulls(1)})
    schema = schema_pb2.Schema()
    add_ragged(schema, "a", ["v"])
    for encoder, expected in (
        (RecordEncoder(null_values="drop", null_as_absent=True), example(entry("a", int64(1)))),
        (
            RecordEncoder(schema, null_values="fill"),
            example(entry("v", int64(1, 0)), entry("b", NO_KIND)),
        ),
        (
            RecordEncoder(record_type="SequenceExample", feature_list_columns=["a"]),
            example(entry("b", NO_KIND)) + delimited(2, feature_list("a", int64(1), NO_KIND)),
        ),
    ):
        assert [encoder.encode_records(batch) for _ in range(2)] == [[expected]] * 2


def test_encoder_can_be_pickled() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "x", ["v"], "l")
    encoder = RecordEncoder(schema, null_as_absent=True)
    batch = pa.record_batch({"x": [[[1]], None]})
    for one in (batch, pa.record_batch({"y": [1]})):
        expected = encoder.encode_records(one)
        copy = pickle.loads(pickle.dumps(encoder))
        assert copy.encode_records(one) == encoder.encode_records(one) == expected
