"""Coders without Beam, under the names that TFXIO users know."""

from tfrecord_beam.tfxio.coders.example_coder import (
    ExamplesToRecordBatchDecoder as ExamplesToRecordBatchDecoder,
    ExampleToNumpyDict as ExampleToNumpyDict,
    RecordBatchToExamples as RecordBatchToExamples,
    RecordBatchToExamplesEncoder as RecordBatchToExamplesEncoder,
)
