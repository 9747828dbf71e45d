"""Serialized ``tf.train.Example`` records."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import pyarrow as pa

from tfrecord_beam.kernel.faults import check_plan
from tfrecord_beam.kernel.plan import DecodeFault, DecodePlan
from tfrecord_beam.kernel.reference.columns import build_lists
from tfrecord_beam.kernel.reference.decoding import Content, RecordDecoder
from tfrecord_beam.kernel.reference.feature_map import (
    FeatureMap,
    MapColumns,
    cut_outline,
    name_of,
)
from tfrecord_beam.kernel.reference.protos import ContentExample, OutlineExample


class ExampleDecoder(RecordDecoder):
    """Decodes serialized ``tf.train.Example`` records into one Arrow record batch.

    >>> from tfrecord_beam.kernel.plan import Column
    >>> from tfrecord_beam.kernel.reference.protos import Example
    >>> example = Example()
    >>> example.features.feature["age"].int64_list.value.append(42)
    >>> decoder = ExampleDecoder(DecodePlan((Column("age"),)))
    >>> batch, failures = decoder.decode_records([example.SerializeToString(), b""])
    >>> pa.record_batch(batch).to_pydict(), failures
    ({'age': [[42], None]}, [])
    """

    record_type = "Example"

    def __init__(self, plan: DecodePlan) -> None:
        check_plan(plan)
        super().__init__(plan.raw_record_column)
        self._columns = plan.columns

    def _make_columns(self) -> tuple[MapColumns, ...]:
        reserved = {}
        if self._raw_name is not None:
            reserved[self._raw_name] = DecodeFault.RAW_COLUMN_COLLISION
        return (MapColumns(self._columns, reserved),)

    def _read(self, record: bytes, columns: Sequence[MapColumns]) -> tuple[Content, bool]:
        outline = OutlineExample.FromString(record)
        entries, has_field_2 = outline_entries(outline), bool(outline.feature_lists)
        cut_example(outline, columns[0].wanted)
        content = ContentExample.FromString(outline.SerializeToString())
        features = {name: [feature] for name, feature in read_features(content.features).items()}
        return (FeatureMap(entries, features),), has_field_2

    def _build_columns(
        self, columns: Sequence[MapColumns], rows: Sequence[Content]
    ) -> dict[bytes, pa.Array]:
        return build_list_columns(columns[0], [row[0] for row in rows])


def outline_entries(outline: Any) -> list[Any]:
    """Returns the entries of an outlined Example, wanted or not."""
    return [entry for features in outline.features for entry in features.feature]


def cut_example(outline: Any, wanted: Container[bytes] | None) -> None:
    """Removes the unwanted features from an outlined Example."""
    for features in outline.features:
        cut_outline(features, wanted)


def read_features(maps: Sequence[Any]) -> dict[bytes, Any]:
    """Returns the features in `Features` messages; the last one of each name wins."""
    return {name_of(entry): entry.value for features in maps for entry in features.feature}


def build_list_columns(columns: MapColumns, rows: Sequence[FeatureMap]) -> dict[bytes, pa.Array]:
    """Returns the columns of a map of Features."""
    return {
        name: build_lists(
            [row.features[name][0] if name in row.features else None for row in rows],
            columns.kinds[name],
        )
        for name in columns.order()
    }
