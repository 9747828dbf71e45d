"""`SequenceExampleDecoder` and `ExampleListDecoder`: columns of a context, and of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

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
    decode_all,
    kinds,
    spans,
)
from tests.wire import (
    NO_KIND,
    bytes_list,
    delimited,
    entry,
    example,
    example_list,
    feature_list,
    floats,
    int64,
    sequence_example,
)
from tfrecord_beam.errors import DecodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import (
    SEQUENCE_COLUMN,
    Column,
    DecodeFailure,
    DecodeFault,
    Kind,
    SequenceDecodePlan,
)

SEQUENCES = "SequenceExampleDecoder"
LISTS = "ExampleListDecoder"


Kinds = Mapping[str, Kind | None] | None


def plan_of(columns: Kinds = None, steps: Kinds = None, **options: Any) -> SequenceDecodePlan:
    """Returns a plan for the columns and kinds of dictionaries."""
    return SequenceDecodePlan(columns_of(columns), columns_of(steps), **options)


def columns_of(wanted: Kinds) -> tuple[Column, ...] | None:
    return None if wanted is None else tuple(Column(*item) for item in wanted.items())


def decode(
    kernel: ModuleType,
    records: Sequence[bytes],
    plan: SequenceDecodePlan = SequenceDecodePlan(),
    decoder: str = SEQUENCES,
) -> pa.RecordBatch:
    """Returns the batch of `records`, all of which must be good."""
    batch, failures = decode_all(kernel, records, plan, None, decoder)
    assert failures == []
    return batch


def steps_of(batch: pa.RecordBatch, name: str) -> tuple[pa.DataType, list[Any]]:
    """Returns type and rows of a field of the sequence column."""
    column = batch.column(SEQUENCE_COLUMN).field(name)
    return column.type, column.to_pylist()


def fault_of(
    kernel: ModuleType,
    record: bytes,
    plan: SequenceDecodePlan = SequenceDecodePlan(),
    decoder: str = SEQUENCES,
) -> DecodeFault | None:
    _, failures = decode_all(kernel, [record], plan, None, decoder)
    return DecodeFault(failures[0].fault) if failures else None


# --- Null, empty, missing ---------------------------------------------------------------


@kinds
@pytest.mark.parametrize("planned", [True, False], ids=["planned", "seen"])
@pytest.mark.parametrize("wanted", [True, False], ids=["wanted", "all"])
def test_null_and_empty_steps(kernel: ModuleType, kind: Kind, planned: bool, wanted: bool) -> None:
    records = [
        sequence_example(feature_list("f", PLAIN[kind], NO_KIND, EMPTY[kind], PLAIN[kind])),
        sequence_example(feature_list("f")),  # A feature list of no features,
        sequence_example(entry("f")),  # ... which may as well have been left out of its entry.
        sequence_example(feature_list("g")),
        sequence_example(),
        b"",
        sequence_example(feature_list("f", NO_KIND, NO_KIND)),
        sequence_example(feature_list("f", EMPTY[kind])),
    ]
    steps = {"f": kind if planned else None} if wanted else None
    batch = decode(kernel, records, plan_of(None, steps))
    assert steps_of(batch, "f") == (
        pa.large_list(ARROW_TYPES[kind]),
        [
            [VALUES[kind], None, [], VALUES[kind]],
            [],
            [],
            None,
            None,
            None,
            [None, None],
            [[]],
        ],
    )
    if not wanted:
        nothing = pa.large_list(pa.null())
        assert steps_of(batch, "g") == (nothing, [None, None, None, [], *[None] * 4])


def test_context_and_steps(kernel: ModuleType) -> None:
    context = example(entry("id", int64(7)), entry("f", bytes_list(b"x")))
    record = sequence_example(feature_list("f", int64(1), int64()), context=context)
    batch = decode(kernel, [record, example(entry("id", int64(8)))])
    assert batch.schema.names == ["f", "id", SEQUENCE_COLUMN]
    assert batch.to_pydict() == {
        "f": [[b"x"], None],
        "id": [[7], [8]],
        SEQUENCE_COLUMN: [{"f": [[1], []]}, {"f": None}],
    }


def test_example_is_a_sequence_example_without_feature_lists(kernel: ModuleType) -> None:
    record = example(entry("a", int64(1)))
    assert decode(kernel, [record, b""]).to_pydict() == {"a": [[1], None]}
    assert decode(kernel, []).num_columns == 0


def test_feature_lists_without_a_feature_list(kernel: ModuleType) -> None:
    batch = decode(kernel, [b"", sequence_example(), b""])
    assert batch.schema == pa.schema({SEQUENCE_COLUMN: pa.struct([])})
    assert batch.num_rows == 3
    failing = sequence_example(feature_list("f", b"\xff"))
    batch, failures = decode_all(kernel, [failing, b""], SequenceDecodePlan(), None, SEQUENCES)
    assert (batch.num_columns, batch.num_rows, len(failures)) == (0, 1, 1)


@pytest.mark.parametrize("decoder", [SEQUENCES, LISTS])
def test_no_steps_wanted(kernel: ModuleType, decoder: str) -> None:
    record = sequence_example(feature_list("f", int64(1)))
    record = record if decoder == SEQUENCES else example_list(example(entry("f", int64(1))))
    batch = decode(kernel, [record], plan_of({"a": INT64}, {}), decoder)
    assert batch.to_pydict() == {"a": [None]}


@pytest.mark.parametrize("decoder", [SEQUENCES, LISTS])
def test_planned_but_no_records(kernel: ModuleType, decoder: str) -> None:
    plan = plan_of({"a": None}, {"i": INT64, "any": None}, raw_record_column="raw")
    batch = decode(kernel, [], plan, decoder)
    struct = pa.struct({"i": pa.large_list(ARROW_TYPES[INT64]), "any": pa.large_list(pa.null())})
    raw = ARROW_TYPES[BYTES]
    assert batch.schema == pa.schema({"a": pa.null(), SEQUENCE_COLUMN: struct, "raw": raw})
    missing: list[Any] | None = None if decoder == SEQUENCES else []
    assert decode(kernel, [b""], plan, decoder).to_pydict() == {
        "a": [None],
        SEQUENCE_COLUMN: [{"i": missing, "any": missing}],
        "raw": [[b""]],
    }


def test_kind_seen_late(kernel: ModuleType) -> None:
    """Steps that were counted while nobody knew their kind get it later."""
    records = [
        sequence_example(feature_list("f", NO_KIND, NO_KIND)),
        sequence_example(feature_list("f", NO_KIND, floats(1.0))),
    ]
    untyped = decode(kernel, records[:1])
    assert steps_of(untyped, "f") == (pa.large_list(pa.null()), [[None, None]])
    typed = decode(kernel, records)
    expected = [[None, None], [None, [1.0]]]
    assert steps_of(typed, "f") == (pa.large_list(ARROW_TYPES[FLOAT]), expected)


# --- Columns ----------------------------------------------------------------------------


def test_order_of_fields(kernel: ModuleType) -> None:
    names = ["b", "", "é", "a", "Z"]
    records = [sequence_example(*(feature_list(name, int64(1)) for name in names)), b""]
    struct = decode(kernel, records).schema.field(SEQUENCE_COLUMN).type
    assert [field.name for field in struct] == sorted(names)
    batch = decode(kernel, records, plan_of(None, dict.fromkeys(["a", "é", "b"])))
    struct = batch.schema.field(SEQUENCE_COLUMN).type
    assert [field.name for field in struct] == ["a", "é", "b"]


def test_unwanted_feature_lists_are_not_looked_into(kernel: ModuleType) -> None:
    record = sequence_example(
        feature_list("a", int64(1)), entry("bad", b"\xff"), feature_list("b", int64(2))
    )
    batch = decode(kernel, [record], plan_of({}, {"b": INT64, "a": INT64}))
    assert batch.to_pydict() == {SEQUENCE_COLUMN: [{"b": [[2]], "a": [[1]]}]}
    assert fault_of(kernel, record) == DecodeFault.MALFORMED


def test_name_of_the_sequence_column(kernel: ModuleType) -> None:
    record = sequence_example(feature_list("f", int64(1)))
    batch = decode(kernel, [record], SequenceDecodePlan(sequence_column_name="steps"))
    assert batch.to_pydict() == {"steps": [{"f": [[1]]}]}


@pytest.mark.parametrize("decoder", [SEQUENCES, LISTS])
@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (plan_of({"s": None}, sequence_column_name="s"), "sequence column, found 's'"),
        (plan_of(raw_record_column=SEQUENCE_COLUMN), "raw-record column, found"),
        (plan_of({"s": None}, raw_record_column="s"), "raw-record column, found 's'"),
        (plan_of(None, {"s\0": None}), "without NUL"),
        (plan_of(sequence_column_name="\ud800"), "UTF-8"),
        (SequenceDecodePlan((), (Column("a"), Column("a"))), "'a' twice"),
    ],
)
def test_plans_that_cannot_be(
    kernel: ModuleType, decoder: str, plan: SequenceDecodePlan, text: str
) -> None:
    with pytest.raises(SchemaError, match=text):
        getattr(kernel, decoder)(plan)


def test_raw_records(kernel: ModuleType) -> None:
    records = [sequence_example(feature_list("raw", int64(1))), b"", sequence_example()]
    batch = decode(kernel, records, SequenceDecodePlan(raw_record_column="raw"))
    assert batch.schema.names == [SEQUENCE_COLUMN, "raw"]
    assert batch.column("raw").to_pylist() == [[record] for record in records]


# --- What the wire allows ---------------------------------------------------------------


def test_last_feature_list_of_a_name_wins(kernel: ModuleType) -> None:
    record = sequence_example(
        feature_list("f", floats(1.0), floats(2.0)),
        feature_list("g", int64(3)),
        feature_list("f", int64(4), NO_KIND),
    )
    batch = decode(kernel, [record, record])
    assert batch.to_pydict() == {SEQUENCE_COLUMN: [{"f": [[4], None], "g": [[3]]}] * 2}
    batch = decode(kernel, [sequence_example(feature_list("f", int64(5)), entry("f"))])
    assert steps_of(batch, "f") == (pa.large_list(pa.null()), [[]])


def test_parts_of_an_entry_are_joined(kernel: ModuleType) -> None:
    first, second = delimited(1, int64(1)), delimited(1, int64(2)) + delimited(1, int64())
    batch = decode(kernel, [sequence_example(entry("f", first, b"", second))])
    assert batch.to_pydict() == {SEQUENCE_COLUMN: [{"f": [[1], [2], []]}]}


def test_messages_merge(kernel: ModuleType) -> None:
    record = (
        sequence_example(feature_list("f", int64(1)), feature_list("g", int64(2)))
        + example(entry("a", int64(3)))
        + sequence_example(feature_list("f", int64(4)))
        + example(entry("b", int64(5)), entry("a", int64(6)))
    )
    assert decode(kernel, [record]).to_pydict() == {
        "a": [[6]],
        "b": [[5]],
        SEQUENCE_COLUMN: [{"f": [[4]], "g": [[2]]}],
    }


@kinds
def test_features_in_parts(kernel: ModuleType, kind: Kind) -> None:
    other = Kind.INT64 if kind is Kind.BYTES else Kind.BYTES
    feature = PLAIN[other] + PLAIN[kind] + PLAIN[kind] + wire.varint_field(9, 1)
    unpacked = strategies.kind_field(kind, (b"x",) if kind is BYTES else (0,), packed=False)
    record = sequence_example(feature_list("f", feature, unpacked))
    (row,) = steps_of(decode(kernel, [record]), "f")[1]
    assert row == [VALUES[kind] * 2, [b"x"] if kind is BYTES else [0]]


def test_unknown_fields(kernel: ModuleType) -> None:
    unknown = wire.group(9, wire.varint_field(1, 1)) + wire.varint_field(8, 1)
    steps = delimited(1, int64(1)) + unknown + delimited(1, int64(2))
    lists = delimited(1, unknown + delimited(2, steps) + delimited(1, b"f")) + unknown
    record = unknown + delimited(2, lists) + wire.varint_field(2, 1) + delimited(3, b"\xff")
    assert decode(kernel, [record]).to_pydict() == {SEQUENCE_COLUMN: [{"f": [[1], [2]]}]}


def test_many_rows_and_steps(kernel: ModuleType) -> None:
    """Beyond what any buffer has room for at first."""
    rows = [None if index % 7 == 0 else [[index]] * (index % 11) for index in range(1500)]
    records = [
        b"" if row is None else sequence_example(feature_list("f", *(int64(*s) for s in row)))
        for row in rows
    ]
    for steps in (None, {"f": INT64}):
        assert steps_of(decode(kernel, records, plan_of(None, steps)), "f")[1] == rows


@kinds
@pytest.mark.parametrize("planned", [True, False])
def test_long_feature_lists(kernel: ModuleType, kind: Kind, planned: bool) -> None:
    """Of many short steps, with some among them that are not as writers usually write them."""
    values = VALUES[kind]
    parts: list[tuple[bytes, Sequence[Any] | None]] = [
        (PLAIN[kind], values),
        (PLAIN[kind] * 2, values * 2),
        (delimited(kind, PLAIN[kind][2:] + wire.varint_field(9, 1)), values),
        (PLAIN[kind], values),
        (PLAIN[kind] * 50, values * 50),
        (EMPTY[kind], []),
        (NO_KIND, None),
    ]
    order = [parts[0]] * 600 + parts + [parts[0]] * 600 + parts
    record = sequence_example(feature_list("f", *(feature for feature, _ in order)))
    steps = {"f": kind} if planned else None
    expected = [list(step) if step is not None else None for _, step in order]
    assert steps_of(decode(kernel, [record] * 3, plan_of(None, steps)), "f")[1] == [expected] * 3


@pytest.mark.parametrize("size", range(1, 11))
def test_steps_of_short_varints(kernel: ModuleType, size: int) -> None:
    """Of every size, the last byte too, beside others; and of more bytes than they need."""
    largest = 2 ** (7 * size) - 1 if size < 9 else 2**63 - 1
    values = [[largest], [largest, 1], [300, largest], [1, largest, 0], [1 << 7 * min(size - 1, 8)]]
    padded = delimited(3, delimited(1, wire.varint(1, size) + wire.varint(0, size)))
    record = sequence_example(feature_list("f", *(int64(*step) for step in values), padded))
    assert steps_of(decode(kernel, [record], plan_of(None, {"f": INT64})), "f")[1] == [
        [*values, [1, 0]]
    ]


@pytest.mark.parametrize("size", range(1, 10))
def test_steps_of_unfinished_varints(kernel: ModuleType, size: int) -> None:
    for packed in (b"\xff" * size, b"\x01" + b"\x80" * size):
        cut = delimited(3, delimited(1, packed))
        record = sequence_example(feature_list("f", int64(1), cut, int64(1)))
        plan = plan_of(None, {"f": INT64})
        assert fault_of(kernel, record, plan) == DecodeFault.MALFORMED, packed


@pytest.mark.parametrize("size", range(40))
def test_steps_of_short_strings(kernel: ModuleType, size: int) -> None:
    """Also at the end of the record, where no more can be read."""
    value = bytes(range(size))
    steps = [[value], [value, b"x"], [b"x", value]]
    record = sequence_example(feature_list("f", *(bytes_list(*step) for step in steps)))
    rows = steps_of(decode(kernel, [record] * 2, plan_of(None, {"f": BYTES})), "f")[1]
    assert rows == [steps] * 2


# --- Faults -----------------------------------------------------------------------------


def test_other_kind_than_planned(kernel: ModuleType) -> None:
    plan = plan_of({"f": INT64}, {"f": INT64, "g": BYTES})
    for feature in (floats(1.0), floats()):
        records = [
            sequence_example(feature_list("f", int64(1), feature)),
            sequence_example(feature_list("f", int64(2))),
            sequence_example(feature_list("g", feature), feature_list("f", feature)),
            example(entry("f", feature)) + sequence_example(feature_list("f", feature)),
        ]
        batch, failures = decode_all(kernel, records, plan, None, SEQUENCES)
        mismatch = DecodeFault.KIND_MISMATCH
        assert failures == [
            DecodeFailure(mismatch, 0, b"f", INT64, FLOAT, True),
            DecodeFailure(mismatch, 2, b"f", INT64, FLOAT, True),
            DecodeFailure(mismatch, 3, b"f", INT64, FLOAT, False),
        ]
        assert steps_of(batch, "f")[1] == [[[2]]]


def test_other_kind_than_seen(kernel: ModuleType) -> None:
    """In an earlier record or step; records that fail and lists that are replaced do not count."""
    records = [
        sequence_example(feature_list("f", bytes_list(), int64())),
        sequence_example(feature_list("f", floats(2.0)), feature_list("f", int64(1))),
        sequence_example(feature_list("f", NO_KIND, bytes_list())),
        sequence_example(feature_list("f", int64(2)), feature_list("g", floats())),
    ]
    batch, failures = decode_all(kernel, records, SequenceDecodePlan(), None, SEQUENCES)
    assert failures == [
        DecodeFailure(DecodeFault.KIND_MISMATCH, 0, b"f", BYTES, INT64, True),
        DecodeFailure(DecodeFault.KIND_MISMATCH, 2, b"f", INT64, BYTES, True),
    ]
    assert batch.to_pydict() == {
        SEQUENCE_COLUMN: [{"f": [[1]], "g": None}, {"f": [[2]], "g": [[]]}]
    }


FAULTY = {
    DecodeFault.MALFORMED: wire.tag(3, 7),
    DecodeFault.NAME_NOT_UTF8: sequence_example(feature_list(b"\xff")),
    DecodeFault.NESTED_EXAMPLE: sequence_example(entry(delimited(1, b"x"))),
    DecodeFault.RAW_COLUMN_COLLISION: example(entry("raw", int64(1))),
    DecodeFault.SEQUENCE_COLUMN_COLLISION: example(entry(SEQUENCE_COLUMN)),
    DecodeFault.NAME_WITH_NUL: sequence_example(feature_list("nul \0")),
    DecodeFault.KIND_MISMATCH: sequence_example(feature_list("f", floats(1.0))),
}
GOOD = sequence_example(feature_list("f", int64(1)))


@pytest.mark.parametrize("fault", FAULTY)
def test_faults_by_their_rank(kernel: ModuleType, fault: DecodeFault) -> None:
    """Of two faults the first in the list counts; records that fail leave no trace."""
    plan = SequenceDecodePlan(raw_record_column="raw")
    traces = sequence_example(feature_list("new", floats()), feature_list("f", int64(9), int64()))
    if fault is DecodeFault.KIND_MISMATCH:
        traces = example(entry("new", int64(1)))
    later = [part for other, part in FAULTY.items() if other > fault]
    faulty = [
        traces + FAULTY[fault],
        FAULTY[fault] + traces,
        *(FAULTY[fault] + part for part in later),
        *(part + FAULTY[fault] for part in later),
    ]
    last = sequence_example(feature_list("new", int64()), feature_list("f", int64(2)))
    records = [GOOD, *faulty, last]
    batch, failures = decode_all(kernel, records, plan, None, SEQUENCES)
    assert [(failure.fault, failure.record) for failure in failures] == [
        (fault, index + 1) for index in range(len(faulty))
    ]
    assert contents(batch) == contents(decode(kernel, [GOOD, last], plan))


@pytest.mark.parametrize(
    ("fault", "text", "feature"),
    [
        (
            DecodeFault.MALFORMED,
            "Expected a serialized tf.train.SequenceExample, found bytes that do not parse as one "
            "- at record 1 "
            "(are the records messages of another type, encrypted or compressed one by one?)",
            None,
        ),
        (
            DecodeFault.NAME_NOT_UTF8,
            "Expected UTF-8 in the name of a sequence feature, found other bytes - at record 1",
            None,
        ),
        (
            DecodeFault.NESTED_EXAMPLE,
            "Expected a serialized tf.train.SequenceExample, found messages nested in it "
            "- at record 1 "
            "(for an ExampleListWithContext say so: record_type='ExampleListWithContext')",
            None,
        ),
        (
            DecodeFault.SEQUENCE_COLUMN_COLLISION,
            "Expected no feature with the name of the sequence column, found '##SEQUENCE##' "
            "- at record 1, feature '##SEQUENCE##' (name the columns that you want)",
            SEQUENCE_COLUMN,
        ),
        (
            DecodeFault.KIND_MISMATCH,
            "Expected int64_list for sequence feature 'f', found float_list - at record 1",
            "f",
        ),
    ],
)
def test_texts(kernel: ModuleType, fault: DecodeFault, text: str, feature: str | None) -> None:
    decoder = kernel.SequenceExampleDecoder(SequenceDecodePlan())
    with pytest.raises(DecodeError) as raised:
        decoder.decode(*spans([GOOD, FAULTY[fault]]))
    assert str(raised.value) == text
    assert raised.value.location == Location(record=1, feature=feature)


def test_every_prefix_of_a_record(kernel: ModuleType) -> None:
    record = sequence_example(feature_list("s", bytes_list(b"xyz"), int64(), NO_KIND, int64(300)))
    for cut in range(1, len(record)):
        assert fault_of(kernel, record[:cut]) == DecodeFault.MALFORMED, cut


def test_example_list_taken_for_sequence_examples(kernel: ModuleType) -> None:
    one = example(entry("f", int64(1)))
    for record in (
        example_list(one, one, context=one),
        example_list(one),
        example_list(context=one),
    ):
        for plan in (plan_of(), plan_of({"f": INT64}, {})):
            assert fault_of(kernel, record, plan) == DecodeFault.NESTED_EXAMPLE


# --- ExampleListWithContext -------------------------------------------------------------


def test_example_list(kernel: ModuleType) -> None:
    records = [
        example_list(
            example(entry("i", int64(1, 2)), entry("b", bytes_list(b"x"))),
            example(entry("b", bytes_list()), entry("only here", NO_KIND)),
            b"",
            context=example(entry("query", bytes_list(b"q"))),
        ),
        example_list(context=example(entry("query", bytes_list(b"r")))),
        example_list(example(entry("i", NO_KIND))),
    ]
    assert decode(kernel, records, decoder=LISTS).to_pydict() == {
        "query": [[b"q"], [b"r"], None],
        SEQUENCE_COLUMN: [
            {"b": [[b"x"], [], None], "i": [[1, 2], None, None], "only here": [None] * 3},
            {"b": [], "i": [], "only here": []},
            {"b": [None], "i": [None], "only here": [None]},
        ],
    }
    plan = plan_of({}, {"z": INT64, "i": INT64}, raw_record_column="raw")
    assert decode(kernel, records, plan, LISTS).to_pydict() == {
        SEQUENCE_COLUMN: [
            {"z": [None] * 3, "i": [[1, 2], None, None]},
            {"z": [], "i": []},
            {"z": [None], "i": [None]},
        ],
        "raw": [[record] for record in records],
    }


def test_example_lists_without_an_example(kernel: ModuleType) -> None:
    assert decode(kernel, [b"", example_list(context=b"")], decoder=LISTS).num_columns == 0
    batch = decode(kernel, [example_list(b""), b""], decoder=LISTS)
    assert batch.schema == pa.schema({SEQUENCE_COLUMN: pa.struct([])})


def test_example_list_as_the_wire_allows(kernel: ModuleType) -> None:
    """Parts of the context merge; examples are counted, not merged; names may come twice."""
    one = example(entry("f", floats(1.0)), entry("f", int64(1))) + example(entry("f", int64(2)))
    context = example(entry("c", int64(3)), entry("d", int64(4)))
    record = (
        delimited(2, context)
        + example_list(one)
        + wire.varint_field(1, 5)
        + delimited(2, example(entry("c", int64(6))))
        + example_list(one, example(entry("f", int64(7))))
    )
    assert decode(kernel, [record], decoder=LISTS).to_pydict() == {
        "c": [[6]],
        "d": [[4]],
        SEQUENCE_COLUMN: [{"f": [[2], [2], [7]]}],
    }


def test_example_lists_that_fail(kernel: ModuleType) -> None:
    good = example_list(example(entry("f", int64(1))), b"")
    records = [
        good,
        example_list(example(entry("f", int64(2))), example(entry("f", floats())), b""),
        example_list(example(entry("new", floats()), entry("f", int64(3))), b"\xff"),
        example_list(example(entry("new", floats())), delimited(2, b"")),
        example_list(example(entry(b"\xff"))),
        example_list(context=delimited(2, b"")),
        example_list(example(entry("new", int64(4)))),
    ]
    batch, failures = decode_all(kernel, records, SequenceDecodePlan(), None, LISTS)
    assert failures == [
        DecodeFailure(DecodeFault.KIND_MISMATCH, 1, b"f", INT64, FLOAT, True),
        DecodeFailure(DecodeFault.MALFORMED, 2),
        DecodeFailure(DecodeFault.FEATURE_LISTS, 3),
        DecodeFailure(DecodeFault.NAME_NOT_UTF8, 4, in_sequence=True),
        DecodeFailure(DecodeFault.FEATURE_LISTS, 5),
    ]
    assert batch.to_pydict() == {
        SEQUENCE_COLUMN: [{"f": [[1], None], "new": [None, None]}, {"f": [None], "new": [[4]]}]
    }


def test_kind_seen_in_an_earlier_example(kernel: ModuleType) -> None:
    """An entry that is replaced in a later Example takes nothing back of an earlier one."""
    later = example(entry("f", int64(2)), entry("f", int64(3)))
    record = example_list(example(entry("f", int64(1))), later)
    batch = decode(kernel, [record], decoder=LISTS)
    assert batch.to_pydict() == {SEQUENCE_COLUMN: [{"f": [[1], [3]]}]}
    wrong_first = example(entry("f", floats(2.0)), entry("f", int64(3)))
    record = example_list(example(entry("f", int64(1))), wrong_first)
    batch = decode(kernel, [record], decoder=LISTS)
    assert batch.to_pydict() == {SEQUENCE_COLUMN: [{"f": [[1], [3]]}]}
    record = example_list(*[example(entry("f", one)) for one in (int64(1), floats(), int64())])
    assert fault_of(kernel, record, decoder=LISTS) == DecodeFault.KIND_MISMATCH


def test_many_examples(kernel: ModuleType) -> None:
    """Beyond what any buffer has room for at first."""
    rows = [[[index] if index % 3 else None] * (index % 9) for index in range(1000)]
    records = [
        example_list(*(b"" if step is None else example(entry("f", int64(*step))) for step in row))
        for row in rows
    ]
    for steps in (None, {"f": INT64}):
        assert steps_of(decode(kernel, records, plan_of(None, steps), LISTS), "f")[1] == rows


# --- The bound on cells -----------------------------------------------------------------


@pytest.mark.parametrize(("max_cells", "rows"), [(0, 1), (5, 1), (6, 2), (8, 2), (9, 3)])
def test_cells_of_sequence_examples(kernel: ModuleType, max_cells: int, rows: int) -> None:
    records = [
        sequence_example(feature_list("f", *[int64()] * 50), context=example(entry("a")))
    ] * 3
    for plan in (plan_of(), plan_of({"a": None, "b": None}, {"f": None})):
        cells = max_cells if plan.columns else max_cells * 2 // 3
        batch, _ = decode_all(kernel, records, plan, cells, SEQUENCES)
        assert batch.num_rows == rows


@pytest.mark.parametrize(("max_cells", "rows"), [(0, 1), (7, 1), (8, 2), (11, 2), (12, 3)])
def test_cells_of_example_lists(kernel: ModuleType, max_cells: int, rows: int) -> None:
    """A column of the context has a cell in each row, one of the examples in each example."""
    records = [example_list(example(entry("f")), b"", b"", context=example(entry("a")))] * 3
    for plan in (plan_of(), plan_of({"a": None}, {"f": None})):
        batch, _ = decode_all(kernel, records, plan, max_cells, LISTS)
        assert batch.num_rows == rows
