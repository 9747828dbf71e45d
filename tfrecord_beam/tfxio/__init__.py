"""Classes for users of TFXIO: the same names, arguments and results, implemented by this library.

Modules have the names of those in tfx_bsl, so that users only change the package that they import:
``tfx_bsl.public.tfxio`` and ``tfx_bsl.tfxio`` -> ``tfrecord_beam.tfxio``, ``tfx_bsl.coders`` ->
``tfrecord_beam.tfxio.coders``, ``tfx_bsl.arrow`` -> ``tfrecord_beam.tfxio.arrow``. This is the only
place with methods in CamelCase.

Names are resolved on first use: modules that do not need Beam, such as the coders, do not load it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrecord_beam.lazy import import_on_use

if TYPE_CHECKING:
    from tfrecord_beam.schema.representations import (
        TensorRepresentations as TensorRepresentations,
    )
    from tfrecord_beam.tfxio.coders.example_coder import (
        ExamplesToRecordBatchDecoder as ExamplesToRecordBatchDecoder,
        RecordBatchToExamplesEncoder as RecordBatchToExamplesEncoder,
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
    from tfrecord_beam.tfxio.dataset_options import (
        RecordBatchesOptions as RecordBatchesOptions,
        TensorFlowDatasetOptions as TensorFlowDatasetOptions,
    )
    from tfrecord_beam.tfxio.dataset_tfxio import DatasetTFXIO as DatasetTFXIO
    from tfrecord_beam.tfxio.parquet_tfxio import ParquetTFXIO as ParquetTFXIO
    from tfrecord_beam.tfxio.raw_tf_record import (
        RawBeamRecordTFXIO as RawBeamRecordTFXIO,
        RawTfRecordTFXIO as RawTfRecordTFXIO,
    )
    from tfrecord_beam.tfxio.record_based_tfxio import RecordBasedTFXIO as RecordBasedTFXIO
    from tfrecord_beam.tfxio.record_to_tensor_tfxio import (
        BeamRecordToTensorTFXIO as BeamRecordToTensorTFXIO,
        TFRecordToTensorTFXIO as TFRecordToTensorTFXIO,
    )
    from tfrecord_beam.tfxio.tensor_adapter import (
        TensorAdapter as TensorAdapter,
        TensorAdapterConfig as TensorAdapterConfig,
    )
    from tfrecord_beam.tfxio.tf_example_record import (
        TFExampleBeamRecord as TFExampleBeamRecord,
        TFExampleRecord as TFExampleRecord,
    )
    from tfrecord_beam.tfxio.tf_sequence_example_record import (
        TFSequenceExampleBeamRecord as TFSequenceExampleBeamRecord,
        TFSequenceExampleRecord as TFSequenceExampleRecord,
    )
    from tfrecord_beam.tfxio.tfxio import TFXIO as TFXIO

_MODULES = {
    "tfrecord_beam.schema.representations": ("TensorRepresentations",),
    "tfrecord_beam.tfxio.coders.example_coder": (
        "ExamplesToRecordBatchDecoder",
        "RecordBatchToExamplesEncoder",
    ),
    "tfrecord_beam.tfxio.coders.sequence_example_coder": ("SequenceExamplesToRecordBatchDecoder",),
    "tfrecord_beam.tfxio.coders.tf_graph_record_decoder": ("TFGraphRecordDecoder",),
    "tfrecord_beam.tfxio.csv_tfxio": ("BeamRecordCsvTFXIO", "CsvTFXIO"),
    "tfrecord_beam.tfxio.dataset_options": ("RecordBatchesOptions", "TensorFlowDatasetOptions"),
    "tfrecord_beam.tfxio.dataset_tfxio": ("DatasetTFXIO",),
    "tfrecord_beam.tfxio.parquet_tfxio": ("ParquetTFXIO",),
    "tfrecord_beam.tfxio.raw_tf_record": ("RawBeamRecordTFXIO", "RawTfRecordTFXIO"),
    "tfrecord_beam.tfxio.record_based_tfxio": ("RecordBasedTFXIO",),
    "tfrecord_beam.tfxio.record_to_tensor_tfxio": (
        "BeamRecordToTensorTFXIO",
        "TFRecordToTensorTFXIO",
    ),
    "tfrecord_beam.tfxio.tensor_adapter": ("TensorAdapter", "TensorAdapterConfig"),
    "tfrecord_beam.tfxio.tf_example_record": ("TFExampleBeamRecord", "TFExampleRecord"),
    "tfrecord_beam.tfxio.tf_sequence_example_record": (
        "TFSequenceExampleBeamRecord",
        "TFSequenceExampleRecord",
    ),
    "tfrecord_beam.tfxio.tfxio": ("TFXIO",),
}

__getattr__, __dir__, __all__ = import_on_use(__name__, _MODULES)
