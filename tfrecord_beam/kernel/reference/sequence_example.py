"""Serialized ``tf.train.SequenceExample`` and ``ExampleListWithContext`` records."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tfrecord_beam.kernel.faults import check_plan
from tfrecord_beam.kernel.plan import DecodeFault, SequenceDecodePlan
from tfrecord_beam.kernel.reference.columns import build_nested_lists, build_struct
from tfrecord_beam.kernel.reference.decoding import Content, RecordDecoder
from tfrecord_beam.kernel.reference.example import (
    build_list_columns,
    cut_example,
    outline_entries,
    read_features,
)
from tfrecord_beam.kernel.reference.feature_map import FeatureMap, MapColumns, cut_outline
from tfrecord_beam.kernel.reference.protos import (
    ContentExampleList,
    ContentSequenceExample,
    OutlineExampleList,
    OutlineSequenceExample,
)


class _SequenceDecoder(RecordDecoder):
    """A decoder of columns of a context and of one struct column for the steps."""

    def __init__(self, plan: SequenceDecodePlan) -> None:
        check_plan(plan)
        super().__init__(plan.raw_record_column)
        self._columns = plan.columns
        self._sequence_columns = plan.sequence_columns
        self._sequence_name = plan.sequence_column_name.encode()

    def _make_columns(self) -> tuple[MapColumns, ...]:
        reserved = {}
        if self._raw_name is not None:
            reserved[self._raw_name] = DecodeFault.RAW_COLUMN_COLLISION
        reserved[self._sequence_name] = DecodeFault.SEQUENCE_COLUMN_COLLISION
        return (
            MapColumns(self._columns, reserved),
            MapColumns(self._sequence_columns, {}, in_sequence=True),
        )

    def _build_columns(
        self, columns: Sequence[MapColumns], rows: Sequence[Content]
    ) -> dict[bytes, pa.Array]:
        context, sequence = columns
        arrays = build_list_columns(context, [row[0] for row in rows])
        fields = {
            name: build_nested_lists(
                [steps.features.get(name, steps.missing) for _, steps in rows],
                sequence.kinds[name],
            )
            for name in sequence.order()
        }
        shown = self._sequence_columns is None and any(steps.present for _, steps in rows)
        if fields or shown:
            arrays[self._sequence_name] = build_struct(fields, len(rows))
        return arrays


class SequenceExampleDecoder(_SequenceDecoder):
    """Decodes serialized ``tf.train.SequenceExample`` records into one Arrow record batch."""

    record_type = "SequenceExample"

    def _read(self, record: bytes, columns: Sequence[MapColumns]) -> tuple[Content, bool]:
        outline = OutlineSequenceExample.FromString(record)
        maps = outline.context, outline.feature_lists
        entries = [[entry for one in each for entry in one.feature] for each in maps]
        for each, known in zip(maps, columns, strict=True):
            for one in each:
                cut_outline(one, known.wanted)
        content = ContentSequenceExample.FromString(outline.SerializeToString())
        context = {name: [value] for name, value in read_features(content.context).items()}
        lists = read_features(content.feature_lists)
        steps = {name: feature_list.feature for name, feature_list in lists.items()}
        present = bool(outline.feature_lists)
        return (
            FeatureMap(entries[0], context),
            FeatureMap(entries[1], steps, present=present),
        ), False


class ExampleListDecoder(_SequenceDecoder):
    """Decodes serialized ``ExampleListWithContext`` records into one Arrow record batch."""

    record_type = "ExampleListWithContext"

    def _read(self, record: bytes, columns: Sequence[MapColumns]) -> tuple[Content, bool]:
        outline = OutlineExampleList.FromString(record)
        maps = outline.context, outline.examples
        entries = [[entry for one in each for entry in outline_entries(one)] for each in maps]
        has_field_2 = any(example.feature_lists for each in maps for example in each)
        for each, known in zip(maps, columns, strict=True):
            for example in each:
                cut_example(example, known.wanted)
        content = ContentExampleList.FromString(outline.SerializeToString())
        messages = [features for example in content.context for features in example.features]
        context = {name: [feature] for name, feature in read_features(messages).items()}
        examples = [read_features(example.features) for example in content.examples]
        names = {name for example in examples for name in example}
        steps = {name: [example.get(name) for example in examples] for name in names}
        missing = [None] * len(examples)
        return (
            FeatureMap(entries[0], context),
            FeatureMap(entries[1], steps, missing, present=bool(examples)),
        ), has_field_2

    def _count_lists(self, rows: Sequence[Content]) -> tuple[int, ...]:
        return len(rows), sum(len(steps.missing or ()) for _, steps in rows)
