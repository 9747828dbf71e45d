"""Threads that read and decode ahead, against one thread, on one file in the page cache.

Size: 2,000,000 census records (0.8 GB), 100,000 dense ones (0.2 GB) and, compressed with gzip,
500,000 census records, whose inflating only one thread at a time does. Batches as they come and of
1000 rows. Two free CPUs can give 2 at most.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from tensorflow_metadata.proto.v0 import schema_pb2

import tfrecord_beam
from tests.bench import generate_data, harness, readers

_SIZES = {"census": 2_000_000, "dense": 100_000}
_COMPRESSED_SIZES = {"census": 500_000}


def _iterate(path: Path, schema: schema_pb2.Schema, threads: int, batch_size: int | None) -> int:
    batches = tfrecord_beam.iter_batches(path, schema, batch_size=batch_size, threads=threads)
    return sum(batch.num_rows for batch in batches)


def _read_table(path: Path, schema: schema_pb2.Schema, threads: int) -> int:
    rows: int = tfrecord_beam.read_table(path, schema, threads=threads).num_rows
    return rows


def _compare(run: harness.Run, name: str, count: int, *, compress: bool = False) -> None:
    schema = generate_data.DATASETS[name].schema()
    path = generate_data.write_dataset(name, count, run.folder, compress=compress)
    jobs: dict[str, Callable[..., int]] = {
        "iter_batches": functools.partial(_iterate, batch_size=None),
        f"iter_batches by {readers.BATCH_SIZE}": functools.partial(
            _iterate, batch_size=readers.BATCH_SIZE
        ),
        "read_table": _read_table,
    }
    for what, read in jobs.items():
        cases = [
            harness.Case(
                f"threads: {threads}",
                functools.partial(read, path, schema, threads=threads),
                count,
                path.stat().st_size,
            )
            for threads in (2, 1)
        ]
        run.compare(f"{what}, {path.name}", cases)


def _main() -> None:
    arguments = harness.argument_parser(__doc__).parse_args()
    with harness.start(arguments) as run:
        for name, count in _SIZES.items():
            _compare(run, name, count)
        for name, count in _COMPRESSED_SIZES.items():
            _compare(run, name, count, compress=True)


if __name__ == "__main__":
    _main()
