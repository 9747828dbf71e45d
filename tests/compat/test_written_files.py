"""Files that this library writes, read by TensorFlow, tfx-bsl, Beam and the package tfrecord."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.compat.peers import import_peer
from tests.tfxio.pipelines import run
from tfrecord_beam import TFRecordWriter, WriteToTFRecord, write_table
from tfrecord_beam.records.encode import RecordEncoder

tf = import_peer("tensorflow")

IDS = list(range(20))
BATCH = pa.record_batch(
    {
        "id": pa.array(IDS),
        "score": pa.array([None if i % 5 == 0 else i / 4 for i in IDS], pa.float32()),
        "tags": pa.array([[f"tag {j}" for j in range(i % 3)] for i in IDS]),
    }
)
SCHEMA = text_format.Parse(
    """
    feature { name: "id" type: INT }
    feature { name: "score" type: FLOAT }
    feature { name: "tags" type: BYTES }
    """,
    schema_pb2.Schema(),
)

Write = Callable[[pathlib.Path, "str | None"], None]


def _write_table(folder: pathlib.Path, compression: str | None) -> None:
    write_table(BATCH, folder / "out", num_shards=2, compression=compression, write_success=True)


def _write_pipeline(folder: pathlib.Path, compression: str | None) -> None:
    write = WriteToTFRecord(str(folder / "out"), SCHEMA, num_shards=2, compression=compression)
    run(beam.Create([BATCH]), write)


def _write_file(folder: pathlib.Path, compression: str | None) -> None:
    suffix = {None: "", "gzip": ".gz", "zlib": ".deflate"}[compression]
    path = folder / f"out.tfrecord{suffix}"
    with TFRecordWriter(path, compression=compression) as writer:
        writer.write_batch(BATCH.slice(0, 7))
        for record in RecordEncoder().encode_records(BATCH.slice(7)):
            writer.write(record)


by_each_writer = pytest.mark.parametrize(
    "write", [_write_table, _write_pipeline, _write_file], ids=["table", "pipeline", "file"]
)
in_each_compression = pytest.mark.parametrize(
    ("compression", "suffix", "theirs"),
    [
        (None, ".tfrecord", ""),
        ("gzip", ".tfrecord.gz", "GZIP"),
        ("zlib", ".tfrecord.deflate", "ZLIB"),
    ],
)
"""The codecs that TensorFlow and Spark know, the suffixes by which Spark knows them."""


def _files(folder: pathlib.Path) -> list[str]:
    return sorted(str(path) for path in folder.glob("out*"))


@by_each_writer
@in_each_compression
def test_tensorflow(
    write: Write, compression: str | None, suffix: str, theirs: str, tmp_path: pathlib.Path
) -> None:
    write(tmp_path, compression)
    files = _files(tmp_path)
    assert all(file.endswith(suffix) for file in files)
    features = {
        "id": tf.io.FixedLenFeature([], tf.int64),
        "score": tf.io.FixedLenFeature([], tf.float32, -1),
        "tags": tf.io.RaggedFeature(tf.string),
    }
    dataset = tf.data.TFRecordDataset(files, theirs).batch(len(IDS))
    [parsed] = [tf.io.parse_example(records, features) for records in dataset]
    found = zip(
        *(parsed[name].numpy().tolist() for name in ("id", "score")), parsed["tags"].to_list()
    )
    expected = [
        (
            row["id"],
            -1 if row["score"] is None else row["score"],
            [tag.encode() for tag in row["tags"]],
        )
        for row in BATCH.to_pylist()
    ]
    assert sorted(found) == expected


@by_each_writer
@in_each_compression
def test_tfx_bsl(
    write: Write, compression: str | None, suffix: str, theirs: str, tmp_path: pathlib.Path
) -> None:
    peer = import_peer("tfx_bsl.tfxio.tf_example_record")
    write(tmp_path, compression)
    tfxio = peer.TFExampleRecord(str(tmp_path / f"out*{suffix}"), schema=SCHEMA)
    rows = [row for batch in run(tfxio.BeamSource()).elements for row in batch.to_pylist()]
    rows.sort(key=lambda row: row["id"])
    expected = [
        {
            "id": [row["id"]],
            "score": None if row["score"] is None else [row["score"]],
            "tags": [tag.encode() for tag in row["tags"]],
        }
        for row in BATCH.to_pylist()
    ]
    assert rows == expected


@by_each_writer
@in_each_compression
def test_beam(
    write: Write, compression: str | None, suffix: str, theirs: str, tmp_path: pathlib.Path
) -> None:
    write(tmp_path, compression)
    read = beam.io.ReadFromTFRecord(str(tmp_path / f"out*{suffix}"))
    assert sorted(run(read).elements) == sorted(RecordEncoder().encode_records(BATCH))


# In a process of its own: it defines the messages that TensorFlow has too.
_READ_BY_PACKAGE = """
    import json, sys
    from tfrecord.reader import tfrecord_loader

    compression, *files = sys.argv[1:]
    for file in files:
        kinds = {"id": "int", "tags": "byte"}
        for row in tfrecord_loader(file, None, kinds, compression_type=compression or None):
            # A bytes list of one value is bytes, and one of others an array.
            tags = [row["tags"]] if isinstance(row["tags"], bytes) else row["tags"]
            print(json.dumps([int(row["id"][0]), [bytes(tag).decode() for tag in tags]]))
"""


@by_each_writer
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_package_tfrecord(write: Write, compression: str | None, tmp_path: pathlib.Path) -> None:
    if not importlib.util.find_spec("tfrecord"):
        pytest.skip("tfrecord cannot be imported")
    write(tmp_path, compression)
    script = textwrap.dedent(_READ_BY_PACKAGE)
    output = subprocess.run(
        [sys.executable, "-c", script, compression or "", *_files(tmp_path)],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    rows = sorted(json.loads(line) for line in output.splitlines())
    assert rows == [[row["id"], row["tags"]] for row in BATCH.to_pylist()]


def test_sequence_examples(tmp_path: pathlib.Path) -> None:
    table = pa.table({"id": [1, 2], "steps": [[[1, 2], [3]], [[]]]})
    write_table(
        table, tmp_path / "a.tfrecord.gz", record_type="SequenceExample", compression="gzip"
    )
    context, steps = (
        {"id": tf.io.FixedLenFeature([], tf.int64)},
        {"steps": tf.io.RaggedFeature(tf.int64)},
    )
    dataset = tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord.gz"), "GZIP").batch(2)
    [(found, found_steps, _)] = [
        tf.io.parse_sequence_example(records, context, steps) for records in dataset
    ]
    assert found["id"].numpy().tolist() == [1, 2]
    assert found_steps["steps"].to_list() == table.column("steps").to_pylist()


def test_raw_records(tmp_path: pathlib.Path) -> None:
    records = [b"", b"\0", bytes(range(256))]
    write_table({"any": np.array(records, object)}, tmp_path / "a", record_type="ByteArray")
    found: list[Any] = list(tf.data.TFRecordDataset(str(tmp_path / "a")).as_numpy_iterator())
    assert found == records


def test_codec_that_tensorflow_does_not_read(tmp_path: pathlib.Path) -> None:
    with pytest.warns(UserWarning, match="TensorFlow cannot read"):
        write_table(BATCH, tmp_path / "a.tfrecord.zst", compression="zstd")
    for theirs in ("", "GZIP", "ZLIB"):
        with pytest.raises(tf.errors.DataLossError):
            list(tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord.zst"), theirs))
