"""Rows of record batches as JSON and as tables."""

from __future__ import annotations

import base64
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tfrecord_beam.cli.output import make_printable

Row = Mapping[str, Any]
"""A record as JSON: for each column null or a list."""

_MAX_VALUES = 5
_MAX_CHARACTERS = 40
"""How much of a list, and of a text, a table shows."""

_UNLIMITED = 1 << 20


def to_rows(batch: pa.RecordBatch) -> list[Row]:
    """Returns the rows of a batch as JSON values.

    Bytes become text if they are UTF-8, else ``{"base64": ...}``. The 32-bit floats are exact;
    those that are not finite become "NaN", "Infinity" and "-Infinity", as in protobuf's JSON.
    """
    return [{name: _to_json(value) for name, value in row.items()} for row in batch.to_pylist()]


def _to_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_json(each) for each in value]
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def print_rows(columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Prints a table with a line for each row or, if that is too wide, for each column.

    Args:
      columns: names of the columns, in order.
      rows: the result of `to_rows`; a column that a row does not have is null there.
    """
    cells = [[_show(row.get(column)) for column in columns] for row in rows]
    table = make_table(columns, cells)
    console = _console()
    if not cells or _fits(table, console):
        console.print(table)
        return
    begin = 0
    while begin < len(cells):
        end = len(cells)
        while not _fits(turned := _turned(columns, cells, begin, end), console) and end > begin + 1:
            end -= 1
        console.print(turned)
        begin = end


def _turned(columns: Sequence[str], cells: Sequence[Sequence[Text]], begin: int, end: int) -> Table:
    header = ["", *(f"record {index}" for index in range(begin, end))]
    lines = zip(*cells[begin:end], strict=True)
    return make_table(
        header, ([column, *line] for column, line in zip(columns, lines, strict=True))
    )


def print_table(header: Iterable[str], lines: Iterable[Iterable[str | Text]]) -> None:
    """Prints a table."""
    _console().print(make_table(header, lines))


def make_table(header: Iterable[str], lines: Iterable[Iterable[str | Text]]) -> Table:
    """Returns a table in which no text is interpreted as markup, or controls the terminal."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for name in header:
        table.add_column(Text(make_printable(name)))
    for line in lines:
        table.add_row(
            *(cell if isinstance(cell, Text) else Text(make_printable(cell)) for cell in line)
        )
    return table


class _Console(Console):
    """A console that leaves it to the program to handle a closed output."""

    def on_broken_pipe(self) -> None:
        raise  # the exception that rich is handling


def _console() -> Console:
    # A file or a pipe has no width; its reader can handle long lines.
    return _Console(width=None if sys.stdout.isatty() else _UNLIMITED)


def _fits(table: Table, console: Console) -> bool:
    wanted = console.measure(table, options=console.options.update_width(_UNLIMITED)).maximum
    return wanted <= console.width


def _show(value: Any) -> Text:
    """Returns the text of a table cell for a value, which is null or a list."""
    if value is None:
        return Text("null", "dim")
    only = value[0] if len(value) == 1 else value
    return Text(_show_value(value if isinstance(only, list) else only))


def _show_value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        values = [_show_value(each) for each in value[:_MAX_VALUES]]
        if len(value) > len(values):
            values.append(f"... {len(value):,} in all")
        return f"[{', '.join(values)}]"
    if isinstance(value, dict):
        return f"<{len(base64.b64decode(value['base64'])):,} bytes>"
    if isinstance(value, str):
        shown = repr(value[: _MAX_CHARACTERS + 1])[1:-1]  # no line breaks, no control characters
        return shown if len(shown) <= _MAX_CHARACTERS else f"{shown[: _MAX_CHARACTERS - 3]}..."
    if isinstance(value, float):
        return str(np.float32(value))  # the shortest text for the same 32-bit float
    return str(value)
