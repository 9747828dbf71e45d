"""Files of TFMD schemas."""

from __future__ import annotations

import os

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.options import check_path
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.placing import write_new_file
from tfrecord_beam.schema.tfmd import serialize_schema
from tfrecord_beam.urls import normalize_path


def save_schema(schema: schema_pb2.Schema, path: str | os.PathLike[str]) -> None:
    """Writes a TFMD schema to a file, whole or not at all; makes folders for it.

    A file that is there is replaced, and stays as it is until the new one is whole.

    Args:
      schema: the schema.
      path: path of the file, or a URL that `pyarrow.fs` knows. JSON if the name ends in ``.json``,
        protobuf binary if in ``.pb``, else protobuf text: forms that `load_schema` reads.

    Raises:
      ValueError: it is no path.
      WriteError: the file cannot be written.
    """
    check_path("path", path)
    name = normalize_path(os.fspath(path))
    data = serialize_schema(schema, name)
    write_new_file(name, data, DirectOutputFileSystem(), overwrite=True)
