"""schema: prints the columns of a TFMD schema, or of the first records."""

from __future__ import annotations

import argparse
import json

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.columns import ColumnSummary, print_columns, show_type
from tfrecord_beam.cli.head import first_batches
from tfrecord_beam.cli.progress import show_progress
from tfrecord_beam.cli.rows import print_table
from tfrecord_beam.schema.arrow import decode_plan, plan_schema


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "schema",
        run,
        help="print the columns of a TFMD schema, or of records",
        description="With --schema alone: prints the Arrow columns of a TFMD schema. With FILES: "
        "decodes the first records and prints for each feature its Arrow type, in how many records "
        "it is present and null, and the minimum and maximum number of values in a record. With "
        "both, the records must fit the schema.",
    )
    arguments.add_files(parser, optional=True)
    arguments.add_schema(parser, "TFMD schema")
    arguments.add_record_type(parser)
    arguments.add_partition_columns(parser)
    arguments.add_count(parser, 1000, "how many records to decode")


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    if options.files:
        _describe_records(options)
    elif options.schema is not None:
        _describe_schema(options)
    else:
        raise ValueError("Expected FILES or --schema, found neither")
    return 0


def _describe_records(options: argparse.Namespace) -> None:
    summary = ColumnSummary()
    with show_progress("Reading", quiet=options.json) as progress:
        for batch in first_batches(options, columns=None, progress=progress):
            summary.add(batch)
    columns = summary.to_json()
    if options.json:
        print(json.dumps({"records": summary.rows, "columns": columns}))
    else:
        print(f"records: {summary.rows}")
        print_columns(columns)


def _describe_schema(options: argparse.Namespace) -> None:
    plan = decode_plan(options.schema, record_type=options.record_type)
    fields = list(plan_schema(plan) or ())
    if options.json:
        columns = [{"name": field.name, "type": str(field.type)} for field in fields]
        print(json.dumps({"columns": columns}))
    else:
        print_table(
            ("column", "type"), ((field.name, show_type(str(field.type))) for field in fields)
        )
