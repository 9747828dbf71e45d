"""What the names of TFXIO do with wrong arguments: a ValueError that says what was expected.

Never a bare AssertionError, KeyError, AttributeError or TypeError of what lies below.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.schemas import parse_schema
from tests.tfxio.example_files import write_files
from tfrecord_beam import tfxio
from tfrecord_beam.tfxio import (
    record_based_tfxio,
    telemetry,
    tensor_representation_util,
)
from tfrecord_beam.tfxio.arrow import array_util, path, table_util
from tfrecord_beam.tfxio.coders import (
    batch_util,
    csv_decoder,
    example_coder,
    sequence_example_coder,
)
from tfrecord_beam.tfxio.telemetry import collection, util
from tfrecord_beam.tfxio.tfxio import TFXIO

VARLEN = schema_pb2.TensorRepresentation(varlen_sparse_tensor={"column_name": "a"})
SCHEMA = parse_schema(
    """
    feature { name: "a" type: INT }
    tensor_representation_group {
      key: ""
      value {
        tensor_representation {
          key: "a"
          value { varlen_sparse_tensor { column_name: "a" } }
        }
      }
    }
    """
)
LISTS = pa.array([[1], [2]], pa.large_list(pa.int64()))
BATCH = pa.record_batch({"a": LISTS})
WRONG = [
    None,
    3,
    -1,
    1.5,
    "wrong",
    b"wrong",
    True,
    object(),
    [],
    [3],
    [None],
    ["wrong"],
    {},
    {"a": 3},
    set(),
    pa.array([1.5]),
    pa.array(["wrong"]),
    np.zeros(2),
    schema_pb2.Feature(),
    schema_pb2.Schema(feature=[{"name": "wrong", "type": "STRUCT"}]),
    BATCH,
    pa.schema([]),
]

FILE = object()
"""Stands for the path of a file of the kind that the class reads."""

NO_RAW: dict[str, Any] = {"raw_record_column_name": None, "telemetry_descriptors": None}
EXAMPLES = {"schema": SCHEMA, **NO_RAW}
CSV = {
    "column_names": ["a"],
    "delimiter": ",",
    "skip_blank_lines": True,
    "multivalent_columns": None,
    "secondary_delimiter": None,
    "schema": SCHEMA,
    **NO_RAW,
}
RAW = {"raw_record_column_name": "raw", "telemetry_descriptors": None}
FORMATS = {"telemetry_descriptors": ["a"], "logical_format": "x", "physical_format": "y"}

CLASSES: list[tuple[type[TFXIO], dict[str, Any]]] = [
    (tfxio.TFExampleRecord, {"file_pattern": FILE, "validate": True, **EXAMPLES}),
    (tfxio.TFExampleBeamRecord, {"physical_format": "x", **EXAMPLES}),
    (tfxio.TFSequenceExampleRecord, {"file_pattern": FILE, "validate": True, **EXAMPLES}),
    (tfxio.TFSequenceExampleBeamRecord, {"physical_format": "x", **EXAMPLES}),
    (tfxio.RawTfRecordTFXIO, {"file_pattern": FILE, **RAW}),
    (tfxio.RawBeamRecordTFXIO, {"physical_format": "x", **RAW}),
    (tfxio.CsvTFXIO, {"file_pattern": FILE, "validate": True, "skip_header_lines": 0, **CSV}),
    (tfxio.BeamRecordCsvTFXIO, {"physical_format": "x", **CSV}),
    (
        tfxio.ParquetTFXIO,
        {
            "file_pattern": FILE,
            "column_names": None,
            "min_bundle_size": 0,
            "schema": SCHEMA,
            "validate": True,
            "telemetry_descriptors": None,
        },
    ),
]

FUNCTIONS: list[tuple[Callable[..., object], dict[str, Any]]] = [
    (
        record_based_tfxio.AppendRawRecordColumn,
        {
            "record_batch": BATCH,
            "column_name": "raw",
            "raw_records": [b"1", b"2"],
            "record_index_column_name": None,
        },
    ),
    (record_based_tfxio.CreateRawRecordColumn, {"raw_records": [b"1"]}),
    (record_based_tfxio.ReadTfRecord, {"file_pattern": [__file__]}),
    (telemetry.ProfileRawRecords, FORMATS),
    (telemetry.ProfileRecordBatches, FORMATS),
    (collection.TrackRecordBatchBytes, {"counter_namespace": "a", "counter_name": "b"}),
    (collection.TrackTensorRepresentations, {"counter_namespace": "a"}),
    (util.MakeTfxNamespace, {"descriptors": ["a"]}),
    (util.AppendToNamespace, {"namespace": "a", "descriptors_to_append": ["b"]}),
    (
        example_coder.ExamplesToRecordBatchDecoder,
        {"serialized_schema": SCHEMA.SerializeToString()},
    ),
    (example_coder.ExamplesToRecordBatchDecoder().DecodeBatch, {"examples": [b""]}),
    (example_coder.RecordBatchToExamplesEncoder, {"schema": SCHEMA}),
    (example_coder.RecordBatchToExamplesEncoder().encode, {"record_batch": BATCH}),
    (example_coder.RecordBatchToExamples, {"record_batch": BATCH}),
    (example_coder.ExampleToNumpyDict, {"serialized": b""}),
    (
        sequence_example_coder.SequenceExamplesToRecordBatchDecoder,
        {"sequence_feature_column_name": "s", "serialized_schema": b""},
    ),
    (
        sequence_example_coder.SequenceExamplesToRecordBatchDecoder("s").DecodeBatch,
        {"examples": [b""]},
    ),
    (
        csv_decoder.CSVToRecordBatch,
        {
            "desired_batch_size": 1,
            **{name: value for name, value in CSV.items() if name != "telemetry_descriptors"},
        },
    ),
    (csv_decoder.ParseCSVLine, {"delimiter": ","}),
    (
        csv_decoder.ColumnTypeInferrer,
        {
            "column_names": ["a"],
            "skip_blank_lines": True,
            "multivalent_columns": None,
            "secondary_delimiter": None,
        },
    ),
    (
        csv_decoder.GetArrowSchema,
        {"column_names": ["a"], "schema": SCHEMA, "raw_record_column_name": None},
    ),
    (batch_util.BatchRecords, {"batch_size": 1, "telemetry_descriptors": ["a"]}),
    (batch_util.GetBatchElementsKwargs, {"batch_size": 1}),
    (
        tensor_representation_util.GetTensorRepresentationsFromSchema,
        {"schema": SCHEMA, "tensor_representation_group_name": ""},
    ),
    (
        tensor_representation_util.SetTensorRepresentationsInSchema,
        {
            "schema": schema_pb2.Schema(),
            "tensor_representations": {"a": VARLEN},
            "tensor_representation_group_name": "",
        },
    ),
    (
        tensor_representation_util.ValidateTensorRepresentationsInSchema,
        {"schema": SCHEMA, "tensor_representation_group_name": ""},
    ),
    (tensor_representation_util.InferTensorRepresentationsFromSchema, {"schema": SCHEMA}),
    (tensor_representation_util.InferTensorRepresentationsFromMixedSchema, {"schema": SCHEMA}),
    (
        tensor_representation_util.ProjectTensorRepresentationsInSchema,
        {"schema": SCHEMA, "tensor_names": ["a"]},
    ),
    (
        tensor_representation_util.GetSourceColumnsFromTensorRepresentation,
        {"tensor_representation": VARLEN},
    ),
    (
        tensor_representation_util.GetSourceValueColumnFromTensorRepresentation,
        {"tensor_representation": VARLEN},
    ),
    (array_util.CooFromListArray, {"list_array": LISTS}),
    (array_util.CountInvalidUTF8, {"array": pa.array([b"a"])}),
    (array_util.FillNullLists, {"list_array": LISTS, "fill_with": pa.array([1])}),
    (array_util.GetArrayNullBitmapAsByteArray, {"array": LISTS}),
    (array_util.GetBinaryArrayTotalByteSize, {"array": pa.array([b"a"])}),
    (array_util.GetByteSize, {"array": LISTS}),
    (array_util.GetElementLengths, {"array": LISTS}),
    (array_util.GetFlattenedArrayParentIndices, {"array": LISTS}),
    (array_util.IndexIn, {"values": pa.array([1]), "value_set": pa.array([1])}),
    (
        array_util.MakeListArrayFromParentIndicesAndValues,
        {"num_parents": 2, "parent_indices": pa.array([0, 1]), "values": pa.array([0, 1])},
    ),
    (array_util.ToSingletonListArray, {"array": LISTS}),
    (array_util.flatten_nested, {"array": LISTS}),
    (array_util.get_field, {"struct_array": pa.array([{"a": 1}]), "field": "a"}),
    (array_util.get_innermost_nested_type, {"arrow_type": pa.int64()}),
    (array_util.is_list_like, {"data_type": pa.int64()}),
    (
        table_util.CanonicalizeRecordBatch,
        {"record_batch_with_primitive_arrays": pa.record_batch({"a": [1]})},
    ),
    (table_util.MergeRecordBatches, {"record_batches": [BATCH]}),
    (table_util.NumpyKindToArrowType, {"kind": "i"}),
    (table_util.RecordBatchTake, {"record_batch": BATCH, "indices": pa.array([0])}),
    (table_util.TotalByteSize, {"table_or_batch": BATCH}),
    (
        table_util.get_array,
        {
            "record_batch": BATCH,
            "query_path": path.ColumnPath(["a"]),
            "return_example_indices": False,
        },
    ),
    (path.ColumnPath, {"steps": ["a"]}),
]


def arguments(table: list[tuple[Any, dict[str, Any]]]) -> list[Any]:
    return [
        pytest.param(function, good, name, id=f"{function.__qualname__}-{name}")
        for function, good in table
        for name in good
    ]


def check(call: Callable[[], object]) -> object:
    """Returns what a call does, or None if it refuses to, in the right way."""
    try:
        return call()
    except ValueError as error:
        assert str(error).startswith("Expected"), error
    except (FileNotFoundError, NotImplementedError):  # "wrong" may be the path of a file
        pass
    return None


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[type[TFXIO], str]:
    """A file for each class that reads files."""
    folder = tmp_path_factory.mktemp("files")
    records = str(write_files(folder)[0])
    parquet = str(folder / "file.parquet")
    pq.write_table(pa.table({"a": [1]}), parquet)
    return {cls: parquet if cls is tfxio.ParquetTFXIO else records for cls, _ in CLASSES}


def make(cls: type[TFXIO], files: dict[type[TFXIO], str], **options: Any) -> TFXIO:
    return cls(**{n: files[cls] if value is FILE else value for n, value in options.items()})


@pytest.mark.parametrize(("function", "good", "name"), arguments(FUNCTIONS))
def test_function(function: Callable[..., object], good: dict[str, Any], name: str) -> None:
    function(**good)
    for wrong in WRONG:
        check(functools.partial(function, **{**good, name: wrong}))


@pytest.mark.parametrize(("cls", "good", "name"), arguments(CLASSES))
def test_constructor_and_what_is_made(
    cls: type[TFXIO], good: dict[str, Any], name: str, files: dict[type[TFXIO], str]
) -> None:
    make(cls, files, **good)
    for wrong in WRONG:
        made: Any = check(functools.partial(make, cls, files, **{**good, name: wrong}))
        if made is not None:
            check(made.ArrowSchema)
            check(made.TensorRepresentations)
            check(made.TensorAdapterConfig)
            check(made.BeamSource)
            check(made.RawRecordBeamSource)
            check(made.RawRecordToRecordBatch)
            check(functools.partial(made.Project, ["a"]))


@pytest.mark.parametrize(
    "method",
    ["BeamSource", "Project", "RawRecordToRecordBatch", "RecordBatches", "TensorFlowDataset"],
)
@pytest.mark.parametrize(("cls", "good"), CLASSES)
def test_method(
    cls: type[TFXIO], good: dict[str, Any], method: str, files: dict[type[TFXIO], str]
) -> None:
    whole = make(cls, files, **good)
    for one in (whole, whole.Project([])):
        for wrong in WRONG:
            check(functools.partial(getattr(one, method), wrong))
