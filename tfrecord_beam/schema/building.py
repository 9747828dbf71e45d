"""Building blocks of TFMD schemas: features by their paths, and the types for each kind."""

from __future__ import annotations

from collections.abc import Iterable

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.kernel.plan import Kind

Path = tuple[str, ...]
"""The name of a feature; for a feature of steps, the name of the STRUCT feature and its own."""

FEATURE_TYPES = {
    Kind.INT64: schema_pb2.FeatureType.INT,
    Kind.FLOAT: schema_pb2.FeatureType.FLOAT,
    Kind.BYTES: schema_pb2.FeatureType.BYTES,
}

UTF8_TAG = "utf-8"
"""The tag in a feature's annotation that marks its bytes as text."""


def replace_features(
    schema: schema_pb2.Schema, features: Iterable[schema_pb2.Feature]
) -> schema_pb2.Schema:
    """Returns a copy of a schema with these features instead of its own."""
    result = schema_pb2.Schema()
    result.CopyFrom(schema)
    del result.feature[:]
    result.feature.extend(features)
    return result


def add_feature(schema: schema_pb2.Schema, path: Path) -> schema_pb2.Feature:
    """Adds and returns a feature with this path; creates the STRUCT around it if necessary."""
    *structs, name = path
    if not structs:
        return schema.feature.add(name=name)
    struct = next((each for each in schema.feature if each.name == structs[0]), None)
    if struct is None:
        struct = schema.feature.add(name=structs[0], type=schema_pb2.FeatureType.STRUCT)
    return struct.struct_domain.feature.add(name=name)
