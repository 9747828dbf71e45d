"""The options of a conversion, as one value that is validated on creation."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.kernel.plan import RecordType
from tfrecord_beam.options import check_path, describe
from tfrecord_beam.records.compression import codec_of_name
from tfrecord_beam.records.convert.formats import (
    Format,
    choose_format,
    find_tfrecord_suffix,
    name_shard,
)
from tfrecord_beam.records.convert.targets import choose_codec
from tfrecord_beam.records.inference import is_inferred
from tfrecord_beam.records.partition_columns import PartitionColumns
from tfrecord_beam.records.paths import (
    FileEntry,
    FilePattern,
    FileSystem,
    match_files,
    normalize_patterns,
)
from tfrecord_beam.records.scalars import ColumnChoice
from tfrecord_beam.records.writing.compression import Compression
from tfrecord_beam.records.writing.names import check_file_path, check_no_pattern
from tfrecord_beam.records.writing.options import Mode
from tfrecord_beam.schema.building import replace_features
from tfrecord_beam.schema.features import EncodedType
from tfrecord_beam.schema.names import as_names, check_distinct, check_known
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema
from tfrecord_beam.urls import normalize_path

_SEVERAL = {"num_shards", "max_records_per_shard", "max_bytes_per_shard", "partition_by"}
"""Options with which a TFRecord target is a prefix."""

_MODES = ("error", "overwrite")
"""The modes for a target file of another format."""


@dataclasses.dataclass(frozen=True)
class Conversion:
    """A conversion; see `convert` for the meaning of each option.

    Attributes:
      files: the source files.
      source_format: their format.
      target: the normalized path.
      target_format: its format. One of the two formats is TFRecord.
      schema: loaded, and to TFRecord without the features that are not among `columns`.
      columns: to convert; for a CSV target without a header line these are `column_names`.
      compression: None: according to the target's suffix and format.
      write_options: other options of `write_table`, if the target is TFRecord.
    """

    files: tuple[FileEntry, ...]
    source_format: Format
    target: str
    target_format: Format
    schema: schema_pb2.Schema | None = None
    columns: Sequence[str] | None = None
    column_names: Sequence[str] | None = None
    record_type: RecordType = "Example"
    scalars: ColumnChoice = True
    strings: ColumnChoice = True
    partition_columns: PartitionColumns | None = None
    compression: str | None = None
    mode: Mode = "error"
    write_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if Format.TFRECORD not in (self.source_format, self.target_format):
            raise ValueError(
                "Expected TFRecord as the source or the target, "
                f"found {self.source_format.value} to {self.target_format.value}"
            )
        if self.column_names is not None:
            self._check_column_names(self.column_names)
        if self.target_format is Format.TFRECORD:
            Compression.resolve(self.compression)
            return
        check_file_path("target", self.target)
        choose_codec(self.target, self.target_format, self.compression)
        if self.mode not in _MODES:
            raise ValueError(
                f"Expected mode to be one of {', '.join(_MODES)} for a file of "
                f"{self.target_format.value}, found {describe(self.mode)}"
            )
        if self.write_options:
            raise ValueError(
                f"Expected options for a file of {self.target_format.value}, found "
                f"{', '.join(self.write_options)}, which write TFRecord files"
            )

    def _check_column_names(self, names: Sequence[str]) -> None:
        if not names:
            raise ValueError("Expected at least one of column_names, found none")
        check_distinct(names, "column_names")
        formats = self.source_format, self.target_format
        if Format.CSV not in formats:
            found = " to ".join(each.value for each in formats)
            raise ValueError(f"Expected column_names for CSV only, found them for {found}")

    @property
    def paths(self) -> list[str]:
        """The paths of the source files."""
        return [file.path for file in self.files]

    @property
    def total_bytes(self) -> int:
        """Size of all files, as stored."""
        return sum(file.size for file in self.files)

    @property
    def codec(self) -> str:
        """The compression of a TFRecord target."""
        return codec_of_name(self.target) if self.compression is None else self.compression

    @property
    def is_one_file(self) -> bool:
        """Whether the target is the path of a file, not the prefix of several."""
        return not _SEVERAL.intersection(self.write_options)

    @property
    def shard_options(self) -> Mapping[str, Any]:
        """The options for several TFRecord files, whose names have the suffix of the target."""
        suffix = find_tfrecord_suffix(self.target)
        return {"file_name_suffix": suffix, **self.write_options} if suffix else self.write_options

    @property
    def copies_records(self) -> bool:
        """Whether records are copied unchanged from TFRecord to TFRecord."""
        return (
            self.source_format is self.target_format
            and self.schema is None
            and self.columns is None
            and self.partition_columns is None
            and not self.write_options.get("partition_by")
        )

    @property
    def encoded_type(self) -> EncodedType:
        """The type of the records written to TFRecord; the writer rejects unknown ones."""
        return cast(EncodedType, "ByteArray" if self.copies_records else self.record_type)

    @property
    def needs_inference(self) -> bool:
        """Whether all records must be read to determine the columns."""
        return (
            self.source_format is Format.TFRECORD
            and (self.target_format is not Format.TFRECORD or self.columns is not None)
            and self.schema is None
            and self.record_type != "ByteArray"
        )

    @property
    def inference_options(self) -> dict[str, Any]:
        """The options for `infer_schema` if all records must be read: to find text, if needed."""
        has_strings = not self.target_format.is_text and self.target_format is not Format.TFRECORD
        return {
            "record_type": self.record_type,
            "content_domains": has_strings and self.strings is True,
        }

    def name_targets(self) -> list[str]:
        """Returns the path of the target file for each source file."""
        count = len(self.files)
        if count == 1:
            return [self.target]
        return [name_shard(self.target, index, count) for index in range(count)]


def plan_conversion(
    source: FilePattern,
    target: str | os.PathLike[str],
    schema: SchemaSource | None,
    file_system: FileSystem,
    *,
    source_format: str | None,
    target_format: str | None,
    columns: Sequence[str] | None,
    column_names: Sequence[str] | None,
    compression: str | None,
    **options: Any,
) -> Conversion:
    """Returns the conversion for the options of `convert`.

    Args:
      source: as for `convert`.
      target: as for `convert`.
      schema: as for `convert`.
      file_system: where the source is.
      source_format: as for `convert`.
      target_format: as for `convert`.
      columns: as for `convert`.
      column_names: as for `convert`.
      compression: as for `convert`.
      options: other attributes of `Conversion`.

    Raises:
      ValueError: an option is out of range.
      NoMatchError: a pattern matches no file.
      SchemaError: the schema cannot be used, or does not have a column.
    """
    check_path("target", target)
    target = normalize_path(os.fspath(target))
    check_no_pattern("target", target)
    files = match_files(normalize_patterns(source), file_system)
    from_format = choose_format("source_format", source_format, [file.path for file in files])
    to_format = choose_format("target_format", target_format, [target])
    columns = None if columns is None else as_names(columns, "columns")
    column_names = None if column_names is None else as_names(column_names, "column_names")
    if to_format is Format.CSV and column_names is not None:
        if columns is not None:
            raise ValueError("Expected columns or column_names for a CSV target, found both")
        columns = column_names
    if schema is not None:
        schema = None if is_inferred(schema) else load_schema(schema, file_system.open)
    if schema is not None and columns is not None and from_format is not Format.TFRECORD:
        schema = _select_features(schema, columns)
    return Conversion(
        tuple(files),
        from_format,
        target,
        to_format,
        schema,
        columns,
        column_names,
        compression=None if compression == "auto" else compression or "none",
        **options,
    )


def _select_features(schema: schema_pb2.Schema, columns: Sequence[str]) -> schema_pb2.Schema:
    features = {feature.name: feature for feature in schema.feature}
    check_known(columns, features, "columns")
    return replace_features(schema, [features[name] for name in columns])
