"""Peak memory while a file is read, and how it grows with the file.

Size: census files of 0.1, 1 and 10 GB for the library, of 0.1 and 0.3 GB for the peers, which
would take minutes for more. A file of one record shows what the imports take. Each measurement is
a new process.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench import beam_readers, generate_data, harness, readers


def _main() -> None:
    parser = harness.argument_parser(__doc__)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument("--peer-gigabytes", type=float, nargs="+", default=[0.1, 0.3])
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    schema = generate_data.DATASETS["census"].schema()
    one_thread = functools.partial(readers.read_tf_data, threads=1)
    jobs: list[tuple[str, Callable[[Path, Any], int], str | None, list[float]]] = [
        ("iter_batches", readers.iterate_batches, None, arguments.gigabytes),
        ("BeamSource", beam_readers.read_batches, None, arguments.gigabytes),
        ("tf.data, one thread", one_thread, "tensorflow", arguments.peer_gigabytes),
        (
            "tfx_bsl BeamSource",
            beam_readers.read_batches_tfx_bsl,
            "tfx_bsl",
            arguments.peer_gigabytes,
        ),
    ]
    with harness.start(arguments) as run:
        for name, read, needs, sizes in jobs:
            counts = [generate_data.count_for_bytes("census", round(size * 1e9)) for size in sizes]
            cases = []
            for count in [1, *counts]:
                path = generate_data.write_dataset("census", count, run.folder)
                size = path.stat().st_size
                job = functools.partial(read, path, schema)
                cases.append(harness.Case(f"{size / 1e6:,.1f} MB", job, count, size, needs))
            run.compare_memory(f"memory of {name}", cases)


if __name__ == "__main__":
    _main()
