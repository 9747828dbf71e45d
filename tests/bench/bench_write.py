"""Writing from end to end in a Beam pipeline: one worker, pipeline start included.

Size: 2,000,000 census records (0.8 GB), 200,000 of dense data (0.4 GB), 20,000 images (0.6 GB), read
from one file, encoded again and written to another one; 1,000,000 and 100,000 records of `bytes`
of 100 and 4,000 bytes, made in the pipeline. `--peer-share` gives the peers, which take longer,
that share of the records; their start is then spread over fewer, so it is measured by itself too.
The output is counted, which is part of the time of all. `--memory` measures instead how memory
grows with the data. Each measurement is a new process that has run one pipeline before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from tests.bench import beam_writers, generate_data, harness

Job = Callable[[], int]

_COUNTS = {"census": 2_000_000, "dense": 200_000, "images": 20_000}
_RECORDS = {100: 1_000_000, 4_000: 100_000}
"""Sizes of records of `bytes`, and how many of them there are."""

_MEMORY_COUNTS = (100_000, 1_000_000)


def _batch_cases(folder: Path, dataset: str, count: int, peer_count: int) -> list[harness.Case]:
    schema = generate_data.DATASETS[dataset].schema()

    def case(name: str, write: Callable[..., int], count: int, needs: str | None) -> harness.Case:
        path = generate_data.write_dataset(dataset, count, folder)
        smallest = generate_data.write_dataset(dataset, 1, folder)
        return harness.Case(
            name,
            functools.partial(write, path, schema),
            count,
            path.stat().st_size,
            needs,
            warm_up=functools.partial(write, smallest, schema),
        )

    in_shards = functools.partial(beam_writers.write_batches, num_shards=4)
    return [
        case("WriteToTFRecord", beam_writers.write_batches, count, None),
        case("WriteToTFRecord, 4 shards", in_shards, count, None),
        case("tfx_bsl and Beam", beam_writers.write_batches_tfx_bsl, peer_count, "tfx_bsl"),
    ]


def _record_cases(size: int, count: int, peer_count: int) -> list[harness.Case]:
    def case(name: str, write: Callable[[int, int], int], count: int) -> harness.Case:
        return harness.Case(
            name,
            functools.partial(write, size, count),
            count,
            size * count,
            warm_up=functools.partial(write, size, 1),
        )

    in_shards = functools.partial(beam_writers.write_records, num_shards=4)
    beam_in_shards = functools.partial(beam_writers.write_records_beam, num_shards=4)
    return [
        case("WriteToTFRecord", beam_writers.write_records, count),
        case("WriteToTFRecord, 4 shards", in_shards, count),
        case("Beam's WriteToTFRecord", beam_writers.write_records_beam, peer_count),
        case("Beam's WriteToTFRecord, 4 shards", beam_in_shards, peer_count),
    ]


def _compare_memory(run: harness.Run) -> None:
    for name, write in (
        ("WriteToTFRecord", beam_writers.write_batches),
        ("WriteToTFRecord, 4 shards", functools.partial(beam_writers.write_batches, num_shards=4)),
    ):
        schema = generate_data.DATASETS["census"].schema()
        cases = []
        for count in (1, *_MEMORY_COUNTS):
            path = generate_data.write_dataset("census", count, run.folder)
            job = functools.partial(write, path, schema)
            size = path.stat().st_size
            cases.append(harness.Case(f"{size / 1e6:,.1f} MB", job, count, size))
        run.compare_memory(f"memory of {name}", cases)


def _main() -> None:
    parser = harness.argument_parser(__doc__)
    parser.add_argument("--datasets", nargs="*", default=list(_COUNTS))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(_RECORDS))
    parser.add_argument("--peer-share", type=float, default=0.1)
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    share = arguments.peer_share
    with harness.start(arguments) as run:
        if arguments.memory:
            _compare_memory(run)
            return
        for name in arguments.datasets:
            count = _COUNTS[name]
            cases = _batch_cases(run.folder, name, count, round(count * share))
            run.compare(f"read, encode and write {name}", cases, isolated=True)
        if arguments.datasets:
            cases = _batch_cases(run.folder, arguments.datasets[0], 1, 1)
            run.compare("start, batches", cases, isolated=True)
        for size in arguments.sizes:
            count = _RECORDS[size]
            cases = _record_cases(size, count, round(count * share))
            run.compare(f"write bytes, {size} a record", cases, isolated=True)


if __name__ == "__main__":
    _main()
