"""Determines the columns, and their types, of TFRecord files in another format."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.records.convert.conversion import Conversion
from tfrecord_beam.records.convert.formats import Format
from tfrecord_beam.records.files import OnProgress, iter_blocks
from tfrecord_beam.records.hive import parse_path
from tfrecord_beam.records.inference import infer_schema
from tfrecord_beam.records.partition_columns import choose_decoder
from tfrecord_beam.records.paths import FileSystem
from tfrecord_beam.records.scalars import ColumnForms, choose_forms
from tfrecord_beam.records.table import decode_block
from tfrecord_beam.schema.arrow import BYTE_ARRAY_COLUMN, decode_plan, plan_schema


@dataclasses.dataclass(frozen=True)
class RecordColumns:
    """How records become rows.

    Attributes:
      schema: the features; None for opaque records.
      forms: which of them become scalars and text.
      arrow: the columns and their types.
    """

    schema: schema_pb2.Schema | None
    forms: ColumnForms
    arrow: pa.Schema

    def iter_file(
        self, path: str, conversion: Conversion, file_system: FileSystem
    ) -> Iterator[pa.RecordBatch]:
        """Yields the rows of one file.

        Args:
          path: of the file.
          conversion: what these columns were chosen for.
          file_system: where the file is.

        Raises:
          CorruptRecordError: it cannot be read.
          DecodeError: as for `iter_batches`.
        """
        columns, record_type = conversion.columns, conversion.record_type
        decoder = choose_decoder(
            decode_plan(self.schema, columns=columns, record_type=record_type),
            record_type,
            conversion.partition_columns,
            only_planned=columns is not None,
        )
        for block in iter_blocks(path, file_system=file_system):
            yield from decode_block(decoder, self.forms, block, None)


def choose_columns(conversion: Conversion, *, progress: OnProgress | None = None) -> RecordColumns:
    """Returns the columns of a conversion; without a schema all records are read to find them.

    Args:
      conversion: from TFRecord.
      progress: called while records are read.

    Raises:
      SchemaError: the schema or the columns cannot be used, or records disagree on a kind.
    """
    schema, record_type = conversion.schema, conversion.record_type
    scalars, strings = conversion.scalars, conversion.strings
    is_text = conversion.target_format.is_text
    if record_type == "ByteArray":
        scalars, strings = [BYTE_ARRAY_COLUMN], [BYTE_ARRAY_COLUMN] if is_text else []
    elif schema is None:
        options = conversion.inference_options
        schema = infer_schema(conversion.paths, progress=progress, **options)
    if conversion.partition_columns is not None and schema is not None:
        schema = _add_partition_columns(schema, conversion.paths)
    plan = decode_plan(schema, columns=conversion.columns, record_type=record_type)
    forms = choose_forms(schema, scalars, strings)
    if schema is not None:
        names = frozenset(each.name for each in schema.feature)
        if is_text:
            forms = dataclasses.replace(forms, strings=names)
        if conversion.target_format is Format.CSV:
            forms = dataclasses.replace(forms, scalars=names)
    return RecordColumns(schema, forms, forms.convert_schema(plan_schema(plan)))


def choose_schema(
    conversion: Conversion, *, progress: OnProgress | None = None
) -> schema_pb2.Schema | None:
    """Returns the schema of a conversion to TFRecord; None if each batch has its own.

    Args:
      conversion: from TFRecord to TFRecord.
      progress: as for `choose_columns`.

    Raises:
      SchemaError: as for `choose_columns`.
    """
    if conversion.schema is None and not conversion.needs_inference:
        return None
    return choose_columns(conversion, progress=progress).schema


def _add_partition_columns(schema: schema_pb2.Schema, paths: Sequence[str]) -> schema_pb2.Schema:
    """Returns the schema with the partition columns of the paths added, by default as text."""
    extended = schema_pb2.Schema()
    extended.CopyFrom(schema)
    known = {feature.name for feature in schema.feature}
    for name in dict.fromkeys(name for path in paths for name in parse_path(path)):
        if name not in known:
            feature = extended.feature.add(name=name, type=schema_pb2.FeatureType.BYTES)
            feature.shape.SetInParent()
            feature.string_domain.SetInParent()
    return extended
