"""Holds the workers of a job until something was done to them."""

from __future__ import annotations

import contextlib
import os
import pathlib
import threading
from collections.abc import Callable, Iterator

from tests.waiting import wait_for
from tfrecord_beam.records.block import RecordBlock

_PATIENCE_SECONDS = 90


def hold(block: RecordBlock, folder: str) -> list[bytes]:
    """Tells the number of this process in a folder, and gives the records once it may go on."""
    pathlib.Path(folder, "held").mkdir(exist_ok=True)
    pathlib.Path(folder, "held", str(os.getpid())).touch()
    wait_for(pathlib.Path(folder, "released").exists, _PATIENCE_SECONDS)
    return list(block.records())


@contextlib.contextmanager
def when_held(
    folder: pathlib.Path, processes: int, action: Callable[[list[int]], object]
) -> Iterator[None]:
    """Once so many processes are held, does something to them and lets the others go on.

    Args:
      folder: that of `hold`.
      processes: how many.
      action: called with their numbers, by another thread.

    Raises:
      AssertionError: there were never so many.
    """
    folder.mkdir()
    found: list[int] = []

    def act() -> None:
        if wait_for(lambda: len(_list_held(folder)) >= processes, _PATIENCE_SECONDS):
            found.extend(_list_held(folder))
            action(found)
        (folder / "released").touch()

    thread = threading.Thread(target=act)
    thread.start()
    yield
    thread.join()
    assert len(found) >= processes


def _list_held(folder: pathlib.Path) -> list[int]:
    return [int(path.name) for path in folder.glob("held/*")]
