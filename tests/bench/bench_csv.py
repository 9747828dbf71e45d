"""Reading CSV in a Beam pipeline: one worker, one file, pipeline start included.

Size: 500,000 census lines of 15 cells (about 119 bytes each). With a schema, and without one, which
reads the file twice.
"""

from __future__ import annotations

import csv
import functools
import importlib
import io
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorflow_metadata.proto.v0 import schema_pb2

from tests.bench import beam_readers, generate_data, harness
from tfrecord_beam.records import demo

_SEED = 20240229
_DISTINCT_LINES = 20_000
_CENSUS = generate_data.DATASETS["census"]


def _write_file(count: int, folder: Path) -> Path:
    path = folder / f"census-{count}.csv"
    if not path.exists():
        with path.open("wb") as file:
            file.writelines(itertools.islice(itertools.cycle(_make_lines()), count))
    return path


def _make_lines() -> Iterator[bytes]:
    source = random.Random(_SEED)
    for _ in range(_DISTINCT_LINES):
        person = demo.make_person(source)
        cells = [person[name][0] for name in _CENSUS.features]
        line = io.StringIO()
        writer = csv.writer(line, lineterminator="\n")
        writer.writerow(cell.decode() if isinstance(cell, bytes) else cell for cell in cells)
        yield line.getvalue().encode()


def _read(path: Path, schema: schema_pb2.Schema | None, *, module: str) -> int:
    tfxio: Any = importlib.import_module(module)
    source = tfxio.CsvTFXIO(str(path), column_names=list(_CENSUS.features), schema=schema)
    return beam_readers.count(source.BeamSource())


_READERS = {
    "tfrecord_beam CsvTFXIO": "tfrecord_beam.tfxio.csv_tfxio",
    "tfx_bsl CsvTFXIO": "tfx_bsl.tfxio.csv_tfxio",
}


def measure(run: harness.Run) -> None:
    smallest = _write_file(1, run.folder)
    count = run.count(500_000)
    path = _write_file(count, run.folder)
    for title, schema in (("schema", _CENSUS.schema()), ("types inferred", None)):
        cases = []
        for name, module in _READERS.items():
            read = functools.partial(_read, schema=schema, module=module)
            cases.append(
                harness.Case(
                    name,
                    functools.partial(read, path),
                    count,
                    path.stat().st_size,
                    module.partition(".")[0],
                    warm_up=functools.partial(read, smallest),
                )
            )
        run.compare(f"CSV, census, {title}", cases, isolated=True)


if __name__ == "__main__":
    harness.main(measure, __doc__)
