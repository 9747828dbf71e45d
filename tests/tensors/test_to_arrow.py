"""Tensors as columns, without TensorFlow."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from google.protobuf import text_format
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tensors.lists import offsets_of_parents
from tfrecord_beam.tensors.specs import AnyArray
from tfrecord_beam.tensors.to_arrow import (
    DenseColumn,
    RaggedColumn,
    SparseColumns,
    TensorColumns,
    TensorMismatchError,
    VarLenColumn,
    columns_schema,
    convert_tensors,
)

INT64 = np.dtype(np.int64)
STRING = np.dtype(object)


def dense(shape: tuple[int, ...] = (), dtype: Any = INT64) -> DenseColumn:
    return DenseColumn(name="x", spec="a dense one", dtype=np.dtype(dtype), shape=shape)


def ragged(
    rank: int = 1, inner: tuple[int, ...] = (), dtype: Any = INT64, splits: Any = INT64
) -> RaggedColumn:
    return RaggedColumn(
        name="x",
        spec="a ragged one",
        dtype=np.dtype(dtype),
        ragged_rank=rank,
        inner_shape=inner,
        row_splits_dtype=np.dtype(splits),
    )


def varlen(dtype: Any = INT64, size: int | None = None) -> VarLenColumn:
    return VarLenColumn(name="x", spec="a sparse one", dtype=np.dtype(dtype), shape=(size,))


def sparse(*shape: int | None) -> SparseColumns:
    return SparseColumns(
        name="x",
        spec="a sparse one",
        dtype=INT64,
        shape=shape,
        value_column="v",
        index_columns=tuple(f"i{index}" for index in range(len(shape))),
    )


def ragged_value(values: Any, *row_splits: list[int], dtype: Any = np.int64) -> Any:
    """A ragged tensor as TensorFlow has it; its row splits from the outermost."""
    for splits in reversed(row_splits):
        splits_array = np.array(splits, dtype)
        values = types.SimpleNamespace(values=values, row_splits=splits_array)
    return values


def sparse_value(indices: Any, values: Any, dense_shape: list[int]) -> Any:
    """A sparse tensor as TensorFlow has it."""
    array = np.array(indices, np.int64).reshape(-1, len(dense_shape))
    return types.SimpleNamespace(
        indices=array, values=np.array(values, np.int64), dense_shape=np.array(dense_shape)
    )


def lists(columns: TensorColumns, tensor: Any) -> list[Any]:
    """Returns the columns as Python lists, once their types are what was said."""
    arrays = columns.convert(tensor)
    for array in arrays:
        array.validate(full=True)
    assert [array.type for array in arrays] == [field.type for field in columns.fields()]
    return [array.to_pylist() for array in arrays]


# --- Dense ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "tensor", "expected"),
    [
        (dense(), np.array([1, 2]), [[1], [2]]),
        (dense(), np.array([], np.int64), []),
        (dense((2,)), np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (dense((2,)), np.array([[1, 3], [2, 4]]).T, [[1, 2], [3, 4]]),
        (dense((2, 2)), np.arange(8).reshape(2, 2, 2), [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (dense((0,)), np.empty((2, 0), np.int64), [[], []]),
        (dense((), np.float16), np.array([0.5, 1], np.float16), [[0.5], [1.0]]),
        (dense((), np.uint8), np.array([255], np.uint8), [[255]]),
        (dense((), object), np.array([b"\xff", "\u00e9"], object), [[b"\xff"], [b"\xc3\xa9"]]),
        (dense((), object), np.array([b"ab", b"c"]), [[b"ab"], [b"c"]]),
        (dense((), object), np.array(["ab", "c"]), [[b"ab"], [b"c"]]),
    ],
)
def test_dense(columns: DenseColumn, tensor: AnyArray, expected: list[Any]) -> None:
    assert lists(columns, tensor) == [expected]


@pytest.mark.parametrize(
    ("columns", "tensor"),
    [
        (dense(dtype=object), [b"a\0", b"\0"]),
        (
            varlen(object),
            types.SimpleNamespace(
                indices=np.array([[0, 0], [1, 0]]), values=[b"a\0", b"\0"], dense_shape=[2, 1]
            ),
        ),
    ],
)
def test_zero_bytes_at_the_end_of_listed_strings_are_kept(
    columns: TensorColumns, tensor: Any
) -> None:
    assert lists(columns, tensor) == [[[b"a\0"], [b"\0"]]]


def test_numbers_are_not_copied() -> None:
    tensor = np.arange(6, dtype=np.float32).reshape(2, 3)
    (column,) = dense((3,), np.float32).convert(tensor)
    assert column.values.buffers()[1].address == tensor.ctypes.data
    (column,) = ragged().convert(ragged_value(np.arange(3), [0, 3]))
    assert column.to_pylist() == [[0, 1, 2]]
    values = np.arange(3)
    (column,) = ragged().convert(ragged_value(values, [0, 3]))
    assert column.values.buffers()[1].address == values.ctypes.data


@pytest.mark.parametrize(
    ("columns", "tensor", "found"),
    [
        (dense(), np.array([1.0]), r"float64 of shape \[1\]"),
        (dense(), np.array(1), r"int64 of shape \[\]"),
        (dense((2,)), np.zeros((1, 3), np.int64), r"int64 of shape \[1, 3\]"),
        (dense(), ragged_value([], [0]), r"object of shape \[\]"),
        (dense((), object), np.array([1]), r"int64 of shape \[1\]"),
        (dense((), object), np.array([None]), "None among its elements"),
        (dense((), object), np.array([3], object), "elements that are none .*"),
    ],
)
def test_dense_mismatch(columns: DenseColumn, tensor: Any, found: str) -> None:
    with pytest.raises(
        TensorMismatchError, match=f"^Expected a dense one for tensor 'x', found {found}$"
    ):
        columns.convert(tensor)


# --- Ragged -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "tensor", "expected"),
    [
        (ragged(), ragged_value(np.arange(3), [0, 1, 1, 3]), [[0], [], [1, 2]]),
        (ragged(), ragged_value(np.arange(0), [0]), []),
        (ragged(2), ragged_value(np.arange(3), [0, 2, 2], [0, 1, 3]), [[[0], [1, 2]], []]),
        (
            ragged(1, (2,)),
            ragged_value(np.arange(6).reshape(3, 2), [0, 1, 3]),
            [[0, 1], [2, 3, 4, 5]],
        ),
        (
            ragged(2, (2,)),
            ragged_value(np.arange(4).reshape(2, 2), [0, 1, 2], [0, 2, 2]),
            [[[0, 1, 2, 3]], [[]]],
        ),
        (ragged(splits=np.int32), ragged_value(np.arange(1), [0, 1], dtype=np.int32), [[0]]),
        (ragged(dtype=object), ragged_value(np.array([b"a"]), [0, 1]), [[b"a"]]),
    ],
)
def test_ragged(columns: RaggedColumn, tensor: Any, expected: list[Any]) -> None:
    assert lists(columns, tensor) == [expected]


@pytest.mark.parametrize(
    ("tensor", "found"),
    [
        (np.arange(3), "a tensor of ragged rank 0"),
        (ragged_value(np.arange(3), [0, 3]), "a tensor of ragged rank 1"),
        (ragged_value(np.arange(3.0), [0, 1], [0, 3]), r"float64 of shape \[3\]"),
        (ragged_value(np.ones((3, 1), int), [0, 1], [0, 3]), r"flat values that are int64 .*"),
        (
            ragged_value(np.arange(1), [0, 1], [0, 1], dtype=np.int32),
            "row splits that are int32 .*",
        ),
        (ragged_value(np.arange(0), [], [0]), r"row splits that are int64 of shape \[0\]"),
    ],
)
def test_ragged_mismatch(tensor: Any, found: str) -> None:
    with pytest.raises(
        TensorMismatchError, match=f"^Expected a ragged one for tensor 'x', found {found}$"
    ):
        ragged(2).convert(tensor)


@pytest.mark.parametrize(
    ("splits", "text"),
    [
        ([0, 2], "Expected row splits from 0 to 3 in tensor 'x', found 0 to 2"),
        ([1, 3], "Expected row splits from 0 to 3 in tensor 'x', found 1 to 3"),
        ([0, 2, 1, 3], "Expected row splits that ascend in tensor 'x', found one below that .*"),
    ],
)
def test_row_splits_that_would_point_elsewhere(splits: list[int], text: str) -> None:
    with pytest.raises(SchemaError, match=f"^{text}$"):
        ragged().convert(ragged_value(np.arange(3), splits))


# --- Sparse -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (sparse_value([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [4, 9]), [[1], [], [2, 3], []]),
        (sparse_value([], [], [2, 0]), [[], []]),
        (sparse_value([], [], [0, 0]), []),
    ],
)
def test_varlen(tensor: Any, expected: list[Any]) -> None:
    assert lists(varlen(), tensor) == [expected]


@pytest.mark.parametrize(
    ("indices", "expected", "found"),
    [
        ([[0, 1]], [0, 0], [0, 1]),
        ([[0, 0], [0, 2]], [0, 1], [0, 2]),
        ([[0, 0], [0, 0]], [0, 1], [0, 0]),
        ([[0, 0], [1, 1]], [1, 0], [1, 1]),
    ],
)
def test_varlen_has_no_gaps(indices: Any, expected: list[int], found: list[int]) -> None:
    tensor = sparse_value(indices, range(len(indices)), [2, 3])
    text = (
        rf"^Expected index \[{expected[0]}, {expected[1]}\] next, in rows without gaps from "
        rf"the left, in tensor 'x', found \[{found[0]}, {found[1]}\] "
        r"\(name the tensor in generic_sparse_tensor_names to keep positions\)$"
    )
    with pytest.raises(SchemaError, match=text):
        varlen().convert(tensor)


@pytest.mark.parametrize("index", [[0, -1, 0], [1, 2, 0], [1, 0, 9]])
def test_sparse_indices_are_within_the_shape(index: list[int]) -> None:
    tensor = sparse_value([[0, 1, 8], index], [7, 8], [3, 2, 9])
    text = (
        r"^Expected indices within the dense shape \[3, 2, 9\] in tensor 'x', "
        rf"found \[{index[0]}, {index[1]}, {index[2]}\]$"
    )
    with pytest.raises(SchemaError, match=text):
        sparse(2, None).convert(tensor)


def test_sparse_keeps_indices() -> None:
    tensor = sparse_value([[0, 1, 5], [2, 0, 0], [2, 0, 3]], [7, 8, 9], [3, 2, 9])
    assert lists(sparse(2, None), tensor) == [
        [[7], [], [8, 9]],
        [[1], [], [0, 0]],
        [[5], [], [0, 3]],
    ]


@pytest.mark.parametrize("indices", [[[1, 0], [0, 0]], [[-1, 0], [0, 0]], [[0, 0], [2, 0]]])
@pytest.mark.parametrize("columns", [varlen(), sparse(None)])
def test_rows_of_sparse_tensors_ascend(columns: TensorColumns, indices: Any) -> None:
    text = r"^Expected indices in order of rows below 2 in tensor 'x', found others \(.*reorder\)$"
    with pytest.raises(SchemaError, match=text):
        columns.convert(sparse_value(indices, [1, 2], [2, 1]))


@pytest.mark.parametrize("columns", [varlen(size=3), sparse(3)])
def test_sparse_mismatch(columns: TensorColumns) -> None:
    def check(tensor: Any, found: str) -> None:
        with pytest.raises(
            TensorMismatchError, match=f"^Expected a sparse one for tensor 'x', found {found}$"
        ):
            columns.convert(tensor)

    check(np.array([1]), r"int64 of shape \[1\]")
    check(sparse_value([], [], [1, 4]), r"one of dense shape \[1, 4\]")
    check(sparse_value([], [], [1, 3, 3]), r"one of dense shape \[1, 3, 3\]")
    floats = sparse_value([[0, 0]], [1], [1, 3])
    floats.values = np.array([0.5])
    check(floats, r"float64 of shape \[1\]")


def test_sparse_parts_go_together() -> None:
    tensor = sparse_value([[0, 0]], [1, 2], [1, 2])
    text = (
        r"^Expected int64 indices of shape \[2, 2\] in tensor 'x', found int64 of shape \[1, 2\]$"
    )
    with pytest.raises(SchemaError, match=text):
        varlen().convert(tensor)


# --- Representations --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (dense(), 'dense_tensor { column_name: "x" }'),
        (
            dense((2, 3)),
            'dense_tensor { column_name: "x" shape { dim { size: 2 } dim { size: 3 } } }',
        ),
        (varlen(), 'varlen_sparse_tensor { column_name: "x" }'),
        (
            sparse(2, None),
            """sparse_tensor { dense_shape { dim { size: 2 } dim { size: -1 } }
                 value_column_name: "v" index_column_names: ["i0", "i1"] }""",
        ),
        (
            ragged(1, (2,)),
            """ragged_tensor { feature_path { step: "x" } partition { uniform_row_length: 2 }
                 row_partition_dtype: INT64 }""",
        ),
        (
            ragged(2, splits=np.int32),
            'ragged_tensor { feature_path { step: "x" } row_partition_dtype: INT32 }',
        ),
    ],
)
def test_representation(columns: TensorColumns, expected: str) -> None:
    expected_proto = text_format.Parse(expected, schema_pb2.TensorRepresentation())
    assert columns.representation() == expected_proto


# --- Batches ----------------------------------------------------------------------------


def named(name: str) -> DenseColumn:
    return DenseColumn(name=name, spec="a dense one", dtype=INT64, shape=())


def test_batch() -> None:
    columns = [named("a"), named("b")]
    schema = columns_schema(columns)
    batch = convert_tensors(columns, schema, {"b": np.array([3]), "a": np.array([1])})
    assert batch.schema.equals(schema)
    assert batch.equals(
        pa.record_batch(
            [pa.array([[1]], schema.types[0]), pa.array([[3]], schema.types[1])], schema
        )
    )


@pytest.mark.parametrize(
    ("tensors", "text"),
    [
        ({"a": [1]}, r"Expected the tensors \['a', 'b'\], found \['a'\]"),
        ({"a": [1], "b": [1], "c": [1]}, r"Expected the tensors .*, found \['a', 'b', 'c'\]"),
        (
            {"a": [1], "b": [1, 2]},
            "Expected tensors of one batch size, found 1 for tensor 'a' and 2 for tensor 'b'",
        ),
    ],
)
def test_tensors_that_make_no_batch(tensors: dict[str, list[int]], text: str) -> None:
    columns = [named("a"), named("b")]
    arrays = {name: np.array(values) for name, values in tensors.items()}
    with pytest.raises(SchemaError, match=f"^{text}$"):
        convert_tensors(columns, columns_schema(columns), arrays)


def test_columns_have_different_names() -> None:
    text = r"^Expected columns of different names, found 'v' for the tensors 'x' and 'v'$"
    with pytest.raises(SchemaError, match=text):
        columns_schema([sparse(None), named("v")])


# --- Parents ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parents", "count", "expected"),
    [([], 0, [0]), ([], 2, [0, 0, 0]), ([0, 1, 1, 3], 5, [0, 1, 3, 3, 4, 4])],
)
def test_offsets_of_parents(parents: list[int], count: int, expected: list[int]) -> None:
    offsets = offsets_of_parents(np.array(parents, np.int64), count)
    assert offsets.tolist() == expected
    assert offsets.dtype == np.int64


@pytest.mark.parametrize(
    ("parents", "count", "text"),
    [
        ([], -1, "Expected a number of lists, found -1"),
        ([1, 0], 2, "Expected parent indices that ascend, found one below that before it"),
        ([0, 2], 2, "Expected parent indices below 2, found 2"),
        ([-1, 0], 2, "Expected parent indices below 2, found -1"),
    ],
)
def test_parents_that_are_none(parents: list[int], count: int, text: str) -> None:
    with pytest.raises(SchemaError, match=f"^{text}$"):
        offsets_of_parents(np.array(parents, np.int64), count)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=4))
def test_left_aligned(indices: list[tuple[int, int]]) -> None:
    indices.sort(key=lambda index: index[0])
    parents = [parent for parent, _ in indices]
    expected = [(parent, i) for parent in range(3) for i in range(parents.count(parent))]
    tensor = sparse_value(indices, np.zeros(len(indices), np.int64), [3, 3])
    column = VarLenColumn(name="x", spec="one of lists", dtype=INT64, shape=(None,))
    if indices != expected:
        with pytest.raises(SchemaError, match="in rows without gaps from the left"):
            column.convert(tensor)
        return
    (lists,) = column.convert(tensor)
    assert lists.value_lengths().to_pylist() == [parents.count(parent) for parent in range(3)]
