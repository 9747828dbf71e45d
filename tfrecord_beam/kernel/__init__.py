"""Bytes to frames to Arrow: the hot core, one set of functions with two implementations.

`implementation` says which one is in use: "native" (the C++ extension) or "reference"
(google.protobuf, crc32c and pyarrow; the same results, hundreds of times slower). The
environment variable ``TFRECORD_BEAM_KERNEL`` selects it: ``native`` (a missing extension is an
ImportError), ``reference``, or ``auto``, the default: native if available, else reference with one
warning.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

from tfrecord_beam.caller import warn_caller

if TYPE_CHECKING:
    from tfrecord_beam.kernel._native import (
        ArrowArrayExportable as ArrowArrayExportable,
        BatchReader as BatchReader,
        ExampleDecoder as ExampleDecoder,
        ExampleEncoder as ExampleEncoder,
        ExampleListDecoder as ExampleListDecoder,
        SequenceExampleDecoder as SequenceExampleDecoder,
        allocate as allocate,
        as_writable as as_writable,
        byte_size as byte_size,
        coordinates as coordinates,
        count_invalid_utf8 as count_invalid_utf8,
        crc32c as crc32c,
        element_lengths as element_lengths,
        find_record as find_record,
        frame as frame,
        is_aligned as is_aligned,
        masked_crc32c as masked_crc32c,
        parent_indices as parent_indices,
        row_splits as row_splits,
        scan as scan,
        splits_of_coordinates as splits_of_coordinates,
    )

_NAMES = (
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
)


def _load(choice: str) -> tuple[str, dict[str, object]]:
    if choice not in ("auto", "native", "reference"):
        raise ValueError(
            f"Expected TFRECORD_BEAM_KERNEL to be auto, native or reference, found {choice!r}"
        )
    if choice != "reference":
        try:
            _native = importlib.import_module("tfrecord_beam.kernel._native")
            return "native", {name: getattr(_native, name) for name in _NAMES}
        except ImportError as error:
            if choice == "native":
                raise
            warn_caller(
                f"The native kernel cannot be imported ({error}): the reference kernel is used, "
                "with the same results but hundreds of times slower. Reinstall tfrecord_beam "
                "with a C++17 compiler, or set TFRECORD_BEAM_KERNEL=reference to accept this.",
                RuntimeWarning,
            )
    from tfrecord_beam.kernel import reference

    return "reference", {name: getattr(reference, name) for name in _NAMES}


implementation, _functions = _load(os.environ.get("TFRECORD_BEAM_KERNEL", "auto"))
globals().update(_functions)
