"""Splits lines of CSV into columns of cells, as bytes.

The dialect is that of Python's `csv.reader`: a cell may be enclosed in double quotes, with ``""``
for a quote inside; a quote that does not begin a cell is an ordinary character. Each line is parsed
by itself, so a quote must be closed on its line. Bytes that are not UTF-8 are unchanged.

Arrow parses whole blocks of lines in the same way, except in the cases for which `_is_plain` and
`_parse_with_arrow` check. Such blocks, and those with errors, are parsed line by line, which also
gives the place of an error.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from tfrecord_beam.errors import DecodeError
from tfrecord_beam.options import count_of
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.records.csv_quotes import OpenQuote
from tfrecord_beam.records.lines import LineBlock

_MAX_ARROW_BLOCK_BYTES = (1 << 31) - 1


class Cells(NamedTuple):
    """Columns of cells.

    Attributes:
      columns: `large_binary`, null where a cell is empty; a row for each line.
      lines: int64 [rows], index in the block of each row's line.
    """

    columns: list[pa.Array]
    lines: Int64Array


def parse_cells(
    block: LineBlock, *, num_columns: int, wanted: Sequence[int], delimiter: str
) -> Cells:
    """Returns the cells of some columns of all lines that are not blank.

    Args:
      block: the lines.
      num_columns: cells in each line.
      wanted: numbers of the columns, from 0.
      delimiter: the character between two cells.

    Raises:
      DecodeError: a line has the wrong number of cells, a quote that is not closed, or a line break
        (a carriage return) outside quotes.
    """
    return _parse_with_arrow(block, num_columns, wanted, delimiter.encode()) or _parse_lines(
        block, num_columns, wanted, delimiter.encode()
    )


def keep_blank_lines(cells: Cells, num_lines: int) -> Cells:
    """Returns the cells with a row of nulls for each line that is blank."""
    if len(cells.lines) == num_lines:
        return cells
    rows = np.full(num_lines, -1)
    rows[cells.lines] = np.arange(len(cells.lines))
    indices = pa.array(rows, mask=rows < 0)
    return Cells([column.take(indices) for column in cells.columns], np.arange(num_lines))


def _parse_with_arrow(
    block: LineBlock, num_columns: int, wanted: Sequence[int], delimiter: bytes
) -> Cells | None:
    """Returns the cells; None if Arrow rejects the block, or might parse it differently."""
    lines = np.flatnonzero(block.lengths)
    data = bytes(block.data)
    if not len(lines) or not _is_plain(data, block, int(lines[-1]), delimiter):
        return None
    names = [str(number) for number in range(num_columns)]
    included = [names[number] for number in wanted]
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            pyarrow.csv.ReadOptions(
                column_names=names,
                use_threads=False,
                block_size=min(len(data) + 1, _MAX_ARROW_BLOCK_BYTES),
            ),
            pyarrow.csv.ParseOptions(delimiter=delimiter.decode()),
            pyarrow.csv.ConvertOptions(
                include_columns=included or names[:1],
                column_types=dict.fromkeys(names, pa.large_binary()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != len(lines):  # a quote was closed on another line
        return None
    return Cells([table.column(name).combine_chunks() for name in included], lines)


def _is_plain(data: bytes, block: LineBlock, last_line: int, delimiter: bytes) -> bool:
    """Whether Arrow finds the same lines in the block.

    For Arrow a carriage return ends a line, a line end in quotes does not, and a byte order mark is
    not content. It accepts an open quote in the last line that is not blank.
    """
    last = block.line(last_line)
    line_ends = np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    return (
        len(delimiter) == 1
        and line_ends == block.num_lines - (not data.endswith(b"\n"))
        and (b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"))
        and not data.startswith(codecs.BOM_UTF8)
        and not _leaves_open(last, delimiter)
    )


def _leaves_open(line: bytes, delimiter: bytes) -> bool:
    quote = OpenQuote(delimiter)
    quote.feed(line)
    return quote.line is not None


def _parse_lines(
    block: LineBlock, num_columns: int, wanted: Sequence[int], delimiter: bytes
) -> Cells:
    rows = []
    for index, line in enumerate(block.lines()):
        try:
            rows.append(split_line(line, delimiter))
        except DecodeError as error:
            raise DecodeError(error.message, block.location(index), error.hint) from None
    return collect_rows(rows, block, num_columns=num_columns, wanted=wanted)


def collect_rows(
    rows: Sequence[Sequence[bytes]], block: LineBlock, *, num_columns: int, wanted: Sequence[int]
) -> Cells:
    """Returns the cells of some columns of lines that were split already.

    Args:
      rows: the cells of each line; empty if it is blank.
      block: the lines.
      num_columns: cells in each line.
      wanted: numbers of the columns, from 0.

    Raises:
      DecodeError: a line has the wrong number of cells.
    """
    lines = [index for index, row in enumerate(rows) if row]
    for index in lines:
        if len(rows[index]) != num_columns:
            raise DecodeError(
                f"Expected a line of {count_of(num_columns, 'cell')}, found {len(rows[index])}",
                block.location(index),
            )
    columns = [
        pa.array([rows[index][number] or None for index in lines], pa.large_binary())
        for number in wanted
    ]
    return Cells(columns, np.array(lines, np.int64))


def split_line(line: bytes, delimiter: bytes) -> list[bytes]:
    """Returns the cells of one line; none if it is blank.

    >>> split_line(b'1,"two, three",', b",")
    [b'1', b'two, three', b'']

    Args:
      line: may include its line end. There may also be line ends within quotes.
      delimiter: the separator of cells.

    Raises:
      DecodeError: a quote is not closed, or a line end is neither in quotes nor the last.
    """
    line = line.rstrip(b"\r\n")
    cells: list[bytes] = []
    position = 0
    while line:
        cell = _cell_pattern(delimiter).match(line, position)
        if cell is None:
            raise DecodeError(
                "Expected every quote closed on its line, found one left open",
                hint="a cell cannot hold a line end",
            )
        quoted, rest, plain = cell.groups()
        cells.append(plain if quoted is None else quoted.replace(b'""', b'"') + rest)
        if cell.end() == len(line):
            break
        if not line.startswith(delimiter, cell.end()):
            raise DecodeError(
                "Expected lines that end with LF or CR LF, found a CR or LF inside a line"
            )
        position = cell.end() + len(delimiter)
    return cells


@functools.cache
def _cell_pattern(delimiter: bytes) -> re.Pattern[bytes]:
    plain = rb"((?:(?!%s)[^\r\n])*)" % re.escape(delimiter)
    # A second quote would make a pair, which does not close the cell.
    return re.compile(rb'"([^"]*(?:""[^"]*)*)"(?!")' + plain + rb'|(?!")' + plain)
