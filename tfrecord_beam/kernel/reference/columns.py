"""Features to Arrow columns, built by pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tfrecord_beam.kernel.plan import Kind

_KINDS = {kind.list_name: kind for kind in Kind}


def kind_of(feature: Any | None) -> Kind | None:
    """Returns the kind of a Feature; None also if there is no Feature."""
    return None if feature is None else _KINDS.get(feature.WhichOneof("kind"))


def build_lists(features: Sequence[Any | None], kind: Kind | None) -> pa.Array:
    """Returns the values of each feature as one row, null if it has no kind."""
    if kind is None:
        return pa.nulls(len(features))
    starts: list[int | None] = []
    values: list[Any] = []
    for feature in features:
        if kind_of(feature) is None:
            starts.append(None)
        else:
            starts.append(len(values))
            values.extend(getattr(feature, kind.list_name).value)
    return _build_list_array(starts, _build_values(values, kind))


def build_nested_lists(rows: Sequence[Sequence[Any | None] | None], kind: Kind | None) -> pa.Array:
    """Returns for each row the list of its features' values; null if there is no row."""
    starts: list[int | None] = []
    features: list[Any | None] = []
    for row in rows:
        starts.append(None if row is None else len(features))
        features.extend(row or ())
    return _build_list_array(starts, build_lists(features, kind))


def build_singletons(values: Sequence[bytes]) -> pa.Array:
    """Returns a list of one value in each row."""
    return _build_list_array(list(range(len(values))), pa.array(values, pa.large_binary()))


def build_struct(columns: Mapping[bytes, pa.Array], rows: int) -> pa.StructArray:
    """Returns the columns as the fields of a struct, which has `rows` rows even without columns."""
    fields = [pa.field(name.decode(), column.type) for name, column in columns.items()]
    children = list(columns.values())
    return pa.StructArray.from_buffers(pa.struct(fields), rows, [None], children=children)


def _build_list_array(starts: Sequence[int | None], items: pa.Array) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array([*starts, len(items)], pa.int64()), items)


def _build_values(values: Sequence[Any], kind: Kind) -> pa.Array:
    if kind is Kind.FLOAT:  # Read as fixed32, see `protos`: bit-exact.
        return pa.array(values, pa.uint32()).view(pa.float32())
    return pa.array(values, pa.large_binary() if kind is Kind.BYTES else pa.int64())
