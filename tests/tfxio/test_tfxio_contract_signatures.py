"""Arguments of the TFXIO names, their order and defaults, as their users know them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tfrecord_beam import tfxio
from tfrecord_beam.tfxio import record_based_tfxio, telemetry
from tfrecord_beam.tfxio.coders import batch_util, csv_decoder, example_coder
from tfrecord_beam.tfxio.dataset_tfxio import DatasetTFXIOOptions
from tfrecord_beam.tfxio.dataset_util import make_tf_record_dataset

SIGNATURES: list[tuple[Callable[..., Any], str]] = [
    (
        tfxio.TFExampleRecord,
        "file_pattern, validate=True, schema=None, raw_record_column_name=None, "
        "telemetry_descriptors=None",
    ),
    (
        tfxio.TFExampleBeamRecord,
        "physical_format, telemetry_descriptors=None, schema=None, raw_record_column_name=None",
    ),
    (
        tfxio.TFSequenceExampleRecord,
        "file_pattern, telemetry_descriptors, validate=True, schema=None, "
        "raw_record_column_name=None",
    ),
    (
        tfxio.TFSequenceExampleBeamRecord,
        "physical_format, telemetry_descriptors, schema=None, raw_record_column_name=None",
    ),
    (
        tfxio.RawTfRecordTFXIO,
        "file_pattern, raw_record_column_name, telemetry_descriptors",
    ),
    (
        tfxio.RawBeamRecordTFXIO,
        "physical_format, raw_record_column_name, telemetry_descriptors",
    ),
    (
        tfxio.CsvTFXIO,
        "file_pattern, column_names, telemetry_descriptors=None, validate=True, "
        "delimiter=',', skip_blank_lines=True, multivalent_columns=None, "
        "secondary_delimiter=None, schema=None, raw_record_column_name=None, "
        "skip_header_lines=0",
    ),
    (
        tfxio.BeamRecordCsvTFXIO,
        "physical_format, column_names, delimiter=',', skip_blank_lines=True, "
        "multivalent_columns=None, secondary_delimiter=None, schema=None, "
        "raw_record_column_name=None, telemetry_descriptors=None",
    ),
    (
        tfxio.ParquetTFXIO,
        "file_pattern, *, column_names=None, min_bundle_size=0, schema=None, "
        "validate=True, telemetry_descriptors=None",
    ),
    (
        tfxio.TFRecordToTensorTFXIO,
        "file_pattern, saved_decoder_path, telemetry_descriptors, raw_record_column_name=None",
    ),
    (
        tfxio.BeamRecordToTensorTFXIO,
        "saved_decoder_path, telemetry_descriptors, physical_format, "
        "raw_record_column_name, experimental_use_singleton_decoder=False",
    ),
    (
        tfxio.RecordBasedTFXIO,
        "telemetry_descriptors, logical_format, physical_format, raw_record_column_name=None",
    ),
    (
        record_based_tfxio.OverridableRecordBasedTFXIO,
        "telemetry_descriptors, logical_format, physical_format, raw_record_beam_source, "
        "raw_record_to_record_batch",
    ),
    (
        record_based_tfxio.AppendRawRecordColumn,
        "record_batch, column_name, raw_records, record_index_column_name=None",
    ),
    (
        tfxio.RecordBatchesOptions,
        "batch_size, drop_final_batch=False, num_epochs=None, shuffle=True, "
        "shuffle_buffer_size=10000, shuffle_seed=None",
    ),
    (
        tfxio.TensorFlowDatasetOptions,
        "batch_size, drop_final_batch=False, num_epochs=None, shuffle=True, "
        "shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=-1, "
        "reader_num_threads=-1, parser_num_threads=-1, sloppy_ordering=False, "
        "label_key=None",
    ),
    (
        DatasetTFXIOOptions,
        "working_dir=None, feature_names=None, num_shards=None",
    ),
    (
        make_tf_record_dataset,
        "file_pattern, batch_size, drop_final_batch, num_epochs, shuffle, "
        "shuffle_buffer_size, shuffle_seed, reader_num_threads=-1, sloppy_ordering=False",
    ),
    (
        telemetry.ProfileRecordBatches,
        "telemetry_descriptors, logical_format, physical_format, "
        "distribution_update_probability=0.1",
    ),
    (
        batch_util.GetBatchElementsKwargs,
        "batch_size, element_size_fn=<built-in function len>",
    ),
    (
        batch_util.BatchRecords,
        "batch_size, telemetry_descriptors, record_size_fn=<built-in function len>",
    ),
    (
        example_coder.ExamplesToRecordBatchDecoder,
        "serialized_schema=None",
    ),
    (
        example_coder.RecordBatchToExamplesEncoder,
        "schema=None",
    ),
    (
        csv_decoder.CSVToRecordBatch,
        "column_names, desired_batch_size, delimiter=',', skip_blank_lines=True, "
        "schema=None, multivalent_columns=None, secondary_delimiter=None, "
        "raw_record_column_name=None",
    ),
    (
        tfxio.TFXIO.BeamSource,
        "self, batch_size=None",
    ),
    (
        tfxio.TFXIO.RecordBatches,
        "self, options",
    ),
    (
        tfxio.TFXIO.TensorFlowDataset,
        "self, options",
    ),
    (
        tfxio.TFXIO.Project,
        "self, tensor_names",
    ),
    (
        tfxio.RecordBasedTFXIO.RawRecordToRecordBatch,
        "self, batch_size=None",
    ),
    (
        tfxio.TensorAdapter.ToBatchTensors,
        "self, record_batch, produce_eager_tensors=None",
    ),
]


@pytest.mark.parametrize(
    ("function", "expected"), SIGNATURES, ids=[function.__qualname__ for function, _ in SIGNATURES]
)
def test_arguments(function: Callable[..., Any], expected: str) -> None:
    """There may be more of them, which have to be given by name."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
    ]
    known = parameters[: expected.replace("*, ", "").count(",") + 1]
    assert str(inspect.Signature(known)) == f"({expected})"
    assert all(each.kind is each.KEYWORD_ONLY for each in parameters[len(known) :])


def test_options_are_tuples() -> None:
    assert tfxio.RecordBatchesOptions(3) == (3, False, None, True, 10000, None)
    assert tfxio.TensorFlowDatasetOptions(3)[6:] == (-1, -1, -1, False, None)


def test_config_has_three_attributes() -> None:
    schema = pa.schema([])
    config = tfxio.TensorAdapterConfig(schema, {})
    assert config.arrow_schema is schema
    assert config.tensor_representations == {}
    assert config.original_type_specs is None
