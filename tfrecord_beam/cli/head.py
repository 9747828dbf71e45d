"""head: the first rows."""

from __future__ import annotations

import argparse
import functools
import json
import warnings
from collections.abc import Iterator, Sequence

import pyarrow as pa

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.columns import ColumnSummary, find_absent, flatten_structs, warn_of_lost
from tfrecord_beam.cli.progress import show_progress
from tfrecord_beam.cli.rows import print_rows, to_rows
from tfrecord_beam.records.files import OnProgress
from tfrecord_beam.records.lost_columns import find_lost
from tfrecord_beam.records.table import iter_batches

_CHUNK_BYTES = 64 << 10
"""How much of a file is read at a time: little, because the first rows need no more."""


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "head",
        run,
        help="print the first records",
        description="Prints the first records as a table, or with --json as one JSON object per "
        'line: each feature is null or a list; bytes are text if they are UTF-8, else {"base64": '
        "...}. Reads only as much of the files as necessary.",
    )
    arguments.add_files(parser)
    arguments.add_count(parser, 10, "how many records")
    arguments.add_schema(parser, "TFMD schema that defines the features")
    arguments.add_columns(parser)
    arguments.add_record_type(parser)
    arguments.add_partition_columns(parser)


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    with warnings.catch_warnings(), show_progress("Reading", quiet=options.json) as progress:
        warnings.filterwarnings("ignore", ".*, which no record has")  # reported below
        batches = list(first_batches(options, columns=options.columns, progress=progress))
    if batches:
        warn_of_lost(_find_lost(batches, options), options, "none of these records")
    rows = [row for batch in batches for row in to_rows(batch)]
    names = dict.fromkeys(name for batch in batches for name in batch.schema.names)
    if options.schema is None and options.columns is None:
        names = dict.fromkeys(sorted(names))
    if not options.json:
        if rows:
            print_rows(list(names), rows)
        else:
            print("no records")
        return 0
    for row in rows:
        print(json.dumps({name: row.get(name) for name in names}))
    return 0


def _find_lost(batches: Sequence[pa.RecordBatch], options: argparse.Namespace) -> list[str]:
    if options.schema is None:
        return functools.reduce(find_lost, batches, options.columns or [])
    summary = ColumnSummary()
    for batch in batches:
        summary.add(batch)
    return find_absent(summary.to_json())


def first_batches(
    options: argparse.Namespace, *, columns: list[str] | None, progress: OnProgress | None
) -> Iterator[pa.RecordBatch]:
    """Yields batches with the first records of the files: `num_records`, or all if there are fewer.

    Fields of structs are columns of their own.

    Args:
      options: with `files`, `schema`, `record_type`, `partition_columns` and `num_records`.
      columns: names of the columns; None: all.
      progress: called with how far reading has got.
    """
    left = options.num_records
    batches = iter_batches(
        options.files,
        options.schema,
        columns=columns,
        record_type=options.record_type,
        partition_columns=options.partition_columns,
        batch_size=left,
        batch_bytes=_CHUNK_BYTES,
        progress=progress,
        threads=1,  # others would read ahead
    )
    for batch in batches:
        yield flatten_structs(batch.slice(0, left))
        left -= batch.num_rows
        if left <= 0:
            return
