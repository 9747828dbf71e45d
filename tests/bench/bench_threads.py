"""Threads that read and decode ahead, against one thread, on one file in the page cache.

Size: 1,000,000 census records (0.4 GB), 100,000 dense ones (0.2 GB) and, compressed with gzip,
300,000 census records, whose inflating only one thread at a time does. Batches as they come and of
1000 rows. Two free CPUs can give 2 at most. Only one thread at a time copies records from the page
cache and checks them: two thirds of the work for dense records, so that two threads give 1.6 at
most. Half of the time for a table of dense records is that of new pages: one thread finds those of
the table before it, which malloc has kept, two find only some. The first table of a process takes
both the same CPU time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from tensorflow_metadata.proto.v0 import schema_pb2

import tfrecord_beam
from tests.bench import generate_data, harness, readers

_SIZES = {"census": 1_000_000, "dense": 100_000}
_COMPRESSED_SIZES = {"census": 300_000}


def _iterate(path: Path, schema: schema_pb2.Schema, threads: int, batch_size: int | None) -> int:
    batches = tfrecord_beam.iter_batches(path, schema, batch_size=batch_size, threads=threads)
    return sum(batch.num_rows for batch in batches)


def _compare(run: harness.Run, name: str, count: int, *, compress: bool = False) -> None:
    schema = generate_data.DATASETS[name].schema()
    path = generate_data.write_dataset(name, count, run.folder, compress=compress)
    jobs: dict[str, Callable[..., int]] = {
        "iter_batches": functools.partial(_iterate, batch_size=None),
        f"iter_batches by {readers.BATCH_SIZE}": functools.partial(
            _iterate, batch_size=readers.BATCH_SIZE
        ),
        "read_table": readers.read_table,
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


def measure(run: harness.Run) -> None:
    for name, size in _SIZES.items():
        _compare(run, name, run.count(size))
    for name, size in _COMPRESSED_SIZES.items():
        _compare(run, name, run.count(size), compress=True)


if __name__ == "__main__":
    harness.main(measure, __doc__)
