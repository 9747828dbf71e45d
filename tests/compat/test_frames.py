"""Files against TensorFlow's and Beam's: each reads what the other has written."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

import apache_beam as beam
import pytest
from hypothesis import HealthCheck, given, settings

from tests import strategies
from tests.compat.peers import import_peer
from tests.tfxio.pipelines import run
from tfrecord_beam import kernel
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.writing.writer import TFRecordWriter
from tfrecord_beam.transforms.read import RawRecordBeamSource

tf = import_peer("tensorflow")

RECORDS = [b"", b"x", bytes(8), bytes(range(256)) * 300, b"", b"last"]

in_each_compression = pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_by_us(path: pathlib.Path) -> list[bytes]:
    """Returns the records of a file, whose compression the library has to find out."""
    return [record for block in iter_blocks(path) for record in block.records()]


def read_by_tensorflow(path: pathlib.Path, compression: str) -> list[bytes]:
    return list(tf.data.TFRecordDataset(str(path), compression).as_numpy_iterator())


def write_by_us(path: pathlib.Path, records: Sequence[bytes], compression: str) -> None:
    with TFRecordWriter(path, compression=compression, mode="overwrite") as writer:
        for record in records:
            writer.write(record)


def write_by_tensorflow(path: pathlib.Path, records: Sequence[bytes], compression: str) -> None:
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)


@in_each_compression
def test_tensorflow_to_us(compression: str, tmp_path: pathlib.Path) -> None:
    write_by_tensorflow(tmp_path / "file", RECORDS, compression)
    assert read_by_us(tmp_path / "file") == RECORDS


@in_each_compression
def test_us_to_tensorflow(compression: str, tmp_path: pathlib.Path) -> None:
    write_by_us(tmp_path / "file", RECORDS, compression)
    assert read_by_tensorflow(tmp_path / "file", compression) == RECORDS


@pytest.mark.parametrize("level", range(10))
def test_us_to_tensorflow_at_each_level(level: int, tmp_path: pathlib.Path) -> None:
    records = RECORDS * 30  # more than is compressed at a time
    for codec in ("gzip", "zlib"):
        path = tmp_path / codec
        with TFRecordWriter(path, compression=codec, compression_level=level) as writer:
            for record in records:
                writer.write(record)
        assert read_by_tensorflow(path, codec.upper()) == records


@in_each_compression
def test_no_records(compression: str, tmp_path: pathlib.Path) -> None:
    write_by_tensorflow(tmp_path / "theirs", [], compression)
    assert read_by_us(tmp_path / "theirs") == []
    write_by_us(tmp_path / "ours", [], compression)
    assert read_by_tensorflow(tmp_path / "ours", compression) == []


@in_one_folder
@given(records=strategies.payload_lists())
def test_same_bytes(records: list[bytes], tmp_path: pathlib.Path) -> None:
    write_by_tensorflow(tmp_path / "file", records, "")
    assert (tmp_path / "file").read_bytes() == kernel.frame(records)


@pytest.mark.parametrize("suffix", [".tfrecord", ".tfrecord.gz", ".tfrecord.deflate"])
def test_beam_to_us(suffix: str, tmp_path: pathlib.Path) -> None:
    written = beam.io.WriteToTFRecord(str(tmp_path / "part"), file_name_suffix=suffix, num_shards=2)
    run(beam.Create(RECORDS), written)
    paths = sorted(tmp_path.iterdir())
    assert len(paths) == 2
    assert sorted(sum(map(read_by_us, paths), [])) == sorted(RECORDS)
    assert sorted(run(RawRecordBeamSource(paths)).elements) == sorted(RECORDS)


@pytest.mark.parametrize(
    ("suffix", "compression"), [("", ""), (".gz", "GZIP"), (".deflate", "ZLIB")]
)
def test_us_to_beam(suffix: str, compression: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / f"file{suffix}"
    write_by_us(path, RECORDS, compression)
    assert run(beam.io.ReadFromTFRecord(str(path))).elements == RECORDS


def test_changed_bits_are_refused_alike(tmp_path: pathlib.Path) -> None:
    frames = kernel.frame([b"some", b"records"])
    for at in range(len(frames)):
        path = tmp_path / f"{at}"
        path.write_bytes(frames[:at] + bytes([frames[at] ^ 4]) + frames[at + 1 :])
        with pytest.raises(tf.errors.DataLossError):
            read_by_tensorflow(path, "")
        with pytest.raises(CorruptRecordError):
            read_by_us(path)


def test_file_that_ends_inside_a_header_is_refused(tmp_path: pathlib.Path) -> None:
    """On purpose: TensorFlow takes that for the end of the file."""
    (tmp_path / "cut").write_bytes(kernel.frame([b"some", b"records"])[: 20 + 11])
    assert read_by_tensorflow(tmp_path / "cut", "") == [b"some"]
    with pytest.raises(CorruptRecordError, match="cut:20, record 1"):
        read_by_us(tmp_path / "cut")
