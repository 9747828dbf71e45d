"""Encoding of record batches: the bytes, the layouts that are read, and what is refused."""

from __future__ import annotations

import dataclasses
import mmap
from array import array
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tests import strategies
from tests.decoding import decode
from tests.frames import framed
from tests.kernel.test_capsules import OnlyTheProtocol
from tests.strategies import Meaning, feature
from tests.wire import NO_KIND, bytes_list, delimited, entry, example, floats, int64
from tfrecord_beam.errors import EncodeError, SchemaError, TFRecordBeamError
from tfrecord_beam.kernel.plan import EncodePlan, Kind
from tfrecord_beam.kernel.reference.protos import Example, SequenceExample

ARROW_VALUES = {
    Kind.INT64: [pa.int64()],
    Kind.FLOAT: [pa.float32()],
    Kind.BYTES: [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()],
}


def encode(kernel: ModuleType, columns: Any, **options: Any) -> list[bytes]:
    """Returns the records of a batch, or of a dictionary of columns, that all ways agree on."""
    batch = columns if isinstance(columns, pa.RecordBatch) else pa.record_batch(columns)
    options.setdefault("context", tuple(batch.schema.names))
    encoder = kernel.ExampleEncoder(EncodePlan(**options))
    records: list[bytes] = encoder.encode_records(OnlyTheProtocol(batch))
    frames, offsets = encoder.encode_frames(batch)
    assert (frames.itemsize, offsets.format, offsets[0]) == (1, "q", 0)
    assert [bytes(frames[a:b]) for a, b in pairwise(offsets)] == [framed(r) for r in records]
    assert offsets[-1] == len(frames)
    return records


def encode_sequences(kernel: ModuleType, feature_lists: Mapping[str, pa.Array]) -> list[bytes]:
    """Returns what follows the empty context in the records of these feature lists."""
    names = tuple(feature_lists)
    records = encode(kernel, dict(feature_lists), context=(), feature_lists=names)
    context = delimited(1, b"")
    assert all(record.startswith(context) for record in records)
    return [record[len(context) :] for record in records]


def feature_lists(*entries: bytes) -> bytes:
    return delimited(2, b"".join(entries))


def feature_list(*features: bytes) -> bytes:
    return b"".join(delimited(1, one) for one in features)


def lists(rows: Sequence[Any], value_type: pa.DataType, depth: int = 1) -> pa.Array:
    list_type = value_type
    for _ in range(depth):
        list_type = pa.list_(list_type)
    return pa.array(rows, list_type)


# --- The bytes --------------------------------------------------------------------------


def test_kinds(kernel: ModuleType) -> None:
    columns = {
        "i": lists([[1, -1, 300]], pa.int64()),
        "f": lists([[1.5, -0.0]], pa.float32()),
        "b": lists([[b"", b"\xff\0"]], pa.binary()),
    }
    expected = example(
        entry("i", int64(1, -1, 300)),
        entry("f", floats(1.5, -0.0)),
        entry("b", bytes_list(b"", b"\xff\0")),
    )
    assert encode(kernel, columns) == [expected]


def test_null_and_empty_rows(kernel: ModuleType) -> None:
    columns = {
        "i": lists([None, [], [0]], pa.int64()),
        "f": lists([[], None, None], pa.float32()),
        "b": lists([[], None, []], pa.binary()),
    }
    assert encode(kernel, columns) == [
        example(entry("i", NO_KIND), entry("f", floats()), entry("b", bytes_list())),
        example(entry("i", int64()), entry("f", NO_KIND), entry("b", NO_KIND)),
        example(entry("i", int64(0)), entry("f", NO_KIND), entry("b", bytes_list())),
    ]
    assert encode(kernel, columns, null_as_absent=True) == [
        example(entry("f", floats()), entry("b", bytes_list())),
        example(entry("i", int64())),
        example(entry("i", int64(0)), entry("b", bytes_list())),
    ]


def test_scalars_are_lists_of_one(kernel: ModuleType) -> None:
    columns = {"i": pa.array([7, None]), "s": ["é", None], "f": pa.array([None, 2.0], "float")}
    assert encode(kernel, columns) == [
        example(entry("i", int64(7)), entry("s", bytes_list("é".encode())), entry("f", NO_KIND)),
        example(entry("i", NO_KIND), entry("s", NO_KIND), entry("f", floats(2.0))),
    ]


