"""Files part by part, decoded by the thread that wants them or, as they are read, ahead of it.

Threads only read and decode. What a user can see is on the user's thread and in the order of the
files, however many threads there are: errors, calls of handlers, progress.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator

import pyarrow as pa

from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.decode import OnCorrupt
from tfrecord_beam.records.files import OnProgress, Part
from tfrecord_beam.records.parallel import AtEnd, map_ahead

DecodeBlock = Callable[[RecordBlock, OnCorrupt | None], Iterator[pa.RecordBatch]]
"""Makes the batches of a block, and calls for each record that it leaves out; None: raises."""

_GROUP_BYTES = 4 << 20
"""How much a thread takes at a time at least: with batches of 1000 small records, one by one, two
threads would be slower than one, for handing over takes Python's lock."""

_GROUP_PARTS = 1024
"""How many parts at most: of damaged records, too, so much must not be gathered without a call."""


def decode_parts(
    parts: Generator[Part],
    decode_block: DecodeBlock,
    *,
    on_corrupt: OnCorrupt | None,
    progress: OnProgress | None,
    threads: int,
) -> Generator[pa.RecordBatch]:
    """Yields the batches of parts, in their order.

    Args:
      parts: what to decode; closed at the end.
      decode_block: decodes the blocks; other threads call it too.
      on_corrupt: called with what cannot be read or decoded; None: raise.
      progress: called after each part.
      threads: 1: all is done by the thread that iterates. Else so many others iterate `parts` and
        decode, each a few parts ahead.
    """

    def decode(group: Iterable[Part]) -> list[_Decoded]:
        return [_Decoded(decode_block, part, on_corrupt is not None) for part in group]

    # Both end here, since the traceback of an error would keep files open and threads alive.
    with AtEnd(parts, parts.close), _map(decode, parts, threads) as decoded:
        for each in itertools.chain.from_iterable(decoded):
            yield from each.batches(on_corrupt)
            each.part.report(on_corrupt, progress)


def _map(
    decode: Callable[[Iterable[Part]], list[_Decoded]], parts: Iterable[Part], threads: int
) -> contextlib.AbstractContextManager[Iterator[list[_Decoded]]]:
    if threads == 1:
        return contextlib.nullcontext(decode([part]) for part in parts)
    return map_ahead(decode, _group(parts), threads, in_order=True)


def _group(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yields the parts in lists of which most are worth the cost of handing one to a thread."""
    group: list[Part] = []
    size = 0
    try:
        for part in parts:
            group.append(part)
            if isinstance(part.content, RecordBlock):
                size += part.content.num_bytes
            if size >= _GROUP_BYTES or len(group) >= _GROUP_PARTS:
                yield group
                group, size = [], 0
    except Exception:
        yield group  # what comes before the error
        raise
    yield group


class _Decoded:
    """A part with the batches of its records, the first of which is made at once.

    There are others only where rows times columns are very many: one of them at a time is enough.
    """

    def __init__(self, decode_block: DecodeBlock, part: Part, collect_corrupt: bool) -> None:
        self.part = part
        self._corrupt: list[CorruptRecord] = []
        self._batches: Iterator[pa.RecordBatch] = iter(())
        if isinstance(part.content, RecordBlock):
            on_corrupt = self._corrupt.append if collect_corrupt else None
            self._batches = decode_block(part.content, on_corrupt)
        self._advance()

    def _advance(self) -> None:
        """Makes the next batch, or the error that comes in its place."""
        self._batch: pa.RecordBatch | None = None
        self._error: Exception | None = None
        try:
            self._batch = next(self._batches, None)
        except Exception as error:
            self._error = error

    def batches(self, on_corrupt: OnCorrupt | None) -> Iterator[pa.RecordBatch]:
        """Yields the batches, once, each after calls for the records that it leaves out."""
        while True:
            if on_corrupt is not None:
                for record in self._corrupt:
                    on_corrupt(record)
                self._corrupt.clear()
            if self._error is not None:
                raise self._error
            if self._batch is None:
                return
            yield self._batch
            self._advance()
