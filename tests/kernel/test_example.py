"""`ExampleDecoder`: what each record says, column by column."""

from __future__ import annotations

import gc
import random
import weakref
from array import array
from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np
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
    check_batch,
    contents,
    decode,
    decode_all,
    kinds,
    plan_of,
    spans,
)
from tests.frames import framed
from tests.wire import bytes_list, entry, example, floats, int64
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.kernel.plan import DecodePlan, Kind

# --- Null, empty, missing ---------------------------------------------------------------


@kinds
@pytest.mark.parametrize("planned", [True, False], ids=["planned", "seen"])
@pytest.mark.parametrize("wanted", [True, False], ids=["wanted", "all"])
def test_null_and_empty(kernel: ModuleType, kind: Kind, planned: bool, wanted: bool) -> None:
    records = [
        example(entry("f", PLAIN[kind])),
        example(entry("f", EMPTY[kind])),
        example(entry("f", wire.NO_KIND)),
        example(entry("f")),
        example(),
        b"",
    ]
    columns = {"f": kind if planned else None} if wanted else None
    batch = decode(kernel, records, columns)
    assert batch.schema.names == ["f"]
    assert batch.column(0).type == ARROW_TYPES[kind]
    assert batch.column(0).to_pylist() == [VALUES[kind], [], None, None, None, None]
    assert batch.column(0).null_count == 4


@kinds
def test_a_kind_without_values_counts(kernel: ModuleType, kind: Kind) -> None:
    """It fixes the type of a column whose kind is not planned."""
    for columns in ({"f": None}, None):
        batch = decode(kernel, [example(entry("f", EMPTY[kind]))], columns)
        assert batch.column(0).type == ARROW_TYPES[kind]
        assert batch.column(0).to_pylist() == [[]]


@kinds
def test_kind_seen_late(kernel: ModuleType, kind: Kind) -> None:
    records = [b"", example(entry("f", wire.NO_KIND)), example(entry("f", PLAIN[kind]))]
    for columns in ({"f": None}, None):
        assert decode(kernel, records, columns).to_pydict() == {"f": [None, None, VALUES[kind]]}


@pytest.mark.parametrize("kind", [None, *Kind])
def test_wanted_but_in_no_record(kernel: ModuleType, kind: Kind | None) -> None:
    batch = decode(kernel, [example(entry("g", int64(1))), b""], {"f": kind})
    assert batch.column(0).type == ARROW_TYPES[kind]
    assert batch.to_pydict() == {"f": [None, None]}


def test_never_with_a_kind(kernel: ModuleType) -> None:
    """A column of type null; not to mistake for a feature that no record has."""
    records = [example(entry("f", wire.NO_KIND), entry("g", int64(1)))]
    assert decode(kernel, records).schema.names == ["f", "g"]
    assert decode(kernel, records).schema.field("f").type == pa.null()
    assert decode(kernel, records, {"f": None}).schema.field("f").type == pa.null()


def test_no_records(kernel: ModuleType) -> None:
    batch = decode(kernel, [], {"a": INT64, "b": BYTES, "c": FLOAT, "d": None}, "raw")
    assert batch.num_rows == 0
    expected = [ARROW_TYPES[kind] for kind in (INT64, BYTES, FLOAT, None, BYTES)]
    assert batch.schema.types == expected
    assert decode(kernel, []).num_columns == 0


def test_no_columns_keep_the_number_of_rows(kernel: ModuleType) -> None:
    records = [example(entry("f", int64(1))), b"", b""]
    batch = decode(kernel, records, {})
    assert (batch.num_columns, batch.num_rows) == (0, 3)
    batch = decode(kernel, [b"", b""])
    assert (batch.num_columns, batch.num_rows) == (0, 2)


def test_record_of_no_bytes_is_a_row_of_nulls(kernel: ModuleType) -> None:
    records = [b"", example(entry("a", int64(1)), entry("b", bytes_list(b"x"))), b""]
    assert decode(kernel, records).to_pydict() == {
        "a": [None, [1], None],
        "b": [None, [b"x"], None],
    }


