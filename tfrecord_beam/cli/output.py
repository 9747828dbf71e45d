"""Output of the command line: text that is safe on a terminal, errors, and closed streams."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping

from tfrecord_beam.schema.text import make_printable as make_printable

PROGRAM = "tfrecord-beam"


def print_error(text: str) -> None:
    """Prints the text of an error to stderr, in one line."""
    print(f"{PROGRAM}: error: {make_printable(text)}", file=sys.stderr)


def print_warning(text: str) -> None:
    """Prints a warning to stderr, in one line."""
    print(f"{PROGRAM}: warning: {make_printable(text)}", file=sys.stderr)


def print_counts(counts: Mapping[str, int]) -> None:
    """Prints the number of records of each file and, if there are several, of all together."""
    total = sum(counts.values())
    width = len(str(total))
    for file, count in counts.items():
        print(f"{count:>{width}} {make_printable(file)}")
    if len(counts) > 1:
        print(f"{total:>{width}} in all")


def prepare_output() -> None:
    """Makes stdout and stderr accept any text.

    Raises:
      OSError: stdout is closed.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        raise OSError("Expected stdout to be open, found it closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def finish_output() -> None:
    """Flushes stdout, or discards the rest if that fails, so that Python's exit does not fail.

    Raises nothing: the failure has been reported before.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
