"""Reading from end to end in a Beam pipeline: one worker, one file, pipeline start included.

Size: 2,000,000 census records (0.8 GB), 20,000 images (0.6 GB). `--peer-records` gives the peers,
which take longer, a smaller census file; the start of a pipeline is then spread over fewer
records. So it is measured by itself too, with a file of one record. Each measurement is a new
process that has run one pipeline before.
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
    folder: Path, dataset: str, readers: Sequence[_Reader], counts: Sequence[int]
) -> list[harness.Case]:
    smallest = generate_data.write_dataset(dataset, 1, folder)
    cases = []
    for reader, count in zip(readers, counts):
        path = generate_data.write_dataset(dataset, count, folder)
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


def _main() -> None:
    parser = harness.argument_parser(__doc__)
    parser.add_argument("--records", type=int, default=2_000_000, help="census, the library")
    parser.add_argument("--peer-records", type=int, help="census, the peers; default: the same")
    parser.add_argument("--images", type=int, default=20_000, help="images, both")
    arguments = parser.parse_args()
    census_counts = (arguments.records, arguments.peer_records or arguments.records)
    image_counts = (arguments.images, arguments.images)
    with harness.start(arguments) as run:
        for title, readers, dataset, counts in (
            ("start, record batches", _batch_readers("census"), "census", (1, 1)),
            ("record batches, census", _batch_readers("census"), "census", census_counts),
            ("record batches, images", _batch_readers("images"), "images", image_counts),
            ("start, single records", _RECORD_READERS, "census", (1, 1)),
            ("single records, census", _RECORD_READERS, "census", census_counts),
            ("single records, images", _RECORD_READERS, "images", image_counts),
        ):
            run.compare(title, _cases(run.folder, dataset, readers, counts), isolated=True)


if __name__ == "__main__":
    _main()
