"""TFRecord files of ``tf.train.Example`` to Arrow record batches, in Apache Beam and without it.

Names are resolved when they are first used: `import tfrecord_beam` loads neither Beam nor Arrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Errors, and what goes aside instead of being one.
    from tfrecord_beam.errors import (
        CorruptRecordError as CorruptRecordError,
    )
    from tfrecord_beam.errors import (
        CoverageError as CoverageError,
    )
    from tfrecord_beam.errors import (
        DecodeError as DecodeError,
    )
    from tfrecord_beam.errors import (
        NoMatchError as NoMatchError,
    )
    from tfrecord_beam.errors import (
        SchemaError as SchemaError,
    )
    from tfrecord_beam.errors import (
        TFRecordBeamError as TFRecordBeamError,
    )
    from tfrecord_beam.records.corruption import CorruptRecord as CorruptRecord

    # Without Beam.
    from tfrecord_beam.records.table import (
        count as count,
    )
    from tfrecord_beam.records.table import (
        iter_batches as iter_batches,
    )
    from tfrecord_beam.records.table import (
        read_table as read_table,
    )

    # TFXIO.
    from tfrecord_beam.tfxio.coders import (
        ExamplesToRecordBatchDecoder as ExamplesToRecordBatchDecoder,
    )
    from tfrecord_beam.tfxio.tf_example import (
        TFExampleBeamRecord as TFExampleBeamRecord,
    )
    from tfrecord_beam.tfxio.tf_example import (
        TFExampleRecord as TFExampleRecord,
    )

    # Beam transforms.
    from tfrecord_beam.transforms.decode import (
        DecodeRecordBlocks as DecodeRecordBlocks,
    )
    from tfrecord_beam.transforms.decode import (
        RawRecordToRecordBatch as RawRecordToRecordBatch,
    )
    from tfrecord_beam.transforms.project import Project as Project
    from tfrecord_beam.transforms.read import (
        BeamSource as BeamSource,
    )
    from tfrecord_beam.transforms.read import (
        RawRecordBeamSource as RawRecordBeamSource,
    )
    from tfrecord_beam.transforms.read import (
        ReadRecordBlocks as ReadRecordBlocks,
    )

__version__ = "0.1.0"

_MODULES = {
    "tfrecord_beam.errors": (
        "CorruptRecordError",
        "CoverageError",
        "DecodeError",
        "NoMatchError",
        "SchemaError",
        "TFRecordBeamError",
    ),
    "tfrecord_beam.records.corruption": ("CorruptRecord",),
    "tfrecord_beam.records.table": ("count", "iter_batches", "read_table"),
    "tfrecord_beam.tfxio.coders": ("ExamplesToRecordBatchDecoder",),
    "tfrecord_beam.tfxio.tf_example": ("TFExampleBeamRecord", "TFExampleRecord"),
    "tfrecord_beam.transforms.decode": ("DecodeRecordBlocks", "RawRecordToRecordBatch"),
    "tfrecord_beam.transforms.project": ("Project",),
    "tfrecord_beam.transforms.read": ("BeamSource", "RawRecordBeamSource", "ReadRecordBlocks"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted([*_MODULE_OF, "__version__"])


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value  # the next use finds it at once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
