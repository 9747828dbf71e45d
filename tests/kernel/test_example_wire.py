"""`ExampleDecoder`: what the wire allows beyond what every writer writes."""

from __future__ import annotations

import struct
from types import ModuleType

import pyarrow as pa
import pytest
from hypothesis import given

from tests import strategies, wire
from tests.decoding import (
    ARROW_TYPES,
    BYTES,
    EMPTY,
    FLOAT,
    INT64,
    PLAIN,
    VALUES,
    contents,
    decode,
    kinds,
)
from tests.wire import entry, example, floats, int64
from tfrecord_beam.kernel.plan import Kind


@kinds
def test_last_entry_of_a_name_wins(kernel: ModuleType, kind: Kind) -> None:
    record = example(entry("f", int64(5)), entry("g", int64(6)), entry("f", PLAIN[kind]))
    expected = {"f": [VALUES[kind]], "g": [[6]]}
    assert decode(kernel, [record]).to_pydict() == expected
    assert decode(kernel, [record], {"f": kind, "g": INT64}).to_pydict() == expected


@pytest.mark.parametrize("last", [wire.NO_KIND, None], ids=["no kind", "no value"])
def test_last_entry_wins_also_with_nothing_to_say(kernel: ModuleType, last: bytes | None) -> None:
    features = () if last is None else (last,)
    record = example(entry("f", int64(5)), entry("f", *features))
    batch = decode(kernel, [record], {"f": None})
    assert (batch.schema.types, batch.to_pydict()) == ([pa.null()], {"f": [None]})


def test_kind_of_an_entry_that_lost_does_not_count(kernel: ModuleType) -> None:
    records = [
        example(entry("f", floats(1.0)), entry("f", int64(1))),
        example(entry("f", int64(2)), entry("g", int64(9))),
    ]
    assert decode(kernel, records).to_pydict() == {"f": [[1], [2]], "g": [None, [9]]}
    assert decode(kernel, records, {"f": INT64}).to_pydict() == {"f": [[1], [2]]}


def test_features_messages_merge(kernel: ModuleType) -> None:
    record = (
        example(entry("a", int64(1)), entry("b", int64(2)))
        + example()
        + example(entry("b", int64(3)), entry("c", int64(4)))
    )
    assert decode(kernel, [record]).to_pydict() == {"a": [[1]], "b": [[3]], "c": [[4]]}


def test_values_of_one_entry_merge(kernel: ModuleType) -> None:
    record = example(entry("f", int64(1), int64(), wire.NO_KIND, int64(2, 3)))
    assert decode(kernel, [record]).to_pydict() == {"f": [[1, 2, 3]]}


def test_values_of_one_entry_merge_as_a_oneof(kernel: ModuleType) -> None:
    record = example(entry("f", int64(1), floats(0.5), int64(2)))
    assert decode(kernel, [record]).to_pydict() == {"f": [[2]]}


@kinds
def test_one_kind_in_several_fields(kernel: ModuleType, kind: Kind) -> None:
    record = example(entry("f", PLAIN[kind] + EMPTY[kind] + PLAIN[kind]))
    assert decode(kernel, [record]).to_pydict() == {"f": [VALUES[kind] * 2]}


@kinds
def test_last_of_several_kinds_wins(kernel: ModuleType, kind: Kind) -> None:
    others = [PLAIN[other] for other in Kind if other is not kind]
    record = example(entry("f", b"".join([PLAIN[kind], *others, PLAIN[kind], EMPTY[kind]])))
    assert decode(kernel, [record]).to_pydict() == {"f": [VALUES[kind]]}
    assert decode(kernel, [record], {"f": kind}).to_pydict() == {"f": [VALUES[kind]]}


@kinds
def test_last_kind_wins_without_values(kernel: ModuleType, kind: Kind) -> None:
    others = [PLAIN[other] for other in Kind if other is not kind]
    record = example(entry("f", b"".join([*others, EMPTY[kind]])))
    batch = decode(kernel, [record], {"f": kind})
    assert batch.to_pydict() == {"f": [[]]}


@pytest.mark.parametrize("kind", [FLOAT, INT64], ids=lambda kind: kind.list_name)
def test_packed_and_unpacked_runs(kernel: ModuleType, kind: Kind) -> None:
    runs = [(1, 2), (3,), (), (4, 5, 6), (7,)]
    fields = [
        strategies.value_fields(kind, run, packed=index % 2 == 0) for index, run in enumerate(runs)
    ]
    record = example(entry("f", wire.delimited(kind, b"".join(fields))))
    values = decode(kernel, [record]).column(0).values
    assert values.view(pa.int32() if kind is FLOAT else pa.int64()).to_pylist() == [*range(1, 8)]


def test_value_before_name(kernel: ModuleType) -> None:
    record = example(wire.delimited(1, wire.delimited(2, int64(1)) + wire.delimited(1, b"f")))
    assert decode(kernel, [record]).to_pydict() == {"f": [[1]]}
    assert decode(kernel, [record], {"f": INT64}).to_pydict() == {"f": [[1]]}


def test_last_name_of_an_entry_wins(kernel: ModuleType) -> None:
    names = wire.delimited(1, b"first") + wire.delimited(1, b"f")
    record = example(wire.delimited(1, names + wire.delimited(2, int64(1))))
    assert decode(kernel, [record]).to_pydict() == {"f": [[1]]}
    assert decode(kernel, [record], {"first": None, "f": None}).to_pydict() == {
        "first": [None],
        "f": [[1]],
    }