@pytest.mark.parametrize("column", [pa.nulls(2), lists([[], None], pa.null())])
def test_type_null_has_no_kind(kernel: ModuleType, column: pa.Array) -> None:
    assert encode(kernel, {"n": column}) == [example(entry("n", NO_KIND))] * 2
    assert encode(kernel, {"n": column}, null_as_absent=True) == [example()] * 2


def test_batch_without_columns_or_rows(kernel: ModuleType) -> None:
    rows = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert encode(kernel, rows) == [example()] * 2
    assert encode(kernel, rows, feature_lists=()) == [example() + feature_lists()] * 2
    assert encode(kernel, {"i": pa.array([], pa.list_(pa.int64()))}) == []


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 17, 127, 128, 16383, 16384, 3 << 20])
def test_sizes_around_the_steps_of_varints(kernel: ModuleType, size: int) -> None:
    value, numbers = b"x" * size, [size] * (size % 20_000)
    columns = {"b" * (size % 300): [value], "i": lists([numbers], pa.int64())}
    assert encode(kernel, columns) == [
        example(entry("b" * (size % 300), bytes_list(value)), entry("i", int64(*numbers)))
    ]


@pytest.mark.parametrize("name_size", [0, 1, 8, 60, *range(110, 135), 260])
def test_entries_around_the_largest_of_one_byte_lengths(kernel: ModuleType, name_size: int) -> None:
    counts = range(140)
    name = "n" * name_size
    columns: list[tuple[pa.Array, list[bytes]]] = [
        (pa.array([b"x" * n for n in counts]), [bytes_list(b"x" * n) for n in counts]),
        (lists([[7] * n for n in counts], pa.int64()), [int64(*[7] * n) for n in counts]),
        (lists([[0.5] * n for n in counts], pa.float32()), [floats(*[0.5] * n) for n in counts]),
        (lists([[b""] * n for n in counts], pa.binary()), [bytes_list(*[b""] * n) for n in counts]),
    ]
    for column, features in columns:
        expected = [example(entry(name, one)) for one in features]
        assert encode(kernel, {name: column}) == expected


@pytest.mark.parametrize("bits", range(64))
def test_numbers_around_each_power_of_two(kernel: ModuleType, bits: int) -> None:
    numbers = [sign * ((1 << bits) - less) for sign in (1, -1) for less in (0, 1)]
    numbers = [number for number in numbers if -(2**63) <= number < 2**63]
    assert encode(kernel, {"i": lists([numbers], pa.int64())}) == [
        example(entry("i", int64(*numbers)))
    ]


def test_every_float_is_written_bit_by_bit(kernel: ModuleType) -> None:
    bits = [0x7F800001, 0xFFFFFFFF, 0x80000000, 1, 0x7F800000, 0x7FC00000]
    column = pa.array(bits, pa.uint32()).view(pa.float32())
    expected = [
        example(entry("f", delimited(2, delimited(1, value.to_bytes(4, "little")))))
        for value in bits
    ]
    assert encode(kernel, {"f": column}) == expected


def test_names_are_those_of_the_plan(kernel: ModuleType) -> None:
    """In the batch a name ends at a NUL (the Arrow C data interface)."""
    names = ("a\0b", "", "größe")
    batch = pa.record_batch([pa.array([1])] * 3, names=["x", "x", "x"])
    expected = example(*(entry(name, int64(1)) for name in names))
    assert encode(kernel, batch, context=names) == [expected]


def test_many_rows(kernel: ModuleType) -> None:
    rows = [None if i % 7 == 0 else list(range(i % 5)) for i in range(1000)]
    expected = [example(entry("i", NO_KIND if row is None else int64(*row))) for row in rows]
    assert encode(kernel, {"i": lists(rows, pa.int64())}) == expected


# --- Feature lists ----------------------------------------------------------------------