# --- Columns ----------------------------------------------------------------------------

ABC = example(entry("c", int64(3)), entry("a", floats(1.0)), entry("b", bytes_list(b"2")))


def test_order_of_wanted_columns(kernel: ModuleType) -> None:
    batch = decode(kernel, [ABC], {"b": BYTES, "c": INT64, "a": FLOAT})
    assert batch.schema.names == ["b", "c", "a"]
    assert batch.to_pydict() == {"b": [[b"2"]], "c": [[3]], "a": [[1.0]]}


def test_only_wanted_columns(kernel: ModuleType) -> None:
    assert decode(kernel, [ABC, ABC], {"a": None}).to_pydict() == {"a": [[1.0], [1.0]]}


def test_all_columns_in_byte_order_of_the_names(kernel: ModuleType) -> None:
    names = ["b", "", "é", "a", "Z", "aa", "語", "a!", "\uffee", "😀"]
    ordered = sorted(names, key=lambda name: name.encode())
    assert ordered != sorted(names, key=lambda name: name.encode("utf-16-be"))
    records = [example(entry(name, int64(index))) for index, name in enumerate(names)]
    assert decode(kernel, records).schema.names == ordered
    one_record = example(*(entry(name, int64(1)) for name in names))
    assert decode(kernel, [one_record]).schema.names == ordered


def test_features_that_records_do_not_share(kernel: ModuleType) -> None:
    records = [example(entry("a", int64(1))), example(entry("b", int64(2))), ABC[:0]]
    assert decode(kernel, records).to_pydict() == {"a": [[1], None, None], "b": [None, [2], None]}


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",  # No whole tag.
        wire.delimited(3, b"")[:-1],  # No length.
        wire.delimited(3, wire.delimited(1, b"\xff")),  # No whole varint.
        wire.delimited(2, wire.delimited(1, b"12345")),  # No whole float.
        wire.tag(9, wire.GROUP),  # A group that does not end.
        wire.tag(0, wire.VARINT) + b"\1",  # No field has the number 0.
        b"not a message at all",
    ],
    ids=repr,
)
def test_unwanted_features_are_not_looked_into(kernel: ModuleType, content: bytes) -> None:
    record = example(entry("a", int64(1)), entry("unwanted", content), entry("b", int64(2)))
    batch = decode(kernel, [record], {"a": INT64, "b": INT64})
    assert batch.to_pydict() == {"a": [[1]], "b": [[2]]}
    _, failures = decode_all(kernel, [record], plan_of({"a": INT64, "unwanted": None}))
    assert len(failures) == 1


def test_unwanted_features_may_change_their_kind(kernel: ModuleType) -> None:
    records = [example(entry("a", int64(1)), entry("u", PLAIN[kind])) for kind in Kind]
    assert decode(kernel, records, {"a": INT64}).to_pydict() == {"a": [[1]] * 3}


def test_odd_names(kernel: ModuleType) -> None:
    names = dict.fromkeys([*strategies.ODD_NAMES, "x" * 1000, "'\"`", "NULL"])
    record = example(*(entry(name, int64(index)) for index, name in enumerate(names)))
    expected = {name: [[index]] for index, name in enumerate(names)}
    assert decode(kernel, [record]).to_pydict() == expected
    assert decode(kernel, [record], dict.fromkeys(names, INT64)).to_pydict() == expected


def test_entry_without_a_name(kernel: ModuleType) -> None:
    """Its name is empty, as with every string that is not there."""
    record = example(wire.delimited(1, wire.delimited(2, int64(1))))
    assert decode(kernel, [record]).to_pydict() == {"": [[1]]}
    assert decode(kernel, [record], {"": INT64}).to_pydict() == {"": [[1]]}


def test_names_that_begin_alike(kernel: ModuleType) -> None:
    names = ["f" * length for length in (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 127, 128, 300)]
    record = example(*(entry(name, int64(len(name))) for name in names))
    assert decode(kernel, [record], dict.fromkeys(reversed(names))).to_pydict() == {
        name: [[len(name)]] for name in names
    }


