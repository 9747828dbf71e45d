"""Reading without Beam: the library against tf.data, reading and parsing one uncompressed file.

Size: 300,000 census records, 50,000 dense, 5,000 images, 50,000 wide_sparse. Both run with
one thread for everything, which compares core with core, and as they come. Both give
batches: the library Arrow, tf.data tensors. Each case has a process of its own, which has read a
small file before.
"""

from __future__ import annotations

import functools
from pathlib import Path

from tests.bench import generate_data, harness, readers

_SIZES = {"census": 300_000, "dense": 50_000, "images": 5_000, "wide_sparse": 50_000}


def _cases(folder: Path, name: str, count: int) -> list[harness.Case]:
    schema = generate_data.DATASETS[name].schema()
    path = generate_data.write_dataset(name, count, folder)
    smallest = generate_data.write_dataset(name, 1, folder)
    return [
        harness.Case(
            title,
            functools.partial(read, path, schema),
            count,
            path.stat().st_size,
            needs,
            warm_up=functools.partial(read, smallest, schema),
        )
        for title, read, needs in (
            (
                "iter_batches, one thread",
                functools.partial(readers.iterate_batches, threads=1),
                None,
            ),
            ("iter_batches", readers.iterate_batches, None),
            (
                "tf.data, one thread",
                functools.partial(readers.read_tf_data, threads=1),
                "tensorflow",
            ),
            ("tf.data", functools.partial(readers.read_tf_data, threads=None), "tensorflow"),
        )
    ]


def measure(run: harness.Run) -> None:
    for name, size in _SIZES.items():
        count = run.count(size)
        run.compare(
            f"read {name}: {count:,} records", _cases(run.folder, name, count), isolated=True
        )


if __name__ == "__main__":
    harness.main(measure, __doc__)
