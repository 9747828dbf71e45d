"""The kernel in Python: the oracle for the native kernel, and the fallback if that is missing.

Same names, same meaning and same errors as `tfrecord_beam.kernel._native`. It is written to be
obviously right: google.protobuf interprets the wire format, and pyarrow builds the Arrow arrays.
"""

from __future__ import annotations

from tfrecord_beam.kernel.reference.arrays import (
    byte_size,
    count_invalid_utf8,
    element_lengths,
    row_splits,
)
from tfrecord_beam.kernel.reference.batch_reader import BatchReader
from tfrecord_beam.kernel.reference.coordinates import (
    coordinates,
    parent_indices,
    splits_of_coordinates,
)
from tfrecord_beam.kernel.reference.crc32c import crc32c, masked_crc32c
from tfrecord_beam.kernel.reference.encode import ExampleEncoder
from tfrecord_beam.kernel.reference.example import ExampleDecoder
from tfrecord_beam.kernel.reference.framing import allocate, find_record, frame, scan
from tfrecord_beam.kernel.reference.sequence_example import (
    ExampleListDecoder,
    SequenceExampleDecoder,
)
from tfrecord_beam.kernel.reference.sharing import as_writable, is_aligned

__all__ = [
    "BatchReader",
    "ExampleDecoder",
    "ExampleEncoder",
    "ExampleListDecoder",
    "SequenceExampleDecoder",
    "allocate",
    "as_writable",
    "byte_size",
    "coordinates",
    "count_invalid_utf8",
    "crc32c",
    "element_lengths",
    "find_record",
    "frame",
    "is_aligned",
    "masked_crc32c",
    "parent_indices",
    "row_splits",
    "scan",
    "splits_of_coordinates",
]
