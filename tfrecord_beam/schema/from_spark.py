"""Converts Spark schemas to TFMD schemas, using the Arrow types that correspond to Spark's.

Supported are the types of `SPARK_TYPES`, ``decimal(p,s)``, arrays of them, and arrays of such
arrays, which are feature lists. See `tfrecord_beam.schema.encoding` for how values are stored.
Maps, structs and intervals are rejected.

Spark's data source for TFRecord files supports integer, long, float, double, decimal, string,
binary and arrays of them. It narrows doubles to 32 bits. For decimals it stores the digits without
the decimal point, or with more than 18 digits an unrelated number: read those with care.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import Location, SchemaError
from tfrecord_beam.options import describe
from tfrecord_beam.schema.from_arrow import schema_from_arrow

SPARK_TYPES = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}
"""The Arrow type of each simple type of Spark, by its name in JSON."""

_DECIMAL = re.compile(r"decimal\((\d+), *(-?\d{1,3})\)")
_MAX_DIGITS = 38
"""Limit of Spark's decimals, and of Arrow's 128-bit ones."""


def is_spark_schema(value: object) -> bool:
    """Returns whether a JSON value is a Spark `StructType`."""
    return isinstance(value, Mapping) and value.get("type") == "struct"


def schema_from_spark(struct: Mapping[str, Any]) -> schema_pb2.Schema:
    """Returns the TFMD schema for a Spark `StructType`.

    >>> field = {"name": "age", "type": "long", "nullable": True}
    >>> [feature] = schema_from_spark({"type": "struct", "fields": [field]}).feature
    >>> feature.name, feature.type == schema_pb2.INT
    ('age', True)

    Args:
      struct: the result of `StructType.jsonValue()`, or of ``json.loads(StructType.json())``.

    Raises:
      SchemaError: `struct` is not a `StructType`, or a field has an unsupported type.
    """
    return schema_from_arrow(arrow_from_spark(struct))


def arrow_from_spark(struct: Mapping[str, Any]) -> pa.Schema:
    """Returns the Arrow schema for a Spark `StructType`, with the errors of `schema_from_spark`."""
    if not is_spark_schema(struct):
        raise SchemaError(f"Expected a StructType of Spark as JSON, found {describe(struct)}")
    try:
        return pa.schema(list(map(_arrow_field, struct["fields"])))
    except (KeyError, TypeError) as error:
        raise SchemaError(
            "Expected a StructType of Spark as JSON, found one with fields that lack name, type or "
            f"nullable: {describe(struct)}"
        ) from error


def _arrow_field(field: Mapping[str, Any]) -> pa.Field:
    return pa.field(field["name"], _arrow_type(field["name"], field["type"]), field["nullable"])


def _arrow_type(name: str, spark_type: Any) -> pa.DataType:
    if isinstance(spark_type, Mapping) and spark_type["type"] == "array":
        return pa.list_(_arrow_type(name, spark_type["elementType"]))
    if isinstance(spark_type, str):
        decimal = _DECIMAL.fullmatch(spark_type)
        if decimal and 1 <= int(decimal[1]) <= _MAX_DIGITS:
            return pa.decimal128(int(decimal[1]), int(decimal[2]))
        if spark_type in SPARK_TYPES:
            return SPARK_TYPES[spark_type]
    found = spark_type["type"] if isinstance(spark_type, Mapping) else spark_type
    raise SchemaError(
        f"Expected a type among {', '.join(SPARK_TYPES)}, decimal(p,s) and arrays of these for "
        f"feature {name!r}, found {found}",
        Location(feature=name),
        hint="cast the column, or make columns of its parts",
    )
