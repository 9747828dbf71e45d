"""Loads TensorFlow Metadata (TFMD) schemas, and returns the columns that they define."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
from collections.abc import Callable
from typing import Any, Protocol, Union

import pyarrow as pa
from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError, Message
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import Location, NoMatchError, SchemaError
from tfrecord_beam.kernel.plan import SEQUENCE_COLUMN, Column, Kind
from tfrecord_beam.options import describe
from tfrecord_beam.schema.building import FEATURE_TYPES
from tfrecord_beam.schema.from_arrow import schema_from_arrow
from tfrecord_beam.schema.from_spark import is_spark_schema, schema_from_spark
from tfrecord_beam.schema.names import check_distinct
from tfrecord_beam.urls import has_scheme, normalize_path, resolve_url


class ArrowSchema(Protocol):
    """A `pyarrow.Schema`, for type checkers."""

    @property
    def names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> Any: ...


# pyarrow and TFMD are untyped: a union with their classes would accept any value.
SchemaSource = Union[Message, ArrowSchema, bytes, str, "os.PathLike[str]"]
"""The argument of `load_schema`. The message is a TFMD `Schema`."""

_PARSE_ERRORS = (
    json_format.ParseError,
    text_format.ParseError,
    UnicodeDecodeError,
    RecursionError,  # text or JSON that is nested too deeply
)

_KINDS = {feature_type: kind for kind, feature_type in FEATURE_TYPES.items()}


def open_direct(path: str) -> Any:
    """Opens a path, or a URL that `pyarrow.fs` supports, for binary reading."""
    if not has_scheme(path):
        return open(path, "rb")
    file_system, key = resolve_url(path)
    return file_system.open_input_file(key)


def load_schema(
    source: SchemaSource, open_file: Callable[[str], Any] = open_direct
) -> schema_pb2.Schema:
    """Returns the TFMD schema given by `source`.

    >>> load_schema(b"").feature
    []

    Args:
      source: a `Schema` (returned unchanged), a serialized one (`bytes`), an Arrow schema (see
        `schema_from_arrow`), or the path of a schema file, or its URL in a scheme that `pyarrow.fs`
        supports (``gs://``, ``s3://``, ``hdfs://``). For a name that ends in ``.parquet`` it is the
        schema of the data; for ``.json`` the file is JSON, also that of a Spark `StructType` (see
        `schema_from_spark`); otherwise it is protobuf text or protobuf binary, detected from the
        content. A UTF-8 byte order mark is skipped.
      open_file: opens a path or URL for binary reading.

    Raises:
      SchemaError: `source` is none of these, or the file is empty.
      NoMatchError: the file does not exist.
      OSError: the file cannot be read.
    """
    if isinstance(source, schema_pb2.Schema):
        return source
    if isinstance(source, pa.Schema):
        return schema_from_arrow(source)
    if isinstance(source, bytes):
        try:
            return _parse_binary(source)
        except DecodeError as error:
            raise SchemaError("Expected a serialized TFMD Schema, found other bytes") from error
    path = os.fspath(source) if isinstance(source, os.PathLike) else source
    if isinstance(path, str) and path:
        return _read_schema(path, open_file)
    raise SchemaError(
        "Expected a TFMD Schema, its serialized bytes or the path of its file, "
        f"found {describe(source)}"
    )


def serialize_schema(schema: schema_pb2.Schema, name: str) -> bytes:
    """Returns the content of a schema file with this name, in a form that `load_schema` reads.

    JSON if the name ends in ``.json``, protobuf binary for ``.pb``, else protobuf text.
    """
    if name.endswith(".json"):
        text: str = json_format.MessageToJson(schema, ensure_ascii=False)
        return text.encode() + b"\n"
    if name.endswith(".pb"):
        data: bytes = schema.SerializeToString(deterministic=True)
        return data
    return format_schema(schema).encode()


def format_schema(schema: schema_pb2.Schema) -> str:
    """Returns a TFMD schema as protobuf text."""
    text: str = text_format.MessageToString(schema, as_utf8=True)
    return text


def schema_columns(schema: schema_pb2.Schema) -> tuple[Column, ...]:
    """Returns one column for each feature of `schema`, in its order.

    INT, FLOAT and BYTES become `Kind.INT64`, `Kind.FLOAT` and `Kind.BYTES`. The lifecycle of a
    feature does not matter: deprecated features are columns too.

    Raises:
      SchemaError: a feature has another type or none, or two features have the same name.
    """
    columns = tuple(Column(feature.name, _kind(feature)) for feature in schema.feature)
    check_distinct((column.name for column in columns), "features in the schema")
    return columns


def sequence_schema_columns(
    schema: schema_pb2.Schema, sequence_column: str = SEQUENCE_COLUMN
) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """Returns the columns of the context, and those of the steps: the fields of one STRUCT feature.

    Args:
      schema: as for `schema_columns`.
      sequence_column: name of the STRUCT feature. If it is missing, there are no columns of steps.

    Raises:
      SchemaError: that feature is not a STRUCT, or contains one; otherwise as `schema_columns`.
    """
    check_distinct((feature.name for feature in schema.feature), "features in the schema")
    context: list[Column] = []
    steps: list[Column] = []
    for feature in schema.feature:
        if feature.name != sequence_column:
            context.append(Column(feature.name, _kind(feature)))
        elif feature.type == schema_pb2.FeatureType.STRUCT:
            fields = feature.struct_domain.feature
            steps = [Column(field.name, _kind(field, f"{feature.name}.")) for field in fields]
        else:
            raise SchemaError(
                f"Expected type STRUCT for feature {feature.name!r}, found {_type_name(feature)}",
                Location(feature=feature.name),
            )
    check_distinct((column.name for column in steps), f"features in {sequence_column!r}")
    return tuple(context), tuple(steps)


def _kind(feature: schema_pb2.Feature, prefix: str = "") -> Kind:
    kind = _KINDS.get(feature.type)
    if kind is None:
        name = prefix + feature.name
        raise SchemaError(
            f"Expected type INT, FLOAT or BYTES for feature {name!r}, found {_type_name(feature)}",
            Location(feature=name),
            hint="read SequenceExamples with record_type='SequenceExample'"
            if name == SEQUENCE_COLUMN
            else None,
        )
    return kind


def _type_name(feature: schema_pb2.Feature) -> str:
    return "none" if not feature.type else schema_pb2.FeatureType.Name(feature.type)


def _read_schema(path: str, open_file: Callable[[str], Any]) -> schema_pb2.Schema:
    if os.path.isdir(path):
        raise SchemaError(f"Expected a schema at {path!r}, found a folder")
    try:
        with contextlib.closing(open_file(normalize_path(path))) as file:
            if path.endswith(".parquet"):
                return schema_from_arrow(_read_parquet_schema(file, path))
            data = file.read().removeprefix(codecs.BOM_UTF8)
    except FileNotFoundError as error:
        raise NoMatchError(f"Expected a schema at {path!r}, found no file") from error
    expected = "Expected a TFMD Schema as protobuf text, protobuf binary or JSON, found"
    if not data.strip():
        hint = "Schema() is one without features"
        raise SchemaError(f"{expected} an empty file", Location(file=path), hint)
    try:
        return _parse_json(data) if path.endswith(".json") else _parse_text_or_binary(data)
    except _PARSE_ERRORS as error:
        reason = str(error).strip().partition("\n")[0]
        found = f": {reason}" if reason else " other bytes"
        raise SchemaError(f"{expected}{found}", Location(file=path)) from error


def _read_parquet_schema(file: Any, path: str) -> pa.Schema:
    import pyarrow.parquet  # slow to import

    try:
        return pyarrow.parquet.read_schema(pa.PythonFile(file, mode="r"))
    except pa.ArrowInvalid as error:
        raise SchemaError(
            f"Expected a Parquet file, found other bytes: {error}", Location(file=path)
        ) from error


def _parse_json(data: bytes) -> schema_pb2.Schema:
    if not data.lstrip().startswith(b"{"):  # protobuf accepts some other JSON, such as []
        raise json_format.ParseError("no JSON object")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None  # protobuf's own parser reports the error
    if is_spark_schema(value):
        return schema_from_spark(value)
    return json_format.Parse(data, schema_pb2.Schema())


def _parse_text_or_binary(data: bytes) -> schema_pb2.Schema:
    # Text first. Binary may parse as text only if all of it is a comment: of a name with "#".
    try:
        schema = text_format.Parse(data, schema_pb2.Schema())
        if schema.ListFields():
            return schema
    except (text_format.ParseError, UnicodeDecodeError):
        with contextlib.suppress(DecodeError):
            return _parse_binary(data)
        raise
    with contextlib.suppress(DecodeError):
        return _parse_binary(data)
    return schema


def _parse_binary(data: bytes) -> schema_pb2.Schema:
    schema = schema_pb2.Schema.FromString(data)
    if data and not schema.ListFields():  # only unknown fields: another message, or random bytes
        raise DecodeError("no field of a Schema")
    return schema
