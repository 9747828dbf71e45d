from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.waiting import wait_until
from tfrecord_beam.records.parallel import interleave_ahead, map_ahead


@pytest.mark.parametrize(
    ("num_threads", "expected"),
    [(1, "aaabcc"), (2, "abaacc"), (3, "abacac"), (9, "abcaca")],
)
def test_sources_are_interleaved(num_threads: int, expected: str) -> None:
    with interleave_ahead(["aaa", "b", "", "cc"], num_threads) as items:
        assert "".join(items) == expected


def test_sources_are_taken_as_they_are_needed() -> None:
    taken = []

    def sources() -> Iterator[range]:
        for i in range(5):
            taken.append(i)
            yield range(2)

    with interleave_ahead(sources(), 2) as items:
        next(items)
        assert taken == [0, 1]
        assert len(list(items)) == 9
    assert taken == [0, 1, 2, 3, 4]


def test_error_of_a_source() -> None:
    def fail() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    with interleave_ahead([fail(), [2]], 2) as items:
        assert [next(items), next(items)] == [1, 2]
        with pytest.raises(OSError, match="gone"):
            next(items)


@pytest.mark.parametrize("num_threads", [1, 2, 5])
@pytest.mark.parametrize("in_order", [False, True])
def test_each_item_is_mapped_once(num_threads: int, in_order: bool) -> None:
    with map_ahead(lambda i: i * i, range(20), num_threads, in_order=in_order) as results:
        found = list(results)
    assert sorted(found) == [i * i for i in range(20)]
    if in_order:
        assert found == sorted(found)


@pytest.mark.parametrize("in_order", [False, True])
def test_items_are_taken_only_so_far_ahead(in_order: bool) -> None:
    taken = []

    def items() -> Iterator[int]:
        for i in range(10):
            taken.append(i)
            yield i

    with map_ahead(lambda i: i, items(), 2, in_order=in_order) as results:
        for used in range(8):
            next(results)
            assert used < len(taken) <= used + 3
        assert len(list(results)) == 2


def test_slow_item_is_waited_for_only_in_order() -> None:
    release = threading.Event()

    def function(item: int) -> int:
        if item == 0:
            release.wait()
        return item

    with map_ahead(function, range(3), 2, in_order=False) as results:
        assert [next(results), next(results)] == [1, 2]
        release.set()
        assert list(results) == [0]


def test_threads_work_at_once() -> None:
    barrier = threading.Barrier(3, timeout=60)
    with map_ahead(lambda _: barrier.wait(), range(3), 3, in_order=True) as results:
        assert sorted(results) == [0, 1, 2]


def test_error_of_the_function() -> None:
    with map_ahead(lambda i: 1 // i, [1, 0], 1, in_order=True) as results:
        assert next(results) == 1
        with pytest.raises(ZeroDivisionError):
            next(results)


@pytest.mark.parametrize("in_order", [False, True])
def test_threads_end_with_their_use(in_order: bool) -> None:
    before = set(threading.enumerate())
    with (
        interleave_ahead([range(100)], 1) as items,
        map_ahead(lambda i: i, items, 2, in_order=in_order) as results,
    ):
        next(results)
    assert set(threading.enumerate()) <= before


def test_generator_that_is_dropped_waits_for_nothing() -> None:
    """As the garbage collector may drop it in a thread that holds what its threads need."""
    release, started = threading.Event(), threading.Semaphore(0)

    def wait(item: int) -> int:
        started.release()
        if item:
            release.wait()
        return item

    def generate(
        ahead: Callable[[], contextlib.AbstractContextManager[Iterator[int]]],
    ) -> Iterator[int]:
        with ahead() as results:
            yield from results

    before = set(threading.enumerate())
    mapped = generate(lambda: map_ahead(wait, range(9), 2, in_order=True))
    interleaved = generate(lambda: interleave_ahead([map(wait, range(9))], 1))
    assert [next(mapped), next(interleaved)] == [0, 0]
    for _ in range(5):  # two results, and all threads wait
        started.acquire()
    del mapped, interleaved
    assert len(set(threading.enumerate()) - before) == 3
    release.set()
    wait_until(lambda: set(threading.enumerate()) <= before)


@pytest.mark.parametrize("in_order", [False, True])
def test_error_of_an_item(in_order: bool) -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise OSError("gone")

    before = set(threading.enumerate())
    with (
        pytest.raises(OSError, match="gone") as caught,
        map_ahead(lambda i: i, items(), 2, in_order=in_order) as results,
    ):
        list(results)
    assert caught.tb is not None
    assert set(threading.enumerate()) <= before


def test_errors_come_in_order() -> None:
    second_failed = threading.Event()

    def function(item: int) -> int:
        if item == 1:
            second_failed.wait()
            raise ValueError("first")
        second_failed.set()
        raise ValueError("second")

    with (
        map_ahead(function, [1, 2], 2, in_order=True) as results,
        pytest.raises(ValueError, match="first"),
    ):
        list(results)


def test_interrupt_while_waiting() -> None:
    release = threading.Event()

    def function(item: int) -> None:
        time.sleep(0.2)  # until the main thread waits for a result
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        release.wait()

    before = set(threading.enumerate())
    timer = threading.Timer(0.5, release.set)  # else the pool would wait for the function for ever
    timer.start()
    with (
        pytest.raises(KeyboardInterrupt),
        map_ahead(function, range(3), 1, in_order=True) as results,
    ):
        list(results)
    timer.join()
    assert set(threading.enumerate()) <= before