def test_feature_lists(kernel: ModuleType) -> None:
    columns = {
        "i": lists([[[1, 2], None, []], None, []], pa.int64(), depth=2),
        "b": lists([None, [[b"x"]], [None]], pa.binary(), depth=2),
    }
    assert encode_sequences(kernel, columns) == [
        feature_lists(entry("i", feature_list(int64(1, 2), NO_KIND, int64()))),
        feature_lists(entry("b", feature_list(bytes_list(b"x")))),
        feature_lists(entry("i", feature_list()), entry("b", feature_list(NO_KIND))),
    ]


def test_steps_of_one_value(kernel: ModuleType) -> None:
    column = lists([[1, None], None], pa.int64())
    assert encode_sequences(kernel, {"i": column}) == [
        feature_lists(entry("i", feature_list(int64(1), NO_KIND))),
        feature_lists(),
    ]


def test_feature_lists_of_type_null(kernel: ModuleType) -> None:
    assert encode_sequences(kernel, {"n": pa.nulls(1)}) == [feature_lists()]
    expected = [feature_lists(entry("n", feature_list(NO_KIND, NO_KIND))), feature_lists()]
    assert encode_sequences(kernel, {"n": lists([[None, None], None], pa.null())}) == expected
    assert encode_sequences(kernel, {"n": lists([[[], None], None], pa.null(), 2)}) == expected


def test_context_and_feature_lists_may_share_names(kernel: ModuleType) -> None:
    batch = pa.record_batch([pa.array([1]), lists([[[2]]], pa.int64(), 2)], names=["a", "a"])
    records = encode(kernel, batch, context=("a",), feature_lists=("a",))
    context = example(entry("a", int64(1)))
    assert records == [context + feature_lists(entry("a", feature_list(int64(2))))]
    parsed = SequenceExample.FromString(records[0])
    assert parsed.context.feature["a"].int64_list.value == [1]
    assert parsed.feature_lists.feature_list["a"].feature[0].int64_list.value == [2]


# --- Layouts ----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Batch:
    """A batch and what its rows say, column by column."""

    batch: pa.RecordBatch
    rows: list[dict[str, Meaning]]


def values_array(kind: Kind, values: Sequence[Any], value_type: pa.DataType) -> pa.Array:
    if kind is Kind.FLOAT:
        return pa.array(values, pa.uint32()).view(pa.float32())
    if kind is Kind.BYTES:  # By way of binary: strings need not be UTF-8.
        wide = value_type in (pa.large_binary(), pa.large_string())
        bytes_array = pa.array(values, pa.large_binary() if wide else pa.binary())
        return pa.Array.from_buffers(value_type, len(bytes_array), bytes_array.buffers())
    return pa.array(values, value_type)


@st.composite
def list_arrays(draw: st.DrawFn, kind: Kind, rows: Sequence[Meaning]) -> pa.Array:
    """An array of `rows` in some layout: slices, values before, after and below nulls."""
    before = draw(strategies.values_of(kind))
    offsets = [len(before)]
    values = list(before)
    for row in rows:
        values += draw(strategies.values_of(kind)) if row is None else row[1]
        offsets.append(len(values))
    values += draw(strategies.values_of(kind))
    skipped = draw(st.integers(0, 3))
    array_of_values = values_array(
        kind, [*values[:skipped], *values], draw(st.sampled_from(ARROW_VALUES[kind]))
    ).slice(min(skipped, len(values)))
    wide = draw(st.booleans())
    make = pa.LargeListArray if wide else pa.ListArray
    return make.from_arrays(
        pa.array(offsets, pa.int64() if wide else pa.int32()),
        array_of_values,
        mask=pa.array([row is None for row in rows], pa.bool_()),
    )


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    schema = draw(strategies.schemas())
    count = draw(st.integers(0, 6))
    columns = {
        name: [draw(strategies.meanings(kind)) for _ in range(count)]
        for name, kind in schema.items()
    }
    start = draw(st.integers(0, count))
    stop = draw(st.integers(start, count))
    arrays = [draw(list_arrays(schema[name], rows)) for name, rows in columns.items()]
    batch = pa.record_batch(arrays, names=list(schema)).slice(start, stop - start)
    rows = [{name: columns[name][row] for name in columns} for row in range(start, stop)]
    return Batch(batch, rows if arrays else [])


def plainly(row: Mapping[str, Meaning]) -> bytes:
    """Returns the record that says `row`, in which a list without values is empty."""
    return example(
        *(
            entry(name, delimited(said[0], b"") if said and not said[1] else feature(said))
            for name, said in row.items()
        )
    )


