"""TFRecord files of ``tf.train.Example`` to Arrow record batches, in Apache Beam and without it.

Names are resolved when they are first used: `import tfrecord_beam` loads neither Beam nor Arrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrecord_beam.lazy import import_on_use

if TYPE_CHECKING:
    # `kernel.implementation` says which kernel is in use.
    from tfrecord_beam import (
        errors as errors,
        kernel as kernel,
        tfxio as tfxio,
        transforms as transforms,
    )

    # Errors, and the values that error handlers receive instead.
    from tfrecord_beam.errors import (
        CorruptRecordError as CorruptRecordError,
        CoverageError as CoverageError,
        DecodeError as DecodeError,
        EncodeError as EncodeError,
        MissingLibraryError as MissingLibraryError,
        NoMatchError as NoMatchError,
        SchemaError as SchemaError,
        TFRecordBeamError as TFRecordBeamError,
        WriteError as WriteError,
    )
    from tfrecord_beam.records.block import RecordBlock as RecordBlock
    from tfrecord_beam.records.convert.convert import convert as convert
    from tfrecord_beam.records.corruption import CorruptRecord as CorruptRecord

    # Without Beam.
    from tfrecord_beam.records.inference import infer_schema as infer_schema
    from tfrecord_beam.records.table import (
        count as count,
        iter_batches as iter_batches,
        read_table as read_table,
    )
    from tfrecord_beam.records.writing.plan import WrittenFile as WrittenFile
    from tfrecord_beam.records.writing.table import write_table as write_table
    from tfrecord_beam.records.writing.writer import TFRecordWriter as TFRecordWriter

    # Schemas.
    from tfrecord_beam.report.write import (
        WrittenReport as WrittenReport,
        write_report as write_report,
    )
    from tfrecord_beam.schema.diff import diff_schemas as diff_schemas
    from tfrecord_beam.schema.from_arrow import schema_from_arrow as schema_from_arrow
    from tfrecord_beam.schema.from_spark import schema_from_spark as schema_from_spark
    from tfrecord_beam.schema.validation import validate_batch as validate_batch

    # TFXIO.
    from tfrecord_beam.tfxio import (
        BeamRecordCsvTFXIO as BeamRecordCsvTFXIO,
        BeamRecordToTensorTFXIO as BeamRecordToTensorTFXIO,
        CsvTFXIO as CsvTFXIO,
        DatasetTFXIO as DatasetTFXIO,
        ExamplesToRecordBatchDecoder as ExamplesToRecordBatchDecoder,
        ParquetTFXIO as ParquetTFXIO,
        RawBeamRecordTFXIO as RawBeamRecordTFXIO,
        RawTfRecordTFXIO as RawTfRecordTFXIO,
        RecordBatchesOptions as RecordBatchesOptions,
        SequenceExamplesToRecordBatchDecoder as SequenceExamplesToRecordBatchDecoder,
        TFExampleBeamRecord as TFExampleBeamRecord,
        TFExampleRecord as TFExampleRecord,
        TFGraphRecordDecoder as TFGraphRecordDecoder,
        TFRecordToTensorTFXIO as TFRecordToTensorTFXIO,
        TFSequenceExampleBeamRecord as TFSequenceExampleBeamRecord,
        TFSequenceExampleRecord as TFSequenceExampleRecord,
    )

    # Beam transforms.
    from tfrecord_beam.transforms.decode import (
        DecodeRecordBlocks as DecodeRecordBlocks,
        RawRecordToRecordBatch as RawRecordToRecordBatch,
    )
    from tfrecord_beam.transforms.infer import InferSchema as InferSchema
    from tfrecord_beam.transforms.project import Project as Project
    from tfrecord_beam.transforms.read import (
        BeamSource as BeamSource,
        RawRecordBeamSource as RawRecordBeamSource,
        ReadRecordBlocks as ReadRecordBlocks,
    )
    from tfrecord_beam.transforms.report import WriteReport as WriteReport
    from tfrecord_beam.transforms.rows import FromRows as FromRows, ToRows as ToRows
    from tfrecord_beam.transforms.write import WriteToTFRecord as WriteToTFRecord

__version__ = "0.1.0"

_MODULES = {
    "tfrecord_beam.errors": (
        "CorruptRecordError",
        "CoverageError",
        "DecodeError",
        "EncodeError",
        "MissingLibraryError",
        "NoMatchError",
        "SchemaError",
        "TFRecordBeamError",
        "WriteError",
    ),
    "tfrecord_beam.records.block": ("RecordBlock",),
    "tfrecord_beam.records.convert.convert": ("convert",),
    "tfrecord_beam.records.corruption": ("CorruptRecord",),
    "tfrecord_beam.records.inference": ("infer_schema",),
    "tfrecord_beam.records.table": ("count", "iter_batches", "read_table"),
    "tfrecord_beam.records.writing.plan": ("WrittenFile",),
    "tfrecord_beam.records.writing.table": ("write_table",),
    "tfrecord_beam.records.writing.writer": ("TFRecordWriter",),
    "tfrecord_beam.report.write": ("WrittenReport", "write_report"),
    "tfrecord_beam.schema.diff": ("diff_schemas",),
    "tfrecord_beam.schema.from_arrow": ("schema_from_arrow",),
    "tfrecord_beam.schema.from_spark": ("schema_from_spark",),
    "tfrecord_beam.schema.validation": ("validate_batch",),
    "tfrecord_beam.tfxio": (
        "BeamRecordCsvTFXIO",
        "BeamRecordToTensorTFXIO",
        "CsvTFXIO",
        "DatasetTFXIO",
        "ExamplesToRecordBatchDecoder",
        "ParquetTFXIO",
        "RawBeamRecordTFXIO",
        "RawTfRecordTFXIO",
        "RecordBatchesOptions",
        "SequenceExamplesToRecordBatchDecoder",
        "TFExampleBeamRecord",
        "TFExampleRecord",
        "TFGraphRecordDecoder",
        "TFRecordToTensorTFXIO",
        "TFSequenceExampleBeamRecord",
        "TFSequenceExampleRecord",
    ),
    "tfrecord_beam.transforms.decode": ("DecodeRecordBlocks", "RawRecordToRecordBatch"),
    "tfrecord_beam.transforms.infer": ("InferSchema",),
    "tfrecord_beam.transforms.project": ("Project",),
    "tfrecord_beam.transforms.read": ("BeamSource", "RawRecordBeamSource", "ReadRecordBlocks"),
    "tfrecord_beam.transforms.report": ("WriteReport",),
    "tfrecord_beam.transforms.rows": ("FromRows", "ToRows"),
    "tfrecord_beam.transforms.write": ("WriteToTFRecord",),
}
_SUBMODULES = ("errors", "kernel", "tfxio", "transforms")

__getattr__, __dir__, _names = import_on_use(__name__, _MODULES, _SUBMODULES)
__all__ = sorted([*_names, "__version__"])
