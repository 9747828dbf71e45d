"""Splits a data set into folders by the label, in a Beam pipeline, and reads one of them back.

python examples/write_partitions.py [PATTERN [SCHEMA]]

Without an argument it makes a census up.
"""

from __future__ import annotations

import sys
import tempfile

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

import tfrecord_beam
from tfrecord_beam.records.demo import write_census


def main(pattern: str, schema: str | None, folder: str) -> None:
    # Without a runner Beam may take one that it downloads first; this one is part of it.
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        files = (
            pipeline
            | tfrecord_beam.BeamSource(pattern, schema)
            | tfrecord_beam.WriteToTFRecord(
                f"{folder}/",
                schema,
                partition_by=["label"],
                max_records_per_shard=5000,
                compression="gzip",
            )
        )
        # The files are given once all of them are in place: what follows may read them.
        _ = files | beam.Map(
            lambda file: print(f"{file.path.removeprefix(folder)}: {file.num_records:,} records")
        )

    table = tfrecord_beam.read_table(folder, schema, partition_columns="hive")
    print(f"read again: {table.num_rows:,} records, {len(table.column_names)} columns")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        given = sys.argv[1:] or write_census(scratch)
        main(given[0], given[1] if len(given) > 1 else None, f"{scratch}/by_label")
