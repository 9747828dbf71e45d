"""Tests of reading with several threads: nobody can tell it from reading with one."""

from __future__ import annotations

import functools
import gzip
import os
import pathlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import framed
from tests.records.reading import flip
from tests.schema.schemas import parse_schema
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.waiting import wait_until
from tests.wire import entry, example, int64
from tfrecord_beam.records import decode, parts, table
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.files import OnProgress, Part, read_parts
from tfrecord_beam.records.table import iter_batches, read_table

THREADS = [2, 3, 8]


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[pathlib.Path]:
    """Files with damage of all kinds: in frames, in messages, and a stream that breaks off."""
    files = write_files(tmp_path)
    plain, compressed, _, last = files
    plain.write_bytes(flip(framed(*RECORDS[:10], b"\xff", *RECORDS[10:20], b"\xff"), 300))
    compressed.write_bytes(gzip.compress(framed(*RECORDS[20:40], b"\xff"))[:-9])
    last.write_bytes(framed(*RECORDS[40:])[:-1])
    return files


@pytest.fixture(params=[1, 1 << 20], ids=["groups of one", "groups of many"])
def group_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_GROUP_BYTES", request.param)


def trace(read: Callable[..., Iterator[pa.RecordBatch]]) -> list[tuple[object, ...]]:
    """Returns all that can be seen of reading, in its order, up to an error."""
    events: list[tuple[object, ...]] = []

    def see(*values: object) -> None:
        events.append((*values, threading.get_ident()))

    try:
        for batch in read(see):
            see(batch.to_pylist())
    except Exception as error:
        see(type(error), str(error))
    return events


