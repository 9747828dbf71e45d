"""Batches, and representations of their tensors, for tests."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.tensors.specs import NumpyTensor, RaggedValue, SparseValue
from tfrecord_beam.tensors.to_numpy import BatchConverter

DENSE = 'dense_tensor { column_name: "v" }'
VARLEN = 'varlen_sparse_tensor { column_name: "v" }'
RAGGED = 'ragged_tensor { feature_path { step: "v" } }'
INT64 = pa.large_list(pa.int64())


def representation(text: str) -> schema_pb2.TensorRepresentation:
    """Returns a representation that is written as protobuf text."""
    return text_format.Parse(text, schema_pb2.TensorRepresentation())


def dense(*shape: int, default: str = "") -> str:
    """Returns a dense representation of column v as text."""
    dims = " ".join(f"dim {{ size: {size} }}" for size in shape)
    default = f"default_value {{ {default} }}" if default else ""
    return f'dense_tensor {{ column_name: "v" shape {{ {dims} }} {default} }}'


def sparse(*sizes: int, indices: Sequence[str] = ("i", "j")) -> str:
    """Returns a sparse representation of column v with index columns i, j as text."""
    dims = " ".join(f"dim {{ size: {size} }}" for size in sizes)
    names = " ".join(f'index_column_names: "{name}"' for name in indices[: len(sizes)])
    return f'sparse_tensor {{ value_column_name: "v" {names} dense_shape {{ {dims} }} }}'


def ragged(*partitions: int | str, path: str = "v", dtype: str = "INT64") -> str:
    """Returns a ragged representation as text; numbers are uniform row lengths."""
    steps = " ".join(f'step: "{step}"' for step in path.split("."))
    parts = " ".join(
        f'partition {{ row_length: "{one}" }}'
        if isinstance(one, str)
        else f"partition {{ uniform_row_length: {one} }}"
        for one in partitions
    )
    return f"ragged_tensor {{ feature_path {{ {steps} }} {parts} row_partition_dtype: {dtype} }}"


def int_batch(**columns: Sequence[Sequence[int] | None]) -> pa.RecordBatch:
    """Returns a batch of columns of lists of int64."""
    return pa.record_batch({name: pa.array(rows, INT64) for name, rows in columns.items()})


def convert(text: str, batch: pa.RecordBatch) -> NumpyTensor:
    """Returns the tensor of a batch that a representation describes."""
    return BatchConverter(batch.schema, {"t": representation(text)}).convert(batch)["t"]


def contents(tensor: NumpyTensor) -> Any:
    """Returns a tensor as lists: dense and ragged ones nested, sparse ones by their parts."""
    if isinstance(tensor, SparseValue):
        return tuple(part.tolist() for part in tensor)
    if isinstance(tensor, RaggedValue):
        values = tensor.values.tolist()
        for splits in reversed(tensor.row_splits):
            values = [values[start:end] for start, end in itertools.pairwise(splits)]
        return values
    return tensor.tolist()
