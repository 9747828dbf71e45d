"""Maps the columns of a batch to the features of a record.

For ``tf.train.Example``s each column is a feature. For ``tf.train.SequenceExample``s columns of
nested lists are feature lists, and so is each field of the struct column ``##SEQUENCE##``; all
other columns are features of the context. Users may instead name the columns that are feature
lists: a column of flat lists then has steps of one value, and each field of a struct is a feature
list. A column with the name of a ragged tensor in the schema always becomes several features.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import EncodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import SEQUENCE_COLUMN, Kind
from tfrecord_beam.options import check_choice
from tfrecord_beam.schema.encoding import (
    NullValues,
    is_ready,
    kind_of,
    to_features,
)
from tfrecord_beam.schema.lists import is_list, list_depth
from tfrecord_beam.schema.names import as_names, check_distinct, check_known, shortened
from tfrecord_beam.schema.ragged import RaggedColumn, ragged_columns, split_ragged
from tfrecord_beam.schema.tfmd import schema_columns, sequence_schema_columns

EncodedType = Literal["Example", "SequenceExample", "ByteArray"]
"""What rows of a batch become: messages or, for "ByteArray", the bytes that they hold."""

FeatureKinds = dict[str, Kind | None]
"""Kinds of features by name, None for a feature without values. A feature list is named like its
column when it is read: ``##SEQUENCE##.NAME``."""


class Features(NamedTuple):
    """The columns of a batch, in layouts that the kernel can encode.

    Attributes:
      context: by name; each row is a feature.
      feature_lists: by name; each row is a feature list. None: the records are Examples.
    """

    context: dict[str, pa.Array]
    feature_lists: dict[str, pa.Array] | None


@dataclasses.dataclass(frozen=True)
class FeatureRules:
    """The user's options for how columns become features.

    Attributes:
      record_type: of the records.
      feature_list_columns: names of the columns that are feature lists; None: according to types.
      ragged: the schema's representations of columns that are ragged tensors, by name.
      null_values: how to handle a null among the values of a list.
    """

    record_type: EncodedType = "Example"
    feature_list_columns: tuple[str, ...] | None = None
    ragged: Mapping[str, RaggedColumn] = dataclasses.field(default_factory=dict)
    null_values: NullValues = "error"


def feature_rules(
    schema: schema_pb2.Schema | None,
    *,
    record_type: EncodedType,
    feature_list_columns: Sequence[str] | None,
    null_values: NullValues,
) -> FeatureRules:
    """Returns the rules for the options of a user, after checking them.

    Raises:
      ValueError: `record_type` or `null_values` is unknown, feature lists are named for a type
        other than "SequenceExample", or a schema is given for "ByteArray".
      SchemaError: the names are not a list of str, or the schema represents one ragged tensor in
        different ways.
    """
    check_choice("record_type", record_type, EncodedType)
    check_choice("null_values", null_values, NullValues)
    names = None
    if feature_list_columns is not None:
        names = as_names(feature_list_columns, "feature_list_columns")
        if record_type != "SequenceExample":
            raise ValueError(
                "Expected feature_list_columns with record_type='SequenceExample' only, "
                f"found {record_type!r}"
            )
    if schema is None:
        return FeatureRules(record_type, names, null_values=null_values)
    if record_type == "ByteArray":
        raise ValueError("Expected no schema for records of type 'ByteArray', found one")
    ragged = ragged_columns(schema)
    if record_type == "SequenceExample":  # Feature lists represent the others.
        ragged = {name: column for name, column in ragged.items() if len(column.path) == 1}
    return FeatureRules(record_type, names, ragged, null_values)


def to_record_features(batch: pa.RecordBatch, rules: FeatureRules) -> Features:
    """Returns the features that the columns of a batch become.

    Raises:
      SchemaError: a column of a type that cannot be encoded, duplicate names, or a named feature
        list that is not a column.
      EncodeError: a value that no feature can hold, with its row.
    """
    names = batch.schema.names
    check_distinct(names, "columns of a batch")
    check_known(rules.feature_list_columns or (), names, "feature_list_columns")
    context: list[tuple[str, pa.Array]] = []
    feature_lists: list[tuple[str, pa.Array]] = []
    for name, column in zip(names, batch.columns, strict=True):
        if _is_feature_list(name, column.type, rules):
            for field, steps in _fields(name, column):
                rows = to_features(
                    field, steps, is_feature_list=True, null_values=rules.null_values
                )
                feature_lists.append((field, rows))
        elif name in rules.ragged:
            context += split_ragged(name, column, rules.ragged[name], rules.null_values).items()
        else:
            context.append((name, to_features(name, column, null_values=rules.null_values)))
    check_distinct((name for name, _ in context), "features")
    check_distinct((name for name, _ in feature_lists), "feature lists")
    for name, _ in (*context, *feature_lists):
        if "\0" in name:  # could not be read back: a NUL ends a name in the Arrow C interface
            raise SchemaError(f"Expected features without NUL in their names, found {name!r}")
    is_sequence = rules.record_type == "SequenceExample"
    return Features(dict(context), dict(feature_lists) if is_sequence else None)


