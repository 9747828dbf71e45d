"""One decoder, and the functions, shared by many threads."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from tests import wire
from tests.decoding import INT64, check_batch, contents, decode_all, plan_of, spans
from tests.wire import entry, example, int64
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.kernel.plan import DecodePlan

THREADS, ROUNDS = 8, 15
ROOT = Path(__file__).parents[2]


def records_of(thread: int) -> list[bytes]:
    """Returns records that differ from thread to thread in values, kinds, order and names."""
    kinds = [int64(thread), wire.floats(thread), wire.bytes_list(b"%d" % thread)]
    entries = [
        entry("own", kinds[thread % 3]),
        entry("shared", int64(*range(thread))),
        entry(f"name {thread}", int64(1)),
    ]
    entries = entries[thread % 3 :] + entries[: thread % 3]
    bad = example(entry("own", kinds[(thread + 1) % 3]))
    return [example(*entries), b"", bad, b"\xff", example(*reversed(entries))] * 20


def run(task: Any) -> list[Any]:
    """Returns what `task` gives for each thread number, all threads starting at the same time."""
    barrier = Barrier(THREADS)

    def start(thread: int) -> list[Any]:
        barrier.wait(timeout=60)
        return [task(thread) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


@pytest.mark.parametrize(
    "plan",
    [DecodePlan(), plan_of({"own": None, "shared": INT64}, "raw")],
    ids=["all columns", "wanted columns"],
)
def test_one_decoder_in_many_threads(kernel: ModuleType, plan: DecodePlan) -> None:
    decoder = kernel.ExampleDecoder(plan)

    def task(thread: int) -> object:
        exported, failures = decoder.decode(*spans(records_of(thread)), collect_failures=True)
        return contents(check_batch(pa.record_batch(exported))), failures

    for thread, results in enumerate(run(task)):
        batch, failures = decode_all(kernel, records_of(thread), plan)
        assert len(failures) == 40
        assert results == [(contents(batch), failures)] * ROUNDS


def test_errors_in_many_threads(kernel: ModuleType) -> None:
    decoder = kernel.ExampleDecoder(plan_of({"own": None}))

    def task(thread: int) -> str:
        with pytest.raises(DecodeError) as raised:
            decoder.decode_records([b""] * thread + records_of(thread))
        return str(raised.value)

    for thread, texts in enumerate(run(task)):
        assert all(text.endswith(f"at record {thread + 2}") for text in texts)


def test_one_buffer_in_many_threads(kernel: ModuleType) -> None:
    records = records_of(1)
    data = kernel.frame(records)

    def task(thread: int) -> object:
        found = kernel.scan(data)
        near = kernel.find_record(data, start=thread, stop=len(data), limit=len(data))
        again = kernel.frame([data[offset : offset + length] for offset, length in _spans(found)])
        return _spans(found), near, again == data, kernel.crc32c(data)

    expected = [task(thread) for thread in range(THREADS)]
    assert run(task) == [[answer] * ROUNDS for answer in expected]


def _spans(found: Any) -> list[tuple[int, int]]:
    return list(zip(found.offsets.tolist(), found.lengths.tolist()))


def test_data_that_another_thread_writes_to(native: ModuleType) -> None:
    """What is read twice may differ: the second time nothing is written beyond what was counted."""
    finished = subprocess.run(
        [sys.executable, "-m", "tests.isolated.change_data", "0.7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