UNKNOWN = {
    "varint": wire.varint_field(9, 2**64 - 1),
    "long varint": wire.varint_field(9, 1, 10),
    "fixed64": wire.fixed64_field(9, b"12345678"),
    "fixed32": wire.fixed32_field(9, b"1234"),
    "bytes": wire.delimited(9, b"\xff\x0a\x01"),
    "no bytes": wire.delimited(9, b""),
    "group": wire.group(9),
    "full group": wire.group(9, wire.varint_field(1, 1) + wire.group(9) + wire.delimited(2, b"x")),
    "padded tag": wire.delimited(9, b"x", tag_size=5, length_size=5),
    "largest number": wire.varint_field(2**29 - 1, 1),
}


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_fields_are_skipped_at_every_level(kernel: ModuleType, unknown: bytes) -> None:
    def around(content: bytes) -> bytes:
        return unknown + content + unknown

    values = around(wire.varint_field(1, 1) + unknown + wire.varint_field(1, 2))
    feature = around(wire.delimited(3, values))
    key_and_value = around(wire.delimited(1, b"f") + unknown + wire.delimited(2, feature))
    record = around(wire.delimited(1, around(wire.delimited(1, key_and_value))))
    assert decode(kernel, [record]).to_pydict() == {"f": [[1, 2]]}
    assert decode(kernel, [record], {"f": INT64, "g": None}).to_pydict() == {
        "f": [[1, 2]],
        "g": [None],
    }


OTHER_WIRE_TYPES = {
    "varint": lambda field: wire.varint_field(field, 1),
    "fixed64": lambda field: wire.fixed64_field(field, bytes(8)),
    "fixed32": lambda field: wire.fixed32_field(field, bytes(4)),
    "group": wire.group,
}


@pytest.mark.parametrize("write", OTHER_WIRE_TYPES.values(), ids=OTHER_WIRE_TYPES)
def test_known_numbers_with_another_wire_type_are_unknown(
    kernel: ModuleType, write: strategies.FieldWriter
) -> None:
    feature = write(1) + int64(1) + write(2) + write(3)
    key_and_value = wire.delimited(1, b"f") + write(1) + wire.delimited(2, feature) + write(2)
    entries = wire.delimited(1, key_and_value) + write(1)
    record = wire.delimited(1, entries) + write(1) + write(2)
    assert decode(kernel, [record]).to_pydict() == {"f": [[1]]}


@pytest.mark.parametrize(
    ("kind", "unknown"),
    [
        (BYTES, wire.varint_field(1, 1)),
        (BYTES, wire.fixed32_field(1, b"1234")),
        (FLOAT, wire.varint_field(1, 1)),
        (FLOAT, wire.fixed64_field(1, b"12345678")),
        (INT64, wire.fixed32_field(1, b"1234")),
        (INT64, wire.fixed64_field(1, b"12345678")),
        (INT64, wire.group(1)),
    ],
)
def test_values_with_another_wire_type_are_unknown(
    kernel: ModuleType, kind: Kind, unknown: bytes
) -> None:
    record = example(entry("f", wire.delimited(kind, unknown) + PLAIN[kind]))
    assert decode(kernel, [record]).to_pydict() == {"f": [VALUES[kind]]}


@pytest.mark.parametrize("size", range(1, 6))
def test_padded_tags_and_lengths(kernel: ModuleType, size: int) -> None:
    def padded(field: int, payload: bytes) -> bytes:
        return wire.delimited(field, payload, tag_size=size, length_size=size)

    feature = padded(3, padded(1, wire.varint(7)))
    record = padded(1, padded(1, padded(1, b"f") + padded(2, feature)))
    assert decode(kernel, [record]).to_pydict() == {"f": [[7]]}


@given(schema_and_examples=strategies.example_lists())
def test_plain_records(
    kernel: ModuleType,
    schema_and_examples: tuple[dict[str, Kind], list[strategies.WireExample]],
) -> None:
    _check_meaning(kernel, *schema_and_examples)


@given(schema_and_examples=strategies.wire_example_lists())
def test_wire_that_no_serialiser_writes(
    kernel: ModuleType,
    schema_and_examples: tuple[dict[str, Kind], list[strategies.WireExample]],
) -> None:
    _check_meaning(kernel, *schema_and_examples)


def _check_meaning(
    kernel: ModuleType, schema: dict[str, Kind], examples: list[strategies.WireExample]
) -> None:
    """Checks what a kernel reads in generated records, with and without a plan."""
    records = [one.data for one in examples]
    seen = {name for one in examples for name in one.meaning}
    plans: list[dict[str, Kind | None] | None] = [None, {**schema}, dict.fromkeys(schema)]
    plans.append(dict(list(schema.items())[::2]))
    for columns in plans:
        wanted = sorted(seen, key=str.encode) if columns is None else list(columns)
        batch = decode(kernel, records, columns)
        expected = [
            (name, *_column(examples, name, columns[name] if columns else None)) for name in wanted
        ]
        assert contents(batch) == expected


def _column(
    examples: list[strategies.WireExample], name: str, planned: Kind | None
) -> tuple[pa.DataType, list[list[object] | None]]:
    """Returns type and rows of the column that generated records mean, floats as int32."""
    said = [one.meaning.get(name) for one in examples]
    kind = planned or next((meaning[0] for meaning in said if meaning), None)
    rows = [None if meaning is None else list(meaning[1]) for meaning in said]
    if kind is FLOAT:
        rows = [row and [_signed(bits) for bits in row] for row in rows]
    return ARROW_TYPES[kind], rows


def _signed(bits: int) -> int:
    return int(struct.unpack("<i", struct.pack("<I", bits))[0])
