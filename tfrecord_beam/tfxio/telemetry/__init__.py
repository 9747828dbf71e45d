"""Beam metrics of TFXIO: those of sources, and `collection` and `util` of ``tfx_bsl.telemetry``."""

from tfrecord_beam.tfxio.telemetry.profiles import (
    ProfileBatching as ProfileBatching,
    ProfileRawRecords as ProfileRawRecords,
    ProfileRecordBatches as ProfileRecordBatches,
    ProfileRecordBlocks as ProfileRecordBlocks,
)