@pytest.mark.usefixtures("group_bytes")
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("limit", [None, 0, 1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("batch_size", [1, 7, None])
def test_all_that_can_be_seen_is_the_same(
    files: list[pathlib.Path], threads: int, limit: int | None, batch_size: int | None
) -> None:
    def read(threads: int) -> Callable[..., Iterator[pa.RecordBatch]]:
        return lambda see: iter_batches(
            files,
            SCHEMA,
            batch_size=batch_size,
            error_handler=see,
            max_corrupt_records=limit,
            progress=see,
            threads=threads,
        )

    expected = trace(read(1))
    assert sum(len(event) == 2 for event in expected) > 1
    assert trace(read(threads)) == expected


@pytest.mark.usefixtures("group_bytes")
@pytest.mark.parametrize("threads", THREADS)
def test_first_error_in_the_order_of_the_files(tmp_path: pathlib.Path, threads: int) -> None:
    path = tmp_path / "a"
    bad_message = framed(*RECORDS[:3], b"\xff", *RECORDS[3:9], b"\xff\xff")
    for position in range(0, len(bad_message), 11):
        path.write_bytes(flip(bad_message, position))

        def read(see: OnProgress, threads: int) -> Iterator[pa.RecordBatch]:
            return iter_batches(path, batch_size=1, progress=see, threads=threads)

        expected = trace(functools.partial(read, threads=1))
        assert trace(functools.partial(read, threads=threads)) == expected


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["without schema", "with schema"])
def test_table(tmp_path: pathlib.Path, threads: int, schema: Any) -> None:
    files = write_files(tmp_path)
    expected = read_table(files, schema, raw_record_column_name="raw", threads=1)
    found = read_table(files, schema, raw_record_column_name="raw", threads=threads)
    assert found.schema == expected.schema
    assert found.to_batches() == expected.to_batches()
    assert found.num_rows == NUM_RECORDS


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_very_many_cells(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(decode, "MAX_CELLS", 4)
    path = tmp_path / "a"
    records = [example(entry("a", int64(i)), entry("b", int64(i))) for i in range(5)]
    path.write_bytes(framed(*records[:3], b"\xff", *records[3:], b"\xff"))
    events: list[object] = []

    def handle(record: CorruptRecord) -> None:
        events.append(record.record)

    for batch in iter_batches(path, error_handler=handle, threads=threads):
        events.append(batch.column("a").to_pylist())
    assert events == [[[0], [1]], 3, [[2], [3]], 6, [[4]]]
    batches = iter_batches(path, threads=threads)
    assert next(batches).num_rows == 2
    with pytest.raises(ValueError, match=f" - at {path}:.*, record 3"):
        next(batches)


@pytest.mark.parametrize("threads", [1, 2])
def test_records_left_out_are_told_of_before_what_is_wrong_with_others(
    tmp_path: pathlib.Path, threads: int
) -> None:
    schema = parse_schema('feature { name: "a" type: INT }')
    path = tmp_path / "a"
    path.write_bytes(framed(b"\xff", example(entry("a", int64(1, 2)))))
    events = trace(
        lambda see: iter_batches(path, schema, scalars=["a"], error_handler=see, threads=threads)
    )
    assert [type(event[0]) for event in events] == [CorruptRecord, type]


def test_who_iterates_slowly_finds_few_parts_in_memory(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(framed(*RECORDS))
    monkeypatch.setattr(parts, "_GROUP_BYTES", 1)
    blocks: weakref.WeakSet[RecordBlock] = weakref.WeakSet()
    most = 0

    def watch_parts(*args: Any, **options: Any) -> Iterator[Part]:
        nonlocal most
        for part in read_parts(*args, **options):
            if isinstance(part.content, RecordBlock):
                blocks.add(part.content)
                most = max(most, len(blocks))
            yield part

    monkeypatch.setattr(table, "read_parts", watch_parts)
    batches = iter_batches(path, batch_size=1, threads=2)
    assert len(list(batches)) == NUM_RECORDS
    # Those of two threads, of two results that wait, and of the batch that was last yielded.
    assert 1 <= most <= 6


def test_damage_is_told_of_before_much_is_gathered(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_GROUP_PARTS", 2)
    path = tmp_path / "a"
    record = framed(RECORDS[0])
    path.write_bytes(b"".join([flip(record, -1), record] * 20))
    seen: list[Part] = []

    def watch_parts(*args: Any, **options: Any) -> Iterator[Part]:
        for part in read_parts(*args, **options):
            seen.append(part)
            yield part

    def stop(_: CorruptRecord) -> None:
        raise ValueError("stop")

    monkeypatch.setattr(table, "read_parts", watch_parts)
    with pytest.raises(ValueError, match="stop"):
        list(iter_batches(path, batch_size=1, error_handler=stop, threads=2))
    assert len(seen) <= 10  # two for each thread and each result that waits


def open_files(folder: pathlib.Path) -> list[str]:
    links = []
    for number in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:
            continue
    return [link for link in links if link.startswith(str(folder))]


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="there is no /proc")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_nothing_is_left_behind(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException] | None,
    threads: int,
) -> None:
    monkeypatch.setattr(parts, "_GROUP_BYTES", 1)
    files = write_files(tmp_path)
    before = set(threading.enumerate())

    def progress(read: int, total: int) -> None:
        if error is not None:
            raise error("stop")

    batches: Any = iter_batches(files, batch_size=1, progress=progress, threads=threads)
    next(batches)
    assert open_files(tmp_path)
    if error is None:
        batches.close()
    else:
        with pytest.raises(error, match="stop") as caught:
            next(batches)
        assert caught.tb is not None  # it holds on to the frames of the iterators
        assert set(threading.enumerate()) <= before
    wait_until(lambda: set(threading.enumerate()) <= before and not open_files(tmp_path))
    assert list(batches) == []


def test_one_thread_reads_nothing_before_it_is_asked(tmp_path: pathlib.Path) -> None:
    before = set(threading.enumerate())
    batches = iter_batches(write_files(tmp_path), batch_size=1, threads=1)
    next(batches)
    assert set(threading.enumerate()) <= before


def test_default_follows_arrow(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_files(tmp_path)[0]
    used: list[int] = []

    def decode_parts(*args: Any, threads: int, **options: Any) -> Iterator[pa.RecordBatch]:
        used.append(threads)
        return iter(())

    monkeypatch.setattr(table, "decode_parts", decode_parts)
    for cpus in (1, 2, 96):
        monkeypatch.setattr(pa, "cpu_count", lambda cpus=cpus: cpus)
        iter_batches(path)
        read_table(path, SCHEMA)
    iter_batches(path, threads=96)
    assert used == [1, 1, 2, 2, 8, 8, 96]
