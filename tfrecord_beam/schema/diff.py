"""The differences between two TFMD schemas.

All fields of the schemas are compared. Features, domains and tensor representations are matched by
name, so their order does not matter; nor does the order of strings in a list.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tfrecord_beam.schema.tfmd import SchemaSource, load_schema


@dataclasses.dataclass(frozen=True)
class SchemaChange:
    """One difference between two schemas.

    Attributes:
      path: alternating fields and names down to the place: ``("feature", "age")``. Empty: the
        schema itself.
      field: the field there that differs; None: the whole was added or removed.
      old: its value in the old schema, as text; None: it is not set there.
      new: the same in the new schema. For lists, both have only the elements missing in the other.
    """

    path: tuple[str, ...]
    field: str | None
    old: str | None
    new: str | None

    def __str__(self) -> str:
        fields, names = self.path[::2], self.path[1::2]
        where = ", ".join(f"{field} {name!r}" for field, name in zip(fields, names, strict=True))
        if self.field is None:
            return f"- {where}: {self.old}" if self.new is None else f"+ {where}: {self.new}"
        old, new = ("nothing" if each is None else each for each in (self.old, self.new))
        return f"~ {f'{where}: ' if where else ''}{self.field}: {old} -> {new}"


def diff_schemas(old: SchemaSource, new: SchemaSource) -> list[SchemaChange]:
    """Returns the changes from one schema to another; an empty list if they are equal.

    >>> import pyarrow as pa
    >>> old, new = pa.schema([("age", pa.int64())]), pa.schema([("age", pa.float32())])
    >>> print(*diff_schemas(old, new))
    ~ feature 'age': type: INT -> FLOAT

    Args:
      old: anything `load_schema` accepts: a TFMD `Schema`, a path, an Arrow schema ...
      new: likewise.

    Raises:
      SchemaError: a schema cannot be used.
    """
    return list(_compare(load_schema(old), load_schema(new), ()))


def _compare(old: Message, new: Message, path: tuple[str, ...]) -> Iterator[SchemaChange]:
    old_values, new_values = dict(old.ListFields()), dict(new.ListFields())
    for field in sorted(old_values | new_values, key=lambda field: field.number):
        yield from _compare_field(field, old_values.get(field), new_values.get(field), path)


def _compare_field(
    field: FieldDescriptor, old: Any, new: Any, path: tuple[str, ...]
) -> Iterator[SchemaChange]:
    """Yields the changes in a field, whose value is None if it is not set."""
    either = new if old is None else old
    if old == new:
        return
    if field.name == "struct_domain" and old is not None and new is not None:
        yield from _compare(old, new, path)
    elif isinstance(either, (Message, str, int, float)):
        yield SchemaChange(path, field.name, _text(field, old), _text(field, new))
    elif field.message_type is not None:
        yield from _compare_named(_by_name(old), _by_name(new), (*path, field.name))
    else:
        removed = [each for each in old or () if each not in (new or ())]
        added = [each for each in new or () if each not in (old or ())]
        if removed or added:
            yield SchemaChange(path, field.name, _list_text(removed), _list_text(added))


def _compare_named(
    old: Mapping[str, Message], new: Mapping[str, Message], path: tuple[str, ...]
) -> Iterator[SchemaChange]:
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            yield SchemaChange((*path, name), None, _message_text(before), _message_text(after))
        else:
            yield from _compare(before, after, (*path, name))


def _by_name(values: Any) -> Mapping[str, Message]:
    """Returns the messages of a map, or those of a list keyed by name."""
    if values is None or hasattr(values, "items"):
        return values or {}
    return {value.name: value for value in values}


def _text(field: FieldDescriptor, value: Any) -> str | None:
    if value is None or isinstance(value, Message):
        return _message_text(value)
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    return str(value)


def _message_text(message: Message | None) -> str | None:
    if message is None:
        return None
    text = text_format.MessageToString(message, as_one_line=True, as_utf8=True)
    return f"{{ {text} }}" if text else "{ }"


def _list_text(values: Iterable[object]) -> str | None:
    return ", ".join(map(repr, values)) or None
