"""read: reads all records through a Beam pipeline."""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.columns import find_absent, print_columns, warn_of_lost
from tfrecord_beam.cli.output import make_printable
from tfrecord_beam.cli.progress import show_activity
from tfrecord_beam.cli.rows import print_rows, print_table
from tfrecord_beam.errors import Location, WriteError
from tfrecord_beam.options import count_of
from tfrecord_beam.records.demo import write_census
from tfrecord_beam.urls import has_scheme


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "read",
        run,
        help="read all records with a Beam pipeline",
        description="Reads all records with a Beam pipeline into Arrow record batches. Prints the "
        "first rows of some batches, the columns, the numbers of rows and batches, and the "
        "library's counters. Without FILES it generates and reads demo data. All other options, "
        "written as --NAME=VALUE, are passed to Beam. Without --runner the pipeline runs in this "
        "process.",
        takes_pipeline_options=True,
    )
    arguments.add_files(parser, optional=True)
    arguments.add_schema(parser, "TFMD schema that defines the features")
    arguments.add_columns(parser)
    arguments.add_record_type(parser)
    arguments.add_partition_columns(parser)
    parser.add_argument(
        "--batch-size",
        type=arguments.parse_count,
        metavar="N",
        help="rows in each batch; default: as many as fit into 8 MiB",
    )
    demo = parser.add_mutually_exclusive_group()
    demo.add_argument("--demo", action="store_true", help="read demo data: a made-up census")
    demo.add_argument(
        "--keep-demo",
        type=arguments.parse_output,
        metavar="FOLDER",
        help="generate the demo data in this folder, which must be new or empty, and keep them",
    )


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    arguments.check_pipeline_options(options.pipeline_options)
    if options.files and (options.demo or options.keep_demo):
        name = "--demo" if options.demo else "--keep-demo"
        raise ValueError(f"Expected FILES or {name}, found both")
    if options.files:
        summary = _read(options, options.files, options.schema)
    else:
        with _open_demo_folder(options.keep_demo) as folder:
            demo = write_census(folder)
            summary = _read(options, [demo.pattern], options.schema or demo.schema)
    if options.json:
        print(json.dumps(summary))
    else:
        _print_summary(summary)
        if options.keep_demo:
            print(f"demo data: {make_printable(demo.pattern)}, {make_printable(demo.schema)}")
    if options.files and summary["rows"]:
        lost = _find_lost(summary["columns"], options)
        warn_of_lost(lost, options, "no record", arguments.import_pipelines().BeamFileSystem())
    return 0


@contextlib.contextmanager
def _open_demo_folder(kept: str | None) -> Iterator[str]:
    """Returns an empty folder: the one to be kept, or one that is removed afterwards."""
    if kept is None:
        with tempfile.TemporaryDirectory() as folder:
            yield folder
        return
    if has_scheme(kept):
        raise ValueError(f"Expected a local folder for demo data, found {kept!r}")
    place = pathlib.Path(kept)
    place.mkdir(parents=True, exist_ok=True)
    if any(place.iterdir()):  # demo files could overwrite those there
        raise WriteError("Expected an empty folder for demo data, found files", Location(kept))
    yield kept


def _find_lost(columns: Sequence[dict[str, Any]], options: argparse.Namespace) -> list[str]:
    if options.schema is not None:
        return find_absent(columns)
    shown = {each["name"] for each in columns if each["type"] != "null"}
    return [name for name in options.columns or () if name not in shown]


def _read(options: argparse.Namespace, files: Sequence[str], schema: str | None) -> dict[str, Any]:
    with show_activity("Reading", quiet=options.json):
        summary: dict[str, Any] = arguments.import_pipelines().run_pipeline(
            files,
            schema,
            columns=options.columns,
            record_type=options.record_type,
            partition_columns=options.partition_columns,
            batch_size=options.batch_size,
            pipeline_options=options.pipeline_options,
        )
        return summary


def _print_summary(summary: dict[str, Any]) -> None:
    for sample in summary["samples"]:
        rows = sample["first_rows"]
        file = make_printable(sample["file"])
        print(f"{file}: the first {len(rows)} of a batch of {count_of(sample['rows'], 'row')}")
        print_rows(list(rows[0]), rows)
    batches = count_of(summary["batches"], "batch", "batches")
    print(f"columns of {count_of(summary['rows'], 'row')} in {batches}")
    print_columns(summary["columns"])
    print("counters")
    print_table(("name", "value"), ((name, str(n)) for name, n in summary["counters"].items()))
