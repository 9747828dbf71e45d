"""Reads the page that maps the names of tfx_bsl to ours."""

from __future__ import annotations

import pathlib
import re
from typing import NamedTuple

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "tfxio.md"


class Name(NamedTuple):
    """A row of the page.

    Attributes:
      theirs: the module of tfx_bsl.
      ours: the module here.
      name: what is in both.
      note: what is different, or why it is left out.
    """

    theirs: str
    ours: str
    name: str
    note: str

    @property
    def is_left_out(self) -> bool:
        return self.note.startswith("left out: ")

    def __str__(self) -> str:
        return f"{self.theirs}.{self.name}"


def read_names() -> list[Name]:
    """Returns the rows in the order of the page."""
    names = []
    theirs = ours = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"### `(tfx_bsl\.[\w.]+)` -> `(tfrecord_beam\.[\w.]+)`", line):
            theirs, ours = heading.groups()
        elif row := re.fullmatch(r"\| `(\w+)` \| (.*?) ?\|", line):
            names.append(Name(theirs, ours, row[1], row[2]))
    return names
