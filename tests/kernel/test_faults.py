"""Records that cannot be decoded: what is wrong, which fault counts, what the error says."""

from __future__ import annotations

import itertools
from types import ModuleType

import pyarrow as pa
import pytest

from tests import wire
from tests.decoding import (
    ARROW_TYPES,
    BYTES,
    EMPTY,
    FLOAT,
    INT64,
    check_batch,
    contents,
    decode,
    decode_all,
    plan_of,
    spans,
)
from tests.wire import bytes_list, delimited, entry, example, floats, int64
from tfrecord_beam.errors import DecodeError, Location
from tfrecord_beam.kernel.plan import DecodeFailure, DecodeFault, DecodePlan, Kind

ALL = DecodePlan()

GOOD = example(entry("f", int64(1)))


def fault_of(kernel: ModuleType, record: bytes, plan: DecodePlan = ALL) -> DecodeFault | None:
    """Returns what is wrong with one record, or None."""
    _, failures = decode_all(kernel, [record], plan)
    return DecodeFault(failures[0].fault) if failures else None


def value(content: bytes) -> bytes:
    """Returns an Example with one feature, "f", that consists of `content`."""
    return example(entry("f", content))


# --- MALFORMED --------------------------------------------------------------------------

MALFORMED = {
    "lone byte": b"\xff",
    "tag without a length": b"\x0a",
    "length beyond the record": b"\x0a\x05abc",
    "length beyond its message": delimited(1, b"\x0a\x05") + b"abcdefgh",
    "length of 2**31": b"\x0a" + wire.varint(2**31),
    "length of 2**63": b"\x0a" + wire.varint(2**63),
    "length of -1": b"\x0a" + wire.varint(-1),
    "length in 11 bytes": b"\x1a" + b"\x80" * 10 + b"\x00",
    "field number 0": wire.varint_field(0, 1),
    "field number 2**29": wire.varint(2**29 << 3) + b"\x01",
    "wire type 6": wire.tag(3, 6),
    "wire type 7": wire.tag(3, 7),
    "end of no group": wire.tag(3, wire.END_GROUP),
    "group without an end": wire.tag(3, wire.GROUP),
    "group with another's end": wire.tag(3, wire.GROUP) + wire.tag(4, wire.END_GROUP),
    "group that ends outside its message": example(wire.tag(3, wire.GROUP))
    + wire.tag(3, wire.END_GROUP),
    "bad field in a group": wire.group(3, wire.varint_field(0, 1)),
    "cut varint": wire.varint_field(3, 300)[:-1],
    "varint of 11 bytes": wire.tag(3, wire.VARINT) + b"\x80" * 10 + b"\x01",
    "cut fixed32": wire.fixed32_field(3, b"123"),
    "cut fixed64": wire.fixed64_field(3, b"1234567"),
    "bad features": example(b"\xff"),
    "bad entry": example(delimited(1, b"\xff")),
    "bad feature": value(b"\xff"),
    "bad feature that would be replaced": example(entry("f", b"\xff"), entry("f", int64(1))),
    "bad kind that would be replaced": value(delimited(1, b"\xff") + int64(1)),
    "bad bytes_list": value(delimited(1, b"\xff")),
    "bad float_list": value(delimited(2, b"\xff")),
    "bad int64_list": value(delimited(3, b"\xff")),
    "packed floats of 5 bytes": value(delimited(2, delimited(1, b"12345"))),
    "cut float": value(delimited(2, wire.fixed32_field(1, b"123"))),
    "cut packed varint": value(delimited(3, delimited(1, b"\x01\x80"))),
    "packed varint of 11 bytes": value(delimited(3, delimited(1, b"\xff" * 10 + b"\x01"))),
    "varint beyond its list": value(delimited(3, b"\x08\x80")),
    "bytes beyond their list": value(delimited(1, b"\x0a\x02x")),
    "text": b"no message at all",
}


@pytest.mark.parametrize("record", MALFORMED.values(), ids=MALFORMED)
def test_malformed(kernel: ModuleType, record: bytes) -> None:
    assert fault_of(kernel, record) == DecodeFault.MALFORMED
    assert fault_of(kernel, record, plan_of({"f": None})) == DecodeFault.MALFORMED


def test_every_prefix_of_a_record(kernel: ModuleType) -> None:
    record = example(
        entry("a", bytes_list(b"xyz")), entry("b", floats(1.0, 2.0)), entry("c", int64(300, -1))
    )
    # The one features message spans the whole record: no part of it is a message.
    for cut in range(1, len(record)):
        assert fault_of(kernel, record[:cut]) == DecodeFault.MALFORMED, cut


