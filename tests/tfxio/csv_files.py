"""Files of CSV with the schema of `example_files`, and the rows that they hold."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any

from tests.tfxio.example_files import NUM_RECORDS, SCHEMA

OPTIONS: dict[str, Any] = {
    "column_names": [feature.name for feature in SCHEMA.feature],
    "multivalent_columns": ["name", "score", "index"],
    "secondary_delimiter": ";",
}


def row_of(i: int) -> dict[str, list[Any] | None]:
    """Returns a row with lists of several lengths, and nulls."""
    return {
        "name": [b"name, %d" % i] * (i % 4) or None,
        "id": [i],
        "score": [i / 2] * (i % 3) or None,
        "index": list(range(i % 3)) or None,
        "old": [-i] if i % 5 == 0 else None,
    }


ROWS = [row_of(i) for i in range(NUM_RECORDS)]


def _line_of(row: dict[str, list[Any] | None]) -> bytes:
    return b",".join(b'"%s"' % b";".join(map(_text_of, values or [])) for values in row.values())


def _text_of(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


LINES = [_line_of(row) for row in ROWS]


def write_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes `LINES` to files: plain, compressed, one without lines, one without a last line end.

    Each has a header, but for the one without lines.
    """
    header = b"%s\n" % ",".join(OPTIONS["column_names"]).encode()
    contents = {
        "a.csv": header + b"".join(line + b"\n" for line in LINES[:30]),
        "b.csv.gz": gzip.compress(header + b"".join(line + b"\r\n" for line in LINES[30:50])),
        "c.csv": b"",
        "d.csv": header + b"\n".join(LINES[50:]),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]
