"""verify: every record that is corrupt, in all files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.output import make_printable, print_error
from tfrecord_beam.cli.progress import show_progress
from tfrecord_beam.errors import NoMatchError
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FileEntry,
    distinct_files,
    match_pattern,
    normalize_patterns,
)
from tfrecord_beam.schema.arrow import RecordType, decode_plan

if TYPE_CHECKING:
    from tfrecord_beam.cli.arguments import Verbs


def add_parser(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "verify",
        run,
        help="find every corrupt record",
        description="Reads all records, checks every CRC, and reports each part that is no whole "
        "record: why, in which file, at which byte. Goes on after each of them and over all files. "
        "The exit code is 1 if there is any, and 2 if a file is missing or cannot be opened.",
    )
    arguments.add_files(parser)
    arguments.add_schema(parser, "also decode the records, which must fit this TFMD schema")
    arguments.add_record_type(
        parser,
        default=None,
        help="also decode the records, which must be such; default with --schema: Example",
    )


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    decoder = _make_decoder(options)
    corrupt: list[CorruptRecord] = []

    def on_corrupt(record: CorruptRecord) -> None:
        corrupt.append(record)
        if not options.json:
            print(make_printable(str(record)))

    counts, all_match = _match_each(options.files)
    if not counts:
        return 2
    with show_progress("Verifying", quiet=options.json) as progress:
        for block in iter_blocks(counts, on_corrupt=on_corrupt, progress=progress):
            if decoder is None:
                counts[block.file] += block.num_records
            else:
                batches = decoder.iter_block(block, on_corrupt)
                counts[block.file] += sum(batch.num_rows for batch in batches)
    if options.json:
        print(json.dumps(_summarize(counts, corrupt)))
    else:
        good = sum(counts.values())
        print(f"{len(counts)} files, {good} good records, {len(corrupt)} corrupt")
    if not all_match:
        return 2
    return 1 if corrupt else 0


def _make_decoder(options: argparse.Namespace) -> RecordDecoder | None:
    """Returns what the records must pass, None if only their CRCs count."""
    if options.schema is None and options.record_type is None:
        return None
    record_type: RecordType = options.record_type or "Example"
    return RecordDecoder(decode_plan(options.schema, record_type=record_type), record_type)


def _match_each(patterns: Iterable[str]) -> tuple[dict[str, int], bool]:
    """Returns a count of 0 for each file, and whether each pattern means one.

    Prints an error for each pattern that does not.
    """
    files: list[FileEntry] = []
    all_match = True
    for pattern in normalize_patterns(patterns):
        try:
            files += match_pattern(pattern, DirectFileSystem())
        except NoMatchError as error:
            print_error(error)
            all_match = False
    return {file.path: 0 for file in distinct_files(files)}, all_match


def _summarize(counts: dict[str, int], corrupt: list[CorruptRecord]) -> dict[str, object]:
    return {
        "files": [{"file": file, "records": count} for file, count in counts.items()],
        "records": sum(counts.values()),
        "corrupt_records": [
            {
                "file": record.file,
                "offset": record.offset,
                "length": record.length,
                "record": record.record,
                "reason": record.reason,
            }
            for record in corrupt
        ],
    }