def test_many_features_in_any_order(kernel: ModuleType) -> None:
    shuffle = random.Random(0)
    names = [f"feature_{index}" for index in range(300)]
    rows = []
    for _ in range(20):
        present = shuffle.sample(names, shuffle.randrange(len(names) + 1))
        rows.append({name: shuffle.randrange(-(2**40), 2**40) for name in present})
    records = [example(*(entry(name, int64(value)) for name, value in row.items())) for row in rows]
    expected = {name: [[row[name]] if name in row else None for row in rows] for name in names}
    assert decode(kernel, records, dict.fromkeys(names)).to_pydict() == expected
    some = dict.fromkeys(names[::7], INT64)
    assert decode(kernel, records, some).to_pydict() == {name: expected[name] for name in some}
    every = decode(kernel, records)
    assert every.schema.names == sorted(names)
    assert every.to_pydict() == expected


def test_lone_surrogate_is_no_name(kernel: ModuleType) -> None:
    """It could not be written in UTF-8, so no record can have it."""
    with pytest.raises(ValueError):
        kernel.ExampleDecoder(plan_of({"\ud800": INT64}))


def test_two_columns_of_one_name(kernel: ModuleType) -> None:
    column = plan_of({"f": INT64}).columns
    assert column is not None
    with pytest.raises(ValueError, match="'f'"):
        kernel.ExampleDecoder(DecodePlan(columns=column + column))


def test_column_with_the_name_of_the_raw_record_column(kernel: ModuleType) -> None:
    with pytest.raises(ValueError, match="'f'"):
        kernel.ExampleDecoder(plan_of({"f": INT64}, "f"))


def test_decoder_keeps_no_reference_to_the_plan(kernel: ModuleType) -> None:
    plan = plan_of({"f": INT64}, "raw")
    alive = weakref.ref(plan)
    decoder = kernel.ExampleDecoder(plan)
    del plan
    gc.collect()
    assert alive() is None
    batch = pa.record_batch(decoder.decode_records([b""])[0])
    assert batch.to_pydict() == {"f": [None], "raw": [[b""]]}


# --- The raw-record column --------------------------------------------------------------


@pytest.mark.parametrize("columns", [None, {}, {"c": INT64}], ids=["all", "none", "wanted"])
def test_raw_records(kernel: ModuleType, columns: dict[str, Kind | None] | None) -> None:
    odd = ABC + wire.varint_field(7, 1)
    batch = decode(kernel, [ABC, b"", odd], columns, "raw")
    assert batch.schema.names[-1] == "raw"
    assert batch.schema.field("raw").type == ARROW_TYPES[BYTES]
    assert batch.column("raw").to_pylist() == [[ABC], [b""], [odd]]
    assert batch.column("raw").null_count == 0


@pytest.mark.parametrize("name", ["", "größe", " x "])
def test_raw_records_under_an_odd_name(kernel: ModuleType, name: str) -> None:
    assert decode(kernel, [ABC], {}, name).to_pydict() == {name: [[ABC]]}


def test_raw_records_come_last(kernel: ModuleType) -> None:
    assert decode(kernel, [ABC], None, "a0").schema.names == ["a", "b", "c", "a0"]


def test_unwanted_feature_with_the_name_of_the_raw_column(kernel: ModuleType) -> None:
    batch = decode(kernel, [ABC], {"a": FLOAT}, "b")
    assert batch.to_pydict() == {"a": [[1.0]], "b": [[ABC]]}


# --- Values -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        [b"\xff\xd8\x00\x83"],
        [b"  a\n"],
        [b""],
        [b"", b"", b"x", b""],
        [bytes(range(256))],
        [b"x" * 127, b"y" * 128, b"z" * 16383, b"w" * 16384],
    ],
    ids=lambda values: repr(values)[:20],
)
def test_bytes_are_exact(kernel: ModuleType, values: list[bytes]) -> None:
    batch = decode(kernel, [example(entry("f", bytes_list(*values)))])
    assert batch.to_pydict() == {"f": [values]}


