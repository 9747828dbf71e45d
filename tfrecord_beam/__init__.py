"""TFRecord files of ``tf.train.Example`` to Arrow record batches, in Apache Beam and without it.

Names are resolved when they are first used: `import tfrecord_beam` loads neither Beam nor Arrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # `kernel.implementation` says which kernel serves.
    from tfrecord_beam import (
        errors as errors,
        kernel as kernel,
        tfxio as tfxio,
        transforms as transforms,
    )

    # Errors, and what goes aside instead of being one.
    from tfrecord_beam.errors import (
        CorruptRecordError as CorruptRecordError,
        CoverageError as CoverageError,
        DecodeError as DecodeError,
        EncodeError as EncodeError,
        NoMatchError as NoMatchError,
        SchemaError as SchemaError,
        TFRecordBeamError as TFRecordBeamError,
    )
    from tfrecord_beam.records.block import RecordBlock as RecordBlock
    from tfrecord_beam.records.corruption import CorruptRecord as CorruptRecord

    # Without Beam.
    from tfrecord_beam.records.table import (
        count as count,
        iter_batches as iter_batches,
        read_table as read_table,
    )

    # TFXIO.
    from tfrecord_beam.tfxio.coders.example_coder import (
        ExamplesToRecordBatchDecoder as ExamplesToRecordBatchDecoder,
    )
    from tfrecord_beam.tfxio.coders.sequence_example_coder import (
        SequenceExamplesToRecordBatchDecoder as SequenceExamplesToRecordBatchDecoder,
    )
    from tfrecord_beam.tfxio.coders.tf_graph_record_decoder import (
        TFGraphRecordDecoder as TFGraphRecordDecoder,
    )
    from tfrecord_beam.tfxio.csv_tfxio import (
        BeamRecordCsvTFXIO as BeamRecordCsvTFXIO,
        CsvTFXIO as CsvTFXIO,
    )
    from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions as RecordBatchesOptions
    from tfrecord_beam.tfxio.dataset_tfxio import DatasetTFXIO as DatasetTFXIO
    from tfrecord_beam.tfxio.parquet_tfxio import ParquetTFXIO as ParquetTFXIO
    from tfrecord_beam.tfxio.raw_tf_record import (
        RawBeamRecordTFXIO as RawBeamRecordTFXIO,
        RawTfRecordTFXIO as RawTfRecordTFXIO,
    )
    from tfrecord_beam.tfxio.record_to_tensor_tfxio import (
        BeamRecordToTensorTFXIO as BeamRecordToTensorTFXIO,
        TFRecordToTensorTFXIO as TFRecordToTensorTFXIO,
    )
    from tfrecord_beam.tfxio.tf_example_record import (
        TFExampleBeamRecord as TFExampleBeamRecord,
        TFExampleRecord as TFExampleRecord,
    )
    from tfrecord_beam.tfxio.tf_sequence_example_record import (
        TFSequenceExampleBeamRecord as TFSequenceExampleBeamRecord,
        TFSequenceExampleRecord as TFSequenceExampleRecord,
    )

    # Beam transforms.
    from tfrecord_beam.transforms.decode import (
        DecodeRecordBlocks as DecodeRecordBlocks,
        RawRecordToRecordBatch as RawRecordToRecordBatch,
    )
    from tfrecord_beam.transforms.project import Project as Project
    from tfrecord_beam.transforms.read import (
        BeamSource as BeamSource,
        RawRecordBeamSource as RawRecordBeamSource,
        ReadRecordBlocks as ReadRecordBlocks,
    )

__version__ = "0.1.0"

_MODULES = {
    "tfrecord_beam.errors": (
        "CorruptRecordError",
        "CoverageError",
        "DecodeError",
        "EncodeError",
        "NoMatchError",
        "SchemaError",
        "TFRecordBeamError",
    ),
    "tfrecord_beam.records.block": ("RecordBlock",),
    "tfrecord_beam.records.corruption": ("CorruptRecord",),
    "tfrecord_beam.records.table": ("count", "iter_batches", "read_table"),
    "tfrecord_beam.tfxio.coders.example_coder": ("ExamplesToRecordBatchDecoder",),
    "tfrecord_beam.tfxio.coders.sequence_example_coder": ("SequenceExamplesToRecordBatchDecoder",),
    "tfrecord_beam.tfxio.coders.tf_graph_record_decoder": ("TFGraphRecordDecoder",),
    "tfrecord_beam.tfxio.csv_tfxio": ("BeamRecordCsvTFXIO", "CsvTFXIO"),
    "tfrecord_beam.tfxio.dataset_options": ("RecordBatchesOptions",),
    "tfrecord_beam.tfxio.dataset_tfxio": ("DatasetTFXIO",),
    "tfrecord_beam.tfxio.parquet_tfxio": ("ParquetTFXIO",),
    "tfrecord_beam.tfxio.raw_tf_record": ("RawBeamRecordTFXIO", "RawTfRecordTFXIO"),
    "tfrecord_beam.tfxio.record_to_tensor_tfxio": (
        "BeamRecordToTensorTFXIO",
        "TFRecordToTensorTFXIO",
    ),
    "tfrecord_beam.tfxio.tf_example_record": ("TFExampleBeamRecord", "TFExampleRecord"),
    "tfrecord_beam.tfxio.tf_sequence_example_record": (
        "TFSequenceExampleBeamRecord",
        "TFSequenceExampleRecord",
    ),
    "tfrecord_beam.transforms.decode": ("DecodeRecordBlocks", "RawRecordToRecordBatch"),
    "tfrecord_beam.transforms.project": ("Project",),
    "tfrecord_beam.transforms.read": ("BeamSource", "RawRecordBeamSource", "ReadRecordBlocks"),
}
_SUBMODULES = ("errors", "kernel", "tfxio", "transforms")
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted([*_MODULE_OF, *_SUBMODULES, "__version__"])


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value  # the next use finds it at once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
