"""convert: converts files of other formats to TFRecord, and back."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any, get_args

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.output import print_counts
from tfrecord_beam.cli.progress import show_activity, show_progress
from tfrecord_beam.records.convert.convert import convert
from tfrecord_beam.records.convert.formats import Format
from tfrecord_beam.records.writing.options import Mode
from tfrecord_beam.records.writing.plan import WrittenFile

_SAME = (
    "columns",
    "column_names",
    "record_type",
    "source_format",
    "target_format",
    "partition_columns",
    "compression",
    "mode",
)
"""Options passed to `convert` under the same name."""

_WRITE_OPTIONS = ("num_shards", "max_records_per_shard", "partition_by")
"""Options for TFRecord, passed on only if given."""


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "convert",
        run,
        help="convert Parquet, CSV, JSON lines or Arrow to TFRecord, and back",
        description="Converts FILES to TARGET; one side is TFRecord. Formats are recognized by "
        "suffix: .tfrecord or none, .parquet, .csv, .jsonl, .arrow (IPC file), .arrows (IPC "
        "stream); TFRecord and text may be followed by .gz and the like. The first line of a CSV "
        "file has the names of its columns, unless --column-names gives them. From TFRecord, "
        "columns with at most one value per record become scalar. TARGET is complete or absent. "
        "With --beam, or if there are other options, a Beam pipeline does the conversion; other "
        "options, written as --NAME=VALUE, are passed to Beam. A pipeline writes TFRecord in "
        "shards, such as a-00000-of-00004.tfrecord for the TARGET a.tfrecord, and other formats as "
        "one file for each of FILES.",
        takes_pipeline_options=True,
    )
    arguments.add_files(parser, help="files to convert: paths, patterns or folders")
    parser.add_argument(
        "target", type=arguments.parse_output, metavar="TARGET", help="the file to write"
    )
    formats = [each.value for each in Format]
    for name, option in (("from", "source_format"), ("to", "target_format")):
        parser.add_argument(
            f"--{name}", choices=formats, dest=option, help="the format; default: from the suffix"
        )
    arguments.add_schema(parser, "TFMD schema of the records; default: derived from the data")
    arguments.add_columns(parser)
    parser.add_argument(
        "--column-names",
        type=arguments.split_names,
        metavar="A,B",
        help="from CSV without a header line: the names of its columns; to CSV: the columns to "
        "convert",
    )
    arguments.add_record_type(parser)
    parser.add_argument("--beam", action="store_true", help="convert with a Beam pipeline")
    _add_column_forms(parser)
    _add_target_options(parser)


def _add_column_forms(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scalars",
        type=arguments.split_names,
        metavar="A,B",
        help="from TFRecord: columns to make scalar; default: those with at most one value per "
        "record according to the schema or, without one, in all records",
    )
    parser.add_argument("--lists", action="store_true", help="from TFRecord: keep all lists")
    parser.add_argument(
        "--strings",
        type=arguments.split_names,
        metavar="A,B",
        help="from TFRecord: columns to make text; default: those that are text according to the "
        "schema or, without one, in all records",
    )
    arguments.add_partition_columns(parser, "from TFRecord: ")


def _add_target_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--compression",
        default="auto",
        metavar="CODEC",
        help="gzip, zlib, bz2, zstd, lz4, snappy or none; default: from the suffix of TARGET",
    )
    parser.add_argument(
        "--mode",
        choices=get_args(Mode),
        default="error",
        help="what to do with existing files; default: error",
    )
    parser.add_argument(
        "--num-shards",
        type=arguments.parse_count,
        metavar="N",
        help="write N TFRecord files; TARGET is the prefix of their names",
    )
    parser.add_argument(
        "--max-records-per-shard",
        type=arguments.parse_count,
        metavar="N",
        help="write TFRecord files of at most N records; TARGET is the prefix of their names",
    )
    parser.add_argument(
        "--partition-by",
        type=arguments.split_names,
        metavar="A,B",
        help="write TFRecord files into folders A=VALUE/B=VALUE; their names, in these folders, "
        "begin with the last part of TARGET, or with 'part' if it ends in a slash",
    )


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    arguments.check_pipeline_options(options.pipeline_options)
    _print_files(_convert(options), as_json=options.json)
    return 0


def _convert(options: argparse.Namespace) -> Sequence[WrittenFile]:
    files, target, schema = options.files, options.target, options.schema
    chosen: dict[str, Any] = {name: getattr(options, name) for name in _SAME}
    if options.scalars and options.lists:
        raise ValueError("Expected --scalars or --lists, found both")
    chosen.update(scalars=options.scalars or not options.lists, strings=options.strings or True)
    given = {name: getattr(options, name) for name in _WRITE_OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    if not options.beam and not options.pipeline_options:
        with show_progress("Converting", quiet=options.json) as progress:
            return convert(files, target, schema, progress=progress, **chosen, **given)
    with show_activity("Converting", quiet=options.json):
        chosen["write_options"] = given
        written: list[WrittenFile] = arguments.import_pipelines().convert_files(
            files, target, schema, chosen, options.pipeline_options
        )
        return written


def _print_files(files: Sequence[WrittenFile], *, as_json: bool) -> None:
    counts = {file.path: file.num_records for file in files}
    if as_json:
        lines = [
            {"file": file.path, "records": file.num_records, "bytes": file.num_bytes}
            for file in files
        ]
        print(json.dumps({"files": lines, "records": sum(counts.values())}))
    else:
        print_counts(counts)
