"""Converts Arrow schemas to the TFMD schemas of the records that batches become."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.kernel.plan import SEQUENCE_COLUMN, Kind
from tfrecord_beam.options import check_instance
from tfrecord_beam.schema.building import FEATURE_TYPES, UTF8_TAG, Path, add_feature
from tfrecord_beam.schema.encoding import holds_text, kind_of, to_features
from tfrecord_beam.schema.lists import is_list, list_depth
from tfrecord_beam.schema.names import check_distinct


def schema_from_arrow(arrow_schema: pa.Schema) -> schema_pb2.Schema:
    """Returns the TFMD schema of the records that batches of an Arrow schema become.

    >>> found = schema_from_arrow(pa.schema([("age", pa.int16()), ("tags", pa.list_(pa.string()))]))
    >>> [(each.name, schema_pb2.FeatureType.Name(each.type)) for each in found.feature]
    [('age', 'INT'), ('tags', 'BYTES')]

    The kind of a feature follows from the table in `tfrecord_beam.schema.encoding`; a column of
    type `null` is BYTES. Strings get the tag "utf-8" in their annotation, so that `read_table` can
    return strings again. `value_count` is 1 for scalars, and the list size for fixed-size lists;
    `presence.min_fraction` is 1 for fields that are not nullable, and not set for others. Columns
    of nested lists, and the fields of a struct ``##SEQUENCE##``, are feature lists: fields of a
    STRUCT feature of that name, which comes last. All others keep their order.

    Args:
      arrow_schema: of batches, a table, a Parquet file (`pyarrow.parquet.read_schema`) ...

    Raises:
      SchemaError: a column of a type that no feature can hold, or two columns of the same name.
      ValueError: `arrow_schema` is not an Arrow schema.
    """
    check_instance("arrow_schema", arrow_schema, pa.Schema)
    check_distinct(arrow_schema.names, "columns")
    leaves = [leaf for field in arrow_schema for leaf in _leaves(field)]
    schema = schema_pb2.Schema()
    for path, field in sorted(leaves, key=lambda leaf: len(leaf[0])):
        _describe(add_feature(schema, path), path, field)
    return schema


def _leaves(field: pa.Field) -> Iterator[tuple[Path, pa.Field]]:
    """Yields the features of a column: the column itself, or the fields of the struct of steps."""
    if field.name == SEQUENCE_COLUMN and pa.types.is_struct(field.type):
        names = [each.name for each in field.type]
        check_distinct(names, f"fields of column {field.name!r}")
        for each in field.type:
            yield (SEQUENCE_COLUMN, each.name), each
    elif list_depth(field.type) > 1:
        yield (SEQUENCE_COLUMN, field.name), field
    else:
        yield (field.name,), field


def _describe(feature: schema_pb2.Feature, path: Path, field: pa.Field) -> None:
    nothing = to_features(field.name, pa.nulls(0, field.type), is_feature_list=len(path) > 1)
    feature.type = FEATURE_TYPES[kind_of(nothing) or Kind.BYTES]
    if holds_text(field.type):
        feature.annotation.tag.append(UTF8_TAG)
    if not field.nullable:
        feature.presence.min_fraction = feature.presence.min_count = 1
    if not is_list(field.type):
        feature.value_count.min = feature.value_count.max = 1
    elif len(path) == 1 and pa.types.is_fixed_size_list(field.type) and field.type.list_size:
        feature.value_count.min = feature.value_count.max = field.type.list_size
