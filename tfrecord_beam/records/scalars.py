"""Converts list columns to scalars and text, for consumers that need no lists or do not know them.

Nothing is guessed from values: a schema or a list of names determines which columns change, and a
row that does not fit is an error. Only the difference between a null row and an empty list is lost:
both become null.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import DecodeError, Location, SchemaError
from tfrecord_beam.options import describe
from tfrecord_beam.schema.building import UTF8_TAG
from tfrecord_beam.schema.lists import flatten_lists
from tfrecord_beam.schema.names import as_names, check_distinct, check_known
from tfrecord_beam.schema.text import find_non_utf8
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema

ColumnChoice = bool | Sequence[str]
"""True: according to the schema; or the names of the columns."""

_TEXT_DOMAINS = ("domain", "string_domain", "natural_language_domain", "url_domain")


@dataclasses.dataclass(frozen=True)
class ColumnForms:
    """Which columns become scalars, and which text.

    Attributes:
      scalars: names of the columns with one value per row, or null.
      strings: names of the columns whose bytes are UTF-8.
    """

    scalars: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.scalars or self.strings)

    def convert_schema(self, schema: pa.Schema) -> pa.Schema:
        """Returns the schema of the result of `convert` for batches with this schema."""
        return pa.schema([field.with_type(self._type_of(field)) for field in schema])

    def convert(self, batch: pa.RecordBatch, place: Location) -> pa.RecordBatch:
        """Returns a batch with its columns converted; columns of numbers are not copied.

        Args:
          batch: as decoded.
          place: where it comes from, with the number of its first row as `record`, if known.

        Raises:
          DecodeError: a row has several values, or bytes that are not UTF-8.
        """
        wanted = self.convert_schema(batch.schema)
        if wanted == batch.schema:  # also where there are rows but no columns
            return batch
        columns = [
            self._convert(field.name, column, place)
            for field, column in zip(batch.schema, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=wanted)

    def _type_of(self, field: pa.Field) -> pa.DataType:
        if not pa.types.is_large_list(field.type):
            return field.type
        value_type = field.type.value_type
        if field.name in self.strings and pa.types.is_large_binary(value_type):
            value_type = pa.large_string()
        return value_type if field.name in self.scalars else pa.large_list(value_type)

    def _convert(self, name: str, column: pa.Array, place: Location) -> pa.Array:
        wanted = self._type_of(pa.field(name, column.type))
        try:
            if column.type != wanted and name in self.scalars:
                column = _take_only_values(column)
            return _as_text(column) if column.type != wanted else column
        except _RowError as error:
            record = None if place.record is None else place.record + error.row
            located = dataclasses.replace(place, record=record, feature=name)
            text = f"Expected {error.expected} for feature {name!r}, found {error.found}"
            raise DecodeError(text, located) from None


class _RowError(Exception):
    def __init__(self, expected: str, found: object, row: int) -> None:
        super().__init__(expected, found, row)
        self.expected = expected
        self.found = found
        self.row = row


def choose_forms(
    schema: SchemaSource | None, scalars: ColumnChoice = False, strings: ColumnChoice = False
) -> ColumnForms:
    """Returns the forms that the options select.

    >>> schema = schema_pb2.Schema()
    >>> schema.feature.add(name="age", type=schema_pb2.INT).shape.SetInParent()
    >>> choose_forms(schema, scalars=True).scalars
    frozenset({'age'})

    Args:
      schema: anything `load_schema` accepts. A feature is a scalar if its shape has no dimensions,
        or only dimensions of size 1, or if its `value_count` is at most 1. It is text if it has a
        domain of strings, natural language or URLs, or the tag "utf-8" set by `infer_schema`.
      scalars: True for the features that are scalars, or names.
      strings: True for the features that are text, or names.

    Raises:
      SchemaError: an option is neither True, False nor a list of names; a name is not in the
        schema, or is listed twice; True without a schema.
    """
    features = None if schema is None else load_schema(schema).feature
    return ColumnForms(
        _choose("scalars", scalars, features, _is_scalar),
        _choose("strings", strings, features, _is_text),
    )


def _choose(
    option: str,
    choice: ColumnChoice,
    features: Sequence[schema_pb2.Feature] | None,
    is_chosen: Callable[[schema_pb2.Feature], bool],
) -> frozenset[str]:
    if choice is False:
        return frozenset()
    if choice is True:
        if features is None:
            raise SchemaError(
                f"Expected a schema for {option}=True, found none",
                hint="give a schema, or a list of the columns' names",
            )
        return frozenset(feature.name for feature in features if is_chosen(feature))
    names = as_names(choice, f"columns for {option}")
    check_distinct(names, option)
    if features is not None:
        check_known(names, [feature.name for feature in features], "columns")
    return frozenset(names)


def _is_scalar(feature: schema_pb2.Feature) -> bool:
    if feature.HasField("shape"):
        return all(dimension.size == 1 for dimension in feature.shape.dim)
    return bool(feature.value_count.max == 1)


def _is_text(feature: schema_pb2.Feature) -> bool:
    has_domain = any(map(feature.HasField, _TEXT_DOMAINS)) or UTF8_TAG in feature.annotation.tag
    return bool(feature.type == schema_pb2.BYTES and has_domain)


def _take_only_values(column: pa.LargeListArray) -> pa.Array:
    """Returns the value of each row, null if there is none."""
    lengths = np.asarray(pc.list_value_length(column).fill_null(0))
    if len(lengths) and lengths.max() > 1:
        row = int(np.argmax(lengths > 1))
        raise _RowError("at most one value", lengths[row], row)
    values = column.flatten()
    if len(values) == len(column):
        return values
    return values.take(pa.array(np.cumsum(lengths) - 1, mask=lengths == 0))


def _as_text(column: pa.Array) -> pa.Array:
    """Returns bytes, or lists of them, as text."""
    is_list = pa.types.is_large_list(column.type)
    try:
        return column.cast(pa.large_list(pa.large_string()) if is_list else pa.large_string())
    except pa.ArrowInvalid as error:
        lists = flatten_lists(column) if is_list else None
        values = column if lists is None else lists.values
        index = find_non_utf8(values)
        if index is None:  # Arrow refuses them for another reason
            raise
        row = index if lists is None else lists.list_of(index)
        raise _RowError("UTF-8 text", describe(values[index].as_py()), row) from error