# --- NAME_NOT_UTF8 ----------------------------------------------------------------------

NOT_UTF8 = {
    "lone continuation": b"\x80",
    "cut sequence": b"abc\xe8\xaa",
    "overlong": b"\xc0\xaf",
    "overlong NUL": b"\xc0\x80",
    "surrogate": b"\xed\xa0\x80",
    "beyond U+10FFFF": b"\xf4\x90\x80\x80",
    "five bytes": b"\xf8\x88\x80\x80\x80",
    "Latin-1": "größe".encode("latin-1"),
    "late": b"x" * 40 + b"\xff",
}


@pytest.mark.parametrize("name", NOT_UTF8.values(), ids=NOT_UTF8)
def test_name_that_is_not_utf8(kernel: ModuleType, name: bytes) -> None:
    record = example(entry("f", int64(1)), entry(name, int64(1)), entry("g", int64(1)))
    for plan in (ALL, plan_of({"f": INT64}), plan_of({})):
        assert fault_of(kernel, record, plan) == DecodeFault.NAME_NOT_UTF8


@pytest.mark.parametrize("name", ["\x7f", "\x80", "\u07ff", "\u0800", "\uffff", "\U0010ffff", "𐀀"])
def test_names_at_the_borders_of_utf8(kernel: ModuleType, name: str) -> None:
    assert decode(kernel, [example(entry(name, int64(1)))]).schema.names == [name]


def test_name_that_another_name_of_its_entry_replaces(kernel: ModuleType) -> None:
    """The protobuf library looks at each."""
    names = delimited(1, b"\xff") + delimited(1, b"f")
    record = example(delimited(1, names + delimited(2, int64(1))))
    assert fault_of(kernel, record) == DecodeFault.NAME_NOT_UTF8


# --- FEATURE_LISTS and NESTED_EXAMPLE ---------------------------------------------------

# SequenceExample: context {"id": [7]}, feature_lists {"s": [[1], [2]]}, by protoc.
SEQUENCE_EXAMPLE = bytes.fromhex(
    "0a0d0a0b0a02696412051a030a010712150a130a0173120e0a051a030a01010a051a030a0102"
)


def test_sequence_example(kernel: ModuleType) -> None:
    for plan in (ALL, plan_of({"id": INT64}), plan_of({})):
        assert fault_of(kernel, SEQUENCE_EXAMPLE, plan) == DecodeFault.FEATURE_LISTS
    assert decode(kernel, [SEQUENCE_EXAMPLE[:15]]).to_pydict() == {"id": [[7]]}


def test_field_2_of_any_content_and_in_any_place(kernel: ModuleType) -> None:
    for content in (b"", b"\xff", GOOD):
        assert fault_of(kernel, delimited(2, content)) == DecodeFault.FEATURE_LISTS
        assert fault_of(kernel, delimited(2, content) + GOOD) == DecodeFault.FEATURE_LISTS
        assert fault_of(kernel, GOOD + delimited(2, content)) == DecodeFault.FEATURE_LISTS


def test_field_2_that_is_not_length_delimited(kernel: ModuleType) -> None:
    assert fault_of(kernel, GOOD + wire.varint_field(2, 1)) is None
    assert fault_of(kernel, GOOD + wire.group(2)) is None


def test_example_list_with_context(kernel: ModuleType) -> None:
    record = wire.example_list(GOOD, GOOD, context=GOOD)
    for plan in (ALL, plan_of({"f": INT64}), plan_of({})):
        assert fault_of(kernel, record, plan) == DecodeFault.FEATURE_LISTS


@pytest.mark.parametrize(
    "examples",
    [
        [GOOD],
        [GOOD, GOOD],
        [example(entry("a", bytes_list(b"x")), entry("b", int64(1)))],
        [example(entry("a", bytes_list()))],
        [example(entry("f"))],
    ],
    ids=["one", "two", "two features", "empty list", "no value"],
)
def test_example_list_without_context(kernel: ModuleType, examples: list[bytes]) -> None:
    """Each Example in it looks like a features message, whose name is a serialised map entry."""
    record = wire.example_list(*examples)
    for plan in (ALL, plan_of({"f": INT64}), plan_of({})):
        assert fault_of(kernel, record, plan) == DecodeFault.NESTED_EXAMPLE


@pytest.mark.parametrize(
    "name",
    [
        delimited(1, b""),
        delimited(1, b"abc"),
        delimited(1, b"a") * 3,
        delimited(2, b"abc"),
        delimited(2, b"v") + delimited(1, b"k"),
    ],
    ids=repr,
)
def test_name_that_is_a_message(kernel: ModuleType, name: bytes) -> None:
    record = example(entry("f", int64(1)), entry(name))
    for plan in (ALL, plan_of({"f": INT64}), plan_of({})):
        assert fault_of(kernel, record, plan) == DecodeFault.NESTED_EXAMPLE


