"""How tests of what writes records make these of rows."""

from __future__ import annotations

from tfrecord_beam.records.writing.encoding import RowEncoding, make_encoding
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.schema.features import EncodedType


def encoding_of(options: WriteOptions, record_type: EncodedType = "Example") -> RowEncoding:
    """Returns how rows become records where nothing else is said."""
    return make_encoding(
        options,
        None,
        record_type=record_type,
        null_as_absent=False,
        null_values="error",
        feature_list_columns=None,
    )
