"""Writing from end to end in a Beam pipeline: one worker, pipeline start included.

Size: 1,000,000 census records (0.4 GB), 100,000 of dense data (0.2 GB), 10,000 images (0.3 GB),
read from one file, encoded again and written to another one; 500,000 and 50,000 records of `bytes`
of 100 and 4,000 bytes, made in the pipeline. All get the same records; the start is measured by
itself too. The output is counted, which is part of the time of all. Then how memory grows with the
data. Each case has a process of its own, which has run one pipeline before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from tests.bench import beam_writers, generate_data, harness

Job = Callable[[], int]

_COUNTS = {"census": 1_000_000, "dense": 100_000, "images": 10_000}
_RECORDS = {100: 500_000, 4_000: 50_000}
"""Sizes of records of `bytes`, and how many of them there are."""

_MEMORY_COUNTS = (100_000, 1_000_000)


def _batch_cases(folder: Path, dataset: str, count: int) -> list[harness.Case]:
    schema = generate_data.DATASETS[dataset].schema()
    path = generate_data.write_dataset(dataset, count, folder)
    smallest = generate_data.write_dataset(dataset, 1, folder)

    def case(name: str, write: Callable[..., int], needs: str | None) -> harness.Case:
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
        case("WriteToTFRecord", beam_writers.write_batches, None),
        case("WriteToTFRecord, 4 shards", in_shards, None),
        case("tfx_bsl and Beam", beam_writers.write_batches_tfx_bsl, "tfx_bsl"),
    ]


def _record_cases(size: int, count: int) -> list[harness.Case]:
    def case(name: str, write: Callable[[int, int], int]) -> harness.Case:
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
        case("WriteToTFRecord", beam_writers.write_records),
        case("WriteToTFRecord, 4 shards", in_shards),
        case("Beam's WriteToTFRecord", beam_writers.write_records_beam),
        case("Beam's WriteToTFRecord, 4 shards", beam_in_shards),
    ]


def _compare_memory(run: harness.Run) -> None:
    for name, write in (
        ("WriteToTFRecord", beam_writers.write_batches),
        ("WriteToTFRecord, 4 shards", functools.partial(beam_writers.write_batches, num_shards=4)),
    ):
        schema = generate_data.DATASETS["census"].schema()
        cases = []
        for count in dict.fromkeys((1, *map(run.count, _MEMORY_COUNTS))):
            path = generate_data.write_dataset("census", count, run.folder)
            job = functools.partial(write, path, schema)
            size = path.stat().st_size
            title, x = f"{size / 1e6:,.1f} MB", size / 1e6
            cases.append(harness.Case(title, job, count, size, series=name, x=x))
        run.compare_memory(f"memory of {name}", cases, axis="file size, MB")


def measure(run: harness.Run) -> None:
    cases = _batch_cases(run.folder, "census", 1)
    run.compare("start, batches", cases, isolated=True)
    for name, usual in _COUNTS.items():
        cases = _batch_cases(run.folder, name, run.count(usual))
        run.compare(f"read, encode and write {name}", cases, isolated=True)
    for size, usual in _RECORDS.items():
        cases = _record_cases(size, run.count(usual))
        run.compare(f"write bytes, {size} a record", cases, isolated=True)
    _compare_memory(run)


if __name__ == "__main__":
    harness.main(measure, __doc__)
