"""The transform that writes reports: summaries of parts are merged into one page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.paths import FileEntry, FilePattern, normalize_patterns
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.report.files import FileSummary, summarize_file
from tfrecord_beam.report.summary import DatasetSummary, Summarizer
from tfrecord_beam.report.write import Report, ReportMode, WrittenReport, plan_report
from tfrecord_beam.schema.arrow import RecordType
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.display import show_options
from tfrecord_beam.transforms.filesystem import (
    BeamFileSystem,
    BeamOutputFileSystem,
    check_name,
    fetch_schema,
)
from tfrecord_beam.transforms.merge import Merge
from tfrecord_beam.transforms.read import FileSource
from tfrecord_beam.transforms.source import KeyedRange
from tfrecord_beam.transforms.workers import LibraryDoFn

_AddTo = Callable[[DatasetSummary, Any], None]


class WriteReport(FileSource):
    """Writes an HTML page about the content of TFRecord files -> PCollection[WrittenReport].

    Apply it to a pipeline. The page has the same bytes as that of `tfrecord_beam.write_report`,
    which describes it; it lists corrupt places, which do not stop the pipeline.

    Example::

      _ = pipeline | WriteReport("data/*.tfrecord", "gs://bucket/report.html")

    Args:
      file_pattern: path, pattern or folder, or several; see `tfrecord_beam.records.paths`.
      output: path or URL of the page.
      schema: as for `write_report`, as are the options not listed here.
      mode: what to do with a file that exists when the transform is created or when it runs:
        "error" or "overwrite".
      desired_bundle_bytes: as for `BeamSource`.

    Raises:
      ValueError: as for `write_report`, as are the other errors.
    """

    def __init__(
        self,
        file_pattern: FilePattern,
        output: str | os.PathLike[str],
        schema: SchemaSource | None = None,
        *,
        record_type: RecordType = "Example",
        compression: str | None = "auto",
        validate_crc: bool = True,
        mode: ReportMode = "error",
        desired_bundle_bytes: int | None = None,
    ) -> None:
        self._report = plan_report(output, fetch_schema(schema), record_type=record_type, mode=mode)
        check_name(self._report.path)
        super().__init__(
            normalize_patterns(file_pattern),
            ReadOptions(compression, validate_crc),
            error_handler=None,
            max_corrupt_records=None,
            desired_bundle_bytes=desired_bundle_bytes,
            collect_corrupt=True,
        )
        self._report.check_free(BeamOutputFileSystem())

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection[WrittenReport]:
        ranges = self._find_ranges(pipeline)
        blocks, corrupt = self._read_ranges(ranges)
        files = ranges | "LookAt" >> beam.FlatMap(_look_at, self._options, self._report)
        summarizer = self._report.make_summarizer()
        parts = (
            files | "AddFiles" >> beam.ParDo(_Summarize(_add_file)),
            blocks | "AddBlocks" >> beam.ParDo(_SummarizeBlocks(summarizer)),
            *(each | "AddCorrupt" >> beam.ParDo(_Summarize(_add_corrupt)) for each in corrupt),
        )
        merge = beam.CombineGlobally(Merge(DatasetSummary))
        return (
            parts
            | "Flatten" >> beam.Flatten()
            | "Merge" >> merge
            | "Write" >> beam.Map(_write, self._report).with_output_types(WrittenReport)
        )

    def display_data(self) -> dict[str, object]:
        report = self._report
        return {
            **super().display_data(),
            **show_options(output=report.path, record_type=report.record_type, mode=report.mode),
        }


def _look_at(
    element: KeyedRange, options: ReadOptions, report: Report
) -> Iterator[tuple[str, FileSummary]]:
    """Yields the path and the summary of a file, at its first range only."""
    _, file_range = element
    if file_range.start == 0 and file_range.size is not None:
        entry = FileEntry(file_range.path, file_range.size)
        report.check_files([entry])
        yield entry.path, summarize_file(entry, BeamFileSystem(), options)


def _add_file(summary: DatasetSummary, file: tuple[str, Any]) -> None:
    summary.add_file(*file)


def _add_corrupt(summary: DatasetSummary, record: CorruptRecord) -> None:
    summary.add_corrupt(record)


class _Summarize(LibraryDoFn):
    """Yields one summary for each bundle, so that runners need not pass on one per element."""

    def __init__(self, add: _AddTo) -> None:
        self._add = add

    def start_bundle(self) -> None:
        self._summary = DatasetSummary()

    def process(self, element: Any) -> tuple[()]:  # for None, Beam 2.60 logs a warning
        self._add(self._summary, element)
        return ()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        yield GlobalWindows.windowed_value(self._summary)


class _SummarizeBlocks(_Summarize):
    def __init__(self, summarizer: Summarizer) -> None:
        super().__init__(summarizer.add_block)

    def process(self, element: RecordBlock) -> tuple[()]:
        corrupt = self._summary.corrupt.count
        super().process(element)
        metrics.count_kernel()
        if found := self._summary.corrupt.count - corrupt:
            metrics.count("corrupt_records", found)
        return ()


def _write(summary: DatasetSummary, report: Report) -> WrittenReport:
    return report.write(summary, BeamOutputFileSystem())
