"""Tensors of PyTorch from numpy values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.tensors.batches import INT64, RAGGED, VARLEN, convert, dense, int_batch, sparse
from tfrecord_beam.tensors.specs import RaggedValue, SparseValue
from tfrecord_beam.tensors.to_torch import to_torch_tensor

torch = pytest.importorskip("torch", reason="needs PyTorch")

LISTS = [[1, 2], None, [3], [4, 5, 6]]
NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]


def strings(*rows: list[bytes]) -> pa.RecordBatch:
    return pa.record_batch({"v": pa.array(rows, pa.large_list(pa.large_binary()))})


def converted(text: str, batch: pa.RecordBatch, **options: Any) -> Any:
    return to_torch_tensor(convert(text, batch), **options)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_dense(dtype: str) -> None:
    rows = pa.array([[1, 2], [3, 4]], pa.large_list(getattr(pa, dtype)()))
    found = converted(dense(2), pa.record_batch({"v": rows}))
    assert found.dtype == getattr(torch, dtype)
    assert found.tolist() == [[1, 2], [3, 4]]


def test_numbers_are_not_copied_and_may_be_written_to() -> None:
    batch = int_batch(v=[[1, 2], [3, 4]])
    found = converted(dense(2), batch)
    assert found.data_ptr() == batch.column(0).values.buffers()[1].address
    found += 1  # PyTorch would warn of memory that is only to be read
    assert found.tolist() == [[2, 3], [4, 5]]


def test_ragged() -> None:
    found = converted(RAGGED, int_batch(v=LISTS))
    assert found.layout == torch.jagged
    assert [row.tolist() for row in found.unbind()] == [row or [] for row in LISTS]


def test_sparse_of_variable_length() -> None:
    found = converted(VARLEN, int_batch(v=LISTS))
    assert found.layout == torch.sparse_coo
    assert found.is_coalesced()
    assert found.to_dense().tolist() == [[1, 2, 0], [0, 0, 0], [3, 0, 0], [4, 5, 6]]


@pytest.mark.parametrize(("size", "length"), [(5, 5), (-1, 3)])
def test_sparse(size: int, length: int) -> None:
    batch = int_batch(v=[[7, 8], [9]], i=[[2, 0], [1]])
    found = converted(sparse(size), batch)
    assert found.shape == (2, length)
    assert not found.is_coalesced()
    assert found.to_dense()[:, :3].tolist() == [[8, 0, 7], [0, 9, 0]]


@pytest.mark.parametrize("rows", [[[], None], []])
def test_without_values(rows: list[Any]) -> None:
    assert converted(VARLEN, int_batch(v=rows)).shape == (len(rows), 0)
    if rows:
        assert [len(row) for row in converted(RAGGED, int_batch(v=rows)).unbind()] == [0, 0]


def test_strings_are_arrays() -> None:
    found = converted(dense(1), strings([b"a"], [b"b"]))
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [[b"a"], [b"b"]]


def test_ragged_strings() -> None:
    found = converted(RAGGED, strings([b"a", b"b"], []))
    assert isinstance(found, RaggedValue)
    assert found.values.tolist() == [b"a", b"b"]
    assert [torch.is_tensor(splits) for splits in found.row_splits] == [True]
    assert found.row_splits[0].tolist() == [0, 2, 2]


def test_sparse_strings() -> None:
    found = converted(VARLEN, strings([b"a", b"b"], [b"c"]))
    assert isinstance(found, SparseValue)
    assert found.values.tolist() == [b"a", b"b", b"c"]
    assert torch.is_tensor(found.indices)
    assert found.indices.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert found.dense_shape.tolist() == [2, 2]


def test_several_ragged_dimensions() -> None:
    rows = pa.array([[[1], [2, 3]], [[]]], pa.large_list(INT64))
    found = converted(RAGGED, pa.record_batch({"v": rows}))
    assert isinstance(found, RaggedValue)
    assert all(map(torch.is_tensor, itertools.chain([found.values], found.row_splits)))
    assert [splits.tolist() for splits in found.row_splits] == [[0, 2, 3], [0, 1, 3, 3]]


@pytest.mark.parametrize("text", [RAGGED, VARLEN])
def test_padded(text: str) -> None:
    found = converted(text, int_batch(v=LISTS), pad=True)
    assert found.layout == torch.strided
    assert found.tolist() == [[1, 2, 0], [0, 0, 0], [3, 0, 0], [4, 5, 6]]
    words = converted(text, strings([b"a", b"b"], []), pad=True)
    assert words.tolist() == [[b"a", b"b"], [b"", b""]]
