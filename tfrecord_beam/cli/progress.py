"""What a terminal shows while work is going on, on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from tfrecord_beam.records.files import OnProgress


@contextlib.contextmanager
def show_progress(task: str, *, quiet: bool) -> Iterator[OnProgress | None]:
    """Shows a bar while its body runs, and gives the function that moves it.

    Nothing is shown, and None given, where stderr is no terminal.

    Args:
      task: what is going on.
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
        # Lines that are printed meanwhile go above the bar, unless they go elsewhere.
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        identity = bar.add_task(task, total=0, start=False)

        def show(done: int, total: int) -> None:
            bar.start_task(identity)
            bar.update(identity, completed=done, total=total)

        yield show


@contextlib.contextmanager
def show_activity(task: str, *, quiet: bool) -> Iterator[None]:
    """Shows that work of unknown length is going on while its body runs, see `show_progress`."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(task):
        yield
