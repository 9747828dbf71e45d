"""Makes a TFMD schema from statistics, by the rules of TensorFlow Data Validation.

- Features are in byte order of their names; those of steps are in one STRUCT feature at the end,
  in the form that `tfrecord_beam.schema.tfmd.sequence_schema_columns` reads.
- `type` is the kind found in the records: INT, FLOAT or BYTES, regardless of the values. An empty
  list has a kind. A feature that never has one is BYTES with `presence.min_count` 0.
- `presence.min_fraction` is 1 if every record has the feature, and otherwise not set; `min_count`
  is 1. An empty list counts as present, a feature without a kind as missing.
- `value_count` has `min` and `max` if all lists have the same length above 0, and only `min` 1 if
  lengths differ and none is 0; it is not set if a list is empty. A feature of steps has
  `value_counts` instead: for the number of steps, and for the number of values in a step.
- `shape`, on request, replaces these if all lengths are fixed and nothing is missing.
- `domain`, on request, names a `string_domain` of the schema, with the values in byte order.

In addition to these rules, on request: `int_domain` is the range of the values; bytes that are all
images, or all text of several words, get an empty `image_domain` or `natural_language_domain`;
other bytes that are all UTF-8 get the annotation "utf-8".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.caller import warn_caller
from tfrecord_beam.errors import Location, SchemaError, render, render_place
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.schema.building import FEATURE_TYPES, UTF8_TAG, Path, add_feature
from tfrecord_beam.schema.statistics import (
    DatasetStatistics,
    FeatureStatistics,
    Lengths,
    place_order,
)


def make_schema(statistics: DatasetStatistics) -> schema_pb2.Schema:
    """Returns the schema of all records that the statistics cover.

    >>> import pyarrow as pa
    >>> statistics = DatasetStatistics()
    >>> statistics.add(pa.record_batch({"age": [39, None]}))
    >>> feature = make_schema(statistics).feature[0]
    >>> feature.name, feature.type == schema_pb2.INT, feature.presence.min_count
    ('age', True, 1)

    For a feature that is left out there is a warning, and an `annotation.comment` in the schema.

    Raises:
      SchemaError: a feature has different kinds, and `on_conflict` is "error".
    """
    conflicts = list(find_conflicts(statistics))
    if conflicts and statistics.options.on_conflict == "error":
        raise conflicts[0]
    schema = schema_pb2.Schema()
    for path in sorted(statistics.features, key=_byte_order):
        feature = statistics.features[path]
        if len(feature.kinds) < 2:
            made = add_feature(schema, path)
            _describe(made, path, feature, statistics)
            _add_domain(made, path, feature, schema)
    for struct in schema.feature:
        if struct.type == schema_pb2.FeatureType.STRUCT:  # each record has one
            struct.presence.min_fraction = struct.presence.min_count = 1
            struct.value_count.min = struct.value_count.max = 1
    for error in conflicts:
        text = f"Left out a feature: {render(error.message, error.location)}"
        warn_caller(text)
        schema.annotation.comment.append(text)
    return schema


def find_conflicts(statistics: DatasetStatistics) -> Iterator[SchemaError]:
    """Yields an error for each feature with conflicting kinds, with their places."""
    for path in sorted(statistics.features, key=_byte_order):
        kinds = statistics.features[path].kinds
        if len(kinds) > 1:
            yield _conflict(".".join(path), kinds)


def _conflict(name: str, kinds: dict[Kind, Location]) -> SchemaError:
    (kind, place), (other, other_place), *_ = sorted(kinds.items(), key=_kind_order)
    first = render_place(place)
    return SchemaError(
        f"Expected {kind.list_name} for feature {name!r}"
        f"{f' as at {first}' if first else ''}, found {other.list_name}",
        other_place,
        hint="on_conflict='drop' leaves such features out",
    )


def _kind_order(item: tuple[Kind, Location]) -> tuple[str, int, int]:
    kind, place = item
    return *place_order(place), -kind


def _byte_order(path: Path) -> tuple[int, list[bytes]]:
    return len(path), [name.encode() for name in path]


def _describe(
    made: schema_pb2.Feature, path: Path, feature: FeatureStatistics, statistics: DatasetStatistics
) -> None:
    """Sets type, presence and value counts (or shape) of a new feature."""
    made.type = FEATURE_TYPES[next(iter(feature.kinds), Kind.BYTES)]
    is_required = feature.present == statistics.rows
    made.presence.min_count = min(feature.present, 1)
    if is_required:
        made.presence.min_fraction = 1
    depths = [*feature.lengths, Lengths(), Lengths()][: len(path)]
    if statistics.options.infer_shape and is_required and _are_fixed(depths):
        made.shape.dim.extend(schema_pb2.FixedShape.Dim(size=lengths.most) for lengths in depths)
    elif len(depths) > 1:
        made.value_counts.value_count.extend(map(_value_count, depths))
    elif depths[0].lists and depths[0].least:
        made.value_count.CopyFrom(_value_count(depths[0]))


def _are_fixed(depths: Sequence[Lengths]) -> bool:
    """Returns whether all lists of each depth have the same length above 0, and none is null."""
    return all(lengths.lists and 0 < lengths.least == lengths.most for lengths in depths) and all(
        outer.total == inner.lists for outer, inner in itertools.pairwise(depths)
    )


def _value_count(lengths: Lengths) -> schema_pb2.ValueCount:
    if not lengths.lists or not lengths.least:
        return schema_pb2.ValueCount()
    if lengths.least == lengths.most:
        return schema_pb2.ValueCount(min=lengths.least, max=lengths.most)
    return schema_pb2.ValueCount(min=1)


def _add_domain(
    made: schema_pb2.Feature, path: Path, feature: FeatureStatistics, schema: schema_pb2.Schema
) -> None:
    """Sets the domain, or the utf-8 tag, of a new feature."""
    values = _decode_all(feature.vocabulary or ())
    content = feature.content
    if feature.int_range is not None:
        made.int_domain.min, made.int_domain.max = feature.int_range
    elif values:
        made.domain = ".".join(path)
        schema.string_domain.add(name=made.domain, value=values)
    elif not content.values:
        return
    elif content.is_image and not content.is_text:
        made.image_domain.SetInParent()
    elif content.is_language:
        made.natural_language_domain.SetInParent()
    elif content.is_utf8:
        made.annotation.tag.append(UTF8_TAG)


def _decode_all(values: Iterable[bytes]) -> list[str]:
    """Returns the decoded values in byte order; an empty list if one is not UTF-8."""
    try:
        return [value.decode() for value in sorted(values)]
    except UnicodeDecodeError:
        return []