@given(given_batch=batches())
def test_bytes_of_any_layout(kernel: ModuleType, given_batch: Batch) -> None:
    """They are those of the plain writer, and what the protobuf library parses and decodes."""
    records = encode(kernel, given_batch.batch)
    assert records == [plainly(row) for row in given_batch.rows]
    absent = encode(kernel, given_batch.batch, null_as_absent=True)
    present = [{n: said for n, said in row.items() if said} for row in given_batch.rows]
    assert absent == [plainly(row) for row in present]
    for record, row in zip(records, given_batch.rows):
        assert Example.FromString(record).features.feature.keys() == row.keys()


@given(given_batch=batches())
def test_decoding_gives_the_batch_again(kernel: ModuleType, given_batch: Batch) -> None:
    names = given_batch.batch.schema.names
    records = encode(kernel, given_batch.batch)
    decoded = decode(kernel, records, dict.fromkeys(names))
    assert encode(kernel, decoded) == records


@st.composite
def nested_lists(draw: st.DrawFn) -> pa.Array:
    """Lists of lists of one kind with nulls at each level, also among the values; a slice."""
    kind = draw(strategies.kinds())
    values = draw(st.lists(strategies.values_of(kind), min_size=1, max_size=8))
    steps = draw(list_arrays(kind, [draw(st.sampled_from([None, (kind, v)])) for v in values]))
    cuts = sorted(draw(st.lists(st.integers(0, len(steps)), min_size=1, max_size=6)))
    offsets = [cut if draw(st.integers(0, 4)) else None for cut in cuts[:-1]]
    rows = pa.LargeListArray.from_arrays(pa.array([*offsets, cuts[-1]], pa.int64()), steps)
    return rows.slice(draw(st.integers(0, len(rows))))


def outcome(kernel: ModuleType, batch: pa.RecordBatch, **options: Any) -> list[bytes] | str:
    try:
        return encode(kernel, batch, **options)
    except TFRecordBeamError as error:
        return f"{type(error).__name__} {error} {error.location}"


@given(first=nested_lists(), second=nested_lists())
def test_kernels_agree_on_feature_lists(
    native: ModuleType, reference: ModuleType, first: pa.Array, second: pa.Array
) -> None:
    rows = min(len(first), len(second))
    batch = pa.record_batch([first[:rows], second[:rows]], names=["a", "b"])
    found = outcome(native, batch, context=(), feature_lists=("a", "b"))
    assert found == outcome(reference, batch, context=(), feature_lists=("a", "b"))
    assert len(found) == rows


@given(data=st.data())
def test_kernels_agree_on_nulls_among_values(
    native: ModuleType, reference: ModuleType, data: st.DataObject
) -> None:
    values = st.none() | st.integers(-200, 200)
    rows = st.lists(st.none() | st.lists(values, max_size=3), min_size=4, max_size=4)
    columns = [lists(data.draw(rows), pa.int64()) for _ in range(2)]
    steps = lists(data.draw(st.lists(rows, min_size=4, max_size=4)), pa.int64(), 2)
    batch = pa.record_batch([*columns, steps], names=["a", "b", "c"])
    names = {"context": ("a", "b"), "feature_lists": ("c",)}
    found = outcome(native, batch, **names)
    assert found == outcome(reference, batch, **names)
    bad = [row for row in range(4) if any(_has_null(column[row]) for column in batch.columns)]
    assert isinstance(found, str) == bool(bad)
    if bad:
        assert f"at record {bad[0]}" in found


def _has_null(row: pa.Scalar) -> bool:
    """Whether a row that is a list, or a list of lists, has a null among its values."""
    values = row.as_py() or []
    nested = isinstance(row.type.value_type, pa.ListType)
    return any(None in (step or []) for step in values) if nested else None in values


def test_struct_array_that_is_a_slice(kernel: ModuleType) -> None:
    """Its offset stands at the top and not at the columns."""
    struct = pa.array([{"i": i} for i in range(5)])[2:4]
    encoder = kernel.ExampleEncoder(EncodePlan(("i",)))
    expected = [example(entry("i", int64(i))) for i in (2, 3)]
    assert encoder.encode_records(OnlyTheProtocol(struct)) == expected


