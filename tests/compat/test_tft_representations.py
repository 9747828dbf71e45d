"""TensorFlow Transform on tensors that are dense, sparse and ragged."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import frames, wire
from tests.compat.peers import import_peer
from tests.tensors.batches import dense, ragged, representation
from tfrecord_beam.tfxio import TFExampleRecord, tensor_representation_util

tf = import_peer("tensorflow")
tft = import_peer("tensorflow_transform")
tft_beam = import_peer("tensorflow_transform.beam")

pytestmark = pytest.mark.filterwarnings("ignore")  # those of TensorFlow Transform itself


def schema() -> schema_pb2.Schema:
    types = {"v": "FLOAT", "s": "BYTES", "r": "INT"}
    made = schema_pb2.Schema(feature=[{"name": n, "type": t} for n, t in types.items()])
    tensors = {
        "number": dense(),
        "words": 'varlen_sparse_tensor { column_name: "s" }',
        "ragged": ragged(path="r"),
    }
    tensor_representation_util.SetTensorRepresentationsInSchema(
        made, {name: representation(text) for name, text in tensors.items()}
    )
    return made


def record(row: int) -> bytes:
    features = {
        "v": wire.floats(float(row)),
        "s": wire.bytes_list(*[b"w%d" % (row % 2)] * (row % 3)),
        "r": wire.int64(*range(row % 4)),
    }
    return wire.example(*[wire.entry(name, kind) for name, kind in features.items()])


def preprocess(inputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "scaled": tft.scale_to_0_1(inputs["number"]),
        "ids": tft.compute_and_apply_vocabulary(inputs["words"]),
        "sums": tf.reduce_sum(inputs["ragged"], axis=1),
    }


@pytest.mark.parametrize("tensors", [None, ["number", "words", "ragged"]])
def test_analyze_and_transform(tmp_path: Path, tensors: list[str] | None) -> None:
    path = tmp_path / "data.tfrecord"
    path.write_bytes(frames.framed(*map(record, range(11))))
    source: Any = TFExampleRecord(str(path), schema=schema())
    if tensors is not None:
        source = source.Project(tensors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            beam.Pipeline(runner=FnApiRunner()) as pipeline,
            tft_beam.Context(temp_dir=str(tmp_path / "temporary")),
        ):
            batches = pipeline | source.BeamSource(batch_size=4)
            dataset, _ = (
                batches,
                source.TensorAdapterConfig(),
            ) | tft_beam.AnalyzeAndTransformDataset(preprocess, output_record_batches=True)
            rows = dataset[0] | beam.FlatMap(lambda pair: pair[0].to_pylist())
            scaled = rows | beam.Map(lambda row: [round(one, 3) for one in row["scaled"]])
            assert_that(scaled, equal_to([[round(i / 10, 3)] for i in range(11)]), "Scaled")
            sums = rows | "Sums" >> beam.Map(lambda row: row["sums"])
            assert_that(sums, equal_to([[sum(range(i % 4))] for i in range(11)]), "CheckSums")
            lengths = rows | "Lengths" >> beam.Map(lambda row: len(row["ids"]))
            assert_that(lengths, equal_to([i % 3 for i in range(11)]), "CheckLengths")
