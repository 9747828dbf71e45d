"""Writes protobuf wire bytes field by field, so that tests can write what no serialiser would.

The pieces of a ``tf.train.Example`` have functions of their own; each returns bytes, and they nest:
``example(entry("age", int64(7)))``.
"""

from __future__ import annotations

import struct

VARINT, FIXED64, DELIMITED, GROUP, END_GROUP, FIXED32 = range(6)

NO_KIND = b""
"""A ``tf.train.Feature`` in which no kind is set."""


def varint(value: int, size: int = 1) -> bytes:
    """Returns `value` (modulo 2**64) as a varint of at least `size` bytes."""
    value %= 1 << 64
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F)
    groups += [0] * (size - len(groups))
    return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])


def tag(field: int, wire_type: int, size: int = 1) -> bytes:
    """Returns the tag of a field, in a varint of at least `size` bytes."""
    return varint(field << 3 | wire_type, size)


def delimited(field: int, payload: bytes, *, tag_size: int = 1, length_size: int = 1) -> bytes:
    """Returns a length-delimited field: bytes, a string, a message or packed values."""
    return tag(field, DELIMITED, tag_size) + varint(len(payload), length_size) + payload


def varint_field(field: int, value: int, size: int = 1) -> bytes:
    """Returns a field of wire type 0, its value in at least `size` bytes."""
    return tag(field, VARINT) + varint(value, size)


def fixed32_field(field: int, payload: bytes) -> bytes:
    """Returns a field of wire type 5 that holds the 4 bytes of `payload`."""
    return tag(field, FIXED32) + payload


def fixed64_field(field: int, payload: bytes) -> bytes:
    """Returns a field of wire type 1 that holds the 8 bytes of `payload`."""
    return tag(field, FIXED64) + payload


def group(field: int, content: bytes = b"") -> bytes:
    """Returns a group (wire types 3 and 4) around `content`."""
    return tag(field, GROUP) + content + tag(field, END_GROUP)


def packed_varints(*values: int) -> bytes:
    """Returns the content of a packed field of varints."""
    return b"".join(varint(value) for value in values)


def packed_floats(*values: float) -> bytes:
    """Returns the content of a packed field of 32-bit floats."""
    return struct.pack(f"<{len(values)}f", *values)


def bytes_list(*values: bytes) -> bytes:
    """Returns a ``Feature`` with a ``bytes_list``."""
    return delimited(1, b"".join(delimited(1, value) for value in values))


def floats(*values: float) -> bytes:
    """Returns a ``Feature`` with a packed ``float_list``."""
    return delimited(2, delimited(1, packed_floats(*values)) if values else b"")


def int64(*values: int) -> bytes:
    """Returns a ``Feature`` with a packed ``int64_list``."""
    return delimited(3, delimited(1, packed_varints(*values)) if values else b"")


def entry(name: str | bytes, *features: bytes) -> bytes:
    """Returns one entry of the feature map; without `features` an entry that has no value."""
    key = name.encode() if isinstance(name, str) else name
    values = b"".join(delimited(2, feature) for feature in features)
    return delimited(1, delimited(1, key) + values)


def example(*entries: bytes) -> bytes:
    """Returns an ``Example`` with one ``features`` message that holds `entries`."""
    return delimited(1, b"".join(entries))


def feature_list(name: str | bytes, *features: bytes) -> bytes:
    """Returns one entry of the map of feature lists, with these features."""
    return entry(name, b"".join(delimited(1, feature) for feature in features))


def sequence_example(*feature_lists: bytes, context: bytes = b"") -> bytes:
    """Returns a ``SequenceExample``; `context` is an Example of the same features."""
    return context + delimited(2, b"".join(feature_lists))


def example_list(*examples: bytes, context: bytes | None = None) -> bytes:
    """Returns an ``ExampleListWithContext`` (tensorflow_serving/apis/input.proto)."""
    listed = b"".join(delimited(1, one) for one in examples)
    return listed + (b"" if context is None else delimited(2, context))