@pytest.mark.parametrize(
    "name",
    [b"", b"\n", b"\x0a\x02x", b"\x0a\x01xy", b"\x08\x01", b"\x0a\x01x\x08\x01", b"\x1a\x01x"],
    ids=repr,
)
def test_name_that_is_no_message_of_fields_1_and_2(kernel: ModuleType, name: bytes) -> None:
    assert fault_of(kernel, example(entry(name))) is None


def test_name_that_is_a_message_but_has_a_value(kernel: ModuleType) -> None:
    name = delimited(1, b"abc")
    for feature in (int64(1), wire.NO_KIND):
        assert fault_of(kernel, example(entry(name, feature))) is None


# --- RAW_COLUMN_COLLISION ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["raw", "", "größe"])
def test_feature_with_the_name_of_the_raw_record_column(kernel: ModuleType, name: str) -> None:
    record = example(entry("a", int64(1)), entry(name))
    _, failures = decode_all(kernel, [GOOD, record], plan_of(None, name))
    assert failures == [DecodeFailure(DecodeFault.RAW_COLUMN_COLLISION, 1, name.encode())]
    assert fault_of(kernel, record, plan_of({"a": None}, name)) is None
    assert fault_of(kernel, record) is None


# --- NAME_WITH_NUL --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["\0", "f\0", "\0f", "größe\0x"])
def test_name_with_nul(kernel: ModuleType, name: str) -> None:
    """The Arrow C data interface would cut the name of its column short."""
    record = example(entry("z\0", int64(1)), entry("f", int64(1)), entry(name, int64(1)))
    _, failures = decode_all(kernel, [GOOD, record])
    assert failures == [DecodeFailure(DecodeFault.NAME_WITH_NUL, 1, min(name.encode(), b"z\0"))]
    assert decode(kernel, [record], {"f": INT64, "z": None}).to_pydict() == {
        "f": [[1]],
        "z": [None],
    }


def test_planned_name_with_nul(kernel: ModuleType) -> None:
    for plan in (plan_of({"f\0": INT64}), plan_of(None, "raw\0")):
        with pytest.raises(ValueError, match="NUL"):
            kernel.ExampleDecoder(plan)


# --- KIND_MISMATCH ----------------------------------------------------------------------

FEATURES = {BYTES: bytes_list(b"x"), FLOAT: floats(1.0), INT64: int64(1)}
PAIRS = [*itertools.permutations(Kind, 2)]


@pytest.mark.parametrize(("expected", "found"), PAIRS)
def test_other_kind_than_planned(kernel: ModuleType, expected: Kind, found: Kind) -> None:
    for feature in (FEATURES[found], EMPTY[found]):
        record = value(feature)
        batch, failures = decode_all(kernel, [record, b""], plan_of({"f": expected}))
        mismatch = DecodeFailure(DecodeFault.KIND_MISMATCH, 0, b"f", expected, found)
        assert failures == [mismatch]
        assert batch.schema.field("f").type == ARROW_TYPES[expected]
        assert batch.to_pydict() == {"f": [None]}


@pytest.mark.parametrize(("expected", "found"), PAIRS)
def test_other_kind_than_an_earlier_record(kernel: ModuleType, expected: Kind, found: Kind) -> None:
    for first in (FEATURES[expected], EMPTY[expected]):
        records = [value(wire.NO_KIND), value(first), value(EMPTY[found]), value(FEATURES[found])]
        for plan in (ALL, plan_of({"f": None})):
            batch, failures = decode_all(kernel, records, plan)
            assert failures == [
                DecodeFailure(DecodeFault.KIND_MISMATCH, record, b"f", expected, found)
                for record in (2, 3)
            ]
            assert batch.schema.field("f").type == ARROW_TYPES[expected]
            assert batch.num_rows == 2


def test_first_mismatch_in_output_order_is_named(kernel: ModuleType) -> None:
    record = example(entry("b", floats(1.0)), entry("c", int64(1)), entry("a", bytes_list()))

    def named(plan: DecodePlan, *before: bytes) -> bytes | None:
        _, failures = decode_all(kernel, [*before, record], plan)
        assert [failure.record for failure in failures] == [len(before)]
        return failures[0].feature

    assert named(plan_of({"c": BYTES, "b": INT64, "a": INT64})) == b"c"
    assert named(plan_of({"c": INT64, "b": INT64, "a": INT64})) == b"b"
    assert named(plan_of({"a": INT64, "b": INT64, "c": BYTES})) == b"a"
    assert named(plan_of({"c": INT64, "b": FLOAT, "a": INT64})) == b"a"
    other = example(*(entry(name, EMPTY[kind]) for name, kind in zip("abc", (FLOAT, BYTES, FLOAT))))
    assert named(ALL, other) == b"a"
    assert named(plan_of(dict.fromkeys("cab")), other) == b"c"


