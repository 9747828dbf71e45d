"""Reads a census with a Beam pipeline: who earns how much, and what the library counted.

python examples/read_census.py [PATTERN [SCHEMA]]

Without an argument it makes a census up. A file of the UCI Adult data set (adult.data) it first
writes as TFRecord.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.metrics import MetricsFilter
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

import tfrecord_beam
from tfrecord_beam.records.demo import read_people, write_census

COLUMNS = ["label", "age", "hours-per-week"]

Sums = tuple[int, float, float]


def sum_by_label(batch: pa.RecordBatch) -> Iterator[tuple[str, Sums]]:
    """Yields of each label: how many people, and the sums of their ages and hours a week."""
    # Each person has one value in each of these columns, so the lists can be taken away.
    people = pa.table({name: pc.list_flatten(batch.column(name)) for name in COLUMNS})
    sums = people.group_by("label").aggregate(
        [("age", "count"), ("age", "sum"), ("hours-per-week", "sum")]
    )
    for row in sums.to_pylist():
        yield row["label"].decode(), (row["age_count"], row["age_sum"], row["hours-per-week_sum"])


def add_up(sums: Iterable[Sums]) -> Sums:
    count, ages, hours = (sum(column) for column in zip(*sums))
    return count, ages, hours


def print_means(label: str, sums: Sums) -> None:
    count, ages, hours = sums
    print(f"{label}: {count:,} people, {ages / count:.1f} years, {hours / count:.1f} hours a week")


def main(pattern: str, schema: str | None = None) -> None:
    # Without a runner Beam may take one that it downloads first; this one is part of it.
    pipeline = beam.Pipeline(runner=FnApiRunner())
    _ = (
        pipeline
        | tfrecord_beam.BeamSource(pattern, schema, columns=COLUMNS)
        | "SumByLabel" >> beam.FlatMap(sum_by_label)
        | "AddUp" >> beam.CombinePerKey(add_up)
        | "Print" >> beam.MapTuple(print_means)
    )
    result = pipeline.run()
    result.wait_until_finish()

    counters = result.metrics().query(MetricsFilter().with_namespace("tfrecord_beam"))["counters"]
    for counter in counters:
        print(f"{counter.key.step} {counter.key.metric.name}: {counter.result:,}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        if not arguments:
            arguments = [*write_census(folder)]
        elif arguments[0].endswith((".data", ".test")):
            arguments = [*write_census(folder, read_people(arguments[0]))]
        main(*arguments)
