"""The writing path on each engine: each record once, whole files, with workers here or apart."""

from __future__ import annotations

import pathlib
import time
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.transforms.window import FixedWindows

from tests.engines.engine import Collect, Engine, collected
from tests.records.writing.folders import paths_in, records_in
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tfrecord_beam import (
    BeamSource,
    RawRecordBeamSource,
    WriteToTFRecord,
    read_table,
    write_table,
)
from tfrecord_beam.records.writing.options import Mode

RANGE_BYTES = 300


def rows_in(folder: pathlib.Path, **options: Any) -> list[dict[str, Any]]:
    """Returns the rows of all files below a folder, in the order of their numbers."""
    rows = read_table(folder, SCHEMA, **options).to_pylist()
    return sorted(rows, key=lambda row: row["id"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_shards": 3, "compression": "gzip"},
        {"num_shards": 2, "shuffle": True, "seed": 3},
        {"partition_by": ["id"]},
        {"write_locality": "local"},
    ],
)
def test_batches(engine: Engine, tmp_path: pathlib.Path, options: dict[str, Any]) -> None:
    (tmp_path / "in").mkdir()
    write_files(tmp_path / "in")
    out, files = tmp_path / "out", tmp_path / "files"
    counters = engine.run(
        lambda pipeline: (
            pipeline
            | BeamSource(tmp_path / "in", SCHEMA, desired_bundle_bytes=RANGE_BYTES)
            | "Shuffle" >> beam.Reshuffle()
            | WriteToTFRecord(f"{out}/", SCHEMA, **options)
            | Collect(files)
        )
    )
    assert rows_in(out, partition_columns="hive") == rows_in(tmp_path / "in")
    assert sorted(str(out / path) for path in paths_in(out)) == sorted(
        file.path for file in collected(files)
    )
    assert counters["records_written"] == NUM_RECORDS


@pytest.mark.parametrize(("mode", "times"), [("append", 2), ("overwrite", 1)])
def test_modes(engine: Engine, tmp_path: pathlib.Path, mode: Mode, times: int) -> None:
    (tmp_path / "in").mkdir()
    write_files(tmp_path / "in")
    out = tmp_path / "out"
    write_table(read_table(tmp_path / "in", SCHEMA), f"{out}/", num_shards=3)
    engine.run(
        lambda pipeline: (
            pipeline
            | BeamSource(tmp_path / "in", SCHEMA)
            | WriteToTFRecord(f"{out}/", SCHEMA, num_shards=1, mode=mode)
        )
    )
    once = rows_in(tmp_path / "in")
    assert rows_in(out) == [row for row in once for _ in range(times)]
    assert len(paths_in(out)) == {"append": 4, "overwrite": 1}[mode]


def test_records(engine: Engine, tmp_path: pathlib.Path) -> None:
    (tmp_path / "in").mkdir()
    write_files(tmp_path / "in")
    engine.run(
        lambda pipeline: (
            pipeline
            | RawRecordBeamSource(tmp_path / "in", desired_bundle_bytes=RANGE_BYTES)
            | WriteToTFRecord(tmp_path / "out" / "a", num_shards=2)
        )
    )
    assert sorted(records_in(tmp_path / "out")) == sorted(RECORDS)
    assert len(paths_in(tmp_path / "out")) == 2


def test_unbounded_input(prism_engine: Engine, tmp_path: pathlib.Path) -> None:
    start = time.time() - 10
    prism_engine.run(
        lambda pipeline: (
            pipeline
            | PeriodicImpulse(start, start + 4.5, fire_interval=1)
            | beam.Map(lambda time: b"%d" % int(time)).with_output_types(bytes)
            | beam.WindowInto(FixedWindows(2))
            | WriteToTFRecord(tmp_path / "out" / "a", num_shards=1)
            | Collect(tmp_path / "files")
        ),
        "--streaming",
    )
    files = collected(tmp_path / "files")
    assert sum(file.num_records for file in files) == 5
    assert len(records_in(tmp_path / "out" / "a*")) == 5
