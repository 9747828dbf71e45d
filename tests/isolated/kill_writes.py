"""Kills processes while they write, each at another operation of the file system.

Usage: python -m tests.isolated.kill_writes HOW MODE FOLDER. HOW is "table" (`write_table`, killed
before each of its operations and in the middle of each write of bytes) or "pipeline"
(`WriteToTFRecord`, killed `PIPELINE_KILLS` times at random). After each time all files that readers
see are whole, and of those that were there before none is lost; when it runs again all is exact,
and nothing hidden is left. Prints how often a process was killed.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import random
import shutil
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, cast

import pyarrow as pa

from tests.records.writing.folders import batch_of, paths_in, records_in
from tfrecord_beam import WriteError, write_table
from tfrecord_beam.records.writing import file_system

PIPELINE_KILLS = 20

OLD = [b"old %d" % i for i in range(4)]
NEW = [b"new %d" % i for i in range(9)]
METHODS = ("create", "rename", "delete", "list_folder", "remove_folder", "find_size")


class Killer:
    """Kills the process at an operation of a file system.

    Args:
      countdown: how many operations are left; one that is below 0 never comes to its end.
    """

    def __init__(self, countdown: int) -> None:
        self._countdown = countdown

    def install(self) -> None:
        for name in METHODS:
            self._wrap(file_system.DirectOutputFileSystem, name)
        for name in ("write", "close"):
            self._wrap(file_system.OutputFile, name)

    def _wrap(self, owner: Any, name: str) -> None:
        method = getattr(owner, name)

        def wrapped(target: Any, *arguments: Any, **options: Any) -> Any:
            self._countdown -= 1
            if self._countdown == 0:
                if name == "write" and len(arguments[0]) > 1:
                    method(target, memoryview(arguments[0])[: len(arguments[0]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return method(target, *arguments, **options)

        setattr(owner, name, wrapped)


def run_apart(function: Callable[[], object], countdown: int) -> bool:
    """Runs a function in a child process; returns whether that was killed."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
            raise RuntimeError("the child failed")
        return os.WIFSIGNALED(status)
    try:
        Killer(countdown).install()
        function()
        os._exit(0)
    finally:
        os._exit(1)


def write_rows(folder: pathlib.Path, records: list[bytes], mode: str) -> None:
    write_table(
        batch_of(*records),
        folder / "a",
        record_type="ByteArray",
        num_shards=3,
        mode=cast(Any, mode),
    )


def write_in_pipeline(folder: pathlib.Path, records: list[bytes], mode: str) -> None:
    import apache_beam as beam
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    from tfrecord_beam import WriteToTFRecord

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        write = WriteToTFRecord(folder / "a", num_shards=3, mode=cast(Any, mode))
        _ = pipeline | beam.Create(records) | write


def visible_records(folder: pathlib.Path) -> list[bytes]:
    """Returns all records of the files that are not hidden, which must be whole."""
    return sorted(
        record
        for path in paths_in(folder)
        if not path.startswith(".")
        for record in records_in(folder / path)
    )


def check_after_kill(folder: pathlib.Path, mode: str) -> None:
    found = visible_records(folder)
    assert len({*found}) == len(found), f"a record came twice: {found}"
    assert {*found} <= {*OLD, *NEW}, found
    if mode == "append":
        assert {*OLD} <= {*found}, f"an old record is lost: {found}"
    elif mode == "overwrite" and not {*NEW} <= {*found}:
        lost = {*OLD} - {*found}
        replaced = {*NEW} & {*found}
        assert not lost or replaced, f"old records are lost for nothing: {found}"


def write_again(folder: pathlib.Path, mode: str) -> None:
    """Writes anew and checks that all is exact, or that a warning says what is not."""
    before = visible_records(folder) if mode == "append" else []
    try:
        with warnings.catch_warnings(record=True) as caught:
            write_rows(folder, NEW, mode)
    except WriteError:  # the dead write's own files are in the way: it had begun to publish
        assert mode == "error"
        assert {*NEW} & {*visible_records(folder)}
        write_rows(folder, NEW, "overwrite")
    assert len(caught) == bool({*before} & {*NEW}), caught
    expected = [*NEW, *before]
    assert visible_records(folder) == sorted(expected), visible_records(folder)
    hidden = [path for path in paths_in(folder) if path.startswith(".")]
    assert mode == "append" or not hidden, hidden


def kill_table_writes(mode: str, folder: pathlib.Path) -> int:
    kills = 0
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if mode != "error":
            write_rows(folder, OLD, "error")
        if not run_apart(lambda: write_rows(folder, NEW, mode), kills + 1):
            return kills
        kills += 1
        check_after_kill(folder, mode)
        write_again(folder, mode)


def kill_pipelines(mode: str, folder: pathlib.Path) -> int:
    importlib.import_module("tfrecord_beam.transforms.write")  # once for all children
    folder.mkdir()
    write_rows(folder, OLD, "error")
    kills, most = 0, 45
    choose = random.Random(7)
    while kills < PIPELINE_KILLS:
        countdown = choose.randrange(1, most)
        if run_apart(lambda: write_in_pipeline(folder, NEW, mode), countdown):
            kills += 1
        else:
            most = countdown  # it has no more operations than that
        check_after_kill(folder, mode)
    write_in_pipeline(folder, NEW, mode)
    assert visible_records(folder) == sorted(NEW)
    assert [path for path in paths_in(folder) if path.startswith(".")] == []
    return kills


if __name__ == "__main__":
    pa.set_cpu_count(1)
    kill = {"table": kill_table_writes, "pipeline": kill_pipelines}[sys.argv[1]]
    print(kill(sys.argv[2], pathlib.Path(sys.argv[3])))
