"""A map from names to features: which of them a record has, and which faults."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from google.protobuf.message import DecodeError as ProtobufDecodeError

from tfrecord_beam.kernel.plan import Column, DecodeFailure, DecodeFault
from tfrecord_beam.kernel.reference.columns import kind_of
from tfrecord_beam.kernel.reference.protos import Envelope, OutlineFeatures
from tfrecord_beam.kernel.reference.utf8 import is_utf8


@dataclasses.dataclass(frozen=True)
class FeatureMap:
    """The features that one record has in a map.

    Attributes:
      entries: outlined entries of the map, wanted or not.
      features: the wanted features by name: one in a map of Features, else one per step, None if a
        step does not have it.
      missing: stands in for a feature that the record does not have.
      present: whether the record has the map, even if it is empty.
    """

    entries: Sequence[Any]
    features: Mapping[bytes, Sequence[Any | None]]
    missing: Sequence[None] | None = None
    present: bool = True


class MapColumns:
    """The columns of a map, and the kinds found so far in the records of a call.

    Args:
      columns: the wanted columns; None for all.
      reserved: names that unplanned features must not have; the first in this order is reported.
      in_sequence: whether the map is that of the steps.
    """

    def __init__(
        self,
        columns: Iterable[Column] | None,
        reserved: Mapping[bytes, DecodeFault],
        *,
        in_sequence: bool = False,
    ) -> None:
        self._planned = columns is not None
        self._reserved = reserved
        self._in_sequence = in_sequence
        self.kinds = {column.name.encode(): column.kind for column in columns or ()}

    @property
    def wanted(self) -> Container[bytes] | None:
        """Names of the planned columns, or None for all."""
        return self.kinds if self._planned else None

    def order(self) -> list[bytes]:
        """Returns the names of all columns in output order."""
        return list(self.kinds) if self._planned else sorted(self.kinds)

    def count_with(self, content: FeatureMap) -> int:
        """Returns how many columns there would be after adding another record."""
        return len(self.kinds.keys() | content.features.keys())

    def add(self, content: FeatureMap) -> None:
        """Adds the columns and kinds of a good record."""
        for name, features in content.features.items():
            self.kinds[name] = self.kinds.get(name) or next(
                filter(None, map(kind_of, features)), None
            )

    def find_failures(self, index: int, content: FeatureMap) -> Iterator[DecodeFailure]:
        """Yields the faults of a record."""
        for fault, *details in self._find_faults(content):
            expected, found = details[1:] or (0, 0)
            name = details[0] if details else None
            yield DecodeFailure(fault, index, name, expected, found, self._in_sequence)

    def _find_faults(self, content: FeatureMap) -> Iterator[tuple[Any, ...]]:
        if not all(is_utf8(name) for entry in content.entries for name in entry.key):
            yield (DecodeFault.NAME_NOT_UTF8,)
        if any(_is_nested_example(entry) for entry in content.entries):
            yield (DecodeFault.NESTED_EXAMPLE,)
        order: Iterable[bytes] = self.kinds
        if not self._planned:
            order = sorted(content.features)
            yield from ((self._reserved[name], name) for name in order if name in self._reserved)
            yield from ((DecodeFault.NAME_WITH_NUL, name) for name in order if b"\0" in name)
        for name in order:
            expected = self.kinds.get(name)
            for found in map(kind_of, content.features.get(name, ())):
                if expected and found and expected != found:
                    yield DecodeFault.KIND_MISMATCH, name, expected, found
                expected = expected or found


def cut_outline(outline: Any, wanted: Container[bytes] | None) -> None:
    """Removes the unwanted entries from an outlined map."""
    if wanted is not None:
        entries = [entry for entry in outline.feature if name_of(entry) in wanted]
        outline.CopyFrom(OutlineFeatures(feature=entries))


def name_of(entry: Any) -> bytes:
    """Returns the name in an outlined or read entry."""
    return entry.key[-1] if entry.key else b""


def _is_nested_example(entry: Any) -> bool:
    """Whether an entry has no value, and its name is a message of only fields 1 and 2."""
    if entry.value:
        return False
    try:
        envelope = Envelope.FromString(name_of(entry))
    except ProtobufDecodeError:
        return False
    size = envelope.ByteSize()
    envelope.DiscardUnknownFields()
    return bool(size > 0 and size == envelope.ByteSize())