def test_memory_that_is_not_aligned(kernel: ModuleType) -> None:
    def shifted(numbers: array[int]) -> pa.Buffer:
        return pa.py_buffer(b"x" + numbers.tobytes()).slice(1)

    values = pa.Array.from_buffers(pa.int64(), 3, [None, shifted(array("q", [1, -2, 3]))])
    narrow, wide = shifted(array("i", [0, 1, 3])), shifted(array("q", [0, 1, 3]))
    columns = {
        "n": pa.Array.from_buffers(pa.list_(pa.int64()), 2, [None, narrow], children=[values]),
        "w": pa.Array.from_buffers(pa.large_list(pa.int64()), 2, [None, wide], children=[values]),
    }
    assert encode(kernel, columns) == [
        example(entry("n", int64(*row)), entry("w", int64(*row))) for row in ([1], [-2, 3])
    ]


def test_batch_is_released(kernel: ModuleType) -> None:
    allocated = pa.total_allocated_bytes()
    batch = pa.record_batch({"i": pa.array(range(1000))})
    kernel.ExampleEncoder(EncodePlan(("i",))).encode_frames(batch)
    del batch
    assert pa.total_allocated_bytes() == allocated


class ExportedOnce:
    """A batch that hands out the same capsules to everyone who asks."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._capsules = batch.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._capsules


def test_batch_that_another_consumer_took(kernel: ModuleType) -> None:
    batch = ExportedOnce(pa.record_batch({"i": [1]}))
    assert pa.record_batch(batch).num_rows == 1
    encoder = kernel.ExampleEncoder(EncodePlan(("i",)))
    for encode_batch in (encoder.encode_frames, encoder.encode_records):
        with pytest.raises(ValueError, match="released"):
            encode_batch(batch)


def test_answers_outlive_the_encoder_and_each_other(kernel: ModuleType) -> None:
    batch, expected = pa.record_batch({"i": [1]}), framed(example(entry("i", int64(1))))
    data, offsets = kernel.ExampleEncoder(EncodePlan(("i",))).encode_frames(batch)
    del data
    assert offsets.tolist() == [0, len(expected)]
    data, _ = kernel.ExampleEncoder(EncodePlan(("i",))).encode_frames(batch)
    assert bytes(data) == expected


# --- What is refused --------------------------------------------------------------------


def test_null_among_values(kernel: ModuleType) -> None:
    columns = {
        "a": lists([[1], [2], [3], [None]], pa.int64()),
        "b": lists([[b""], [], [b"x", None], [None]], pa.binary()),
        "c": lists([[], [], [None], []], pa.float32()),
    }
    with pytest.raises(EncodeError) as raised:
        encode(kernel, columns)
    assert str(raised.value) == (
        "Expected no null among the values of feature 'b', found one - at record 2 "
        "(a row as a whole may be null; writers take null_values='drop' or 'fill')"
    )
    assert (raised.value.record, raised.value.feature) == (2, "b")


def test_null_in_a_step(kernel: ModuleType) -> None:
    with pytest.raises(EncodeError, match=r"feature 'i', found one - at record 1 \("):
        encode_sequences(kernel, {"i": lists([[[1]], [[2], [None]]], pa.int64(), depth=2)})


def test_null_among_values_of_type_null(kernel: ModuleType) -> None:
    with pytest.raises(EncodeError, match="feature 'n', found one - at record 1 "):
        encode(kernel, {"n": lists([[], [None]], pa.null())})


def test_nulls_below_a_null_are_not_looked_at(kernel: ModuleType) -> None:
    values = pa.array([1, None, 3])
    offsets = pa.array([0, 1, 2, 3], pa.int32())
    column = pa.ListArray.from_arrays(offsets, values, mask=pa.array([False, True, False]))
    assert encode(kernel, {"i": column}) == [
        example(entry("i", said)) for said in (int64(1), NO_KIND, int64(3))
    ]
    steps = pa.ListArray.from_arrays(
        pa.array([0, 2, 3], pa.int32()),
        pa.ListArray.from_arrays(offsets, values),
        mask=pa.array([True, False]),
    )
    assert encode_sequences(kernel, {"i": steps}) == [
        feature_lists(),
        feature_lists(entry("i", feature_list(int64(3)))),
    ]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1], pa.int32()),
        pa.array([1.0], pa.float64()),
        pa.array([True]),
        pa.array(["a"]).dictionary_encode(),
        lists([[1]], pa.int16()),
        lists([["a"]], pa.dictionary(pa.int32(), pa.string())),
        pa.array([[1]], pa.list_(pa.int64(), 1)),
        lists([[[1]]], pa.int64(), depth=2),
        pa.array([{"x": 1}]),
        pa.array([1], pa.timestamp("s")),
    ],
    ids=lambda column: str(column.type),
)
def test_other_types(kernel: ModuleType, column: pa.Array) -> None:
    with pytest.raises(SchemaError) as raised:
        encode(kernel, {"good": lists([[None]], pa.int64()), "x": column})
    assert str(raised.value) == (
        "Expected int64, float, bytes or lists of them for feature 'x', found another Arrow type"
    )
    assert raised.value.feature == "x"


@pytest.mark.parametrize("column", [pa.array([1]), lists([[[[1]]]], pa.int64(), depth=3)])
def test_other_types_of_feature_lists(kernel: ModuleType, column: pa.Array) -> None:
    with pytest.raises(SchemaError, match="for feature 'x', found another Arrow type"):
        encode_sequences(kernel, {"x": column})


def test_struct_array_with_null_rows(kernel: ModuleType) -> None:
    encoder = kernel.ExampleEncoder(EncodePlan(("i",)))
    structs = pa.array([None, {"i": 1}])
    with pytest.raises(ValueError, match=r"^Expected a record batch with 1 columns, as planned$"):
        encoder.encode_frames(OnlyTheProtocol(structs))
    expected = [example(entry("i", int64(1)))]
    assert encoder.encode_records(OnlyTheProtocol(structs[1:])) == expected


def test_another_number_of_columns(kernel: ModuleType) -> None:
    batch = pa.record_batch({"i": [1]})
    with pytest.raises(ValueError, match=r"^Expected a record batch with 2 columns, as planned$"):
        encode(kernel, batch, feature_lists=("j",))
    with pytest.raises(ValueError, match=r"^Expected a record batch with 0 columns, as planned$"):
        encode(kernel, batch, context=())


@pytest.mark.parametrize("plan", [EncodePlan(("a", "b", "a")), EncodePlan((), ("a", "a"))])
def test_names_that_come_twice(kernel: ModuleType, plan: EncodePlan) -> None:
    with pytest.raises(SchemaError, match=r"^Expected different columns, found 'a' twice"):
        kernel.ExampleEncoder(plan)


def test_names_that_are_not_utf8(kernel: ModuleType) -> None:
    with pytest.raises(SchemaError, match=r"^Expected UTF-8 in the name of a column, found "):
        kernel.ExampleEncoder(EncodePlan(("\udc80",)))


def test_record_of_2_gib(kernel: ModuleType) -> None:
    """The bytes are never touched: the memory is mapped and not there."""
    size = 2**31 - 10
    memory = mmap.mmap(-1, size)
    offsets = pa.py_buffer(array("q", [0, 0, size]))
    column = pa.Array.from_buffers(pa.large_binary(), 2, [None, offsets, pa.py_buffer(memory)])
    later = lists([[1], [None]], pa.int64())
    with pytest.raises(EncodeError, match="'i', found one - at record 1"):
        encode(kernel, {"b": column, "i": later})
    with pytest.raises(EncodeError) as raised:
        encode(kernel, {"b": column, "i": later[:1].take([0, 0]), "c": column})
    expected = "Expected a record of less than 2 GiB, found a larger one - at record 1"
    assert str(raised.value) == expected


def test_failed_call_leaves_no_trace(kernel: ModuleType) -> None:
    encoder = kernel.ExampleEncoder(EncodePlan(("i",)))
    with pytest.raises(EncodeError):
        encoder.encode_frames(pa.record_batch({"i": lists([[1], [None]], pa.int64())}))
    expected = [example(entry("i", int64(1)))]
    assert encoder.encode_records(pa.record_batch({"i": lists([[1]], pa.int64())})) == expected
