"""count: how many records there are."""

from __future__ import annotations

import argparse
import json

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.output import print_counts
from tfrecord_beam.cli.progress import show_progress
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.paths import DirectFileSystem, match_files, normalize_patterns


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "count",
        run,
        help="count the records of each file",
        description="Prints the number of records in each file, and in all files together. Checks "
        "every CRC; a corrupt record is an error. The content of the records does not matter.",
    )
    arguments.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    files = match_files(normalize_patterns(options.files), DirectFileSystem())
    counts = {file.path: 0 for file in files}
    with show_progress("Counting", quiet=options.json) as progress:
        for block in iter_blocks(counts, progress=progress):
            counts[block.file] += block.num_records
    if options.json:
        lines = [{"file": file, "records": count} for file, count in counts.items()]
        print(json.dumps({"files": lines, "records": sum(counts.values())}))
    else:
        print_counts(counts)
    return 0
