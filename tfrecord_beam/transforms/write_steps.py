"""The steps of a write in a pipeline. What they do is in `tfrecord_beam.records.writing`."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import BoundedWindow, GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from tfrecord_beam.errors import WriteError
from tfrecord_beam.records.writing.bundle import (
    BundleResult,
    BundleWriter,
    check_results,
    join_results,
)
from tfrecord_beam.records.writing.encoding import RowEncoding
from tfrecord_beam.records.writing.names import make_id, name_pane
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.plan import (
    Cleanup,
    Publication,
    WrittenFile,
    name_files,
    plan_cleanup,
)
from tfrecord_beam.records.writing.publish import (
    finish,
    publish,
    publish_locally,
    with_files_in_place,
)
from tfrecord_beam.records.writing.segments import Destination, Segment, find_spills
from tfrecord_beam.records.writing.shards import Merge, ShardFile, merge, plan_merges
from tfrecord_beam.records.writing.start import (
    StartedWrite,
    check_mode,
    explain_removed_files,
    start_write,
)
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.filesystem import BeamFileSystem, BeamOutputFileSystem
from tfrecord_beam.transforms.workers import LibraryDoFn

CLEANUP = "cleanup"
"""Tag of the output with the work left for the end."""

SPILLS = "spills"
"""Tag of the output that has the spill files that are done with."""

SMALL_BYTES = 16 << 10
"""What a bundle has for a window goes through the grouping if it is not more, else in a file.

Without that a window has a file of each bundle, a session of each record, and a record that comes
too late leaves one behind. The worker that publishes a pane holds all that is small: of 10,000
bundles 160 MB at most.
"""

_MOST_WRITERS = 100
"""Windows for which a bundle has something in memory."""

_Key = tuple[Any, ...]
"""A `Destination` as Beam encodes it for a key."""


class WriteSteps:
    """What the steps do, each with Beam's file systems."""

    def __init__(self, options: WriteOptions, encoding: RowEncoding) -> None:
        self.options = options
        self.encoding = encoding
        self.file_system = BeamOutputFileSystem()
        self.write_timer = metrics.Timer("write_msec")
        self._encode_timer = metrics.Timer("encode_msec")

    def start(self, _: bytes, has_end: bool) -> Iterator[StartedWrite]:
        yield start_write(self.options, self.file_system, has_end=has_end)

    def open_bundle(self, write: StartedWrite, small_bytes: int = 0) -> BundleWriter:
        return BundleWriter(
            self.options, self.encoding, self.file_system, write, small_bytes=small_bytes
        )

    def close_bundle(self, writer: BundleWriter) -> BundleResult:
        with self.write_timer.running():
            result = writer.close()
        self._encode_timer.add(writer.encode_seconds)
        return result

    def list_segments(self, result: BundleResult) -> Iterator[tuple[_Key, list[Segment]]]:
        for destination, segments in result.segments.items():
            yield tuple(destination), segments

    def drop_segments(self, result: BundleResult) -> Iterator[BundleResult]:
        yield dataclasses.replace(result, segments={})

    def merge(
        self, keyed: tuple[_Key, Iterable[list[Segment]]], write: StartedWrite
    ) -> Iterator[ShardFile]:
        destination = Destination(*keyed[0])
        yield from self.merge_one(Merge(destination, list(itertools.chain(*keyed[1]))), write)

    def merge_one(self, pieces: Merge, write: StartedWrite) -> list[ShardFile]:
        with (
            self.write_timer.running(),
            explain_removed_files(self.options, write, self.file_system),
        ):
            return merge(pieces, self.options, write, self.file_system, BeamFileSystem().open)

    def merge_window(
        self, results: Iterable[BundleResult], window: str, write: StartedWrite
    ) -> BundleResult:
        """Puts all that bundles have for a window into whole files."""
        results = list(results)
        merges = plan_merges((result.segments for result in results), window)
        files = [file for pieces in merges for file in self.merge_one(pieces, write)]
        return join_results(results, files)

    def plan_files(
        self,
        _: bytes,
        results: Sequence[BundleResult],
        merged: Sequence[ShardFile],
        write: StartedWrite,
        is_windowed: bool,
    ) -> Iterator[Any]:
        if write.is_skipped:
            return
        files = [*merged, *(file for result in results for file in result.files)]
        check_results(results, files)
        publications = name_files(files, self.options, write, is_windowed=is_windowed)
        cleanup = plan_cleanup(publications, self.options, write, self.file_system)
        yield TaggedOutput(CLEANUP, cleanup)
        yield from enumerate(publications)

    def publish(
        self, keyed: tuple[int, Iterable[Publication]], write: StartedWrite
    ) -> Iterator[WrittenFile]:
        for publication in keyed[1]:
            # An attempt finds the temporary file of the one before; but each makes an empty one.
            yield self.publish_one(publication, write, is_remade=publication.temporary is None)

    def publish_one(
        self, publication: Publication, write: StartedWrite, *, is_remade: bool
    ) -> WrittenFile:
        try:
            with (
                self.write_timer.running(),
                explain_removed_files(self.options, write, self.file_system),
            ):
                written = publish(
                    publication, self.options, write, self.file_system, is_remade=is_remade
                )
        except WriteError as error:
            raise with_files_in_place(error, self.options, self.file_system) from error
        metrics.count_written(written)
        return written

    def finish(
        self, _: bytes, written: Sequence[WrittenFile], cleanup: Cleanup | None
    ) -> Sequence[WrittenFile]:
        if cleanup is not None:
            finish(written, cleanup, self.options, self.file_system)
        return sorted(written)

    def clean_up(self, spills: Sequence[str], write: StartedWrite) -> None:
        self.file_system.delete(spills)
        self.file_system.remove_empty_folder(self.options.names.temporary_folder(write.id))


