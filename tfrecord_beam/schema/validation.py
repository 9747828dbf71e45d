"""Validates data against a TFMD schema.

Checked are `type`, `presence`, `value_count` and `value_counts`, `shape`, and the domains of
integers, floats and strings, whether defined in the feature or by name in the schema. Not checked
are features that are deprecated or not in use yet, columns that are not in the schema, and domains
that do not match the type (of numbers for bytes, of strings for numbers).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.message import Message
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import Location, render
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.options import count_of
from tfrecord_beam.schema.building import FEATURE_TYPES, Path
from tfrecord_beam.schema.encoding import kind_of
from tfrecord_beam.schema.lists import flatten_lists, is_list, to_singleton_lists
from tfrecord_beam.schema.representation_inference import is_in_use
from tfrecord_beam.schema.statistics import (
    FeatureColumn,
    PlaceOf,
    feature_columns,
    place_order,
)
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema

_VALUES = "value", "values"
_STEPS = "step", "steps"
_VALUES_OF_STEPS = "value in each step", "values in each step"

_Rows = np.ndarray[Any, np.dtype[np.int64]]


class _Depth(NamedTuple):
    """The elements at one depth of a column: lists, or the values in the innermost lists."""

    values: pa.Array
    rows: _Rows  # the row of each element

    def where(self, mask: pa.Array) -> _Rows:
        """Returns the rows for which a mask of the values holds."""
        rows: _Rows = self.rows[np.asarray(mask.fill_null(False))]
        return rows


class _Rule(NamedTuple):
    """One requirement of a schema for a feature."""

    expected: str
    found: str
    find: Callable[[list[_Depth]], _Rows]  # the rows that violate it


@dataclasses.dataclass(frozen=True)
class Anomaly:
    """One way in which a feature does not conform to the schema.

    Attributes:
      feature: its name; ``##SEQUENCE##.NAME`` for a feature of steps.
      reason: what was expected and what was found.
      count: number of records affected.
      first: where the first of them is; unknown if the anomaly concerns all records together.
    """

    feature: str
    reason: str
    count: int
    first: Location

    def __str__(self) -> str:
        return render(f"{self.reason} in {count_of(self.count, 'record')}", self.first)


@dataclasses.dataclass
class Findings:
    """Violations of a schema found in batches; those of parts can be merged into those of all.

    Attributes:
      rows: number of rows.
      present: number of rows that have each feature.
      found: number of rows in violation, and the first place, by feature and reason.
    """

    rows: int = 0
    present: dict[Path, int] = dataclasses.field(default_factory=dict)
    found: dict[tuple[Path, str], tuple[int, Location]] = dataclasses.field(default_factory=dict)

    def add(self, path: Path, reason: str, count: int, first: Location) -> None:
        """Adds a violation in `count` rows."""
        known, known_first = self.found.get((path, reason), (0, first))
        first = min(known_first, first, key=place_order)
        self.found[path, reason] = known + count, first

    def merge(self, other: Findings) -> None:
        """Adds the findings of other batches."""
        self.rows += other.rows
        for path, count in other.present.items():
            self.present[path] = self.present.get(path, 0) + count
        for (path, reason), (count, first) in other.found.items():
            self.add(path, reason, count, first)


def validate_batch(schema: SchemaSource, batch: pa.RecordBatch) -> list[Anomaly]:
    """Returns the anomalies of a record batch against a schema; an empty list if it conforms.

    >>> schema = pa.schema([pa.field("age", pa.int64(), nullable=False)])
    >>> print(*validate_batch(schema, pa.record_batch({"age": [39, None, None]})))
    Expected a value for feature 'age', found none in 2 records - at record 1

    Args:
      schema: anything `load_schema` accepts.
      batch: columns of any type that a feature can hold.

    Raises:
      SchemaError: the schema cannot be used, or a column is of another type.
      EncodeError: a value that a feature cannot hold.
    """
    validator = SchemaValidator(schema)
    return validator.anomalies(validator.find(batch, lambda row: Location(record=row)))


class SchemaValidator:
    """Checks whether batches conform to a schema. Merge their `Findings` to check a data set.

    Args:
      schema: anything `load_schema` accepts.

    Raises:
      SchemaError: the schema cannot be used.
    """

    def __init__(self, schema: SchemaSource) -> None:
        loaded = load_schema(schema)
        self._features = dict(_features(loaded.feature))
        self._rules = {
            path: list(_rules(feature, path, loaded)) for path, feature in self._features.items()
        }

    def find(self, batch: pa.RecordBatch, place_of: PlaceOf) -> Findings:
        """Returns the findings of one batch, with the errors of `validate_batch`.

        Args:
          batch: the rows.
          place_of: returns the place of the record of a row.
        """
        return self.find_in_columns([*feature_columns(batch)], batch.num_rows, place_of)

    def find_in_columns(
        self, columns: Iterable[FeatureColumn], num_rows: int, place_of: PlaceOf
    ) -> Findings:
        """Returns the findings of `num_rows` rows, given as the items of `feature_columns`."""
        known = dict(columns)
        findings = Findings(num_rows)
        for path, feature in self._features.items():
            column = known.get(path)
            if column is None:
                column = pa.nulls(num_rows)
            findings.present[path] = len(column) - column.null_count
            depths = _unfold(column, len(path))
            of_values = _type_rules(feature, kind_of(column)) or self._rules[path]
            for rule in (*_presence_rules(feature), *of_values):
                rows = np.unique(rule.find(depths))
                if len(rows):
                    reason = _reason(path, rule.expected, rule.found)
                    findings.add(path, reason, len(rows), place_of(int(rows[0])))
        return findings

    def anomalies(self, findings: Findings) -> list[Anomaly]:
        """Returns the anomalies of a data set, given the merged findings of all its batches."""
        found = [
            Anomaly(".".join(path), reason, count, first)
            for (path, reason), (count, first) in findings.found.items()
        ]
        for path, feature in self._features.items():
            present, presence = findings.present.get(path, 0), feature.presence
            wanted = presence.min_count
            if presence.min_fraction < 1:
                wanted = max(wanted, math.ceil(presence.min_fraction * findings.rows))
            elif findings.rows and not present:
                continue  # a rule has already reported this for each record
            if present < wanted:
                reason = _reason(path, f"values in {count_of(wanted, 'record')}", "some")
                found.append(Anomaly(".".join(path), reason, present, Location()))
        return found


def _reason(path: Path, expected: str, found: str) -> str:
    return f"Expected {expected} for feature {'.'.join(path)!r}, found {found}"


def _features(
    features: Iterable[schema_pb2.Feature], path: Path = ()
) -> Iterator[tuple[Path, schema_pb2.Feature]]:
    for feature in filter(is_in_use, features):
        if feature.type == schema_pb2.FeatureType.STRUCT:
            yield from _features(feature.struct_domain.feature, (*path, feature.name))
        else:
            yield (*path, feature.name), feature


def _unfold(column: pa.Array, num_lists: int) -> list[_Depth]:
    """Returns all depths of a column with `num_lists` list levels; scalars are lists of one."""
    depths = [_Depth(column, np.arange(len(column)))]
    for _ in range(num_lists):
        lists, rows = depths.pop()
        if not is_list(lists.type):
            lists = to_singleton_lists(lists)
        values, offsets = flatten_lists(lists)
        depths += _Depth(lists, rows), _Depth(values, np.repeat(rows, np.diff(offsets)))
    return depths


def _type_rules(feature: schema_pb2.Feature, kind: Kind | None) -> list[_Rule]:
    """Returns the only rule for a column of the wrong type, to which no other applies."""
    if kind is None or FEATURE_TYPES[kind] == feature.type:
        return []
    expected = f"type {schema_pb2.FeatureType.Name(feature.type)}"
    return [_Rule(expected, kind.list_name, lambda depths: _find(depths, pc.is_valid))]


def _presence_rules(feature: schema_pb2.Feature) -> Iterator[_Rule]:
    if feature.presence.min_fraction >= 1:
        yield _Rule("a value", "none", lambda depths: _find(depths, pc.is_null))


def _rules(feature: schema_pb2.Feature, path: Path, schema: schema_pb2.Schema) -> Iterator[_Rule]:
    """Yields the rules for the values of a column of the feature's type."""
    nouns = [_VALUES] if len(path) == 1 else [_STEPS, _VALUES_OF_STEPS]
    # A shape or a list of counts may have fewer depths, or more.
    bounds = zip(nouns, _bounds(feature, len(path)), strict=False)
    for depth, ((singular, plural), (least, most)) in enumerate(bounds):
        if least or most is not None:
            noun = singular if least == most == 1 else plural
            find = functools.partial(_find_lengths, depth, least, most)
            yield _Rule(f"{_range_text(least, most)} {noun}", "another number", find)
    domain = _domain(feature, schema)
    is_bytes = feature.type == schema_pb2.FeatureType.BYTES
    if isinstance(domain, schema_pb2.StringDomain) and is_bytes:
        texts = pa.array([value.encode() for value in domain.value], pa.large_binary())
        expected = f"values among the {len(texts)} of its domain"
        yield _Rule(expected, "others", functools.partial(_find_others, texts))
    elif isinstance(domain, (schema_pb2.IntDomain, schema_pb2.FloatDomain)) and not is_bytes:
        low = domain.min if domain.HasField("min") else None
        high = domain.max if domain.HasField("max") else None
        if low is not None or high is not None:
            find = functools.partial(_find_values, low, high)
            yield _Rule(f"values of {_range_text(low, high)}", "others", find)


