"""Arguments shared by several verbs."""

from __future__ import annotations

import argparse
import importlib
import itertools
import logging
import types
from collections.abc import Callable, Sequence
from typing import TypeAlias, get_args

from tfrecord_beam.options import MAX_INT
from tfrecord_beam.records.partition_columns import PartitionColumns
from tfrecord_beam.schema.arrow import RecordType

# In quotes, because only type checkers know the class as generic.
Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""The verbs, to which each module adds its own."""


def add_verb(
    verbs: Verbs,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    help: str,
    description: str,
    takes_pipeline_options: bool = False,
) -> argparse.ArgumentParser:
    """Adds a verb, which has the option ``--json``, and returns its parser.

    Args:
      verbs: the subparsers to which it is added.
      name: the verb.
      run: does the work and returns the exit code.
      help: one line for the list of verbs.
      description: the text of ``VERB --help``.
      takes_pipeline_options: pass unknown arguments on to Beam.
    """
    parser = verbs.add_parser(name, help=help, description=description, allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.set_defaults(run=run, takes_pipeline_options=takes_pipeline_options, verb_parser=parser)
    return parser


def add_files(
    parser: argparse.ArgumentParser,
    *,
    optional: bool = False,
    help: str = "TFRecord files: paths, patterns or folders",
) -> None:
    """Adds FILES."""
    parser.add_argument(
        "files",
        nargs="*" if optional else "+",
        metavar="FILES",
        help=help,
    )


def add_schema(parser: argparse.ArgumentParser, help: str) -> None:
    """Adds ``--schema``."""
    parser.add_argument("--schema", metavar="FILE", help=f"{help} (.pbtxt, .pb or .json)")


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Adds ``--columns``."""
    parser.add_argument(
        "--columns",
        type=split_names,
        metavar="A,B",
        help="features to decode, separated by commas, in output order; default: all; for records "
        "with steps, ##SEQUENCE##.NAME is one feature of the steps, ##SEQUENCE## all of them",
    )


def add_record_type(
    parser: argparse.ArgumentParser,
    *,
    default: RecordType | None = "Example",
    help: str = "type of the records; default: Example",
) -> None:
    """Adds ``--record-type``."""
    parser.add_argument("--record-type", choices=get_args(RecordType), default=default, help=help)


def add_partition_columns(parser: argparse.ArgumentParser, reading: str = "") -> None:
    """Adds ``--partition-columns``."""
    parser.add_argument(
        "--partition-columns",
        choices=get_args(PartitionColumns),
        help=f"{reading}add columns for folders NAME=VALUE",
    )


def add_count(parser: argparse.ArgumentParser, default: int, help: str) -> None:
    """Adds ``-n``."""
    parser.add_argument(
        "-n",
        type=parse_count,
        default=default,
        metavar="N",
        dest="num_records",
        help=f"{help}; default: {default}",
    )


def split_names(text: str) -> list[str]:
    """Returns the names in a comma-separated list."""
    return text.split(",")


def parse_output(text: str) -> str:
    """Returns `text` as the path of a file to write."""
    if text == "-":  # surely not meant as a file name, and such a file is hard to delete
        raise argparse.ArgumentTypeError("expected a file, found '-': none is written to stdout")
    return text


def parse_count(text: str) -> int:
    """Returns `text` as a number of at least 1."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, found {text!r}")
    if int(text) > MAX_INT:
        raise argparse.ArgumentTypeError(f"expected a number of at most {MAX_INT}, found {text!r}")
    return int(text)


def check_pipeline_options(words: Sequence[str]) -> None:
    """Raises ValueError for a word that is neither a Beam option nor the value of one.

    For example a file after an option, which Beam would ignore.
    """
    for before, word in itertools.pairwise(["", *words]):
        if not word.startswith("-") and ("=" in before or not before.startswith("-")):
            raise ValueError(f"Expected FILES side by side, found {word!r} elsewhere")


def import_pipelines() -> types.ModuleType:
    """Imports `tfrecord_beam.cli.pipeline`, and Beam without its warnings of missing parts."""
    logging.disable(logging.WARNING)
    try:
        return importlib.import_module("tfrecord_beam.cli.pipeline")
    finally:
        logging.disable(logging.NOTSET)
