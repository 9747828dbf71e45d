"""Statistics of each feature over the rows of record batches, which can be merged in any order.

Merging the statistics of parts gives those of the whole, however it was divided. See
`tfrecord_beam.schema.inference` for the schema that follows from them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam.errors import EncodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import SEQUENCE_COLUMN, Kind
from tfrecord_beam.options import MAX_INT, check_bool, check_choice, check_int, describe
from tfrecord_beam.schema.building import Path
from tfrecord_beam.schema.content import Content
from tfrecord_beam.schema.encoding import kind_of, to_features
from tfrecord_beam.schema.lists import flatten_all, is_list, list_depth, row_of
from tfrecord_beam.schema.names import check_distinct

OnConflict = Literal["error", "drop"]
"""What to do with a feature that has different kinds in different records."""

PlaceOf = Callable[[int], Location]
"""Returns the place of the record of a row."""

FeatureColumn = tuple[Path, pa.Array]
"""A feature, and its rows in a layout returned by `to_features`."""


@dataclasses.dataclass(frozen=True)
class InferenceOptions:
    """What to infer besides kinds, presence and value counts.

    Attributes:
      infer_shape: set a shape for features that have the same number of values in all records.
      int_domains: set the range of values of each INT feature.
      string_domains: list the values of BYTES features that have at most this many distinct
        values, all of them UTF-8; 0: of none.
      content_domains: distinguish images, text and UTF-8 from other bytes.
      on_conflict: "error", or "drop" to omit features with conflicting kinds.

    Raises:
      ValueError: an option is out of range.
    """

    infer_shape: bool = False
    int_domains: bool = False
    string_domains: int = 0
    content_domains: bool = False
    on_conflict: OnConflict = "error"

    def __post_init__(self) -> None:
        check_bool("infer_shape", self.infer_shape)
        check_bool("int_domains", self.int_domains)
        check_int("string_domains", self.string_domains, least=0)
        check_bool("content_domains", self.content_domains)
        check_choice("on_conflict", self.on_conflict, OnConflict)


@dataclasses.dataclass
class Lengths:
    """The lengths of the lists at one depth.

    Attributes:
      lists: number of lists, without nulls.
      total: number of values in all lists.
      least: smallest length; meaningless without a list.
      most: largest length.
    """

    lists: int = 0
    total: int = 0
    least: int = MAX_INT
    most: int = 0

    def add(self, lists: int, total: int, least: int, most: int) -> None:
        self.lists += lists
        self.total += total
        self.least = min(self.least, least)
        self.most = max(self.most, most)

    def merge(self, other: Lengths) -> None:
        self.add(other.lists, other.total, other.least, other.most)


@dataclasses.dataclass
class FeatureStatistics:
    """The statistics of one feature.

    Attributes:
      present: number of records in which it is not null.
      kinds: its kinds, with the first place of each, in the order of files and offsets.
      lengths: of its lists, outermost first.
      int_range: the smallest and the largest integer; None: there is none, or it is not requested.
      vocabulary: its distinct values; None: there are more than the limit.
      content: what all its bytes have in common.
    """

    present: int = 0
    kinds: dict[Kind, Location] = dataclasses.field(default_factory=dict)
    lengths: list[Lengths] = dataclasses.field(default_factory=list)
    int_range: tuple[int, int] | None = None
    vocabulary: set[bytes] | None = dataclasses.field(default_factory=set)
    content: Content = dataclasses.field(default_factory=Content)

    def add(self, column: pa.Array, options: InferenceOptions, place_of: PlaceOf | None) -> None:
        """Adds the rows of a column, in a layout returned by `to_features`."""
        self.present += len(column) - column.null_count
        values = self._add_lengths(column)
        kind = kind_of(column)
        if kind is not None:
            self._add_kind_of_rows(kind, column, place_of)
        if kind is Kind.INT64 and options.int_domains and len(values):
            extremes = pc.min_max(values)
            self._add_range(extremes["min"].as_py(), extremes["max"].as_py())
        elif kind is Kind.BYTES:
            self._add_vocabulary(values, options.string_domains)
            if options.content_domains:
                self.content.add(values)

    def add_kind(self, kind: Kind, place: Location) -> None:
        """Adds that the feature has a kind at a place."""
        known = self.kinds.get(kind)
        if known is None or place_order(place) < place_order(known):
            self.kinds[kind] = place

    def merge(self, other: FeatureStatistics, options: InferenceOptions) -> None:
        """Adds other statistics of the feature."""
        self.present += other.present
        for kind, place in other.kinds.items():
            self.add_kind(kind, place)
        for depth, lengths in enumerate(other.lengths):
            self._lengths_at(depth).merge(lengths)
        if other.int_range is not None:
            self._add_range(*other.int_range)
        self._limit_vocabulary(other.vocabulary, options.string_domains)
        self.content.merge(other.content)

    def _add_lengths(self, column: pa.Array) -> pa.Array:
        """Adds the lengths of the lists of a column at every depth, and returns their values."""
        depth = 0
        while is_list(column.type):
            lists = len(column) - column.null_count
            flat = column.flatten()
            if lists:
                extremes = pc.min_max(pc.list_value_length(column))
                least, most = extremes["min"].as_py(), extremes["max"].as_py()
                self._lengths_at(depth).add(lists, len(flat), least, most)
            column, depth = flat, depth + 1
        values = column.drop_null() if column.null_count else column
        if not depth and len(values):  # scalars, which are lists of one
            self._lengths_at(0).add(len(values), len(values), 1, 1)
        return values

    def _lengths_at(self, depth: int) -> Lengths:
        while len(self.lengths) <= depth:
            self.lengths.append(Lengths())
        return self.lengths[depth]

    def _add_kind_of_rows(self, kind: Kind, column: pa.Array, place_of: PlaceOf | None) -> None:
        if place_of is None or not len(column):
            self.kinds.setdefault(kind, Location())
            return
        known = self.kinds.get(kind)
        if known is None or place_order(place_of(0)) < place_order(known):
            self.add_kind(kind, place_of(_first_row(column)))

    def _add_range(self, least: int, most: int) -> None:
        known = self.int_range or (least, most)
        self.int_range = min(known[0], least), max(known[1], most)

    def _add_vocabulary(self, values: pa.Array, limit: int) -> None:
        if not limit:
            self.vocabulary = None
        if self.vocabulary is not None:
            distinct = pc.unique(values)
            is_small = len(distinct) <= limit
            found = set(distinct.cast(pa.large_binary()).to_pylist()) if is_small else None
            self._limit_vocabulary(found, limit)

    def _limit_vocabulary(self, found: set[bytes] | None, limit: int) -> None:
        if self.vocabulary is None or found is None:
            self.vocabulary = None
            return
        self.vocabulary |= found
        if len(self.vocabulary) > limit:
            self.vocabulary = None


def _first_row(column: pa.Array) -> int:
    """Returns the first row that shows a kind, which a row without steps does not."""
    is_nested = list_depth(column.type) > 1
    shows = (column.flatten() if is_nested else column).is_valid()
    first: int = max(pc.index(shows, True).as_py(), 0)
    return pc.list_parent_indices(column)[first].as_py() if is_nested else first


def place_order(place: Location) -> tuple[str, int]:
    """Returns a key that sorts places by file and offset."""
    return place.file or "", -1 if place.offset is None else place.offset


@dataclasses.dataclass
class DatasetStatistics:
    """The statistics of all features.

    Attributes:
      options: which statistics are needed.
      rows: number of records.
      features: by path.
    """

    options: InferenceOptions = InferenceOptions()
    rows: int = 0
    features: dict[Path, FeatureStatistics] = dataclasses.field(default_factory=dict)

    def add(self, batch: pa.RecordBatch, place_of: PlaceOf | None = None) -> None:
        """Adds the rows of a batch, whose columns may differ from those of earlier batches.

        Columns of nested lists are features of steps, as are the fields of struct columns.

        Args:
          batch: columns of any type that a feature can hold, see `tfrecord_beam.schema.encoding`.
          place_of: returns the place of the record of a row; None: places are unknown.

        Raises:
          SchemaError: `batch` is not a record batch, a column is of another type, or two columns
            have the same name.
          EncodeError: a value that a feature cannot hold.
        """
        self.add_columns(list(feature_columns(batch)), batch.num_rows, place_of)

    def add_columns(
        self, columns: Iterable[FeatureColumn], num_rows: int, place_of: PlaceOf | None
    ) -> None:
        """Adds `num_rows` rows, given as the items that `feature_columns` yields for them."""
        self.rows += num_rows
        for path, column in columns:
            self.feature(path).add(column, self.options, place_of)

    def merge(self, other: DatasetStatistics) -> None:
        """Adds other statistics, made with the same options."""
        self.rows += other.rows
        for path, feature in other.features.items():
            self.feature(path).merge(feature, self.options)

    def feature(self, path: Path) -> FeatureStatistics:
        """Returns the statistics of a feature, creating them if necessary."""
        return self.features.setdefault(path, FeatureStatistics())


def feature_columns(batch: pa.RecordBatch) -> Iterator[FeatureColumn]:
    """Yields the features of a batch in layouts returned by `to_features`.

    Columns of nested lists are features of steps, as are the fields of struct columns.

    Raises:
      SchemaError: `batch` is not a record batch, a column is of another type, or two columns have
        the same name.
      EncodeError: a value that a feature cannot hold.
    """
    if not isinstance(batch, pa.RecordBatch):
        raise SchemaError(f"Expected a pyarrow.RecordBatch, found {describe(batch)}")
    check_distinct(batch.schema.names, "columns of a batch")
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_struct(column.type):
            fields = [field.name for field in column.type]
            check_distinct(fields, f"fields of column {name!r}")
            for field, values in zip(fields, column.flatten(), strict=True):
                yield (name, field), _to_features(field, values, is_feature_list=True)
        elif list_depth(column.type) > 1:
            yield (SEQUENCE_COLUMN, name), _to_features(name, column, is_feature_list=True)
        else:
            yield (name,), _to_features(name, column)


def _to_features(name: str, column: pa.Array, *, is_feature_list: bool = False) -> pa.Array:
    features = to_features(name, column, is_feature_list=is_feature_list)
    values = flatten_all(features)
    if is_list(features.type) and values.null_count and not pa.types.is_null(values.type):
        row = row_of(features, pc.index(values.is_valid(), False).as_py())
        raise EncodeError(
            f"Expected no null among the values of feature {name!r}, found one",
            Location(record=row, feature=name),
        )
    return features