def _bounds(feature: schema_pb2.Feature, depths: int) -> Iterable[tuple[int, int | None]]:
    """Returns the minimum and maximum length of the lists at each depth."""
    if feature.HasField("shape"):
        sizes = [dimension.size for dimension in feature.shape.dim]
        if min(sizes, default=1) < 1:  # a dimension of unknown size
            return []
        return [(size, size) for size in ([math.prod(sizes)] if depths == 1 else sizes)]
    counts = feature.value_counts.value_count or [feature.value_count]
    return [(each.min, each.max if each.HasField("max") else None) for each in counts]


def _domain(feature: schema_pb2.Feature, schema: schema_pb2.Schema) -> Message | None:
    field = feature.WhichOneof("domain_info")
    if field != "domain":
        return None if field is None else getattr(feature, field)
    named = itertools.chain(schema.int_domain, schema.float_domain, schema.string_domain)
    return next((domain for domain in named if domain.name == feature.domain), None)


def _range_text(least: float | None, most: float | None) -> str:
    if least == most:
        return str(least)
    if least is None:
        return f"at most {most}"
    return f"at least {least}" if most is None else f"{least} to {most}"


def _find(depths: list[_Depth], predicate: Callable[[pa.Array], pa.Array]) -> _Rows:
    return depths[0].where(predicate(depths[0].values))


def _find_lengths(depth: int, least: int, most: int | None, depths: list[_Depth]) -> _Rows:
    lengths = pc.list_value_length(depths[depth].values)
    return depths[depth].where(_are_outside(lengths, least, most))


def _find_values(least: float | None, most: float | None, depths: list[_Depth]) -> _Rows:
    return depths[-1].where(_are_outside(depths[-1].values, least, most))


def _find_others(texts: pa.Array, depths: list[_Depth]) -> _Rows:
    values = depths[-1].values.cast(pa.large_binary())
    return depths[-1].where(pc.invert(pc.is_in(values, texts)))


def _are_outside(numbers: pa.Array, least: float | None, most: float | None) -> pa.Array:
    """Returns which numbers are outside of the bounds; NaN is not."""
    below = pa.scalar(False) if least is None else pc.less(numbers, least)
    above = pa.scalar(False) if most is None else pc.greater(numbers, most)
    return pc.or_(below, above)