INT64S = [0, 1, -1, 127, 128, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63)]
INT64S += [2**bits - 1 for bits in range(7, 64, 7)] + [2**bits for bits in range(7, 63, 7)]


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "unpacked"])
def test_int64_extremes(kernel: ModuleType, packed: bool) -> None:
    feature = strategies.kind_field(INT64, tuple(INT64S), packed=packed)
    batch = decode(kernel, [example(entry("f", feature))])
    assert batch.to_pydict() == {"f": [INT64S]}


@pytest.mark.parametrize("value", [0, 1, 300, 2**63 - 1])
def test_varints_with_more_bytes_than_they_need(kernel: ModuleType, value: int) -> None:
    for size in range(1, 11):
        padded = wire.varint(value, size)
        packed = wire.delimited(3, wire.delimited(1, padded + padded))
        unpacked = wire.delimited(3, wire.tag(1, wire.VARINT) + padded)
        record = example(entry("p", packed), entry("u", unpacked))
        assert decode(kernel, [record]).to_pydict() == {"p": [[value, value]], "u": [[value]]}


def test_bits_beyond_64_are_dropped(kernel: ModuleType) -> None:
    """The tenth byte of a varint holds one bit that counts."""
    minus_one = b"\xff" * 9 + b"\x7f"
    zero = b"\x80" * 9 + b"\x7e"
    record = example(entry("f", wire.delimited(3, wire.delimited(1, minus_one + zero))))
    assert decode(kernel, [record]).to_pydict() == {"f": [[-1, 0]]}


FLOAT_BITS = {
    "zero": 0,
    "minus zero": 0x80000000,
    "infinity": 0x7F800000,
    "minus infinity": 0xFF800000,
    "NaN": 0x7FC00000,
    "minus NaN": 0xFFC00000,
    "NaN with a payload": 0x7FC12345,
    "signaling NaN": 0x7F800001,
    "smallest denormal": 1,
    "largest denormal": 0x007FFFFF,
    "smallest normal": 0x00800000,
    "largest": 0x7F7FFFFF,
    "one third": 0x3EAAAAAB,
}


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "unpacked"])
def test_float_bits(kernel: ModuleType, packed: bool) -> None:
    bits = list(FLOAT_BITS.values())
    feature = strategies.kind_field(FLOAT, tuple(bits), packed=packed)
    batch = decode(kernel, [example(entry("f", feature))])
    assert batch.column(0).values.view(pa.uint32()).to_pylist() == bits


@kinds
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 63, 64, 65, 1000])
def test_number_of_values(kernel: ModuleType, kind: Kind, count: int) -> None:
    """Around every width that a loop could be unrolled to."""
    wide = {BYTES: b"v" * 3, FLOAT: 0x3F800000, INT64: 2**35}
    for packed in (True, False):
        feature = strategies.kind_field(kind, (wide[kind],) * count, packed=packed)
        column = decode(kernel, [example(entry("f", feature))] * 2).column(0)
        assert column.value_lengths().to_pylist() == [count, count]
        assert len(set(column.values.to_pylist())) == 1


# --- Spans and buffers ------------------------------------------------------------------


def test_decode_what_scan_found(kernel: ModuleType) -> None:
    records = [ABC, b"", example(entry("a", floats(2.0)))]
    data = kernel.frame(records)
    found = kernel.scan(data)
    batch, failures = kernel.ExampleDecoder(DecodePlan()).decode(data, found.offsets, found.lengths)
    assert failures == []
    assert pa.record_batch(batch).equals(decode(kernel, records))


def test_spans_in_any_order_and_over_each_other(kernel: ModuleType) -> None:
    data = example(entry("f", int64(1))) + example(entry("f", int64(2)))
    size = len(data) // 2
    offsets, lengths = array("q", [size, 0, 0, len(data)]), array("q", [size, size, size, 0])
    batch, _ = kernel.ExampleDecoder(plan_of({"f": INT64})).decode(data, offsets, lengths)
    assert pa.record_batch(batch).to_pydict() == {"f": [[2], [1], [1], None]}


