"""Decoding of Examples against tfx-bsl: the same batch, or refused by both.

Where the library means to differ, a test says so: it refuses what is no Example, though protobuf
would take it for one, and it does not look into features that the schema does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from google.protobuf.message import DecodeError as ProtobufError
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import strategies, wire
from tests.compat.peers import import_peer
from tests.decoding import contents
from tests.strategies import WireExample
from tests.wire import NO_KIND, bytes_list, delimited, entry, example, floats, int64
from tfrecord_beam import kernel
from tfrecord_beam.errors import DecodeError, SchemaError
from tfrecord_beam.kernel.plan import DecodeFault, DecodePlan, Kind
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.tfxio.coders.example_coder import ExamplesToRecordBatchDecoder

peer = import_peer("tfx_bsl.coders.example_coder")

REFUSED_ON_PURPOSE = (
    DecodeFault.FEATURE_LISTS,
    DecodeFault.NESTED_EXAMPLE,
    DecodeFault.NAME_WITH_NUL,
)
"""Faults of records that the protobuf library takes for an Example."""

Examples = tuple[dict[str, Kind], list[WireExample]]

TYPES = {Kind.BYTES: "BYTES", Kind.FLOAT: "FLOAT", Kind.INT64: "INT"}


def serialized_schema(kinds: Mapping[str, Kind]) -> bytes:
    """Returns a TFMD schema of these features."""
    features = [{"name": name, "type": TYPES[kind]} for name, kind in kinds.items()]
    data: bytes = schema_pb2.Schema(feature=features).SerializeToString()
    return data


def ours(records: Sequence[bytes], schema: bytes | None = None) -> pa.RecordBatch | None:
    """Returns the batch of the library; None if it refuses the records."""
    try:
        return ExamplesToRecordBatchDecoder(schema).DecodeBatch(records)
    except DecodeError:
        return None


def theirs(records: Sequence[bytes], schema: bytes | None = None) -> pa.RecordBatch | None:
    """Returns the batch of tfx-bsl; None if it refuses the records."""
    try:
        return peer.ExamplesToRecordBatchDecoder(schema).DecodeBatch(list(records))
    except RuntimeError:
        return None


def assert_equal(found: pa.RecordBatch | None, expected: pa.RecordBatch | None) -> None:
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found.schema.equals(expected.schema)
        assert found.num_rows == expected.num_rows
        assert contents(found) == contents(expected)


def parsers_agree(record: bytes) -> bool:
    """Whether protobuf's parser under tfx-bsl (C++) and the one under Python (upb) agree.

    They do not on a length of six bytes or more, and on a tag beyond 32 bits, which no writer
    writes. The library goes by upb.
    """
    return (theirs([record]) is not None) == is_parsed_by_upb(record)


def is_parsed_by_upb(record: bytes) -> bool:
    try:
        Example.FromString(record)
    except ProtobufError:
        return False
    return True


def fault_of(record: bytes, plan: DecodePlan = DecodePlan()) -> int | None:
    _, failures = kernel.ExampleDecoder(plan).decode_records([record], collect_failures=True)
    return failures[0].fault if failures else None


# --- The same ---------------------------------------------------------------------------


@given(schema_and_examples=strategies.example_lists() | strategies.wire_example_lists())
def test_records_of_a_schema(schema_and_examples: Examples) -> None:
    kinds, examples = schema_and_examples
    records = [one.data for one in examples]
    schema = serialized_schema(kinds)
    batch = ours(records, schema)
    assert batch is not None
    assert_equal(batch, theirs(records, schema))
    assert batch.schema.equals(peer.ExamplesToRecordBatchDecoder(schema).ArrowSchema())
    assert batch.schema.equals(ExamplesToRecordBatchDecoder(schema).ArrowSchema())


@given(schema_and_examples=strategies.example_lists() | strategies.wire_example_lists())
def test_records_without_a_schema(schema_and_examples: Examples) -> None:
    records = [one.data for one in schema_and_examples[1]]
    assert_equal(ours(records), theirs(records))


@given(schema_and_examples=strategies.wire_example_lists(), data=st.data())
def test_records_of_another_schema(schema_and_examples: Examples, data: st.DataObject) -> None:
    """Columns in another order, some of them of another kind; names that no record has."""
    kinds, examples = schema_and_examples
    names = data.draw(st.permutations(list(kinds)))[: data.draw(st.integers(0, len(kinds)))]
    other = {name: data.draw(st.sampled_from([kinds[name], *Kind])) for name in names}
    schema = serialized_schema({**other, "missing": Kind.FLOAT})
    records = [one.data for one in examples]
    assert_equal(ours(records, schema), theirs(records, schema))


@given(
    records=st.lists(
        strategies.wire_examples({"a": None, "b": None}).map(lambda one: one.data), max_size=4
    )
)
def test_records_that_may_disagree_about_kinds(records: list[bytes]) -> None:
    assert_equal(ours(records), theirs(records))


@given(call=strategies.mutated_records())
def test_changed_records_are_taken_or_refused_alike(
    call: tuple[dict[str, Kind], list[bytes]],
) -> None:
    kinds, records = call
    schema = serialized_schema(kinds)
    for record in records:
        fault = fault_of(record)
        if fault in REFUSED_ON_PURPOSE:
            assert ours([record]) is None
            assert theirs([record]) is not None
            assert ours([record], schema) is None or fault == DecodeFault.NAME_WITH_NUL
        elif parsers_agree(record):
            assert_equal(ours([record]), theirs([record]))
            if fault is None:
                assert_equal(ours([record], schema), theirs([record], schema))


@given(record=st.binary(max_size=40))
def test_noise_is_taken_or_refused_alike(record: bytes) -> None:
    for around in (record, example(record), example(entry("f", record))):
        if fault_of(around) not in REFUSED_ON_PURPOSE and parsers_agree(around):
            assert_equal(ours([around]), theirs([around]))


WIRE = {
    "no records": [],
    "empty record": [b"", b""],
    "name twice": [example(entry("i", int64(1)), entry("i", int64(2)))],
    "name twice, of another kind": [example(entry("i", int64(1)), entry("i", floats(2.0)))],
    "name twice, then no kind": [example(entry("i", int64(1)), entry("i", NO_KIND))],
    "features twice": [example(entry("i", int64(1))) + example(entry("j", int64(2)))],
    "value twice": [example(entry("i", int64(1), int64(2)))],
    "value twice, of another kind": [example(entry("i", int64(1), floats(2.0), floats(3.0)))],
    "no value": [example(entry("i"))],
    "no name": [example(delimited(1, delimited(2, int64(1))))],
    "value before name": [example(delimited(1, delimited(2, int64(1)) + delimited(1, b"i")))],
    "null, empty and full": [
        example(entry("b", value)) for value in (NO_KIND, bytes_list(), bytes_list(b"", b"x"))
    ],
    "kind shown late": [example(), example(entry("i")), example(entry("i", int64()))],
    "kinds that differ": [example(entry("i", int64(1))), example(entry("i", floats()))],
    "long varint": [example(entry("i", delimited(3, b"\x08" + b"\xff" * 9 + b"\x7f")))],
    "names sorted by bytes": [example(*(entry(name) for name in ("é", "z", "Z", "😀", "")))],
    "groups 100 deep": [b"\x4b" * 100 + b"\x4c" * 100],
    "groups 101 deep": [b"\x4b" * 101 + b"\x4c" * 101],
    "NaNs": [example(entry("f", delimited(2, wire.fixed32_field(1, b"\1\0\x80\x7f"))))],
}


@pytest.mark.parametrize("records", WIRE.values(), ids=WIRE)
@pytest.mark.parametrize("schema", [None, {"f": Kind.FLOAT, "i": Kind.INT64}], ids=["", "schema"])
def test_wire_that_is_rarely_written(records: list[bytes], schema: dict[str, Kind] | None) -> None:
    serialized = None if schema is None else serialized_schema(schema)
    assert_equal(ours(records, serialized), theirs(records, serialized))


def test_schema_that_cannot_be_used_is_refused_alike() -> None:
    struct = schema_pb2.Schema(feature=[{"name": "s", "type": "STRUCT"}]).SerializeToString()
    untyped = schema_pb2.Schema(feature=[{"name": "s"}]).SerializeToString()
    for schema in (struct, untyped, b"\xff"):
        with pytest.raises(SchemaError):
            ExamplesToRecordBatchDecoder(schema)
        with pytest.raises(RuntimeError):
            peer.ExamplesToRecordBatchDecoder(schema)


def test_arrow_schema_is_unknown_without_a_schema() -> None:
    with pytest.raises(ValueError, match="found none"):
        ExamplesToRecordBatchDecoder().ArrowSchema()
    with pytest.raises(RuntimeError):
        peer.ExamplesToRecordBatchDecoder().ArrowSchema()


# --- Different on purpose ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (example(entry("i", int64(1))) + delimited(2, b""), "a tf.train.SequenceExample or"),
        (delimited(1, example(entry("i", int64(1)))), "for an ExampleListWithContext"),
        (example(entry("a\0b", int64(1))), "Expected no NUL in the name of a feature"),
    ],
)
def test_what_is_no_example_is_refused(record: bytes, message: str) -> None:
    """tfx-bsl makes columns of it: without its lists, of nonsense, under a name that is cut."""
    assert theirs([record]) is not None
    with pytest.raises(DecodeError, match=message):
        ExamplesToRecordBatchDecoder().DecodeBatch([record])


def test_features_beyond_the_schema_are_not_looked_into() -> None:
    record = example(entry("beyond", delimited(3, delimited(1, b"\xff"))), entry("i", int64(1)))
    schema = serialized_schema({"i": Kind.INT64})
    assert theirs([record], schema) is None
    batch = ours([record], schema)
    assert batch is not None
    assert batch.to_pydict() == {"i": [[1]]}


def test_feature_twice_in_a_schema_is_refused() -> None:
    """tfx-bsl takes the first one and is silent about the other."""
    features = [{"name": "i", "type": "INT"}, {"name": "i", "type": "FLOAT"}]
    schema = schema_pb2.Schema(feature=features).SerializeToString()
    assert theirs([b""], schema) is not None
    with pytest.raises(SchemaError, match="found 'i' twice"):
        ExamplesToRecordBatchDecoder(schema)
