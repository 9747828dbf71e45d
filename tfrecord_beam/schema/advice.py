"""The advice that errors give for columns of types that no feature can hold."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as pt

from tfrecord_beam.kernel.plan import SEQUENCE_COLUMN

NESTED_ADVICE = (
    "give a schema that represents it as a ragged tensor, or record_type='SequenceExample', "
    "for which it is a feature list"
)
"""For lists nested deeper than a feature can hold."""

ANY_ADVICE = "cast it to int64, float32, binary or lists of these"

_ADVICE: list[tuple[Callable[[pa.DataType], bool], str]] = [
    (
        pt.is_struct,
        "make columns of its fields: pyarrow.StructArray.flatten; or feature lists: name it "
        f"{SEQUENCE_COLUMN}, and record_type='SequenceExample'",
    ),
    (
        pt.is_map,
        "make columns of those of its items that are wanted: pyarrow.compute.map_lookup",
    ),
    (pt.is_union, "make a column of each of its types: pyarrow.UnionArray.field"),
    (pt.is_interval, "cast it to duration"),
    (
        lambda data_type: isinstance(data_type, pa.BaseExtensionType),
        "take what it is stored as: pyarrow.ExtensionArray.storage",
    ),
]


def advise(data_type: pa.DataType) -> str:
    """Returns advice for a column of a type that no feature can hold.

    >>> advise(pa.month_day_nano_interval())
    'cast it to duration'
    """
    for is_kind, advice in _ADVICE:
        if is_kind(data_type):
            return advice
    return ANY_ADVICE
