"""Encodes rows as records, according to the options of a write."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.writing.elements import RowTypes, row_types
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.schema.building import replace_features
from tfrecord_beam.schema.encoding import NullValues
from tfrecord_beam.schema.features import EncodedType, FeatureKinds, schema_kinds
from tfrecord_beam.schema.names import check_known
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema


@dataclasses.dataclass(frozen=True)
class RowEncoding:
    """How rows become records.

    Attributes:
      encoder: of record batches.
      types: of the values of rows that are no batches.
      folder_kinds: the kinds that the schema has for columns that are in folders' names instead.
    """

    encoder: RecordEncoder
    types: RowTypes
    folder_kinds: FeatureKinds


def make_encoding(
    options: WriteOptions,
    schema: SchemaSource | None,
    *,
    record_type: EncodedType,
    null_as_absent: bool,
    null_values: NullValues,
    feature_list_columns: Sequence[str] | None,
) -> RowEncoding:
    """Returns how rows become records, by the options of `RecordEncoder`.

    Raises:
      SchemaError: the schema cannot be used, or lacks a partition column that records keep.
      ValueError: an option has a value that there is none of.
    """
    loaded = None if schema is None else load_schema(schema)
    types = row_types(loaded)
    folder_kinds: FeatureKinds = {}
    if loaded is not None and options.partition_by and not options.keep_partition_columns:
        kinds = schema_kinds(loaded, record_type)
        folder_kinds = {name: kinds[name] for name in options.partition_by if name in kinds}
        loaded = replace_features(
            loaded, [each for each in loaded.feature if each.name not in options.partition_by]
        )
    encoder = RecordEncoder(
        loaded,
        record_type=record_type,
        feature_list_columns=feature_list_columns,
        null_as_absent=null_as_absent,
        null_values=null_values,
        match_schema=True,
    )
    if loaded is not None and options.partition_by and options.keep_partition_columns:
        check_known(options.partition_by, schema_kinds(loaded, record_type), "partition_by")
    return RowEncoding(encoder, types, folder_kinds)
