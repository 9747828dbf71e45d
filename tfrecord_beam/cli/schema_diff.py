"""schema-diff: prints the changes from one schema to another."""

from __future__ import annotations

import argparse
import dataclasses
import json

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.output import make_printable
from tfrecord_beam.schema.diff import diff_schemas


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "schema-diff",
        run,
        help="compare two schemas",
        description="Prints the changes from one schema to another, one per line: features that "
        "were added (+) or removed (-), and fields that differ (~). Order does not matter. A "
        "schema is a TFMD file (.pbtxt, .pb, .json), a Parquet file, or a Spark StructType as "
        ".json. The exit code is 1 if the schemas differ.",
    )
    for name in ("old", "new"):
        parser.add_argument(name, metavar=name.upper(), help=f"path of the {name} schema")


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    changes = diff_schemas(options.old, options.new)
    if options.json:
        print(json.dumps({"changes": [dataclasses.asdict(change) for change in changes]}))
    else:
        for change in changes:
            print(make_printable(str(change)))
    return 1 if changes else 0
