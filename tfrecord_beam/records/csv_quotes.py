"""Finds whether CSV ends within quotes, and where these opened."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tfrecord_beam.records.block import Int64Array

_QUOTE = ord('"')


class OpenQuote:
    r"""The quote that is open at the end of the content seen so far, if there is one.

    A quote at the beginning of a cell opens it, and the next one closes it; a quote right after
    that is the second of a pair, and opens it again. Any other quote is an ordinary character.

    >>> quote = OpenQuote()
    >>> quote.feed(b'id,name\n1,"Ada"\n2,"Zo')
    >>> quote.line
    3

    Args:
      delimiter: the byte between two cells.
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
        """Number of the line, from 1, with the open quote; None if no quote is open."""
        return self._line if self._is_open else None

    def feed(self, data: bytes) -> None:
        """Adds the next part of the content."""
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
        """Whether every quote opens or closes a cell, given which ones begin a cell."""
        is_second = np.diff(quotes, prepend=0 if self._has_closed else -1) == 1
        return bool((begins | is_second)[self._is_open :: 2].all())

    def _select(
        self, quotes: Int64Array, begins: npt.NDArray[np.bool_]
    ) -> tuple[Int64Array, npt.NDArray[np.bool_]]:
        """Returns the quotes that open or close a cell, with their `begins`."""
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
