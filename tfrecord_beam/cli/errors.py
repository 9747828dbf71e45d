"""How the command line shows errors."""

from __future__ import annotations

import sys

PROGRAM = "tfrecord-beam"


def print_error(error: Exception) -> None:
    """Prints the text of an error to stderr."""
    print(f"{PROGRAM}: error: {error}", file=sys.stderr)
