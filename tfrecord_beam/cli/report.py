"""report: writes an HTML page about the content of files."""

from __future__ import annotations

import argparse
import json
from typing import Any, get_args

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.output import make_printable
from tfrecord_beam.cli.progress import show_activity, show_progress
from tfrecord_beam.options import count_of
from tfrecord_beam.report.write import ReportMode, WrittenReport, write_report


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "report",
        run,
        help="write an HTML page about the content of files",
        description="Reads all records and writes a page that needs no network and no script: the "
        "files, the lengths of the records, each feature with histograms, the first records and "
        "images, and corrupt places. As with verify, the exit code is 1 if there are corrupt "
        "places or anomalies against the schema. Needs tfrecord-beam[report]. All other options, "
        "written as --NAME=VALUE, are passed to Beam and make it run a pipeline; without any, the "
        "records are read in this process.",
        takes_pipeline_options=True,
    )
    arguments.add_files(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=arguments.parse_output,
        metavar="FILE",
        required=True,
        help="the page to write",
    )
    arguments.add_schema(parser, "TFMD schema; the page shows the anomalies against it")
    arguments.add_record_type(parser)
    parser.add_argument(
        "--mode",
        choices=get_args(ReportMode),
        default="error",
        help="what to do with an existing file; default: error",
    )


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    arguments.check_pipeline_options(options.pipeline_options)
    written = _write(options)
    if options.json:
        found = {
            "file": written.path,
            "records": written.num_records,
            "bytes": written.num_bytes,
            "corrupt": written.num_corrupt,
            "anomalies": written.num_anomalies,
        }
        print(json.dumps(found))
    else:
        anomalies = f", {count_of(written.num_anomalies, 'anomaly', 'anomalies')}"
        print(
            f"{count_of(written.num_records, 'record')} in {make_printable(written.path)}, "
            f"{written.num_corrupt} corrupt{anomalies if options.schema else ''}"
        )
    return 1 if written.num_corrupt or written.num_anomalies else 0


def _write(options: argparse.Namespace) -> WrittenReport:
    files, output, schema = options.files, options.output, options.schema
    chosen: dict[str, Any] = {"record_type": options.record_type, "mode": options.mode}
    if not options.pipeline_options:
        with show_progress("Reading", quiet=options.json) as progress:
            return write_report(files, output, schema, progress=progress, **chosen)
    with show_activity("Reading", quiet=options.json):
        written: WrittenReport = arguments.import_pipelines().write_report(
            files, output, schema, chosen, options.pipeline_options
        )
        return written
