"""index: where the records of each file begin, for exact splits."""

from __future__ import annotations

import argparse
import json

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.output import make_printable, print_warning
from tfrecord_beam.cli.progress import show_progress
from tfrecord_beam.records.index import index_path
from tfrecord_beam.records.paths import DirectFileSystem, match_files, normalize_patterns
from tfrecord_beam.records.writing.index import find_codec, write_index


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "index",
        run,
        help="write the index of each file",
        description="Reads uncompressed TFRecord files, checks every CRC, and writes beside each "
        "file FOLDER/NAME the index file FOLDER/.NAME.index, which lists where records begin. With "
        "it readers split a file without a search, even if its records contain TFRecord data "
        "themselves. Compressed files among several files are skipped. After a file is rewritten, "
        "its index must be written again; until then readers warn and do not use it.",
    )
    arguments.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    files = match_files(normalize_patterns(options.files), DirectFileSystem())
    written = {}
    for file in files:
        if len(files) > 1 and find_codec(file.path) != "none":
            print_warning(f"{file.path} is compressed, so never split: it needs no index")
            continue
        with show_progress("Indexing", quiet=options.json) as progress:
            write_index(file.path, progress=progress)
        written[file.path] = index_path(file.path)
        if not options.json:
            print(make_printable(written[file.path]))
    if options.json:
        lines = [{"file": file, "index": index} for file, index in written.items()]
        print(json.dumps({"files": lines}))
    return 0
