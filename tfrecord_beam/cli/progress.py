"""Progress on stderr, if it is a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from tfrecord_beam.records.files import OnProgress


@contextlib.contextmanager
def show_progress(task: str, *, quiet: bool) -> Iterator[OnProgress | None]:
    """Shows a progress bar while the body runs, and returns the function that updates it.

    Shows nothing, and returns None, if stderr is not a terminal.

    Args:
      task: name of the current task.
      quiet: show nothing.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        # Lines printed to the terminal meanwhile appear above the bar.
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        identity = bar.add_task(task, total=0, start=False)

        def show(done: int, total: int) -> None:
            bar.start_task(identity)
            bar.update(identity, completed=done, total=total)

        yield show


@contextlib.contextmanager
def show_activity(task: str, *, quiet: bool) -> Iterator[None]:
    """Shows a spinner for work of unknown length while the body runs, see `show_progress`."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(task):
        yield
