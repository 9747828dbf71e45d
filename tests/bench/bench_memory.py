"""Peak memory while a file is read, and how it grows with the file.

Size: census files of 10, 100 and 1000 MB for the library, of 100 MB for the peers, which
would take minutes for more. A file of one record shows what the imports take. Each measurement is
a new process.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench import beam_readers, generate_data, harness, readers

_MEGABYTES = [10.0, 100.0, 1000.0]
_PEER_MEGABYTES = _MEGABYTES[1:2]


def measure(run: harness.Run) -> None:
    schema = generate_data.DATASETS["census"].schema()
    one_thread = functools.partial(readers.read_tf_data, threads=1)
    jobs: list[tuple[str, Callable[[Path, Any], int], str | None, list[float]]] = [
        ("iter_batches", readers.iterate_batches, None, _MEGABYTES),
        ("BeamSource", beam_readers.read_batches, None, _MEGABYTES),
        ("tf.data, one thread", one_thread, "tensorflow", _PEER_MEGABYTES),
        ("tfx_bsl BeamSource", beam_readers.read_batches_tfx_bsl, "tfx_bsl", _PEER_MEGABYTES),
    ]
    for name, read, needs, sizes in jobs:
        counts = [generate_data.count_for_bytes("census", round(size * 1e6)) for size in sizes]
        cases = []
        for count in dict.fromkeys([1, *map(run.count, counts)]):
            path = generate_data.write_dataset("census", count, run.folder)
            size = path.stat().st_size
            job = functools.partial(read, path, schema)
            title = f"{size / 1e6:,.1f} MB"
            cases.append(harness.Case(title, job, count, size, needs, series=name, x=size / 1e6))
        run.compare_memory(f"memory of {name}", cases, axis="file size, MB")


if __name__ == "__main__":
    harness.main(measure, __doc__)
