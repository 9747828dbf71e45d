"""Work that threads do ahead of its use. The kernel releases the GIL, so they do run at once."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")
_END = object()


def interleave_ahead(sources: Iterable[Iterable[_T]], num_threads: int) -> Iterator[_T]:
    """Yields the items of several sources, one of each in turn, always in the same order.

    Args:
      sources: each is iterated by one thread at a time, one item ahead. They are taken as they are
        needed.
      num_threads: how many are iterated at once. 1: one source after the other.
    """
    iterators = iter(sources)
    active: collections.deque[tuple[Iterator[_T], futures.Future[object]]] = collections.deque()
    with futures.ThreadPoolExecutor(num_threads) as pool:

        def advance(source: Iterator[_T]) -> None:
            active.append((source, pool.submit(next, source, _END)))

        for source in itertools.islice(iterators, num_threads):
            advance(iter(source))
        while active:
            iterator, future = active.popleft()
            item = future.result()
            if item is not _END:
                advance(iterator)
                yield item  # type: ignore[misc]  # it is no _END
            elif (following := next(iterators, None)) is not None:
                advance(iter(following))


def map_ahead(
    function: Callable[[_T], _R], items: Iterable[_T], num_threads: int, *, in_order: bool
) -> Iterator[_R]:
    """Yields what a function returns for each item.

    Args:
      function: called by threads, while what it returned for earlier items is in use.
      items: taken as they are needed, as many ahead as there are threads.
      num_threads: how many there are.
      in_order: whether results come in the order of the items, or as they are done.
    """
    pending: collections.deque[futures.Future[_R]] = collections.deque()
    with futures.ThreadPoolExecutor(num_threads) as pool:
        for item in items:
            pending.append(pool.submit(function, item))
            if len(pending) > num_threads:
                yield _pop(pending, in_order)
        while pending:
            yield _pop(pending, in_order)


def _pop(pending: collections.deque[futures.Future[_R]], in_order: bool) -> _R:
    if in_order:
        return pending.popleft().result()
    done = futures.wait(pending, return_when=futures.FIRST_COMPLETED).done
    first = next(future for future in pending if future in done)
    pending.remove(first)
    return first.result()
