"""Writing of one file without Beam: us a record, record by record and batch by batch.

Size: 100,000 census and 50,000 dense records, 0.04 and 0.11 GB. Records are `bytes` objects that
are there already, batches have 1000 rows. tf.io.TFRecordWriter takes records; the package tfrecord
takes dicts of values and encodes them, as batches are here. gzip is at level 6 in TensorFlow, at
the fast default and at level 6 here. Files are written twice, into the page cache, each case in a
process of its own. Bounds: the frames to a file in pieces of 1 MiB, and a `write` of each record to
a buffered file, which makes no frames.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import tfrecord_beam
from tests.bench import generate_data, harness, readers
from tfrecord_beam.kernel import frame
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.schema.arrow import decode_plan

_PIECE_BYTES = 1 << 20

_KINDS = {"int64_list": "int", "float_list": "float", "bytes_list": "byte"}
"""What the package tfrecord calls the kinds of features."""


@functools.cache
def _records(name: str, count: int) -> list[bytes]:
    base = generate_data.DATASETS[name].records()
    return (base * (count // len(base) + 1))[:count]


@functools.cache
def _batches(name: str, count: int) -> list[pa.RecordBatch]:
    records = _records(name, count)
    decode = RecordDecoder(decode_plan(generate_data.DATASETS[name].schema())).decode_records
    starts = range(0, count, readers.BATCH_SIZE)
    return [decode(records[start : start + readers.BATCH_SIZE]) for start in starts]


@functools.cache
def _dicts(name: str, count: int) -> list[dict[str, tuple[Any, str]]]:
    """Returns the records as the package tfrecord takes them."""
    return list(map(_to_dict, _records(name, count)))


def _to_dict(record: bytes) -> dict[str, tuple[Any, str]]:
    found = {}
    for name, feature in Example.FromString(record).features.feature.items():
        if kind := feature.WhichOneof("kind"):
            found[name] = ([*getattr(feature, kind).value], _KINDS[kind])
    return found


@functools.cache
def _frames(name: str, count: int) -> bytes:
    return frame(_records(name, count))


def _write_records(path: Path, name: str, count: int, **options: Any) -> int:
    records = _records(name, count)
    with tfrecord_beam.TFRecordWriter(path, **options) as writer:
        for record in records:
            writer.write(record)
    return writer.num_records


def _write_batches(path: Path, name: str, count: int) -> int:
    batches = _batches(name, count)
    with tfrecord_beam.TFRecordWriter(path) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return writer.num_records


def _write_by_tensorflow(path: Path, name: str, count: int, compression: str = "") -> int:
    tf: Any = importlib.import_module("tensorflow")
    records = _records(name, count)
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)
    return count


def _write_by_tfrecord(path: Path, name: str, count: int) -> int:
    dicts = _dicts(name, count)
    writer = importlib.import_module("tfrecord").TFRecordWriter(str(path))
    for each in dicts:
        writer.write(each)
    writer.close()
    return count


def _write_frames(path: Path, name: str, count: int) -> int:
    data = memoryview(_frames(name, count))
    with open(path, "wb", buffering=0) as file:
        for start in range(0, len(data), _PIECE_BYTES):
            file.write(data[start : start + _PIECE_BYTES])
    return count


def _write_buffered(path: Path, name: str, count: int) -> int:
    records = _records(name, count)
    with open(path, "wb") as file:
        for record in records:
            file.write(record)
    return count


def _write_anew(write: Callable[[Path, str, int], int], path: Path, name: str, count: int) -> int:
    """Writes a file that is not there yet: to replace one has file systems write it to the disk."""
    path.unlink(missing_ok=True)
    return write(path, name, count)


_COUNTS = {"census": 100_000, "dense": 50_000}


def measure(run: harness.Run) -> None:
    write_gzip = functools.partial(_write_records, compression="gzip")
    jobs: list[tuple[str, Callable[[Path, str, int], int], str | None]] = [
        ("write", _write_records, None),
        ("tf.io.TFRecordWriter", _write_by_tensorflow, "tensorflow"),
        ("write_batch", _write_batches, None),
        ("tfrecord.TFRecordWriter", _write_by_tfrecord, "tfrecord"),
        ("write, gzip", write_gzip, None),
        ("write, gzip level 6", functools.partial(write_gzip, compression_level=6), None),
        (
            "tf.io.TFRecordWriter, GZIP",
            functools.partial(_write_by_tensorflow, compression="GZIP"),
            "tensorflow",
        ),
        ("file.write of 1 MiB", _write_frames, None),
        ("file.write of records", _write_buffered, None),
    ]
    path = run.folder / "written"
    for name, usual in _COUNTS.items():
        count = run.count(usual)
        size = len(_frames(name, count))
        cases = [
            harness.Case(
                job,
                write := functools.partial(_write_anew, function, path, name, count),
                count,
                size,
                needs,
                warm_up=write,
            )
            for job, function, needs in jobs
        ]
        run.compare(f"write one file, {name}: {count:,} records", cases, isolated=True)


if __name__ == "__main__":
    harness.main(measure, __doc__)
