"""The summary of a data set for a report. Summaries of parts merge into that of the whole."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.inference import RecordObserver
from tfrecord_beam.report.feature import FeatureSummary
from tfrecord_beam.report.files import CorruptPlaces, FileSummary
from tfrecord_beam.report.numbers import NumberSummary
from tfrecord_beam.report.samples import (
    MAX_IMAGES,
    MAX_ROWS,
    Image,
    Row,
    comes_later,
    first_images,
    first_rows,
    keep_first,
    place,
)
from tfrecord_beam.schema.building import Path
from tfrecord_beam.schema.statistics import (
    DatasetStatistics,
    FeatureColumn,
    FeatureStatistics,
    PlaceOf,
    feature_columns,
)
from tfrecord_beam.schema.validation import Findings, SchemaValidator


def _new_features() -> dict[Path, FeatureSummary]:
    return collections.defaultdict(FeatureSummary)


def _new_files() -> dict[str, FileSummary]:
    return collections.defaultdict(FileSummary)


@dataclasses.dataclass
class DatasetSummary:
    """The summary of a data set.

    Memory grows with the number of files and of features, not with the number of records.

    Attributes:
      files: by path.
      record_lengths: the sizes of all records that could be read.
      statistics: the statistics from which a schema can be inferred.
      features: further statistics of each feature.
      rows: the first records.
      images: the first images.
      corrupt: the places that could not be read or decoded.
      findings: violations of the schema, if there is one.
    """

    files: dict[str, FileSummary] = dataclasses.field(default_factory=_new_files)
    record_lengths: NumberSummary = dataclasses.field(default_factory=NumberSummary)
    statistics: DatasetStatistics = dataclasses.field(default_factory=DatasetStatistics)
    features: dict[Path, FeatureSummary] = dataclasses.field(default_factory=_new_features)
    rows: list[Row] = dataclasses.field(default_factory=list)
    images: list[Image] = dataclasses.field(default_factory=list)
    corrupt: CorruptPlaces = dataclasses.field(default_factory=CorruptPlaces)
    findings: Findings = dataclasses.field(default_factory=Findings)

    def add_columns(
        self, columns: Sequence[FeatureColumn], num_rows: int, place_of: PlaceOf
    ) -> None:
        """Adds rows, as `DatasetStatistics.add_columns`."""
        self.statistics.add_columns(columns, num_rows, place_of)
        for path, column in columns:
            self.features[path].add(column)
        if not num_rows:
            return
        first = place(place_of(0))
        if not comes_later(self.rows, first, MAX_ROWS):
            rows = first_rows(columns, num_rows, place_of)
            self.rows = keep_first(self.rows, rows, MAX_ROWS)
        if not comes_later(self.images, first, MAX_IMAGES):
            images = _find_images(columns, place_of)
            self.images = keep_first(self.images, images, MAX_IMAGES)

    def feature(self, path: Path) -> FeatureStatistics:
        """Returns the statistics of a feature, see `DatasetStatistics.feature`."""
        return self.statistics.feature(path)

    def add_file(self, path: str, file: FileSummary) -> None:
        """Adds the summary of a file or a part of it."""
        self.files[path].merge(file)

    def add_corrupt(self, record: CorruptRecord) -> None:
        """Adds a place that could not be read or decoded."""
        self.add_file(record.file or "", FileSummary(corrupt=1))
        self.corrupt.add(record)

    def merge(self, other: DatasetSummary) -> None:
        """Adds the summary of another part of the data set."""
        for path, file in other.files.items():
            self.add_file(path, file)
        self.record_lengths.merge(other.record_lengths)
        self.statistics.merge(other.statistics)
        for feature, summary in other.features.items():
            self.features[feature].merge(summary)
        self.rows = keep_first(self.rows, other.rows, MAX_ROWS)
        self.images = keep_first(self.images, other.images, MAX_IMAGES)
        self.corrupt.merge(other.corrupt)
        self.findings.merge(other.findings)


def _find_images(columns: Iterable[FeatureColumn], place_of: PlaceOf) -> Iterator[Image]:
    for path, column in columns:
        yield from first_images(path, column, place_of)


class Summarizer:
    """Adds blocks of records to summaries. Picklable.

    Args:
      observer: decodes the records.
      schema: the serialized schema that they should fit; None: they are not checked.
    """

    def __init__(self, observer: RecordObserver, schema: bytes | None = None) -> None:
        self._observer = observer
        self._schema = schema
        self._validator = None if schema is None else SchemaValidator(schema)

    def __reduce__(self) -> tuple[type[Summarizer], tuple[RecordObserver, bytes | None]]:
        return Summarizer, (self._observer, self._schema)

    def add_block(self, summary: DatasetSummary, block: RecordBlock) -> None:
        """Adds the records of a block to a summary; undecodable ones count as corrupt."""
        summary.record_lengths.add(block.lengths)
        summary.add_file(
            block.file, FileSummary(records=block.num_records, payload_bytes=block.num_bytes)
        )
        self._observer.observe(
            block, _Checked(summary, self._validator), on_corrupt=summary.add_corrupt
        )


class _Checked:
    """Adds batches to a summary, after checking them against the schema, if there is one."""

    def __init__(self, summary: DatasetSummary, validator: SchemaValidator | None) -> None:
        self._summary = summary
        self._validator = validator
        self.feature = summary.feature

    def add(self, batch: pa.RecordBatch, place_of: PlaceOf) -> None:
        columns = list(feature_columns(batch))
        self._summary.add_columns(columns, batch.num_rows, place_of)
        if self._validator is not None:
            found = self._validator.find_in_columns(columns, batch.num_rows, place_of)
            self._summary.findings.merge(found)
