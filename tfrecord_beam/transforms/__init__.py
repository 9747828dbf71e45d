"""The Beam transforms: wiring only; what they do is in `tfrecord_beam.records`."""

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
