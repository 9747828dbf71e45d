"""Tests of tfrecord_beam.records.encode."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.test_ragged import add_ragged
from tests.wire import NO_KIND, bytes_list, delimited, entry, example, floats, int64
from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.records.encode import RecordEncoder


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
    data, offsets = RecordEncoder().encode(batch)
    assert [bytes(data[start:end]) for start, end in pairwise(offsets)] == expected
    absent = RecordEncoder(null_as_absent=True).encode_records(batch[1:])
    assert absent == [example(entry("a", floats()), entry("s", bytes_list(b"x")))]


def test_batch_without_columns() -> None:
    batch = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert RecordEncoder().encode_records(batch) == [example()] * 2


def test_name_with_nul() -> None:
    batch = pa.record_batch({"a\0b": [1], "a": [2]})
    expected = [example(entry("a\0b", int64(1)), entry("a", int64(2)))]
    assert RecordEncoder().encode_records(batch) == expected


SEQUENCES = pa.array(
    [{"x": [[1], None, []], "a": [["s"]]}, None, {"x": [], "a": None}, {"x": None, "a": [None]}],
    pa.struct([("x", pa.list_(pa.list_(pa.int32()))), ("a", pa.list_(pa.list_(pa.string())))]),
)


def feature_list(name: str, *features: bytes) -> bytes:
    return entry(name, b"".join(delimited(1, one) for one in features))


@pytest.mark.parametrize("name", ["##SEQUENCE##", "steps"])
def test_sequence_examples(name: str) -> None:
    batch = pa.record_batch({name: SEQUENCES, "a": [7, 7, 7, 7]})
    context = example(entry("a", int64(7)))
    records = RecordEncoder(sequence_column=name).encode_records(batch)
    assert records == [
        context + delimited(2, lists)
        for lists in (
            feature_list("x", int64(1), NO_KIND, int64()) + feature_list("a", bytes_list(b"s")),
            b"",
            feature_list("x"),
            feature_list("a", NO_KIND),
        )
    ]
    assert RecordEncoder(sequence_column=name).encode_records(batch[2:]) == records[2:]


def test_sequence_column_that_is_no_struct_or_not_wanted() -> None:
    with pytest.raises(SchemaError, match=r"^Expected a struct of feature lists in column '##SEQ"):
        RecordEncoder().encode(pa.record_batch({"##SEQUENCE##": [1]}))
    with pytest.raises(
        SchemaError, match=r"^Expected numbers, bytes, .* for feature '##SEQUENCE##"
    ):
        RecordEncoder(sequence_column=None).encode(pa.record_batch({"##SEQUENCE##": SEQUENCES}))


def test_feature_lists_that_are_no_lists_or_come_twice() -> None:
    flat = pa.array([{"x": 1}])
    with pytest.raises(SchemaError, match=r"^Expected lists of values or of lists for feature 'x'"):
        RecordEncoder().encode(pa.record_batch({"##SEQUENCE##": flat}))
    twice = pa.StructArray.from_arrays([SEQUENCES.field("x")] * 2, ["x", "x"])
    with pytest.raises(SchemaError, match=r"^Expected different feature lists, found 'x' twice$"):
        RecordEncoder().encode(pa.record_batch({"##SEQUENCE##": twice}))


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
        RecordEncoder(schema).encode(pa.record_batch({"x": [[[1, 2], None]]}))
    with pytest.raises(SchemaError, match=r"^Expected different features, found 'values' twice$"):
        RecordEncoder(schema).encode(pa.record_batch({"values": [1], "x": [[[1, 2]]]}))


def test_representation_that_is_not_used_does_not_matter() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "x", ["##SEQUENCE##", "x"])
    batch = pa.record_batch({"a": [1]})
    assert RecordEncoder(schema).encode_records(batch) == [example(entry("a", int64(1)))]
    with pytest.raises(SchemaError, match=r"found the path '##SEQUENCE##\.x'$"):
        RecordEncoder(schema).encode(pa.record_batch({"x": [[1]]}))


def test_names_that_come_twice() -> None:
    batch = pa.record_batch([pa.array([1])] * 2, names=["a", "a"])
    with pytest.raises(
        SchemaError, match=r"^Expected different columns of a batch, found 'a' twic"
    ):
        RecordEncoder().encode(batch)


@pytest.mark.parametrize("batch", [None, pa.table({"a": [1]}), [b""]])
def test_what_is_no_batch(batch: pa.RecordBatch) -> None:
    with pytest.raises(SchemaError, match=r"^Expected a pyarrow\.RecordBatch, found "):
        RecordEncoder().encode(batch)


def test_encoder_can_be_pickled() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "x", ["v"], "l")
    encoder = RecordEncoder(schema, null_as_absent=True)
    batch = pa.record_batch({"x": [[[1]], None]})
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.encode_records(batch) == encoder.encode_records(batch)
