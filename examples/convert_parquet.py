"""Converts TFRecord files to Parquet, looks at them there, and converts them back.

python examples/convert_parquet.py [PATTERN [SCHEMA]]
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

import pyarrow.parquet as pq

import tfrecord_beam
from tfrecord_beam.records.demo import write_census


def convert_there_and_back(pattern: str, schema: str | None, folder: pathlib.Path) -> None:
    # Columns of at most one value in each record become single values, not lists: those of the
    # schema, or, without one, those that all records show.
    parquet = folder / "census.parquet"
    [written] = tfrecord_beam.convert(pattern, parquet, schema)
    print(f"{written.num_records:,} rows of {written.num_bytes:,} bytes in Parquet")
    print(pq.read_schema(parquet))

    # Other tools may change them now. Here: the same rows, in two compressed shards.
    files = tfrecord_beam.convert(
        parquet, folder / "again", schema, num_shards=2, compression="gzip"
    )
    for file in files:
        print(f"{file.num_records:,} records in {pathlib.Path(file.path).name}")

    # Data frames need no file between: pandas, Polars and others are written as they are.
    table = tfrecord_beam.read_table([file.path for file in files], schema)
    tfrecord_beam.write_table(table.slice(0, 10), folder / "head.tfrecord")
    print(f"all: {tfrecord_beam.count(folder / 'again*'):,} records")


def main(pattern: str, schema: str | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        convert_there_and_back(pattern, schema, pathlib.Path(folder))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(*write_census(folder))
