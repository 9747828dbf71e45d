"""The messages made at run time are TensorFlow's, and the readers' views of them hide nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from tests import wire
from tfrecord_beam.kernel.reference import protos

SIGNALING_NAN = bytes.fromhex("010080ff")


def test_example_has_the_bytes_of_the_format() -> None:
    example = protos.Example()
    example.features.feature["a"].bytes_list.value.append(b"x")
    example.features.feature["b"].float_list.value.append(1.0)
    example.features.feature["c"].int64_list.value.extend([1, -1])
    entries = [
        bytes.fromhex("0a0161 1205 0a03 0a0178"),
        bytes.fromhex("0a0162 1208 1206 0a040000803f"),
        bytes.fromhex("0a0163 120f 1a0d 0a0b01 ffffffffffffffffff01"),
    ]
    record = wire.delimited(1, b"".join(wire.delimited(1, entry) for entry in entries))
    assert protos.Example.FromString(record) == example
    assert len(example.SerializeToString()) == len(record)


def test_sequence_example_has_the_bytes_of_the_format() -> None:
    example = protos.SequenceExample()
    example.context.feature["a"].int64_list.value.append(7)
    example.feature_lists.feature_list["b"].feature.add().bytes_list.value.append(b"x")
    example.feature_lists.feature_list["b"].feature.add()
    context = bytes.fromhex("0a0c 0a0a 0a0161 1205 1a030a0107")
    feature_lists = bytes.fromhex("1210 0a0e 0a0162 1209 0a050a030a0178 0a00")
    assert example.SerializeToString(deterministic=True) == context + feature_lists


@pytest.mark.parametrize("name", ["Example", "SequenceExample", "Feature", "FeatureLists"])
def test_messages_are_those_of_tensorflow(name: str) -> None:
    train = pytest.importorskip("tensorflow").train
    ours, theirs = getattr(protos, name), getattr(train, name)
    assert _declaration(ours.DESCRIPTOR) == _declaration(theirs.DESCRIPTOR)


def _declaration(descriptor: Any) -> descriptor_pb2.DescriptorProto:
    message = descriptor_pb2.DescriptorProto()
    descriptor.CopyToProto(message)
    for part in (message, *message.nested_type):
        for field in part.field:
            field.ClearField("json_name")
    return message


def test_outline_keeps_every_occurrence() -> None:
    twice = wire.delimited(1, b"\xff") + wire.delimited(2, b"?") + wire.delimited(2, b"") * 2
    record = wire.delimited(1, wire.delimited(1, twice) + wire.delimited(1, twice)) * 2
    entries = _entries(protos.OutlineExample.FromString(record))
    assert [(list(entry.key), list(entry.value)) for entry in entries] == [
        ([b"\xff"], [b"?", b"", b""])
    ] * 4


def test_content_keeps_an_entry_with_an_unknown_field() -> None:
    unknown = wire.fixed64_field(3, bytes(8))
    entry = wire.delimited(1, b"a") + unknown + wire.delimited(2, wire.int64(7))
    (kept,) = _entries(protos.ContentExample.FromString(wire.example(wire.delimited(1, entry))))
    assert (list(kept.key), list(kept.value.int64_list.value)) == ([b"a"], [7])


def test_content_keeps_the_bits_of_a_signaling_nan() -> None:
    record = wire.example(
        wire.entry("a", wire.delimited(2, wire.delimited(1, SIGNALING_NAN))),
        wire.entry("b", wire.delimited(2, wire.fixed32_field(1, SIGNALING_NAN))),
    )
    entries = _entries(protos.ContentExample.FromString(record))
    bits = [list(entry.value.float_list.value) for entry in entries]
    assert bits == [[int.from_bytes(SIGNALING_NAN, "little")]] * 2


@pytest.mark.parametrize("depth", range(94, 104))
def test_views_have_the_depth_limit_of_example(depth: int) -> None:
    groups = b""
    for _ in range(depth):
        groups = wire.group(5, groups)
    outlined = [groups, wire.delimited(1, groups), wire.example(wire.delimited(1, groups))]
    unread = [wire.example(wire.entry("a", place)) for place in (groups, wire.delimited(1, groups))]
    for record in outlined:
        assert _parses(protos.OutlineExample, record) == _parses(protos.Example, record)
    for record in outlined + unread:
        assert _parses(protos.ContentExample, record) == _parses(protos.Example, record)


def _parses(message: Any, record: bytes) -> bool:
    try:
        message.FromString(record)
    except DecodeError:
        return False
    return True


def _entries(example: Any) -> Iterable[Any]:
    return [entry for features in example.features for entry in features.feature]
