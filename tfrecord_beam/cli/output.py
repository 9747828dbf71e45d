"""How the command line writes: texts that are safe on a terminal, errors, and closed ends."""

from __future__ import annotations

import io
import os
import sys

from tfrecord_beam.schema.text import make_printable as make_printable

PROGRAM = "tfrecord-beam"


def print_error(text: str) -> None:
    """Prints the text of an error to stderr, in one line."""
    print(f"{PROGRAM}: error: {make_printable(text)}", file=sys.stderr)


def print_warning(text: str) -> None:
    """Prints a warning to stderr, in one line."""
    print(f"{PROGRAM}: warning: {make_printable(text)}", file=sys.stderr)


def prepare_output() -> None:
    """Makes stdout and stderr take every text.

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
    """Writes what is buffered, or drops it where stdout takes no more: Python's exit must not fail.

    Raises nothing: the failure has shown before.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
