from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tfrecord_beam.records.parallel import interleave_ahead, map_ahead


@pytest.mark.parametrize(
    ("num_threads", "expected"),
    [(1, "aaabcc"), (2, "abaacc"), (3, "abacac"), (9, "abcaca")],
)
def test_sources_are_interleaved(num_threads: int, expected: str) -> None:
    assert "".join(interleave_ahead(["aaa", "b", "", "cc"], num_threads)) == expected


def test_sources_are_taken_as_they_are_needed() -> None:
    taken = []

    def sources() -> Iterator[range]:
        for i in range(5):
            taken.append(i)
            yield range(2)

    items = interleave_ahead(sources(), 2)
    next(items)
    assert taken == [0, 1]
    assert len(list(items)) == 9
    assert taken == [0, 1, 2, 3, 4]


def test_error_of_a_source() -> None:
    def fail() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    items = interleave_ahead([fail(), [2]], 2)
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(OSError, match="gone"):
        next(items)


@pytest.mark.parametrize("num_threads", [1, 2, 5])
@pytest.mark.parametrize("in_order", [False, True])
def test_each_item_is_mapped_once(num_threads: int, in_order: bool) -> None:
    found = list(map_ahead(lambda i: i * i, range(20), num_threads, in_order=in_order))
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

    results = map_ahead(lambda i: i, items(), 2, in_order=in_order)
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

    results = map_ahead(function, range(3), 2, in_order=False)
    assert [next(results), next(results)] == [1, 2]
    release.set()
    assert list(results) == [0]


def test_threads_work_at_once() -> None:
    barrier = threading.Barrier(3, timeout=60)
    list(map_ahead(lambda _: barrier.wait(), range(3), 3, in_order=True))


def test_error_of_the_function() -> None:
    results = map_ahead(lambda i: 1 // i, [1, 0], 1, in_order=True)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_threads_end_with_their_use() -> None:
    before = threading.active_count()
    results = map_ahead(lambda i: i, interleave_ahead([range(100)], 1), 2, in_order=True)
    next(results)
    del results
    assert threading.active_count() == before


@pytest.mark.parametrize("in_order", [False, True])
def test_error_of_an_item(in_order: bool) -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise OSError("gone")

    before = threading.active_count()
    found: list[int] = []
    with pytest.raises(OSError, match="gone") as caught:
        found.extend(map_ahead(lambda i: i, items(), 2, in_order=in_order))
    assert caught.tb is not None
    assert threading.active_count() == before


def test_errors_come_in_order() -> None:
    second_failed = threading.Event()

    def function(item: int) -> int:
        if item == 1:
            second_failed.wait()
            raise ValueError("first")
        second_failed.set()
        raise ValueError("second")

    with pytest.raises(ValueError, match="first"):
        list(map_ahead(function, [1, 2], 2, in_order=True))


def test_interrupt_while_waiting() -> None:
    release = threading.Event()

    def function(item: int) -> None:
        time.sleep(0.2)  # until the main thread waits for a result
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        release.wait()

    before = threading.active_count()
    timer = threading.Timer(0.5, release.set)  # else the pool would wait for the function for ever
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(map_ahead(function, range(3), 1, in_order=True))
    timer.join()
    assert threading.active_count() == before
