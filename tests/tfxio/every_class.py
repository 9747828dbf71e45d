"""Each TFXIO class that needs no TensorFlow, over the same three rows."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import wire
from tfrecord_beam import kernel, tfxio
from tfrecord_beam.tfxio.record_based_tfxio import RecordBasedTFXIO

INT = pa.large_list(pa.int64())
FLOAT = pa.large_list(pa.float32())
BYTES = pa.large_list(pa.large_binary())

SEQUENCE = "##SEQUENCE##"
SCHEMA = schema_pb2.Schema(
    feature=[
        {"name": "i", "type": "INT"},
        {"name": "f", "type": "FLOAT", "deprecated": True},
        {"name": "b", "type": "BYTES"},
    ]
)
SEQUENCE_SCHEMA = schema_pb2.Schema(
    feature=[
        *SCHEMA.feature,
        schema_pb2.Feature(
            name=SEQUENCE,
            type=schema_pb2.STRUCT,
            struct_domain={"feature": [{"name": "s", "type": "INT"}]},
        ),
    ]
)

EXAMPLES = [
    wire.example(wire.entry("i", wire.int64(1)), wire.entry("b", wire.bytes_list(b"x"))),
    wire.example(wire.entry("f", wire.floats(0.5)), wire.entry("i", wire.int64(2))),
    wire.example(wire.entry("b", wire.NO_KIND), wire.entry("i", wire.int64(3))),
]
SEQUENCES = [
    wire.sequence_example(wire.feature_list("s", wire.int64(i, i), wire.int64()), context=context)
    for i, context in enumerate(EXAMPLES)
]
LINES = [b"1,,x", b"2,0.5,", b"3,,"]
ROWS: list[dict[str, Any]] = [
    {"i": [1], "f": None, "b": [b"x"]},
    {"i": [2], "f": [0.5], "b": None},
    {"i": [3], "f": None, "b": None},
]
SEQUENCE_ROWS = [{**row, SEQUENCE: {"s": [[i, i], []]}} for i, row in enumerate(ROWS)]
FIELDS = [("i", INT), ("f", FLOAT), ("b", BYTES)]

DESCRIPTORS = ["some", "component"]


class Class(NamedTuple):
    """A class, and what is known of it.

    Attributes:
      make: from the folder of its files and keyword arguments.
      records: raw records; None where there are none to tell of.
      rows: what is in its batches.
      arrow_schema: of its batches.
      tensors: names of its tensors.
      formats: the logical and the physical one.
      in_memory: whether it is applied to a PCollection of records.
    """

    make: Callable[..., RecordBasedTFXIO]
    records: Sequence[bytes] | None
    rows: Sequence[dict[str, Any]]
    arrow_schema: pa.Schema
    tensors: list[str]
    formats: tuple[str, str]
    in_memory: bool

    def head(self) -> list[beam.PTransform[Any, Any]]:
        """Returns what stands before its transforms in a pipeline."""
        return [beam.Create(self.records)] if self.in_memory else []


def write_records(folder: pathlib.Path, records: Sequence[bytes]) -> str:
    path = folder / "file.tfrecord"
    path.write_bytes(kernel.frame(records))
    return str(path)


def write_lines(folder: pathlib.Path) -> str:
    path = folder / "file.csv"
    path.write_bytes(b"\n".join(LINES))
    return str(path)


def write_parquet(folder: pathlib.Path) -> str:
    path = folder / "file.parquet"
    columns = {"i": [1, 2, 3], "f": [None, 0.5, None], "b": [b"x", None, None]}
    pq.write_table(pa.table(columns), path)
    return str(path)


def _in_memory(known: Class, make: Callable[..., RecordBasedTFXIO]) -> Class:
    """Returns the class for a PCollection of the same records."""
    return known._replace(make=make, formats=(known.formats[0], "memory"), in_memory=True)


def _known(**options: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, "telemetry_descriptors": DESCRIPTORS, **options}


def _raw(**options: Any) -> dict[str, Any]:
    return {"raw_record_column_name": "raw", "telemetry_descriptors": DESCRIPTORS, **options}


_EXAMPLE = Class(
    lambda d, **o: tfxio.TFExampleRecord(write_records(d, EXAMPLES), **_known(**o)),
    EXAMPLES,
    ROWS,
    pa.schema(FIELDS),
    ["b", "i"],
    ("tf_example", "tfrecords_gzip"),
    False,
)
_SEQUENCE = Class(
    lambda d, **o: tfxio.TFSequenceExampleRecord(
        write_records(d, SEQUENCES), **_known(**{"schema": SEQUENCE_SCHEMA, **o})
    ),
    SEQUENCES,
    SEQUENCE_ROWS,
    pa.schema([*FIELDS, (SEQUENCE, pa.struct([("s", pa.large_list(INT))]))]),
    [f"{SEQUENCE}.s", "b", "i"],
    ("tf_sequence_example", "tfrecords_gzip"),
    False,
)
_RAW = Class(
    lambda d, **o: tfxio.RawTfRecordTFXIO(write_records(d, EXAMPLES), **_raw(**o)),
    EXAMPLES,
    [{"raw": [record]} for record in EXAMPLES],
    pa.schema([("raw", BYTES)]),
    ["raw"],
    ("bytes", "tfrecords_gzip"),
    False,
)
_CSV = Class(
    lambda d, **o: tfxio.CsvTFXIO(write_lines(d), list("ifb"), **_known(**o)),
    LINES,
    ROWS,
    pa.schema(FIELDS),
    ["b", "i"],
    ("csv", "text"),
    False,
)
_PARQUET = Class(
    lambda d, **o: tfxio.ParquetTFXIO(write_parquet(d), **_known(**o)),
    None,
    ROWS,
    pa.schema(FIELDS),
    ["b", "i"],
    ("parquet", "parquet"),
    False,
)

CLASSES = {
    "TFExampleRecord": _EXAMPLE,
    "TFExampleBeamRecord": _in_memory(
        _EXAMPLE, lambda d, **o: tfxio.TFExampleBeamRecord("memory", **_known(**o))
    ),
    "TFSequenceExampleRecord": _SEQUENCE,
    "TFSequenceExampleBeamRecord": _in_memory(
        _SEQUENCE,
        lambda d, **o: tfxio.TFSequenceExampleBeamRecord(
            "memory", **_known(**{"schema": SEQUENCE_SCHEMA, **o})
        ),
    ),
    "RawTfRecordTFXIO": _RAW,
    "RawBeamRecordTFXIO": _in_memory(
        _RAW, lambda d, **o: tfxio.RawBeamRecordTFXIO("memory", **_raw(**o))
    ),
    "CsvTFXIO": _CSV,
    "BeamRecordCsvTFXIO": _in_memory(
        _CSV, lambda d, **o: tfxio.BeamRecordCsvTFXIO("memory", list("ifb"), **_known(**o))
    ),
    "ParquetTFXIO": _PARQUET,
}
WITH_SCHEMA = [name for name in CLASSES if not name.startswith("Raw")]
WITH_RAW_COLUMN = [name for name in WITH_SCHEMA if name != "ParquetTFXIO"]
