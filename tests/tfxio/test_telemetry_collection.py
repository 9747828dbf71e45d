"""What is counted of a pipeline's input, and the namespaces of counters."""

from __future__ import annotations

import apache_beam as beam
import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.tfxio.pipelines import run
from tfrecord_beam.tfxio.telemetry import collection, util


def test_bytes_of_batches() -> None:
    batch = pa.record_batch({"a": pa.array([1, 2, 3], pa.int32())})
    result = run(beam.Create([batch, batch]), collection.TrackRecordBatchBytes("space", "bytes"))
    assert result.elements == [12, 12]
    assert result.in_namespace("space") == {"bytes": 24}


def test_kinds_of_tensors() -> None:
    kinds = ["dense_tensor", "ragged_tensor", "dense_tensor", None]
    tensors = {
        str(i): schema_pb2.TensorRepresentation(**({kind: {}} if kind else {}))
        for i, kind in enumerate(kinds)
    }
    result = run(beam.Create([tensors]), collection.TrackTensorRepresentations("space"))
    assert result.elements == [None]
    assert result.in_namespace("space") == {"dense_tensor": 2, "ragged_tensor": 1}


def test_namespaces() -> None:
    assert util.MakeTfxNamespace([]) == "tfx"
    assert util.MakeTfxNamespace(("some", "component")) == "tfx.some.component"
    assert util.AppendToNamespace("space", []) == "space"
    assert util.AppendToNamespace("space", ["a", "b"]) == "space.a.b"


def test_one_str_is_no_list_of_descriptors() -> None:
    with pytest.raises(
        ValueError, match=r"^Expected telemetry_descriptors to be a list, found 'ab'"
    ):
        util.MakeTfxNamespace("ab")
