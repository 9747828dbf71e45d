"""Decodes the parts of files, on the calling thread or ahead of it on other threads.

The other threads only read and decode. Everything visible to the user (errors, callbacks, progress)
happens on the user's thread and in the order of the files, however many threads there are.
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
"""Returns the batches of a block; calls the function for each record left out; None: raises."""

_GROUP_BYTES = 6 << 20
"""Minimum amount of work for a thread: if batches of 1000 small records were handed over one by
one, two threads would be slower than one, because each handover takes the GIL. It is less than a
block of the usual size, which is handed over by itself."""

_GROUP_PARTS = 1024
"""Maximum number of parts in a group, which bounds how many damaged records are held back."""


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
      on_corrupt: called for each part or record that cannot be read or decoded; None: raise.
      progress: called after each part.
      threads: 1: everything is done by the iterating thread. Else this many other threads iterate
        `parts` and decode, each a few parts ahead.
    """

    def decode(group: Iterable[Part]) -> list[_Decoded]:
        return [_Decoded(decode_block, part, on_corrupt is not None) for part in group]

    # Both are closed here, because an error's traceback would keep files open and threads alive.
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
    """Yields the parts in lists that are mostly large enough to hand over to a thread."""
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
        yield group  # the parts before the error
        raise
    yield group


class _Decoded:
    """A part with the batches of its records, the first of which is decoded immediately.

    There are more only if rows times columns are very many; these are decoded one at a time.
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
        """Decodes the next batch, or stores the error raised instead."""
        self._batch: pa.RecordBatch | None = None
        self._error: Exception | None = None
        try:
            self._batch = next(self._batches, None)
        except Exception as error:
            self._error = error

    def batches(self, on_corrupt: OnCorrupt | None) -> Iterator[pa.RecordBatch]:
        """Yields the batches once, after calling `on_corrupt` for the records left out of each."""
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