# --- Which fault counts -----------------------------------------------------------------

# Parts of a record, each with the fault it brings; in the order in which the faults count.
FAULTY_PARTS = {
    DecodeFault.MALFORMED: wire.tag(3, 7),
    DecodeFault.NAME_NOT_UTF8: example(entry(b"\xff", int64(1))),
    DecodeFault.FEATURE_LISTS: delimited(2, b""),
    DecodeFault.NESTED_EXAMPLE: example(entry(delimited(1, b"x"))),
    DecodeFault.RAW_COLUMN_COLLISION: example(entry("raw", int64(1))),
    DecodeFault.NAME_WITH_NUL: example(entry("nul \0", int64(1))),
    DecodeFault.KIND_MISMATCH: example(entry("f", floats(1.0))),
}


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations(FAULTY_PARTS, 2)])
def test_first_of_two_faults_counts(
    kernel: ModuleType, first: DecodeFault, second: DecodeFault
) -> None:
    parts = FAULTY_PARTS[first], FAULTY_PARTS[second]
    for record in (parts[0] + parts[1], parts[1] + parts[0]):
        _, failures = decode_all(kernel, [GOOD, record], plan_of(None, "raw"))
        assert [(failure.fault, failure.record) for failure in failures] == [(first, 1)]


@pytest.mark.parametrize("fault", FAULTY_PARTS)
def test_each_part_brings_its_fault(kernel: ModuleType, fault: DecodeFault) -> None:
    _, failures = decode_all(kernel, [GOOD, FAULTY_PARTS[fault]], plan_of(None, "raw"))
    assert [(failure.fault, failure.record) for failure in failures] == [(fault, 1)]


def test_malformed_value_counts_before_a_bad_name(kernel: ModuleType) -> None:
    record = example(entry(b"\xff", int64(1)), entry("f", b"\xff"))
    assert fault_of(kernel, record) == DecodeFault.MALFORMED
    assert fault_of(kernel, record, plan_of({"f": None})) == DecodeFault.MALFORMED
    assert fault_of(kernel, record, plan_of({"g": None})) == DecodeFault.NAME_NOT_UTF8


# --- What the errors say ----------------------------------------------------------------

NOT_AN_EXAMPLE = "Expected a serialized tf.train.Example, found "

ERRORS = {
    DecodeFault.MALFORMED: (
        NOT_AN_EXAMPLE + "bytes that do not parse as one - at record 1 "
        "(are the records messages of another type, encrypted or compressed one by one?)",
        None,
    ),
    DecodeFault.NAME_NOT_UTF8: (
        "Expected UTF-8 in the name of a feature, found other bytes - at record 1",
        None,
    ),
    DecodeFault.FEATURE_LISTS: (
        NOT_AN_EXAMPLE + "a message with field 2 - at record 1 "
        "(for a tf.train.SequenceExample or an ExampleListWithContext say so: "
        "record_type='SequenceExample' or record_type='ExampleListWithContext')",
        None,
    ),
    DecodeFault.NESTED_EXAMPLE: (
        NOT_AN_EXAMPLE + "messages nested in it - at record 1 "
        "(for an ExampleListWithContext say so: record_type='ExampleListWithContext')",
        None,
    ),
    DecodeFault.RAW_COLUMN_COLLISION: (
        "Expected no feature with the name of the raw-record column, found 'raw' "
        "- at record 1, feature 'raw' (choose another raw_record_column_name)",
        "raw",
    ),
    DecodeFault.NAME_WITH_NUL: (
        "Expected no NUL in the name of a feature, found 'nul \\x00' "
        "- at record 1, feature 'nul \\x00' (name the columns that you want)",
        "nul \0",
    ),
    DecodeFault.KIND_MISMATCH: (
        "Expected int64_list for feature 'f', found float_list - at record 1",
        "f",
    ),
}


