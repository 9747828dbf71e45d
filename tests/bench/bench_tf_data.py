"""Reading without Beam: the library against tf.data, reading and parsing one uncompressed file.

Size: 500,000 census records, 100,000 dense, 20,000 images, 100,000 wide_sparse. tf.data runs with
one thread for everything, which compares core with core, and as it comes (`AUTOTUNE`). Both give
batches: the library Arrow, tf.data tensors. Each measurement is a new process that has read a small
file before.
"""

from __future__ import annotations

import functools
from pathlib import Path

from tests.bench import generate_data, harness, readers

_SIZES = {"census": 500_000, "dense": 100_000, "images": 20_000, "wide_sparse": 100_000}


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
            ("iter_batches", readers.iterate_batches, None),
            ("read_table", readers.read_table, None),
            (
                "tf.data, one thread",
                functools.partial(readers.read_tf_data, threads=1),
                "tensorflow",
            ),
            ("tf.data", functools.partial(readers.read_tf_data, threads=None), "tensorflow"),
        )
    ]


def _main() -> None:
    parser = harness.argument_parser(__doc__)
    parser.add_argument("--datasets", nargs="+", default=list(_SIZES))
    parser.add_argument("--records", type=int, help="instead of the sizes above")
    arguments = parser.parse_args()
    with harness.start(arguments) as run:
        for name in arguments.datasets:
            count = arguments.records or _SIZES[name]
            run.compare(
                f"read {name}: {count:,} records", _cases(run.folder, name, count), isolated=True
            )


if __name__ == "__main__":
    _main()