def test_records_of_any_buffer(kernel: ModuleType) -> None:
    records = [ABC, bytearray(ABC), memoryview(b"?" + ABC)[1:], pa.py_buffer(ABC)]
    batch, _ = kernel.ExampleDecoder(plan_of({"c": INT64})).decode_records(tuple(records))
    assert pa.record_batch(batch).to_pydict() == {"c": [[3]] * 4}


def test_batch_outlives_the_data(kernel: ModuleType) -> None:
    """Nothing in it points to the input, and the input is free again."""
    data, offsets, lengths = spans([ABC, ABC])
    changing = bytearray(data)
    exported, _ = kernel.ExampleDecoder(plan_of(None, "raw")).decode(changing, offsets, lengths)
    changing[:] = b"\xff" * len(changing)
    changing.clear()
    offsets.extend([0])
    batch = check_batch(pa.record_batch(exported))
    assert batch.to_pydict() == {"a": [[1.0]] * 2, "b": [[b"2"]] * 2, "c": [[3]] * 2} | {
        "raw": [[ABC]] * 2
    }


@pytest.mark.parametrize(
    ("offset", "length"),
    [
        (-1, 0),
        (0, -1),
        (0, 11),
        (10, 1),
        (11, 0),
        (5, 6),
        (5, 2**63 - 1),
        (2**63 - 1, 1),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), 2**63 - 1),
    ],
)
def test_span_outside_of_the_data(kernel: ModuleType, offset: int, length: int) -> None:
    decoder = kernel.ExampleDecoder(DecodePlan())
    offsets, lengths = array("q", [0, offset]), array("q", [0, length])
    for collect_failures in (False, True):
        with pytest.raises(ValueError):
            decoder.decode(bytes(10), offsets, lengths, collect_failures=collect_failures)


def test_offsets_and_lengths_of_different_size(kernel: ModuleType) -> None:
    decoder = kernel.ExampleDecoder(DecodePlan())
    with pytest.raises(ValueError):
        decoder.decode(bytes(10), array("q", [0, 0]), array("q", [0]))
    with pytest.raises(ValueError):
        decoder.decode(bytes(10), array("q"), array("q", [0]))


@pytest.mark.parametrize("typecode", ["i", "d"])
def test_offsets_of_another_type(kernel: ModuleType, typecode: str) -> None:
    """They are not taken for int64 in silence."""
    decoder = kernel.ExampleDecoder(DecodePlan())
    numbers = array(typecode, [0, 0])
    with pytest.raises((TypeError, ValueError)):
        decoder.decode(bytes(10), numbers, numbers)


@pytest.mark.parametrize("records", [["text"], [None], b"bytes", 7], ids=repr)
def test_what_is_no_record(kernel: ModuleType, records: object) -> None:
    with pytest.raises(TypeError):
        kernel.ExampleDecoder(DecodePlan()).decode_records(records)


@pytest.mark.parametrize("plan", [None, {"f": 3}, "plan"], ids=repr)
def test_what_is_no_plan(kernel: ModuleType, plan: object) -> None:
    with pytest.raises((TypeError, AttributeError)):
        kernel.ExampleDecoder(plan)


def test_options_are_keyword_only(kernel: ModuleType) -> None:
    with pytest.raises(TypeError):
        kernel.ExampleDecoder(DecodePlan()).decode_records([], True)


class MadeWhenAskedFor:
    """Records that nobody keeps: each is made anew for who asks for it."""

    def __init__(self, records: Sequence[bytes]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: int) -> bytes:
        return bytes(bytearray(self._records[index]))


