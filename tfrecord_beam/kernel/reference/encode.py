"""Arrow record batches to serialized records."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.types as pt

from tfrecord_beam.kernel.faults import check_encode_plan, encode_error
from tfrecord_beam.kernel.plan import EncodeFailure, EncodeFault, EncodePlan, Kind
from tfrecord_beam.kernel.reference.framing import check_size, frame
from tfrecord_beam.kernel.reference.protos import (
    ContentFeature,
    OutlineExample,
    OutlineFeatureList,
    OutlineFeatures,
)

if TYPE_CHECKING:
    from tfrecord_beam.kernel._native import ArrowArrayExportable

_KINDS = {
    pa.int64(): Kind.INT64,
    pa.float32(): Kind.FLOAT,
    pa.binary(): Kind.BYTES,
    pa.large_binary(): Kind.BYTES,
    pa.string(): Kind.BYTES,
    pa.large_string(): Kind.BYTES,
    pa.null(): None,
}


class ExampleEncoder:
    """Encodes the rows of Arrow record batches as ``tf.train.Example`` or ``SequenceExample``.

    >>> from tfrecord_beam.kernel.reference.protos import Example
    >>> encoder = ExampleEncoder(EncodePlan(("age",)))
    >>> records = encoder.encode_records(pa.record_batch({"age": [[42], None]}))
    >>> list(Example.FromString(records[0]).features.feature["age"].int64_list.value)
    [42]
    >>> Example.FromString(records[1]).features.feature["age"].WhichOneof("kind") is None
    True
    """

    def __init__(self, plan: EncodePlan) -> None:
        check_encode_plan(plan)
        self._plan = plan

    def encode_frames(self, batch: ArrowArrayExportable) -> tuple[memoryview, memoryview]:
        """Returns all records as frames, and where each frame starts and ends."""
        frames = [frame([record]) for record in self.encode_records(batch)]
        offsets = array("q", itertools.accumulate(map(len, frames), initial=0))
        return memoryview(b"".join(frames)), memoryview(offsets)

    def encode_records(self, batch: ArrowArrayExportable) -> list[bytes]:
        """Returns the records as separate objects."""
        struct = pa.array(batch)  # Not a RecordBatch, which does not accept every slice.
        feature_lists = self._plan.feature_lists or ()
        expected = len(self._plan.context) + len(feature_lists)
        if not pt.is_struct(struct.type) or struct.type.num_fields != expected or struct.null_count:
            raise ValueError(f"Expected a record batch with {expected} columns, as planned")
        names = (*self._plan.context, *feature_lists)
        columns = [
            _Column(name, array, is_feature_list=index >= len(self._plan.context))
            for index, (name, array) in enumerate(zip(names, struct.flatten(), strict=True))
        ]
        return [self._encode_row(row, columns) for row in range(len(struct))]

    def _encode_row(self, row: int, columns: Sequence[_Column]) -> bytes:
        least_size = sum(column.check_row(row) for column in columns)
        check_size(row, least_size)
        context = columns[: len(self._plan.context)]
        record = OutlineExample(features=[OutlineFeatures(feature=self._features(row, context))])
        if self._plan.feature_lists is not None:
            feature_lists = OutlineFeatures(feature=_feature_lists(row, columns[len(context) :]))
            record.feature_lists.append(feature_lists.SerializeToString())
        check_size(row, record.ByteSize())
        serialized: bytes = record.SerializeToString()
        return serialized

    def _features(self, row: int, columns: Sequence[_Column]) -> Iterator[dict[str, list[bytes]]]:
        for column in columns:
            values = column.rows[row]
            has_kind = values is not None and column.kind is not None
            if has_kind or not self._plan.null_as_absent:
                yield _entry(column, _feature(column.kind, values))


class _Column:
    """The rows of a column as Python objects.

    Attributes:
      name: of the feature, in UTF-8.
      kind: of its values; None if all are null.
      rows: for each row its values, or in feature lists those of each step; or None for null.
    """

    def __init__(self, name: str, array: pa.Array, *, is_feature_list: bool) -> None:
        self.name = name.encode()
        leaf = array.type
        depth = 0
        while pt.is_list(leaf) or pt.is_large_list(leaf):
            leaf = leaf.value_type
            depth += 1
        is_absent = leaf == pa.null() and depth == 0
        if leaf not in _KINDS or not (is_absent or is_feature_list <= depth <= 1 + is_feature_list):
            raise encode_error(EncodeFailure(EncodeFault.UNSUPPORTED_TYPE, 0, self.name))
        self.kind = _KINDS[leaf]
        self.is_feature_list = is_feature_list
        self.rows = _unfold(array, singletons=depth == is_feature_list)

    def check_row(self, row: int) -> int:
        """Checks that no value of a row is null, and returns the size of its bytes values."""
        features = self.rows[row] or [] if self.is_feature_list else [self.rows[row]]
        values = [value for feature in features for value in feature or []]
        if None in values:
            raise encode_error(EncodeFailure(EncodeFault.NULL_VALUE, row, self.name))
        return sum(map(len, values)) if self.kind is Kind.BYTES else 0


def _unfold(array: pa.Array, *, singletons: bool) -> list[Any]:
    """Returns the elements of an array; with `singletons` each value in a list of its own."""
    if pt.is_list(array.type) or pt.is_large_list(array.type):
        ends = [end - array.offsets[0].as_py() for end in array.offsets.to_pylist()]
        elements = _unfold(
            array.values.slice(array.offsets[0].as_py(), ends[-1]), singletons=singletons
        )
        return [
            elements[start:end] if valid else None
            for start, end, valid in zip(ends, ends[1:], array.is_valid().to_pylist(), strict=False)
        ]
    values = _values(array)
    return [None if value is None else [value] for value in values] if singletons else values


def _values(array: pa.Array) -> list[Any]:
    if _KINDS[array.type] is Kind.BYTES:
        return _views(array)
    if array.type == pa.float32():  # Written as fixed32, see `protos`: bit-exact.
        array = array.view(pa.uint32())
    return list(array.to_pylist())


def _views(array: pa.Array) -> list[memoryview | None]:
    """Returns views of binary values, so that values too large for a record are not copied."""
    if len(array) == 0:
        return []
    _, offsets, data = array.buffers()
    wide = array.type in (pa.large_binary(), pa.large_string())
    ends = memoryview(offsets).cast("q" if wide else "i")[array.offset :].tolist()
    view = memoryview(data or b"")
    return [
        view[start:end] if valid else None
        for start, end, valid in zip(ends, ends[1:], array.is_valid().to_pylist(), strict=False)
    ]


def _feature_lists(row: int, columns: Sequence[_Column]) -> Iterator[dict[str, list[bytes]]]:
    for column in columns:
        steps = column.rows[row]
        if steps is not None:
            features = [_feature(column.kind, values) for values in steps]
            yield _entry(column, OutlineFeatureList(feature=features).SerializeToString())


def _entry(column: _Column, value: bytes) -> dict[str, list[bytes]]:
    return {"key": [column.name], "value": [value]}


def _feature(kind: Kind | None, values: Sequence[Any] | None) -> bytes:
    feature = ContentFeature()
    if kind is not None and values is not None:
        value_list = getattr(feature, kind.list_name)
        value_list.SetInParent()  # An empty list keeps its kind.
        value_list.value.extend(map(bytes, values) if kind is Kind.BYTES else values)
    serialized: bytes = feature.SerializeToString()
    return serialized
