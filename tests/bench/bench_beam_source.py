"""Reading from end to end in a Beam pipeline: one worker, one file, pipeline start included.

Size: 500,000 census records (0.2 GB), 20,000 images (0.6 GB). The start of a pipeline is measured
by itself too, with a file of one record. Each case has a process of its own, which has run
one pipeline before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench import beam_readers, generate_data, harness


class _Reader(NamedTuple):
    name: str
    read: Callable[[Path], int]
    needs: str | None = None


def _batch_readers(dataset: str) -> list[_Reader]:
    schema = generate_data.DATASETS[dataset].schema()
    return [
        _Reader("BeamSource", functools.partial(beam_readers.read_batches, schema=schema)),
        _Reader(
            "tfx_bsl BeamSource",
            functools.partial(beam_readers.read_batches_tfx_bsl, schema=schema),
            "tfx_bsl",
        ),
    ]


_RECORD_READERS = [
    _Reader("RawRecordBeamSource", beam_readers.read_records),
    _Reader("Beam's ReadFromTFRecord", beam_readers.read_records_beam, "google_crc32c"),
]


def _cases(
    folder: Path, dataset: str, readers: Sequence[_Reader], count: int
) -> list[harness.Case]:
    smallest = generate_data.write_dataset(dataset, 1, folder)
    cases = []
    path = generate_data.write_dataset(dataset, count, folder)
    for reader in readers:
        cases.append(
            harness.Case(
                reader.name,
                functools.partial(reader.read, path),
                count,
                path.stat().st_size,
                reader.needs,
                warm_up=functools.partial(reader.read, smallest),
            )
        )
    return cases


def measure(run: harness.Run) -> None:
    counts = {"census": run.count(500_000), "images": run.count(20_000)}
    for title, readers in (
        ("record batches", _batch_readers("census")),
        ("single records", _RECORD_READERS),
    ):
        cases = _cases(run.folder, "census", readers, 1)
        run.compare(f"start, {title}", cases, isolated=True)
    for dataset, count in counts.items():
        for title, readers in (
            ("record batches", _batch_readers(dataset)),
            ("single records", _RECORD_READERS),
        ):
            cases = _cases(run.folder, dataset, readers, count)
            run.compare(f"{title}, {dataset}", cases, isolated=True)


if __name__ == "__main__":
    harness.main(measure, __doc__)