class WriteBundles(LibraryDoFn):
    """Writes the elements of a bundle to temporary files, and gives what it wrote at its end.

    All windows share a writer: what it gives is in one of them, any of them.
    """

    def __init__(self, steps: WriteSteps) -> None:
        self._steps = steps
        self._writers: dict[BoundedWindow | None, BundleWriter] = {}

    def start_bundle(self) -> None:
        self._window: BoundedWindow = GlobalWindow()

    def process(
        self, element: Any, write: StartedWrite, window: Any = beam.DoFn.WindowParam
    ) -> Iterable[WindowedValue]:
        if write.is_skipped:
            return ()
        self._window = window
        key = self._writer_key(window)
        if key not in self._writers:
            self._writers[key] = self._open(write)
        try:
            with self._steps.write_timer.running():
                self._writers[key].write(element, _name_window(window))
        except BaseException:
            self.teardown()
            raise
        return self.finish_bundle() if len(self._writers) == _MOST_WRITERS else ()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        while self._writers:
            key, writer = self._writers.popitem()
            window = key or self._window
            for result in self._close(writer):
                yield WindowedValue(result, window.max_timestamp(), (window,))

    def teardown(self) -> None:
        """Deletes the files of a bundle that failed."""
        while self._writers:
            self._writers.popitem()[1].discard()

    def _writer_key(self, window: BoundedWindow) -> BoundedWindow | None:
        return None

    def _open(self, write: StartedWrite) -> BundleWriter:
        return self._steps.open_bundle(write)

    def _close(self, writer: BundleWriter) -> Iterable[Any]:
        return [self._steps.close_bundle(writer)]


class WriteWindows(WriteBundles):
    """The same with a writer for each window; what it gives is keyed, to be grouped."""

    def _writer_key(self, window: BoundedWindow) -> BoundedWindow | None:
        return window

    def _open(self, write: StartedWrite) -> BundleWriter:
        return self._steps.open_bundle(write, SMALL_BYTES)

    def _close(self, writer: BundleWriter) -> Iterable[Any]:
        return [(None, self._steps.close_bundle(writer))]


class WriteLocally(WriteWindows):
    """Puts the files in place at the end of each bundle, and gives these."""

    def __init__(self, steps: WriteSteps) -> None:
        super().__init__(steps)
        self._write = StartedWrite("", 0)  # none yet

    def _open(self, write: StartedWrite) -> BundleWriter:
        steps = self._steps
        if write != self._write:  # once, not for each bundle: it may list what all of them wrote
            check_mode(steps.options, steps.file_system, write.id)
            self._write = write
        # A temporary folder of its own: no step comes after all bundles of this machine.
        return steps.open_bundle(write._replace(id=make_id()))

    def _close(self, writer: BundleWriter) -> Iterable[Any]:
        steps = self._steps
        files = steps.close_bundle(writer).files
        try:
            with steps.write_timer.running():
                placed = publish_locally(files, steps.options, self._write, steps.file_system)
        finally:
            steps.file_system.remove_folder(writer.folder)
        for written in placed:
            metrics.count_written(written)
        return placed


class MergeWindow(LibraryDoFn):
    """Puts all records of a window, as it is once it has merged with others, into whole files."""

    def __init__(self, steps: WriteSteps) -> None:
        self._steps = steps

    def process(
        self,
        keyed: tuple[None, Iterable[BundleResult]],
        write: StartedWrite,
        window: Any = beam.DoFn.WindowParam,
        pane: Any = beam.DoFn.PaneInfoParam,
    ) -> Iterable[Any]:
        name = _name_window(window, pane.index) or f"-pane-{pane.index}"
        merged = self._steps.merge_window(keyed[1], name, write)
        return self._give(merged, keyed[1], write)

    def _give(
        self, merged: BundleResult, results: Iterable[BundleResult], write: StartedWrite
    ) -> Iterable[Any]:
        return [merged]


class PublishPane(MergeWindow):
    """Puts all records of a pane into files. Outputs: these; `SPILLS`, what is done with.

    The files of a pane are few: one worker makes them all.
    """

    def _give(
        self, merged: BundleResult, results: Iterable[BundleResult], write: StartedWrite
    ) -> Iterable[Any]:
        publications = name_files(merged.files, self._steps.options, write, is_windowed=True)
        for publication in publications:
            yield self._steps.publish_one(publication, write, is_remade=True)
        yield TaggedOutput(SPILLS, find_spills(result.segments for result in results))


def _name_window(window: BoundedWindow, pane: int = 0) -> str:
    if isinstance(window, GlobalWindow):
        return ""
    start = getattr(window, "start", window.end)
    return name_pane(start.micros, window.end.micros, pane)
