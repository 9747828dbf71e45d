"""Reading a gzip file: the library against tf.data, and against inflating alone.

Size: 300,000 census records, 0.1 GB uncompressed, one gzip stream of level 6. GB/s are of
uncompressed bytes. Each case has a process of its own, which has read a small file before.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench import generate_data, harness, readers

_READ_BYTES = 1 << 20


def _inflate(path: Path, module: str, count: int) -> int:
    """Decompresses a file with the `open` of a module and returns `count`."""
    _inflated_bytes(path, module)
    return count


def _inflated_bytes(path: Path, module: str) -> int:
    codec: Any = importlib.import_module(module)
    with codec.open(path, "rb") as file:
        return sum(map(len, iter(functools.partial(file.read, _READ_BYTES), b"")))


def measure(run: harness.Run) -> None:
    count = run.count(300_000)
    schema = generate_data.DATASETS["census"].schema()
    path = generate_data.write_dataset("census", count, run.folder, compress=True)
    smallest = generate_data.write_dataset("census", 1, run.folder, compress=True)
    size = _inflated_bytes(path, "gzip")
    jobs: list[tuple[str, Callable[[Path], int], str | None]] = [
        (
            "iter_batches, one thread",
            functools.partial(readers.iterate_batches, schema=schema, threads=1),
            None,
        ),
        ("iter_batches", functools.partial(readers.iterate_batches, schema=schema), None),
        (
            "tf.data, one thread",
            functools.partial(readers.read_tf_data, schema=schema, threads=1),
            "tensorflow",
        ),
        (
            "tf.data",
            functools.partial(readers.read_tf_data, schema=schema, threads=None),
            "tensorflow",
        ),
        (
            "inflate only, isal",
            functools.partial(_inflate, module="isal.igzip", count=count),
            "isal",
        ),
        ("inflate only, gzip", functools.partial(_inflate, module="gzip", count=count), None),
    ]
    cases = [
        harness.Case(
            name,
            functools.partial(read, path),
            count,
            size,
            needs,
            warm_up=functools.partial(read, smallest),
        )
        for name, read, needs in jobs
    ]
    run.compare(f"read census, gzip: {count:,} records", cases, isolated=True)


if __name__ == "__main__":
    harness.main(measure, __doc__)
