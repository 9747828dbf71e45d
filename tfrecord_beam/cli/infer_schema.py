"""infer-schema: the TFMD schema of all records."""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

from google.protobuf import json_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.output import make_printable, print_warning
from tfrecord_beam.cli.progress import show_activity, show_progress
from tfrecord_beam.options import count_of
from tfrecord_beam.records.inference import infer_schema
from tfrecord_beam.records.writing.schema_file import save_schema
from tfrecord_beam.schema.tfmd import format_schema


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "infer-schema",
        run,
        help="infer the TFMD schema of all records",
        description="Reads all records and prints their TFMD schema, or writes it to a file: the "
        "kind of each feature, whether all records have it, and the number of values. A feature "
        "with conflicting kinds is an error that gives the first place of each. All other options, "
        "written as --NAME=VALUE, are passed to Beam and make it run a pipeline; without any, the "
        "records are read in this process.",
        takes_pipeline_options=True,
    )
    arguments.add_files(parser)
    arguments.add_record_type(parser)
    arguments.add_partition_columns(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=arguments.parse_output,
        metavar="FILE",
        help="write the schema to this file: as JSON if its name ends in .json, as binary protobuf "
        "for .pb, else as text",
    )
    parser.add_argument("--shape", action="store_true", help="store fixed lengths as shapes")
    parser.add_argument("--int-domains", action="store_true", help="store the ranges of integers")
    parser.add_argument(
        "--string-domains",
        type=arguments.parse_count,
        default=0,
        metavar="N",
        help="list the values of features that have at most N distinct ones, all of them UTF-8",
    )
    parser.add_argument(
        "--content-domains",
        action="store_true",
        help="distinguish images and text from other bytes",
    )
    parser.add_argument(
        "--drop-conflicts",
        action="store_true",
        help="omit features with conflicting kinds, with a warning, instead of failing",
    )


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    arguments.check_pipeline_options(options.pipeline_options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the schema says the same
        schema = _infer(options)
    for comment in schema.annotation.comment:
        print_warning(comment)
    if options.output is not None:
        save_schema(schema, options.output)
        if not options.json:
            features = count_of(len(schema.feature), "feature")
            print(f"{features} in {make_printable(options.output)}")
    elif options.json:
        print(json.dumps(json_format.MessageToDict(schema)))
    else:
        print(format_schema(schema), end="")
    return 0


def _infer(options: argparse.Namespace) -> schema_pb2.Schema:
    chosen: dict[str, Any] = {
        "record_type": options.record_type,
        "partition_columns": options.partition_columns,
        "infer_shape": options.shape,
        "int_domains": options.int_domains,
        "string_domains": options.string_domains,
        "content_domains": options.content_domains,
        "on_conflict": "drop" if options.drop_conflicts else "error",
    }
    if not options.pipeline_options:
        with show_progress("Reading", quiet=options.json) as progress:
            return infer_schema(options.files, progress=progress, **chosen)
    with show_activity("Reading", quiet=options.json):
        pipelines = arguments.import_pipelines()
        schema: schema_pb2.Schema = pipelines.infer_schema(
            options.files, chosen, options.pipeline_options
        )
        return schema