@pytest.mark.parametrize("fault", FAULTY_PARTS)
def test_text_and_place_of_the_error(kernel: ModuleType, fault: DecodeFault) -> None:
    decoder = kernel.ExampleDecoder(plan_of(None, "raw"))
    records = [GOOD, FAULTY_PARTS[fault], FAULTY_PARTS[DecodeFault.MALFORMED]]
    text, feature = ERRORS[fault]
    with pytest.raises(DecodeError) as raised:
        decoder.decode_records(records)
    assert type(raised.value) is DecodeError
    assert str(raised.value) == text
    assert raised.value.location == Location(record=1, feature=feature)
    with pytest.raises(DecodeError) as raised:
        decoder.decode(*spans(records))
    assert str(raised.value) == text
    assert raised.value.location == Location(record=1, feature=feature)


def test_text_with_an_odd_name(kernel: ModuleType) -> None:
    decoder = kernel.ExampleDecoder(plan_of({"größe 'x'": BYTES}))
    with pytest.raises(DecodeError) as raised:
        decoder.decode_records([example(entry("größe 'x'", int64()))])
    assert str(raised.value) == (
        "Expected bytes_list for feature \"größe 'x'\", found int64_list - at record 0"
    )
    assert raised.value.feature == "größe 'x'"


# --- No trace ---------------------------------------------------------------------------


WITHOUT_PLANNED_COLUMNS = (DecodeFault.RAW_COLUMN_COLLISION, DecodeFault.NAME_WITH_NUL)
"""Faults of features that are to become columns though no plan names them."""


@pytest.mark.parametrize("fault", FAULTY_PARTS)
def test_failed_records_leave_no_trace(kernel: ModuleType, fault: DecodeFault) -> None:
    """The batch is what the good records alone would give: no row, no column, no kind of theirs."""
    traces = example(entry("g", bytes_list(b"x")), entry("new", int64(1)), entry("f", int64(9)))
    faulty = [traces + FAULTY_PARTS[fault], FAULTY_PARTS[fault] + traces]
    good = [GOOD, example(entry("f", int64(2)), entry("h", floats(0.5))), b""]
    if fault == DecodeFault.KIND_MISMATCH:
        faulty = [example(entry("g", bytes_list(b"x")), entry("new"), entry("f", floats(1.0)))] * 2
    last = example(entry("g", floats(1.0)))  # Of the kind that the faulty records did not have.
    records = [good[0], faulty[0], good[1], faulty[1], faulty[0], good[2], last, faulty[1]]
    failed = [1, 3, 4, 7]
    for columns in (None, dict.fromkeys(["f", "g", "h"])):
        for raw_record_column in (None, "raw"):
            if columns and fault in WITHOUT_PLANNED_COLUMNS:
                continue
            if not raw_record_column and fault == DecodeFault.RAW_COLUMN_COLLISION:
                continue
            plan = plan_of(columns, raw_record_column)
            batch, failures = decode_all(kernel, records, plan)
            assert [(failure.fault, failure.record) for failure in failures] == [
                (fault, record) for record in failed
            ]
            expected = decode(kernel, [*good, last], columns, raw_record_column)
            assert contents(batch) == contents(expected)


def test_all_records_fail(kernel: ModuleType) -> None:
    batch, failures = decode_all(kernel, [b"\xff", SEQUENCE_EXAMPLE])
    assert [failure.fault for failure in failures] == [
        DecodeFault.MALFORMED,
        DecodeFault.FEATURE_LISTS,
    ]
    assert (batch.num_rows, batch.num_columns) == (0, 0)


def test_failed_call_leaves_no_trace_in_the_next(kernel: ModuleType) -> None:
    decoder = kernel.ExampleDecoder(plan_of({"f": None, "g": None}))
    trace = example(entry("f", floats(1.0)), entry("g", floats(1.0)))
    for bad in (b"\xff", GOOD):
        with pytest.raises(DecodeError):
            decoder.decode_records([trace, bad])
        batch = check_batch(pa.record_batch(decoder.decode_records([GOOD])[0]))
        assert batch.to_pydict() == {"f": [[1]], "g": [None]}
        assert batch.schema.field("g").type == pa.null()


def test_kinds_are_not_kept_between_calls(kernel: ModuleType) -> None:
    decoder = kernel.ExampleDecoder(ALL)
    for feature in (int64(1), floats(1.0), bytes_list(b"x"), wire.NO_KIND):
        _, failures = decoder.decode_records([value(feature)], collect_failures=True)
        assert failures == []


def test_failures_are_collected_on_request_only(kernel: ModuleType) -> None:
    decoder = kernel.ExampleDecoder(ALL)
    with pytest.raises(DecodeError):
        decoder.decode_records([b"\xff"], collect_failures=False)
    _, failures = decoder.decode_records([b"\xff"], collect_failures=True)
    assert failures == [DecodeFailure(DecodeFault.MALFORMED, 0)]
