"""Writes reports about TFRecord files, without Beam."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import Literal, NamedTuple

from tfrecord_beam.kernel.plan import RecordType
from tfrecord_beam.options import check_choice, check_path
from tfrecord_beam.records.files import DIRECT, OnProgress, iter_blocks
from tfrecord_beam.records.inference import RecordObserver
from tfrecord_beam.records.paths import (
    FileEntry,
    FilePattern,
    has_file,
    match_files,
    normalize_patterns,
)
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem, OutputFileSystem
from tfrecord_beam.records.writing.names import check_file_path
from tfrecord_beam.records.writing.placing import check_free, write_new_file
from tfrecord_beam.report.files import summarize_file
from tfrecord_beam.report.page import load_environment, render_page
from tfrecord_beam.report.summary import DatasetSummary, Summarizer
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema
from tfrecord_beam.schema.validation import SchemaValidator
from tfrecord_beam.urls import normalize_path

ReportMode = Literal["error", "overwrite"]
"""What to do with an existing file."""


class WrittenReport(NamedTuple):
    """A page that has been written, and the state of the data.

    Attributes:
      path: its path or URL.
      num_records: number of records in the files, without corrupt ones.
      num_bytes: size of the page.
      num_corrupt: number of places that could not be read or decoded.
      num_anomalies: number of anomalies against the schema, if there is one.
    """

    path: str
    num_records: int
    num_bytes: int
    num_corrupt: int = 0
    num_anomalies: int = 0


def write_report(
    file_pattern: FilePattern,
    output: str | os.PathLike[str],
    schema: SchemaSource | None = None,
    *,
    record_type: RecordType = "Example",
    compression: str | None = "auto",
    validate_crc: bool = True,
    mode: ReportMode = "error",
    progress: OnProgress | None = None,
) -> WrittenReport:
    """Writes an HTML page about the content of TFRecord files, and returns what was written.

    The page shows the files with their sizes, numbers of records and compression; the lengths of
    the records; for each feature its kind, presence, value counts and values, with histograms and
    the most frequent values; the first records and images; and corrupt places, which do not stop
    the report. It is a single self-contained file, identical for identical data. Memory grows only
    with the number of files and features. Needs the extra `report`.

    Example::

      write_report("data/*.tfrecord", "report.html", "schema.pbtxt")

    Args:
      file_pattern: path, pattern or folder, or several; all records of all files are read.
      output: path or URL of the page.
      schema: a TFMD `Schema`, a serialized one, or the path of its file: the page shows the
        anomalies against it. None: nothing is checked. In any case features are those found in the
        records.
      record_type: as for `infer_schema`.
      compression: as for `iter_batches`.
      validate_crc: as for `iter_batches`.
      mode: what to do with an existing file: "error" or "overwrite".
      progress: called from time to time with the bytes read and the total bytes.

    Raises:
      ValueError: an option is out of range, or the output is one of the files to read.
      NoMatchError: a pattern matches no file.
      SchemaError: the schema cannot be used.
      WriteError: the file already exists, or cannot be written.
      MissingLibraryError: Jinja2 is not installed.
    """
    options = ReadOptions(compression, validate_crc)
    report = plan_report(output, schema, record_type=record_type, mode=mode)
    files = match_files(normalize_patterns(file_pattern), DIRECT)
    report.check_files(files)
    report.check_free(DirectOutputFileSystem())
    summarizer, summary = report.make_summarizer(), DatasetSummary()
    for file in files:
        summary.add_file(file.path, summarize_file(file, DIRECT, options))
    paths = [file.path for file in files]
    on_corrupt = summary.add_corrupt
    for block in iter_blocks(paths, options, on_corrupt=on_corrupt, progress=progress):
        summarizer.add_block(summary, block)
    return report.write(summary, DirectOutputFileSystem())


@dataclasses.dataclass(frozen=True)
class Report:
    """The options of a report, after validation. Picklable.

    Attributes:
      path: path or URL of the page.
      schema: the serialized schema that the records should fit; None: they are not checked.
      record_type: type of the records.
      mode: what to do with an existing file.
    """

    path: str
    schema: bytes | None
    record_type: RecordType
    mode: ReportMode

    def check_files(self, files: Iterable[FileEntry]) -> None:
        """Raises ValueError if the page would replace one of the files to read."""
        if has_file(files, self.path):
            raise ValueError(f"Expected output apart from the files to read, found {self.path!r}")

    def check_free(self, file_system: OutputFileSystem) -> None:
        """Raises WriteError if there is a file that must not be replaced."""
        check_free(self.path, file_system, overwrite=self.mode == "overwrite")

    def make_summarizer(self) -> Summarizer:
        """Returns the object that adds records to summaries."""
        return Summarizer(RecordObserver(self.record_type), self.schema)

    def write(self, summary: DatasetSummary, file_system: DirectOutputFileSystem) -> WrittenReport:
        """Writes the page about all records, completely or not at all.

        In mode "error" nothing is replaced; a page with the same bytes is from an earlier attempt.
        """
        anomalies = None
        if self.schema is not None:
            anomalies = SchemaValidator(self.schema).anomalies(summary.findings)
        page = render_page(summary, anomalies).encode()
        overwrite = self.mode == "overwrite"
        write_new_file(self.path, page, file_system, overwrite=overwrite, is_remade=True)
        num_records = sum(each.records for each in summary.files.values())
        return WrittenReport(
            self.path, num_records, len(page), summary.corrupt.count, len(anomalies or ())
        )


def plan_report(
    output: str | os.PathLike[str],
    schema: SchemaSource | None,
    *,
    record_type: RecordType,
    mode: ReportMode,
) -> Report:
    """Returns the validated options of `write_report`, with its errors."""
    check_path("output", output)
    path = normalize_path(os.fspath(output))
    check_file_path("output", path)
    check_choice("record_type", record_type, RecordType)
    check_choice("mode", mode, ReportMode)
    serialized = None
    if schema is not None:
        serialized = load_schema(schema).SerializeToString(deterministic=True)
        SchemaValidator(serialized)  # raises early if it cannot be used
    load_environment()  # likewise if Jinja2 is missing
    return Report(path, serialized, record_type, mode)
