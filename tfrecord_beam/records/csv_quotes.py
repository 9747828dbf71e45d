"""Whether CSV ends within quotes, and where these open."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tfrecord_beam.records.block import Int64Array

_QUOTE = ord('"')


class OpenQuote:
    r"""The quote that is open where the content seen so far ends, if there is one.

    A quote opens a cell where one begins, and the next one closes it; one right behind that is the
    second of a pair, and opens it again. Any other quote is a character of its cell.

    >>> quote = OpenQuote()
    >>> quote.feed(b'id,name\n1,"Ada"\n2,"Zo')
    >>> quote.line
    3

    Args:
      delimiter: what stands between two cells, one byte.
    """

    def __init__(self, delimiter: bytes = b",") -> None:
        self._before_cells = np.frombuffer(delimiter + b"\r\n", np.uint8)
        self._last = b"\n"
        self._is_open = False
        self._has_closed = False
        self._line_ends = 0
        self._line = 0

    @property
    def line(self) -> int | None:
        """Number of the line, from 1, in which the quote is; None: none is open."""
        return self._line if self._is_open else None

    def feed(self, data: bytes) -> None:
        """Takes in what follows in the content."""
        if not data:
            return
        content = np.frombuffer(self._last + data, np.uint8)
        quotes = np.flatnonzero(content[1:] == _QUOTE) + 1
        begins = np.isin(content[quotes - 1], self._before_cells)
        if not self._alternate(quotes, begins):
            quotes, begins = self._select(quotes, begins)
        opening = quotes[self._is_open :: 2][begins[self._is_open :: 2]]
        if len(opening):
            self._line = 1 + self._line_ends + data.count(b"\n", 0, int(opening[-1]) - 1)
        self._is_open ^= bool(len(quotes) % 2)
        self._has_closed = not self._is_open and len(data) in quotes[-1:]
        self._line_ends += data.count(b"\n")
        self._last = data[-1:]

    def _alternate(self, quotes: Int64Array, begins: npt.NDArray[np.bool_]) -> bool:
        """Whether each quote opens or closes a cell, given which ones are where a cell begins."""
        is_second = np.diff(quotes, prepend=0 if self._has_closed else -1) == 1
        return bool((begins | is_second)[self._is_open :: 2].all())

    def _select(
        self, quotes: Int64Array, begins: npt.NDArray[np.bool_]
    ) -> tuple[Int64Array, npt.NDArray[np.bool_]]:
        """Returns those quotes, and their `begins`, that open or close a cell."""
        is_open, closed = self._is_open, 0 if self._has_closed else -1
        chosen = np.zeros(len(quotes), np.bool_)
        for index, (position, begins_cell) in enumerate(
            zip(quotes.tolist(), begins.tolist(), strict=True)
        ):
            if is_open:
                closed = position
            elif not begins_cell and position != closed + 1:
                continue
            is_open = not is_open
            chosen[index] = True
        return quotes[chosen], begins[chosen]