def are_ready(schema: pa.Schema, rules: FeatureRules) -> bool:
    """Returns whether the columns of such batches need no conversion, whatever their values."""
    return (
        rules.record_type == "Example"
        and rules.null_values == "error"
        and rules.ragged.keys().isdisjoint(schema.names)
        and all(map(is_ready, schema.types))
    )


def feature_kinds(features: Features) -> FeatureKinds:
    """Returns the kinds of the features according to the types of their columns."""
    kinds = {name: kind_of(rows) for name, rows in features.context.items()}
    for name, rows in (features.feature_lists or {}).items():
        kinds[_list_name(name)] = kind_of(rows)
    return kinds


def schema_kinds(schema: schema_pb2.Schema, record_type: EncodedType) -> FeatureKinds:
    """Returns the kinds that a schema requires.

    Raises:
      SchemaError: it does not describe records of this type.
    """
    if record_type == "Example":
        return {column.name: column.kind for column in schema_columns(schema)}
    context, feature_lists = sequence_schema_columns(schema)
    kinds = {column.name: column.kind for column in context}
    return kinds | {_list_name(column.name): column.kind for column in feature_lists}


def check_kinds(found: Mapping[str, Kind | None], expected: Mapping[str, Kind | None]) -> None:
    """Raises SchemaError unless exactly the expected features are found, with their kinds.

    >>> check_kinds({"a": Kind.INT64, "b": None}, {"a": Kind.INT64, "b": Kind.BYTES})
    """
    check_known(found, expected, "features of the schema")
    missing = [name for name in expected if name not in found]
    if missing:
        raise SchemaError(
            "Expected a column for each feature of the schema, "
            f"found none for {shortened(missing)}",
            hint="a column of nulls is one without values",
        )
    for name, kind in found.items():
        wanted = expected[name]
        if kind is not None and wanted is not None and kind is not wanted:
            raise SchemaError(
                f"Expected {wanted.list_name} for feature {name!r}, found {kind.list_name}",
                Location(feature=name),
                hint="cast the column, or change the schema",
            )


def merge_kinds(all_kinds: Iterable[FeatureKinds]) -> FeatureKinds:
    """Returns the kinds of the features of several batches.

    >>> merge_kinds([{"a": None}, {"a": Kind.INT64, "b": None}])
    {'a': <Kind.INT64: 3>, 'b': None}

    Raises:
      SchemaError: a feature has one kind in some of them and another in others.
    """
    merged: FeatureKinds = {}
    for kinds in all_kinds:
        for name, kind in kinds.items():
            before = merged.get(name)
            if None not in (before, kind) and before is not kind:
                first, second = sorted(each.list_name for each in (before, kind) if each)
                raise SchemaError(
                    f"Expected one kind for feature {name!r}, found {first} in some batches and "
                    f"{second} in others",
                    Location(feature=name),
                )
            merged[name] = kind or before
    return merged


def record_values(batch: pa.RecordBatch) -> list[bytes]:
    """Returns the records that a batch holds: the values of its only column.

    >>> record_values(pa.record_batch({"record": ["a", "b"]}))
    [b'a', b'b']

    Args:
      batch: with one column of bytes or strings, or of lists that hold one of these.

    Raises:
      SchemaError: there is not exactly one column, or it is of another type.
      EncodeError: a row is null, or a list of more or fewer values than one.
    """
    if batch.num_columns != 1:
        raise SchemaError(
            "Expected one column of bytes for records of type 'ByteArray', "
            f"found {shortened(batch.schema.names)}",
            hint="choose it: batch.select([name])",
        )
    (name,), (column,) = batch.schema.names, batch.columns
    values = to_features(name, column)
    if kind_of(values) is not Kind.BYTES:
        raise SchemaError(
            f"Expected bytes or strings as records in column {name!r}, found {column.type}",
            Location(feature=name),
        )
    if is_list(values.type):
        _refuse_rows(pc.not_equal(pc.list_value_length(values), 1), name, "another number of them")
        _refuse_rows(values.is_null(), name, "null")
        values = values.flatten()
    _refuse_rows(values.is_null(), name, "null")
    records: list[bytes] = values.cast(pa.large_binary()).to_pylist()
    return records


def _refuse_rows(is_refused: pa.BooleanArray, name: str, found: str) -> None:
    row = pc.index(is_refused, True).as_py()
    if row >= 0:
        raise EncodeError(
            f"Expected one record in each row, found {found}",
            Location(record=row, feature=name),
        )


def _is_feature_list(name: str, data_type: pa.DataType, rules: FeatureRules) -> bool:
    if rules.record_type != "SequenceExample":
        return False
    if rules.feature_list_columns is not None:
        return name in rules.feature_list_columns
    return name == SEQUENCE_COLUMN or (name not in rules.ragged and list_depth(data_type) > 1)


def _fields(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yields the feature lists of a column; where a struct is null, its fields are null."""
    if pt.is_struct(column.type):
        yield from zip([field.name for field in column.type], column.flatten(), strict=True)
    elif name != SEQUENCE_COLUMN:
        yield name, column
    elif not pt.is_null(column.type):
        raise SchemaError(
            f"Expected a struct of feature lists in column {name!r}, found {column.type}"
        )


def _list_name(feature_list: str) -> str:
    return f"{SEQUENCE_COLUMN}.{feature_list}"
