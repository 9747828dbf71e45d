"""What the names of TFXIO that need TensorFlow do with wrong arguments: a ValueError says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.compat.peers import import_peer
from tests.tfxio.example_files import SCHEMA
from tfrecord_beam.tfxio import (
    DatasetTFXIO,
    TensorAdapter,
    TensorAdapterConfig,
    TensorFlowDatasetOptions,
    TFExampleRecord,
    TFRecordToTensorTFXIO,
)
from tfrecord_beam.tfxio.coders.tf_graph_record_decoder import save_decoder
from tfrecord_beam.tfxio.dataset_tfxio import DatasetTFXIOOptions
from tfrecord_beam.tfxio.tensor_representation_util import CreateTfExampleParserConfig
from tfrecord_beam.tfxio.tensor_to_arrow import TensorsToRecordBatchConverter

tf = import_peer("tensorflow")

TFXIO = TFExampleRecord("none", schema=SCHEMA)
ADAPTER = TFXIO.TensorAdapter()
VECTORS = {"a": tf.TensorSpec([None], tf.int64)}
WRONG_SPECS: list[Any] = [5, {}]
VARLEN = schema_pb2.TensorRepresentation(varlen_sparse_tensor={"column_name": "a"})
SPARSE = {"a": tf.SparseTensorSpec([None, 3, 3], tf.int64)}
Options = TensorsToRecordBatchConverter.Options


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: DatasetTFXIO(None), "^Expected dataset to be of type DatasetV2, found None"),
        (
            lambda: DatasetTFXIO(tf.data.Dataset.range(3).batch(2), 5),  # type: ignore[arg-type]
            "^Expected options to be of type DatasetTFXIOOptions, found 5",
        ),
        (
            lambda: TFXIO.TensorFlowDataset(TensorFlowDatasetOptions(1, label_key=5)),  # type: ignore[arg-type]
            "^Expected label_key to be of type str, found 5",
        ),
        (
            lambda: TensorAdapter(None),  # type: ignore[arg-type]
            "^Expected a config with arrow_schema, found None",
        ),
        (
            lambda: TensorAdapter(TensorAdapterConfig(None, {})),
            "^Expected arrow_schema to be of type Schema, found None",
        ),
        (
            lambda: TensorAdapter(TensorAdapterConfig(pa.schema([]), {"a": None})),
            "^Expected the representation of tensor 'a' to be of type TensorRepresentation",
        ),
        (
            lambda: ADAPTER.ToBatchTensors(None),
            "^Expected record_batch to be of type RecordBatch, found None",
        ),
        (
            lambda: TensorsToRecordBatchConverter(None),  # type: ignore[arg-type]
            "^Expected type_specs to be of type Mapping, found None",
        ),
        (
            lambda: TensorsToRecordBatchConverter({5: VECTORS["a"]}),  # type: ignore[dict-item]
            "^Expected each name of a tensor to be of type str, found 5",
        ),
        (
            lambda: TensorsToRecordBatchConverter(VECTORS).convert(None),  # type: ignore[arg-type]
            "^Expected tensors to be of type Mapping, found None",
        ),
        (
            lambda: TensorsToRecordBatchConverter(VECTORS, 5),  # type: ignore[arg-type]
            "^Expected options to be of type Options, found 5",
        ),
        *(
            (
                lambda specs=specs: TensorAdapter(
                    TensorAdapterConfig(TFXIO.ArrowSchema(), TFXIO.TensorRepresentations(), specs)
                ),
                "^Expected original_type_specs to be ",
            )
            for specs in WRONG_SPECS
        ),
        (
            lambda: DatasetTFXIO(tf.data.Dataset.range(3).batch(2), DatasetTFXIOOptions(5)),  # type: ignore[arg-type]
            "^Expected working_dir to be a path, found 5",
        ),
        (
            lambda: TFRecordToTensorTFXIO("file", None, None),  # type: ignore[arg-type]
            "^Expected path to be a path, found None",
        ),
        (
            lambda: save_decoder(None, "path"),  # type: ignore[arg-type]
            "^Expected decoder to be of type TFGraphRecordDecoder, found None",
        ),
        (
            lambda: CreateTfExampleParserConfig(VARLEN, "INT"),  # type: ignore[arg-type]
            "^Expected feature_type to be an int",
        ),
        *(
            (
                lambda template=template: TensorsToRecordBatchConverter(
                    SPARSE, Options(sparse_tensor_index_column_name_template=template)
                ),
                r"^Expected a template of the name of a column with \{tensor_name\} and \{index\} ",
            )
            for template in ("{x}", "{}", "{", "{index.x}")
        ),
    ],
)
def test_wrong_argument(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
