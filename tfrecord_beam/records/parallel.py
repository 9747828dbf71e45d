"""Threads that compute items before they are needed. The kernel releases the GIL meanwhile."""

from __future__ import annotations

import collections
import functools
import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from typing import Generic, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")
_END = object()


class AtEnd(Generic[_T]):
    """Context manager that returns `given` and calls `close` at the end of the block.

    For blocks in a generator: it does not call `close` on GeneratorExit, when the generator is
    closed or garbage-collected. The garbage collector runs in an arbitrary thread, which may hold a
    lock (such as one of `threading`) that the threads that `close` waits for need: a deadlock. The
    threads of a pool that is not shut down exit soon by themselves, once they have finished the
    work they were given.

    It is a class and not a generator function: in Python 3.10 a generator in which an error was
    raised is part of a reference cycle, and would keep what it holds until the next collection.
    """

    def __init__(self, given: _T, close: Callable[[], object]) -> None:
        self._given = given
        self._close = close

    def __enter__(self) -> _T:
        return self._given

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if error_type is not GeneratorExit:
            self._close()


def interleave_ahead(sources: Iterable[Iterable[_T]], num_threads: int) -> AtEnd[Iterator[_T]]:
    """Returns the items of several sources in turn, one from each, always in the same order.

    Args:
      sources: each is iterated by one thread at a time, one item ahead. They are requested lazily.
      num_threads: how many are iterated at once. 1: one source after the other.
    """
    pool = futures.ThreadPoolExecutor(num_threads)
    return _until_done(_interleave(iter(sources), num_threads, pool), pool)


def _interleave(
    sources: Iterator[Iterable[_T]], num_threads: int, pool: futures.Executor
) -> Iterator[_T]:
    active: collections.deque[tuple[Iterator[_T], futures.Future[object]]] = collections.deque()

    def advance(source: Iterator[_T]) -> None:
        active.append((source, pool.submit(next, source, _END)))

    for source in itertools.islice(sources, num_threads):
        advance(iter(source))
    while active:
        iterator, future = active.popleft()
        item = future.result()
        if item is not _END:
            advance(iterator)
            yield item  # type: ignore[misc]  # it is no _END
        elif (following := next(sources, None)) is not None:
            advance(iter(following))


def map_ahead(
    function: Callable[[_T], _R], items: Iterable[_T], num_threads: int, *, in_order: bool
) -> AtEnd[Iterator[_R]]:
    """Returns the result of a function for each item.

    Each thread fetches an item and works on it. Only one thread at a time fetches, while the others
    work on earlier items.

    Args:
      function: called by the threads, while results for earlier items are in use.
      items: iterated by the same threads, lazily: up to `num_threads` ahead.
      num_threads: number of threads.
      in_order: whether results, and the error of an item, come in the order of the items or as they
        are completed.
    """
    pool = futures.ThreadPoolExecutor(num_threads)
    return _until_done(_map(function, iter(items), num_threads, in_order, pool), pool)


def _map(
    function: Callable[[_T], _R],
    items: Iterator[_T],
    num_threads: int,
    in_order: bool,
    pool: futures.Executor,
) -> Iterator[_R]:
    lock = threading.Lock()
    results: queue.SimpleQueue[futures.Future[object]] = queue.SimpleQueue()

    def work() -> None:
        result: futures.Future[object] = futures.Future()
        try:
            with lock:
                if in_order:
                    results.put(result)
                item = next(items, _END)
            result.set_result(_END if item is _END else function(item))  # type: ignore[arg-type]
        except BaseException as error:
            result.set_exception(error)
        if not in_order:
            results.put(result)

    running = num_threads
    for _ in range(running):
        pool.submit(work)
    while running:
        result = results.get().result()
        if result is _END:
            running -= 1
        else:
            pool.submit(work)
            yield result  # type: ignore[misc]  # it is no _END


def _until_done(results: Iterator[_T], pool: futures.Executor) -> AtEnd[Iterator[_T]]:
    return AtEnd(results, functools.partial(pool.shutdown, cancel_futures=True))
