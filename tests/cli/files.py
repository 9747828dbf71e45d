"""Small files for the command line."""

from __future__ import annotations

import gzip
import pathlib

from tests.frames import framed
from tests.wire import NO_KIND, bytes_list, entry, example, floats, int64

PEOPLE = (
    example(
        entry("age", int64(39)),
        entry("name", bytes_list(b"Ada")),
        entry("photo", bytes_list(b"\xff\xd8")),
        entry("scores", floats(0.1, float("inf"), float("nan"))),
    ),
    example(entry("age", int64()), entry("name", NO_KIND), entry("scores", floats(-2.5))),
    example(entry("age", int64(17, 18)), entry("name", bytes_list("Zoë".encode()))),
)

SCHEMA = """
feature { name: "scores" type: FLOAT }
feature { name: "age" type: INT }
feature { name: "name" type: BYTES }
"""


def write(folder: pathlib.Path, name: str, *records: bytes) -> str:
    """Writes a TFRecord file and returns its path; compressed if it is called ``.gz``."""
    data = framed(*records)
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


def write_schema(folder: pathlib.Path, text: str = SCHEMA) -> str:
    """Writes a TFMD schema and returns its path."""
    path = folder / "schema.pbtxt"
    path.write_text(text)
    return str(path)


def damage(path: str, offset: int) -> None:
    """Flips a bit of a file."""
    content = bytearray(pathlib.Path(path).read_bytes())
    content[offset] ^= 1
    pathlib.Path(path).write_bytes(content)
