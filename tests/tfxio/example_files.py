"""Files of tf.Example records, and the rows that they hold."""

from __future__ import annotations

import gzip
import pathlib

from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.schemas import parse_schema
from tests.wire import NO_KIND, bytes_list, entry, example, floats, int64
from tfrecord_beam import kernel

SCHEMA = parse_schema(
    """
    feature { name: "name" type: BYTES }
    feature { name: "id" type: INT shape { dim { size: 1 } } presence { min_fraction: 1 } }
    feature { name: "score" type: FLOAT }
    feature { name: "index" type: INT int_domain { min: 0 max: 9 } }
    feature { name: "old" type: INT deprecated: true }
    tensor_representation_group {
      key: ""
      value { tensor_representation {
        key: "sparse_score"
        value { sparse_tensor {
          index_column_names: "index" value_column_name: "score" dense_shape { dim { size: 10 } }
        } }
      } }
    }
    """
)
"""Tensors: sparse_score (explicit) of the columns index and score; name and id are inferred."""

EMPTY_SCHEMA = schema_pb2.Schema()

NUM_RECORDS = 57


def record_of(i: int) -> bytes:
    """Returns a record with lists of every length, nulls, and a feature beyond the schema."""
    entries = [entry("id", int64(i)), entry("index", int64(*range(i % 3)))]
    if i % 4:
        entries.append(entry("name", bytes_list(*[b"name %d" % i] * (i % 4 - 1))))
    entries.append(entry("score", floats(*[i / 2] * (i % 3))) if i % 5 else entry("old", NO_KIND))
    entries.append(entry("beyond", floats(0.25)))
    return example(*entries)


RECORDS = [record_of(i) for i in range(NUM_RECORDS)]


def write_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes `RECORDS` to files: plain, compressed, and one without records."""
    parts = {"a.tfrecord": RECORDS[:30], "b.tfrecord.gz": RECORDS[30:50], "c.tfrecord": []}
    parts["d.tfrecord"] = RECORDS[50:]
    for name, records in parts.items():
        data = kernel.frame(records)
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return [folder / name for name in parts]
