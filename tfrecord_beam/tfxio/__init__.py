"""Classes for users of TFXIO: the same names, arguments and results, read by this library.

This is the only place with methods in CamelCase.
"""

from tfrecord_beam.schema.representations import (
    TensorRepresentations as TensorRepresentations,
)
from tfrecord_beam.tfxio.base import (
    TFXIO as TFXIO,
    RecordBasedTFXIO as RecordBasedTFXIO,
)
from tfrecord_beam.tfxio.coders import (
    ExamplesToRecordBatchDecoder as ExamplesToRecordBatchDecoder,
)
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions as RecordBatchesOptions
from tfrecord_beam.tfxio.tf_example import (
    TFExampleBeamRecord as TFExampleBeamRecord,
    TFExampleRecord as TFExampleRecord,
)
