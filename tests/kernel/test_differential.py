"""The kernels against each other and against the protobuf library, on records of every sort."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message import DecodeError as ProtobufError
from hypothesis import given, strategies as st

from tests import strategies, wire
from tests.decoding import contents, decode_all, plan_of
from tests.wire import (
    delimited,
    entry,
    example,
    example_list,
    feature_list,
    int64,
    sequence_example,
)
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.kernel.plan import (
    Column,
    DecodeFailure,
    DecodeFault,
    DecodePlan,
    Kind,
    SequenceDecodePlan,
)

UNPARSED = (DecodeFault.MALFORMED, DecodeFault.NAME_NOT_UTF8)
"""The faults of records that the protobuf library does not take."""

Decoded = tuple[list[tuple[str, pa.DataType, list[Any]]], list[DecodeFailure]]


@st.composite
def plans(draw: st.DrawFn, schema: dict[str, Kind]) -> DecodePlan:
    """All columns, or some of a schema with or without their kinds; raw records or none."""
    raw_record_column = draw(st.sampled_from([None, "raw record", *schema]))
    if draw(st.booleans()):
        return plan_of(None, raw_record_column)
    names = [name for name in draw(st.permutations(list(schema))) if name != raw_record_column]
    wanted = names[: draw(st.integers(0, len(names)))]
    return plan_of(
        {name: schema[name] if draw(st.booleans()) else None for name in wanted}, raw_record_column
    )


@st.composite
def calls(draw: st.DrawFn) -> tuple[DecodePlan, list[bytes]]:
    """A plan and records, good ones and bad ones."""
    schema, records = draw(strategies.mutated_records())
    return draw(plans(schema)), records


def decoded(
    kernel: ModuleType,
    records: list[bytes],
    plan: DecodePlan | SequenceDecodePlan,
    max_cells: int | None = None,
    decoder: str = "ExampleDecoder",
) -> Decoded:
    batch, failures = decode_all(kernel, records, plan, max_cells, decoder)
    return contents(batch), failures


def first_error(
    kernel: ModuleType,
    records: list[bytes],
    plan: DecodePlan | SequenceDecodePlan,
    decoder: str = "ExampleDecoder",
) -> str | None:
    try:
        getattr(kernel, decoder)(plan).decode_records(records)
    except DecodeError as error:
        return f"{error} {error.location}"
    return None


@given(call=calls(), max_cells=st.none() | st.integers(0, 20))
def test_same_batch_and_same_failures(
    native: ModuleType,
    reference: ModuleType,
    call: tuple[DecodePlan, list[bytes]],
    max_cells: int | None,
) -> None:
    plan, records = call
    assert decoded(native, records, plan, max_cells) == decoded(reference, records, plan, max_cells)
    assert first_error(native, records, plan) == first_error(reference, records, plan)


@given(record=st.binary(max_size=60))
def test_same_answer_on_noise(native: ModuleType, reference: ModuleType, record: bytes) -> None:
    for around in (record, example(record), example(delimited(1, record)), _value(record)):
        for plan in (plan_of(), plan_of({"f": None}), plan_of({})):
            assert decoded(native, [around], plan) == decoded(reference, [around], plan)


def _value(content: bytes) -> bytes:
    return example(entry("f", content))


SEQUENCE_DECODERS = {
    "SequenceExampleDecoder": strategies.wire_sequence_examples,
    "ExampleListDecoder": strategies.wire_example_collections,
}

sequence_decoders = pytest.mark.parametrize("decoder", SEQUENCE_DECODERS)


@st.composite
def sequence_plans(draw: st.DrawFn, schema: dict[str, Kind]) -> SequenceDecodePlan:
    """All columns, or some of a schema, of the context and of the steps; raw records or none."""

    def columns() -> tuple[Column, ...] | None:
        if draw(st.booleans()):
            return None
        names = draw(st.permutations(list(schema)))[: draw(st.integers(0, len(schema)))]
        return tuple(Column(name, schema[name] if draw(st.booleans()) else None) for name in names)

    return SequenceDecodePlan(
        columns(), columns(), "struct column", draw(st.sampled_from([None, "raw record"]))
    )


@sequence_decoders
@given(data=st.data(), max_cells=st.none() | st.integers(0, 30))
def test_same_batch_and_same_failures_of_steps(
    native: ModuleType,
    reference: ModuleType,
    decoder: str,
    data: st.DataObject,
    max_cells: int | None,
) -> None:
    schema, records = data.draw(strategies.mutated_sequences(SEQUENCE_DECODERS[decoder]))
    plan = data.draw(sequence_plans(schema))
    both = [decoded(kernel, records, plan, max_cells, decoder) for kernel in (native, reference)]
    assert both[0] == both[1]
    assert first_error(native, records, plan, decoder) == first_error(
        reference, records, plan, decoder
    )


STEPS = sequence_example(
    feature_list("i", int64(1, 300), wire.NO_KIND, int64()),
    feature_list("f", wire.floats(0.5), wire.floats()),
    feature_list("größe", wire.bytes_list(b"x", b"")),
    entry("none"),
    context=example(entry("i", int64(7)), entry("b", wire.bytes_list(b"abc"))),
)
EXAMPLES = example_list(
    example(entry("i", int64(1, 300)), entry("f", wire.floats(0.5))),
    example(entry("f", wire.floats()), entry("größe", wire.bytes_list(b"x"))),
    b"",
    context=example(entry("query", wire.bytes_list(b"abc"))),
)
RECORD_OF = {"SequenceExampleDecoder": STEPS, "ExampleListDecoder": EXAMPLES}


@sequence_decoders
def test_every_flipped_bit_and_every_prefix_of_steps(
    native: ModuleType, reference: ModuleType, decoder: str
) -> None:
    """The kernels agree, and where all is looked at they parse what the protobuf library does."""
    from tfrecord_beam.kernel.reference.protos import ExampleList, SequenceExample

    message = SequenceExample if decoder == "SequenceExampleDecoder" else ExampleList
    record = RECORD_OF[decoder]
    changed = [record[:cut] for cut in range(len(record))]
    for bit in range(len(record) * 8):
        flipped = bytearray(record)
        flipped[bit // 8] ^= 1 << bit % 8
        changed.append(bytes(flipped))
    some = SequenceDecodePlan((Column("i"),), (Column("f"), Column("i", Kind.INT64)))
    for plan in (SequenceDecodePlan(), some):
        both = [
            decoded(kernel, [*changed, record], plan, None, decoder)
            for kernel in (native, reference)
        ]
        assert both[0] == both[1]
    refused = {
        failure.record
        for failure in decoded(native, changed, SequenceDecodePlan(), None, decoder)[1]
        if failure.fault in UNPARSED
    }
    for index, one in enumerate(changed):
        assert (index not in refused) == accepts(one, message)


def accepts(record: bytes, message: Any = None) -> bool:
    """Whether the protobuf library parses `record` as such a message, or a ``tf.train.Example``."""
    from tfrecord_beam.kernel.reference.protos import Example

    try:
        (message or Example).FromString(record)
    except ProtobufError:
        return False
    return True


def check_acceptance(kernel: ModuleType, record: bytes) -> None:
    """Checks that with every feature wanted a kernel parses what the protobuf library parses."""
    _, failures = decode_all(kernel, [record])
    parsed = not any(failure.fault in UNPARSED for failure in failures)
    assert parsed == accepts(record)


@given(call=strategies.mutated_records())
def test_acceptance_of_changed_records(
    kernel: ModuleType, call: tuple[dict[str, Kind], list[bytes]]
) -> None:
    for record in call[1]:
        check_acceptance(kernel, record)


@given(record=st.binary(max_size=30))
def test_acceptance_of_noise(kernel: ModuleType, record: bytes) -> None:
    for around in (record, example(record), example(delimited(1, record)), _value(record)):
        check_acceptance(kernel, around)


def test_acceptance_of_every_flipped_bit(kernel: ModuleType) -> None:
    record = example(
        entry("größe", wire.bytes_list(b"x")), entry("b", wire.floats(1.0)), entry("c", int64(300))
    )
    for bit in range(len(record) * 8):
        flipped = bytearray(record)
        flipped[bit // 8] ^= 1 << bit % 8
        check_acceptance(kernel, bytes(flipped))


def groups(depth: int) -> bytes:
    """Returns groups within groups."""
    return wire.tag(9, wire.GROUP) * depth + wire.tag(9, wire.END_GROUP) * depth


WRAPPERS: dict[str, Callable[[bytes], bytes]] = {
    "example": lambda content: content,
    "features": lambda content: example(content),
    "entry": lambda content: example(delimited(1, content)),
    "feature": lambda content: _value(content),
    "list": lambda content: _value(delimited(3, content)),
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_depth_of_groups(kernel: ModuleType, wrap: Callable[[bytes], bytes]) -> None:
    """The protobuf library follows 100 levels; deeper ones must not exhaust the stack either."""
    for depth in range(90, 106):
        check_acceptance(kernel, wrap(groups(depth)))
    check_acceptance(kernel, wrap(groups(100_000)))
    check_acceptance(kernel, wrap(wire.tag(9, wire.GROUP) * 100_000))


@pytest.mark.parametrize("size", range(1, 12))
def test_padded_varints(kernel: ModuleType, size: int) -> None:
    """How many bytes a tag, a length or a number may take."""
    for wrap in WRAPPERS.values():
        check_acceptance(kernel, wrap(wire.tag(9, wire.VARINT, size) + b"\x01"))
        check_acceptance(kernel, wrap(wire.varint_field(9, 1, size)))
        check_acceptance(kernel, wrap(delimited(9, b"x", length_size=size)))
        check_acceptance(kernel, wrap(delimited(1, b"", length_size=size)))
        check_acceptance(kernel, wrap(delimited(1, b"", tag_size=size)))


@pytest.mark.parametrize("bits", [31, 32, 33, 35, 62, 63])
def test_large_lengths(kernel: ModuleType, bits: int) -> None:
    for wrap in WRAPPERS.values():
        for length in (2**bits - 1, 2**bits, 2**bits + 1):
            for field in (1, 9):
                check_acceptance(kernel, wrap(wire.tag(field, 2) + wire.varint(length) + b"x"))


@given(schema_and_examples=strategies.example_lists())
def test_values_of_the_protobuf_library(
    kernel: ModuleType,
    schema_and_examples: tuple[dict[str, Kind], list[strategies.WireExample]],
) -> None:
    """What a kernel reads is what the protobuf library reads; written by that library too."""
    from tfrecord_beam.kernel.reference.protos import Example

    schema, examples = schema_and_examples
    messages = [Example.FromString(one.data) for one in examples]
    written = [message.SerializeToString() for message in messages]
    batch, failures = decode_all(kernel, written, plan_of({**schema}))
    assert failures == []
    for name in schema:
        column = batch.column(name)
        rows = [_values(message, name) for message in messages]
        assert column.is_valid().to_pylist() == [row is not None for row in rows]
        for scalar, row in zip(column, rows):
            if row is not None:
                assert [_comparable(value) for value in scalar.as_py()] == row


def _values(message: Any, name: str) -> list[object] | None:
    feature = message.features.feature
    kind = feature[name].WhichOneof("kind") if name in feature else None
    return kind and [_comparable(value) for value in getattr(feature[name], kind).value]


def _comparable(value: object) -> object:
    return repr(value) if isinstance(value, float) else value
