"""How the time of a record grows: with the file, threads, columns and the size of a record.

Size: census files of 1 to 1000 MB (peers: of 10 and 100 MB), 1 to 15 of the 15 census columns,
records of 4 to 4096 floats, and as many threads as there are CPUs. Where peers are
compared each case has a process of its own, which has read a small file before.
"""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorflow_metadata.proto.v0 import schema_pb2

from tests import wire
from tests.bench import beam_readers, generate_data, harness, readers
from tfrecord_beam import kernel

_CENSUS = generate_data.DATASETS["census"]
_MEGABYTES = [1, 10, 100, 1000]
_PEER_MEGABYTES = _MEGABYTES[1:3]
_MEGABYTES_WITHOUT_PEERS = 100

_one_thread = functools.partial(readers.iterate_batches, threads=1)
_tf_data = functools.partial(readers.read_tf_data, threads=1)


def _write_floats(length: int, count: int, folder: Path) -> Path:
    """Returns a file of `count` records of that many floats."""
    path = folder / f"floats-{length}-{count}.tfrecord"
    if not path.exists():
        source = random.Random(length)
        records = [
            wire.example(wire.entry("x", wire.floats(*(source.random() for _ in range(length)))))
            for _ in range(min(count, 1000))
        ]
        frames = kernel.frame(records)
        path.write_bytes(frames * (count // len(records)))
    return path


def _float_schema(length: int) -> schema_pb2.Schema:
    schema = schema_pb2.Schema()
    feature = schema.feature.add(name="x", type=schema_pb2.FLOAT)
    feature.presence.min_fraction = 1.0
    feature.shape.dim.add(size=length)
    return schema


def _case(
    series: str,
    x: float,
    read: Callable[[Path, Any], int],
    path: Path,
    count: int,
    schema: schema_pb2.Schema,
    smallest: Path | None = None,
    needs: str | None = None,
) -> harness.Case:
    return harness.Case(
        f"{series}: {x:g}",
        functools.partial(read, path, schema),
        count,
        path.stat().st_size,
        needs,
        warm_up=None if smallest is None else functools.partial(read, smallest, schema),
        series=series,
        x=x,
    )


def _measure_file_sizes(run: harness.Run) -> None:
    schema = _CENSUS.schema()
    smallest = generate_data.write_dataset("census", 1, run.folder)
    jobs: list[tuple[str, Callable[[Path, Any], int], str | None, list[int]]] = [
        ("iter_batches, one thread", _one_thread, None, _MEGABYTES),
        ("BeamSource", beam_readers.read_batches, None, _MEGABYTES),
        ("tf.data, one thread", _tf_data, "tensorflow", _PEER_MEGABYTES),
        (
            "tfx_bsl BeamSource",
            beam_readers.read_batches_tfx_bsl,
            "tfx_bsl",
            _PEER_MEGABYTES,
        ),
    ]
    cases = []
    for series, read, needs, sizes in jobs:
        for size in sizes:
            count = run.count(generate_data.count_for_bytes("census", size * 10**6))
            path = generate_data.write_dataset("census", count, run.folder)
            cases.append(_case(series, size, read, path, count, schema, smallest, needs))
    run.compare("growth with the file, census", cases, isolated=True, axis="file size, MB")


def _measure_columns(run: harness.Run) -> None:
    count = run.count(generate_data.count_for_bytes("census", _MEGABYTES_WITHOUT_PEERS * 10**6))
    path = generate_data.write_dataset("census", count, run.folder)
    names = list(_CENSUS.features)
    cases = [
        _case("iter_batches, one thread", n, _one_thread, path, count, _CENSUS.schema(names[:n]))
        for n in (1, 2, 4, 8, len(names))
    ]
    run.compare("growth with the columns, census", cases, axis="columns of 15")


def _measure_record_sizes(run: harness.Run) -> None:
    cases = []
    for length in (4, 16, 64, 256, 1024, 4096):
        count = -(-run.count(min(100_000, 10_000_000 // length)) // 1000) * 1000
        path, schema = _write_floats(length, count, run.folder), _float_schema(length)
        cases.append(_case("iter_batches, one thread", length, _one_thread, path, count, schema))
    run.compare("growth with the record, floats", cases, axis="floats in a record")


def _measure_threads(run: harness.Run) -> None:
    count = run.count(generate_data.count_for_bytes("census", 4 * _MEGABYTES_WITHOUT_PEERS * 10**6))
    path = generate_data.write_dataset("census", count, run.folder)
    cases = []
    for threads in range(1, min(os.cpu_count() or 1, 8) + 1):
        for series, read in (
            ("iter_batches", readers.iterate_batches),
            ("read_table", readers.read_table),
        ):
            job = functools.partial(read, threads=threads)
            cases.append(_case(series, threads, job, path, count, _CENSUS.schema()))
    run.compare("growth with the threads, census", cases, axis="threads")


def measure(run: harness.Run) -> None:
    _measure_file_sizes(run)
    _measure_columns(run)
    _measure_record_sizes(run)
    _measure_threads(run)


if __name__ == "__main__":
    harness.main(measure, __doc__)