@pytest.mark.parametrize(
    "make",
    [MadeWhenAskedFor, np.array, lambda records: np.array(records, object)],
    ids=["sequence", "numpy bytes", "numpy objects"],
)
def test_records_of_any_sequence(
    kernel: ModuleType, make: Callable[[Sequence[bytes]], Sequence[bytes]]
) -> None:
    records = [example(entry("b", bytes_list(b"%03d" % i * 300))) for i in range(300)]
    decoder = kernel.ExampleDecoder(DecodePlan())
    exported, failures = decoder.decode_records(make(records))
    assert failures == []
    assert check_batch(pa.record_batch(exported)).equals(decode(kernel, records))
    assert kernel.frame(make(records)) == framed(*records)


# --- A bound on the cells ---------------------------------------------------------------

PAIR = example(entry("a", int64(1)), entry("b", int64(2)))
WRONG = example(entry("a", floats(1.0)))

every_plan = pytest.mark.parametrize(
    "plan", [DecodePlan(None, "raw"), plan_of({"a": INT64, "b": INT64}, "raw")], ids=["all", "some"]
)


def decode_bounded(
    kernel: ModuleType, records: Sequence[bytes], plan: DecodePlan, max_cells: int | None
) -> tuple[int, list[int]]:
    """Returns how many rows a bounded call gives, and which of the records it saw failed."""
    batch, failures = decode_all(kernel, records, plan, max_cells)
    seen = records[: batch.num_rows + len(failures)]
    whole, all_failures = decode_all(kernel, seen, plan)
    assert contents(batch) == contents(whole)
    assert failures == all_failures
    return batch.num_rows, [failure.record for failure in failures]


@every_plan
@pytest.mark.parametrize(
    ("max_cells", "rows"),
    [(None, 8), (99, 8), (16, 8), (15, 7), (14, 7), (4, 2), (3, 1), (2, 1), (1, 1), (0, 1)],
)
def test_cells_are_bounded(
    kernel: ModuleType, plan: DecodePlan, max_cells: int | None, rows: int
) -> None:
    assert decode_bounded(kernel, [PAIR] * 8, plan, max_cells) == (rows, [])


@every_plan
@pytest.mark.parametrize(
    ("max_cells", "rows", "failed"),
    [(2, 1, [0, 1]), (4, 2, [0, 1, 3]), (6, 3, [0, 1, 3]), (8, 3, [0, 1, 3, 6])],
)
def test_failures_are_no_cells(
    kernel: ModuleType, plan: DecodePlan, max_cells: int, rows: int, failed: list[int]
) -> None:
    records = [b"\xff", b"\xff", PAIR, WRONG, PAIR, PAIR, WRONG]
    assert decode_bounded(kernel, records, plan, max_cells) == (rows, failed)


def test_rows_without_columns_are_not_bounded(kernel: ModuleType) -> None:
    assert decode_bounded(kernel, [PAIR] * 8, plan_of({}), 1) == (8, [])
    assert decode_bounded(kernel, [b""] * 8, DecodePlan(), 1) == (8, [])


def test_columns_that_come_later_count(kernel: ModuleType) -> None:
    records = [example(entry("a", int64(1)))] * 4 + [PAIR] * 4
    assert decode_bounded(kernel, records, DecodePlan(), 12) == (6, [])


def test_record_with_too_many_new_columns_is_for_the_next_call(kernel: ModuleType) -> None:
    """And leaves no trace in this one."""
    wide = example(*[entry(f"c{i}", int64(i)) for i in range(1000)])
    records = [example(entry("a", int64(1)))] * 50 + [wide]
    batch, failures = decode_all(kernel, records, DecodePlan(), 100)
    assert (batch.num_rows, batch.schema.names, failures) == (50, ["a"], [])
    assert decode_bounded(kernel, [wide], DecodePlan(), 100) == (1, [])


def test_record_beyond_the_bound_does_not_fail(kernel: ModuleType) -> None:
    decoder = kernel.ExampleDecoder(plan_of({"a": INT64}))
    exported, _ = decoder.decode_records([PAIR, PAIR, WRONG], max_cells=2)
    assert pa.record_batch(exported).num_rows == 2
    with pytest.raises(DecodeError, match="at record 2"):
        decoder.decode_records([PAIR, PAIR, WRONG], max_cells=3)
