"""Functions of Arrow arrays, and tensors to record batches, beside tfx_bsl.

Each function gets the same arrays from both: lists of 0 to 7 values, a fifth of the lists null, and
strings of some 8 bytes, of which one of ten is no UTF-8 in one of the cases. A batch of few rows
shows what a call costs, one of many what a row costs. Tensors need TensorFlow.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from tests.bench import harness
from tfrecord_beam.tfxio.arrow import array_util, table_util

_ROWS = [10, 100_000]

PEERS = {array_util: "tfx_bsl.arrow.array_util", table_util: "tfx_bsl.arrow.table_util"}


def _array_cases(rows: int) -> Iterator[tuple[Any, str, tuple[Any, ...]]]:
    """Yields module, function and arguments."""
    random = np.random.default_rng(0)
    is_null = random.random(rows) < 0.2
    lengths = np.where(is_null, 0, random.integers(0, 8, rows))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    values = pa.array(np.arange(offsets[-1]))
    lists = pa.LargeListArray.from_arrays(offsets, values, mask=pa.array(is_null))
    parents = pa.array(np.repeat(np.arange(rows), lengths))
    strings = pa.array([b"text %d" % i for i in range(rows)])
    broken = pa.array([b"text\xff%d" % i if i % 10 == 0 else b"text %d" % i for i in range(rows)])
    numbers = pa.array(np.arange(rows), mask=is_null)
    structs = pa.StructArray.from_arrays([lists], ["x"], mask=pa.array(is_null))
    batch = pa.record_batch({"a": lists, "b": strings, "c": numbers})
    other = pa.record_batch({"a": lists, "d": strings})
    yield array_util, "GetElementLengths", (lists,)
    yield array_util, "GetFlattenedArrayParentIndices", (lists,)
    yield array_util, "GetArrayNullBitmapAsByteArray", (lists,)
    yield array_util, "GetBinaryArrayTotalByteSize", (strings,)
    yield array_util, "GetByteSize", (lists,)
    yield array_util, "IndexIn", (strings, strings[:5])
    yield array_util, "FillNullLists", (lists, values[:1])
    yield array_util, "CooFromListArray", (lists,)
    yield array_util, "CountInvalidUTF8", (strings,)
    yield array_util, "CountInvalidUTF8", (broken,)
    yield array_util, "MakeListArrayFromParentIndicesAndValues", (rows, parents, values)
    yield array_util, "ToSingletonListArray", (numbers,)
    yield array_util, "flatten_nested", (lists, True)
    yield array_util, "get_field", (structs, "x")
    yield table_util, "TotalByteSize", (batch,)
    yield table_util, "MergeRecordBatches", ([batch, batch],)
    yield table_util, "MergeRecordBatches", ([batch, other],)
    yield table_util, "RecordBatchTake", (batch, pa.array(random.permutation(rows)))
    yield table_util, "CanonicalizeRecordBatch", (batch,)


def _tensor_cases(rows: int) -> Iterator[tuple[str, Any, Any]]:
    """Yields name, type specification and tensor."""
    import tensorflow as tf

    lengths = np.random.default_rng(0).integers(0, 8, rows)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    parents = np.repeat(np.arange(rows), lengths)
    positions = np.arange(len(parents)) - offsets[parents]
    values = np.arange(len(parents), dtype=np.float32)
    strings = np.array([b"text %d" % i for i in range(rows)], object)
    dense = tf.constant(np.ones((rows, 4), np.float32))
    yield "dense", tf.TensorSpec([None, 4], tf.float32), dense
    yield "dense strings", tf.TensorSpec([None], tf.string), tf.constant(strings)
    indices = np.stack([parents, positions], axis=1)
    varlen = tf.SparseTensor(indices, values, [rows, 8])
    yield "varlen", tf.SparseTensorSpec([None, None], tf.float32), varlen
    cube = tf.SparseTensor(np.stack([parents, positions, positions], axis=1), values, [rows, 8, 8])
    yield "sparse of three dimensions", tf.SparseTensorSpec([None, 8, 8], tf.float32), cube
    ragged = tf.RaggedTensor.from_row_splits(values, offsets)
    yield "ragged", tf.RaggedTensorSpec([None, None], tf.float32), ragged


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], rows: int) -> int:
    function(*arguments)
    return rows


def _compare(
    run: harness.Run, title: str, functions: dict[str, Any], arguments: Any, rows: int
) -> None:
    cases = [
        harness.Case(name, functools.partial(_call, function, arguments, rows), rows, 0)
        for name, function in functions.items()
    ]
    run.compare(f"{title}, {rows:,} rows", cases)


def measure(run: harness.Run) -> None:
    has_peer = harness.is_installed("tfx_bsl")
    for rows in dict.fromkeys(map(run.count, _ROWS)):
        for module, name, values in _array_cases(rows):
            functions = {"tfrecord_beam": getattr(module, name)}
            if has_peer:
                functions["tfx_bsl"] = getattr(importlib.import_module(PEERS[module]), name)
            _compare(run, name, functions, values, rows)
        if not harness.is_installed("tensorflow"):
            continue
        for name, spec, tensor in _tensor_cases(rows):
            functions = {
                library: importlib.import_module(f"{library}.tfxio.tensor_to_arrow")
                .TensorsToRecordBatchConverter({"x": spec})
                .convert
                for library in ("tfrecord_beam", *(["tfx_bsl"] if has_peer else []))
            }
            _compare(run, f"convert {name}", functions, ({"x": tensor},), rows)


if __name__ == "__main__":
    harness.main(measure, __doc__)
