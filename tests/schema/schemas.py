"""Schemas for tests, from protobuf text."""

from __future__ import annotations

from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2


def parse_schema(text: str) -> schema_pb2.Schema:
    """Returns the schema that `text` spells."""
    return text_format.Parse(text, schema_pb2.Schema())
