"""verify: finds every corrupt record in all files."""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Iterable, Sequence

from tfrecord_beam.cli import arguments
from tfrecord_beam.cli.output import make_printable, print_error
from tfrecord_beam.cli.progress import show_progress
from tfrecord_beam.errors import Location, NoMatchError
from tfrecord_beam.options import count_of
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.decode import OnCorrupt, RecordDecoder
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FileEntry,
    distinct_files,
    match_pattern,
    normalize_patterns,
)
from tfrecord_beam.schema.arrow import RecordType, decode_plan
from tfrecord_beam.schema.validation import Anomaly, Findings, SchemaValidator


def add_parser(verbs: arguments.Verbs) -> None:
    """Adds the verb."""
    parser = arguments.add_verb(
        verbs,
        "verify",
        run,
        help="find every corrupt record",
        description="Reads all records, checks every CRC, and reports each corrupt part with the "
        "reason, the file and the byte offset. Continues after each of them, through all files. "
        "With --schema it also reports features that do not fit: kinds, presence, numbers of "
        "values, domains, each with the number of records and the place of the first. The exit "
        "code is 1 if anything is reported, and 2 if a file is missing or cannot be opened.",
    )
    arguments.add_files(parser)
    arguments.add_schema(parser, "also decode the records, which must fit this TFMD schema")
    arguments.add_record_type(
        parser,
        default=None,
        help="also decode the records, which must be of this type; default with --schema: Example",
    )


def run(options: argparse.Namespace) -> int:
    """Does what the options ask for and returns the exit code."""
    decoder = _make_decoder(options)
    validator = None if options.schema is None else SchemaValidator(options.schema)
    findings = Findings()
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
                counts[block.file] += _decode(block, decoder, validator, findings, on_corrupt)
    anomalies = [] if validator is None else validator.anomalies(findings)
    if options.json:
        print(json.dumps(_summarize(counts, corrupt, anomalies)))
    else:
        for anomaly in anomalies:
            print(make_printable(str(anomaly)))
        good = sum(counts.values())
        print(
            f"{count_of(len(counts), 'file')}, {count_of(good, 'good record')}, "
            f"{len(corrupt)} corrupt"
        )
    if not all_match:
        return 2
    return 1 if corrupt or anomalies else 0


def _decode(
    block: RecordBlock,
    decoder: RecordDecoder,
    validator: SchemaValidator | None,
    findings: Findings,
    on_corrupt: OnCorrupt,
) -> int:
    """Returns how many records of a block can be decoded, and merges what is found in them."""
    corrupt: list[CorruptRecord] = []
    batches = list(decoder.iter_block(block, corrupt.append))
    for record in corrupt:
        on_corrupt(record)
    if validator is not None:
        left_out = {record.offset for record in corrupt}
        indices: Sequence[int] = range(block.num_records)
        if left_out:
            indices = [index for index in indices if block.offset_of(index) not in left_out]
        for batch in batches:
            place_of = functools.partial(_place, block, indices)
            findings.merge(validator.find(batch, place_of))
            indices = indices[batch.num_rows :]
    return sum(batch.num_rows for batch in batches)


def _place(block: RecordBlock, indices: Sequence[int], row: int) -> Location:
    return block.place_of(indices[row])


def _make_decoder(options: argparse.Namespace) -> RecordDecoder | None:
    """Returns a decoder that the records must pass, None if only CRCs are checked."""
    if options.schema is None and options.record_type is None:
        return None
    record_type: RecordType = options.record_type or "Example"
    return RecordDecoder(decode_plan(options.schema, record_type=record_type), record_type)


def _match_each(patterns: Iterable[str]) -> tuple[dict[str, int], bool]:
    """Returns a count of 0 for each file, and whether every pattern matches a file.

    Prints an error for each pattern that does not.
    """
    files: list[FileEntry] = []
    all_match = True
    for pattern in normalize_patterns(patterns):
        try:
            files += match_pattern(pattern, DirectFileSystem())
        except NoMatchError as error:
            print_error(str(error))
            all_match = False
    return {file.path: 0 for file in distinct_files(files)}, all_match


def _summarize(
    counts: dict[str, int], corrupt: list[CorruptRecord], anomalies: list[Anomaly]
) -> dict[str, object]:
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
        "anomalies": [
            {
                "feature": anomaly.feature,
                "reason": anomaly.reason,
                "records": anomaly.count,
                "file": anomaly.first.file,
                "offset": anomaly.first.offset,
                "record": anomaly.first.record,
            }
            for anomaly in anomalies
        ],
    }
