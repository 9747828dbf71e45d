"""schema: what columns a TFMD schema asks for, or the first records show."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.head import first_batches
from tfrecord_beam.cli.progress import show_progress
from tfrecord_beam.cli.rows import print_table
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.arrow import arrow_schema
from tfrecord_beam.schema.tfmd import load_schema, schema_columns

if TYPE_CHECKING:
    from tfrecord_beam.cli.arguments import Verbs


def add_parser(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "schema",
        run,
        help="print the columns of a TFMD schema, or of records",
        description="With --schema alone: prints the Arrow columns that a TFMD schema asks for. "
        "With FILES: decodes the first records and prints for each feature its Arrow type, in how "
        "many of them it is there or null, and how many values a record has; with --schema they "
        "must fit it.",
    )
    arguments.add_files(parser, optional=True)
    arguments.add_schema(parser, "TFMD schema")
    arguments.add_count(parser, 1000, "how many records to look at")


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    if options.files:
        return _show_records(options)
    if options.schema is None:
        raise SchemaError("Expected FILES or --schema, found neither")
    return _show_schema(options)
