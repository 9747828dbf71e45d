"""Hypothesis strategies: features and records as a serialiser writes them, and as none would."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests import wire
from tfrecord_beam.kernel.plan import Kind

Values = tuple[Any, ...]
Meaning = tuple[Kind, Values] | None
"""What a feature says: its kind and values (floats as their 32 bits), or None without a kind."""

FieldWriter = Callable[[int], bytes]
"""Writes a field of the number that it gets."""

ODD_NAMES = ("größe", "a.b", "", " x ", "##SEQUENCE##", "a", "b", "é", "é", "語", "😀")


@dataclasses.dataclass(frozen=True)
class WireExample:
    """A serialised Example and what the protobuf library reads in it.

    Attributes:
      data: the bytes.
      meaning: what each feature says.
    """

    data: bytes
    meaning: Mapping[str, Meaning]


# --- Features and Examples as a serialiser writes them ----------------------------------


def names() -> st.SearchStrategy[str]:
    """Names of features, odd ones too.

    None could be a message in itself (NESTED_EXAMPLE), and none holds a NUL, which the Arrow C data
    interface takes for the end of a name.
    """
    texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\n"), max_size=8)
    return st.sampled_from(ODD_NAMES) | texts


def int64s() -> st.SearchStrategy[int]:
    return st.integers(-(2**63), 2**63 - 1)


def float_bits() -> st.SearchStrategy[int]:
    """Floats as their 32 bits: each NaN, both zeros and denormals among them."""
    special = (0, 0x80000000, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFFFFFFF)
    return st.sampled_from(special) | st.integers(0, 2**32 - 1)


def values_of(kind: Kind) -> st.SearchStrategy[Values]:
    """The values of one feature of a kind; no values too."""
    value = {Kind.BYTES: st.binary(max_size=12), Kind.FLOAT: float_bits(), Kind.INT64: int64s()}
    return st.lists(value[kind], max_size=5).map(tuple)


def kinds() -> st.SearchStrategy[Kind]:
    return st.sampled_from(Kind)


def meanings(kind: Kind | None = None) -> st.SearchStrategy[Meaning]:
    """What a feature may say: of `kind` (None: of any), and at times of no kind."""
    options = [kind] if kind is not None else list(Kind)
    said = [st.tuples(st.just(option), values_of(option)) for option in options]
    return st.one_of(*said, st.none())


def schemas() -> st.SearchStrategy[dict[str, Kind]]:
    """A few names and the kind of each."""
    return st.dictionaries(names(), kinds(), max_size=5)


@st.composite
def example_lists(draw: st.DrawFn) -> tuple[dict[str, Kind], list[WireExample]]:
    """A schema and records that keep to it; features may be missing or change their order."""
    schema = draw(schemas())
    records = []
    for _ in range(draw(st.integers(0, 6))):
        present = draw(st.permutations(list(schema)))[: draw(st.integers(0, len(schema)))]
        meaning = {name: draw(meanings(schema[name])) for name in present}
        records.append(WireExample(serialize(meaning), meaning))
    return schema, records


def serialize(meaning: Mapping[str, Meaning]) -> bytes:
    """Returns the Example of these features, written plainly and in this order."""
    return wire.example(*(wire.entry(name, feature(said)) for name, said in meaning.items()))


def feature(meaning: Meaning) -> bytes:
    """Returns the ``Feature`` that says this, written plainly."""
    return wire.NO_KIND if meaning is None else kind_field(*meaning, packed=True)


def kind_field(kind: Kind, values: Values, *, packed: bool) -> bytes:
    """Returns one kind field of a ``Feature`` with all `values`, packed or one by one."""
    return wire.delimited(kind, value_fields(kind, values, packed=packed))


def value_fields(kind: Kind, values: Values, *, packed: bool) -> bytes:
    """Returns the fields of a ``BytesList``, ``FloatList`` or ``Int64List`` with `values`."""
    if kind is Kind.BYTES:
        return b"".join(wire.delimited(1, value) for value in values)
    if kind is Kind.FLOAT:
        floats = [struct.pack("<I", value) for value in values]
        if packed:
            return wire.delimited(1, b"".join(floats))
        return b"".join(wire.fixed32_field(1, value) for value in floats)
    if packed:
        return wire.delimited(1, wire.packed_varints(*values))
    return b"".join(wire.varint_field(1, value) for value in values)


# --- Wire that no serialiser writes -----------------------------------------------------


@st.composite
def unknown_fields(draw: st.DrawFn, first: int, depth: int = 2) -> bytes:
    """One field, numbered `first` or higher, of any wire type. Readers have to skip it."""
    field = draw(st.integers(first, first + 3) | st.sampled_from((15, 16, 2047, 2048, 2**29 - 1)))
    wire_type = draw(st.sampled_from((0, 1, 2, 3, 5) if depth else (0, 1, 2, 5)))
    if wire_type == wire.VARINT:
        return wire.varint_field(field, draw(int64s()), draw(st.integers(1, 10)))
    if wire_type == wire.FIXED64:
        return wire.fixed64_field(field, draw(st.binary(min_size=8, max_size=8)))
    if wire_type == wire.FIXED32:
        return wire.fixed32_field(field, draw(st.binary(min_size=4, max_size=4)))
    if wire_type == wire.DELIMITED:
        return wire.delimited(field, draw(st.binary(max_size=6)), tag_size=draw(st.integers(1, 5)))
    inside = draw(st.lists(unknown_fields(1, depth - 1), max_size=2))
    return wire.group(field, b"".join(inside))


@st.composite
def padded_fields(draw: st.DrawFn, field: int, payload: bytes) -> bytes:
    """A length-delimited field whose tag and length take up to 5 bytes."""
    sizes = st.integers(1, 5)
    return wire.delimited(field, payload, tag_size=draw(sizes), length_size=draw(sizes))


def _sprinkle(draw: st.DrawFn, fields: Sequence[bytes], first_unknown: int) -> bytes:
    """Returns `fields` in their order with unknown fields among them."""
    mixed = list(fields)
    for unknown in draw(st.lists(unknown_fields(first_unknown), max_size=2)):
        mixed.insert(draw(st.integers(0, len(mixed))), unknown)
    return b"".join(mixed)


@st.composite
def wire_values(draw: st.DrawFn, kind: Kind) -> tuple[bytes, Values]:
    """The content of a list message, its values in runs that are packed or not, and the values."""
    runs = draw(st.lists(values_of(kind), max_size=3))
    fields = [value_fields(kind, run, packed=draw(st.booleans())) for run in runs]
    return _sprinkle(draw, fields, 2), tuple(value for run in runs for value in run)


@st.composite
def wire_features(draw: st.DrawFn, before: Meaning, kind: Kind | None) -> tuple[bytes, Meaning]:
    """A ``Feature`` of several kind fields, merged into what was said `before`.

    The kind that stays is `kind` (None: any); others may stand before it.
    """
    chosen = draw(st.lists(kinds(), max_size=3))
    if chosen and kind is not None:
        chosen[-1] = kind
    said = before
    fields = []
    for current in chosen:
        content, values = draw(wire_values(current))
        fields.append(draw(padded_fields(current, content)))
        said = _merge(said, current, values)
    return _sprinkle(draw, fields, 4), said


def _merge(said: Meaning, kind: Kind, values: Values) -> Meaning:
    if said is not None and said[0] is kind:
        return kind, said[1] + values
    return kind, values


@st.composite
def wire_entries(draw: st.DrawFn, name: str, kind: Kind | None) -> tuple[bytes, Meaning]:
    """A map entry with the key in any place, at times twice, and its value in several parts."""
    said: Meaning = None
    fields = []
    for _ in range(draw(st.integers(0, 3))):
        content, said = draw(wire_features(said, kind))
        fields.append(draw(padded_fields(2, content)))
    key = draw(st.integers(0, len(fields)))
    fields.insert(key, draw(padded_fields(1, name.encode())))
    if draw(st.booleans()):
        other = draw(names()).encode()
        fields.insert(draw(st.integers(0, key)), wire.delimited(1, other))
    return draw(padded_fields(1, _sprinkle(draw, fields, 3))), said


@st.composite
def wire_examples(draw: st.DrawFn, schema: Mapping[str, Kind | None]) -> WireExample:
    """An Example of names in `schema` with all the liberties that the wire format leaves.

    Several ``features`` messages, names more than once, values in parts, unknown fields and
    groups anywhere, padded varints. A name whose kind in `schema` is None may hold any.
    """
    meaning: dict[str, Meaning] = {}
    messages = []
    for _ in range(draw(st.integers(0, 3))):
        entries = []
        for name in draw(st.lists(st.sampled_from(list(schema)), max_size=3)) if schema else ():
            entry, meaning[name] = draw(wire_entries(name, schema[name]))
            entries.append(entry)
        messages.append(draw(padded_fields(1, _sprinkle(draw, entries, 2))))
    return WireExample(_sprinkle(draw, messages, 3), meaning)


@st.composite
def wire_example_lists(draw: st.DrawFn) -> tuple[dict[str, Kind], list[WireExample]]:
    """A schema and records of `wire_examples` that keep to it."""
    schema = draw(schemas())
    return schema, draw(st.lists(wire_examples(schema), max_size=4))


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """`data` with a few bytes changed, taken out, put in or cut off."""
    mutated = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(mutated)))
        change = draw(st.sampled_from(("replace", "flip", "delete", "insert", "repeat", "cut")))
        if change == "replace":
            mutated[at : at + 1] = bytes([draw(st.integers(0, 255))])
        elif change == "flip" and at < len(mutated):
            mutated[at] ^= 1 << draw(st.integers(0, 7))
        elif change == "delete":
            del mutated[at : at + draw(st.integers(1, 3))]
        elif change == "insert":
            mutated[at:at] = draw(st.binary(min_size=1, max_size=3))
        elif change == "repeat":
            mutated[at:at] = mutated[at : at + draw(st.integers(1, 16))]
        elif change == "cut":
            del mutated[at:]
    return bytes(mutated)


@st.composite
def mutated_records(draw: st.DrawFn) -> tuple[dict[str, Kind], list[bytes]]:
    """A schema and records that mostly do not keep to it: other kinds, and bytes changed."""
    schema, examples = draw(wire_example_lists())
    loose: dict[str, Kind | None] = dict.fromkeys(schema)
    records = [example.data for example in examples]
    records += [example.data for example in draw(st.lists(wire_examples(loose), max_size=3))]
    records = draw(st.permutations(records))
    return schema, [
        draw(mutations(record)) if draw(st.booleans()) else record for record in records
    ]


# --- Records with steps -----------------------------------------------------------------


@st.composite
def wire_sequence_examples(draw: st.DrawFn, schema: Mapping[str, Kind | None]) -> bytes:
    """A SequenceExample whose context and feature lists have names of `schema`."""
    fields = [draw(wire_examples(schema)).data]
    for _ in range(draw(st.integers(0, 2))):
        entries = []
        for name in draw(st.lists(st.sampled_from(list(schema)), max_size=3)) if schema else ():
            steps = draw(st.lists(wire_features(None, schema[name]), max_size=4))
            parts = [wire.delimited(1, name.encode())]
            cut = draw(st.integers(0, len(steps)))
            for part in (steps[:cut], steps[cut:]):
                features = [draw(padded_fields(1, content)) for content, _ in part]
                parts.append(draw(padded_fields(2, _sprinkle(draw, features, 2))))
            entries.append(draw(padded_fields(1, _sprinkle(draw, parts, 3))))
        fields.append(draw(padded_fields(2, _sprinkle(draw, entries, 2))))
    return _sprinkle(draw, draw(st.permutations(fields)), 3)


@st.composite
def wire_example_collections(draw: st.DrawFn, schema: Mapping[str, Kind | None]) -> bytes:
    """An ExampleListWithContext whose context and Examples have names of `schema`."""
    fields = []
    for _ in range(draw(st.integers(0, 4))):
        field = draw(st.sampled_from((1, 1, 2)))
        fields.append(draw(padded_fields(field, draw(wire_examples(schema)).data)))
    return _sprinkle(draw, fields, 3)


@st.composite
def mutated_sequences(
    draw: st.DrawFn, records_of: Callable[[Mapping[str, Kind | None]], st.SearchStrategy[bytes]]
) -> tuple[dict[str, Kind], list[bytes]]:
    """A schema and records of one of the two strategies above; some do not keep to it."""
    schema = draw(schemas())
    loose: dict[str, Kind | None] = dict.fromkeys(schema)
    records = draw(st.lists(records_of(schema), max_size=4))
    records += draw(st.lists(records_of(loose), max_size=2))
    return schema, [
        draw(mutations(record)) if draw(st.booleans()) else record
        for record in draw(st.permutations(records))
    ]


# --- Records and files ------------------------------------------------------------------


def payloads() -> st.SearchStrategy[bytes]:
    """Payloads of frames: empty ones, 8 bytes (like a length), tails of zeros."""
    small_number = st.integers(0, 64).map(lambda number: struct.pack("<Q", number))
    zero_tail = st.tuples(st.binary(max_size=8), st.integers(1, 16).map(bytes)).map(b"".join)
    return st.one_of(st.binary(max_size=24), st.just(b""), small_number, zero_tail)


def payload_lists() -> st.SearchStrategy[list[bytes]]:
    return st.lists(payloads(), max_size=6)
