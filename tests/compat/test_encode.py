"""Encoding of record batches against tfx-bsl: the same Examples, or refused by both.

Where the library means to differ, a test says so: it takes more types, and it refuses what tfx-bsl
changes in silence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import strategies
from tests.compat.peers import import_peer
from tests.kernel.test_encode import Batch, batches
from tests.schema.test_ragged import add_ragged
from tests.strategies import WireExample
from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.kernel.reference.protos import ContentExample
from tfrecord_beam.tfxio.coders.example_coder import (
    ExampleToNumpyDict,
    RecordBatchToExamples,
    RecordBatchToExamplesEncoder,
)

peer = import_peer("tfx_bsl.coders.example_coder")

L = pa.large_list


def meanings(records: list[bytes]) -> list[dict[bytes, bytes]]:
    """Returns each record's features by name; they are serialized, which keeps floats bit by bit.

    In tfx-bsl their order is that of a hash table.
    """
    examples = [ContentExample.FromString(record) for record in records]
    return [
        {
            entry.key[-1]: entry.value.SerializeToString()
            for features in one.features
            for entry in features.feature
        }
        for one in examples
    ]


def assert_equal(batch: pa.RecordBatch, schema: schema_pb2.Schema | None = None) -> None:
    found = RecordBatchToExamplesEncoder(schema).encode(batch)
    expected = peer.RecordBatchToExamplesEncoder(schema).encode(batch)
    assert meanings(found) == meanings(expected)
    assert list(map(len, found)) == list(map(len, expected))


def assert_refused(batch: pa.RecordBatch, schema: schema_pb2.Schema | None = None) -> None:
    with pytest.raises((SchemaError, EncodeError)):
        RecordBatchToExamplesEncoder(schema).encode(batch)
    with pytest.raises(RuntimeError):
        peer.RecordBatchToExamplesEncoder(schema).encode(batch)


def ragged_schema(*partitions: str | int, path: tuple[str, ...] = ("v",)) -> schema_pb2.Schema:
    schema = schema_pb2.Schema()
    add_ragged(schema, "r", list(path), *partitions, group="any")
    return schema


@given(given_batch=batches())
def test_batches_of_lists(given_batch: Batch) -> None:
    """Nulls, empty lists, slices, and values below nulls among them."""
    batch = given_batch.batch
    as_binary = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    fields, columns = [], []
    for field, column in zip(batch.schema, batch.columns):
        kind = type(column.type)
        value_type = as_binary.get(column.type.value_type, column.type.value_type)
        list_type = L(value_type) if kind is pa.LargeListType else pa.list_(value_type)
        fields.append(pa.field(field.name, list_type))
        columns.append(column.view(list_type) if list_type != column.type else column)
    assert_equal(pa.record_batch(columns, schema=pa.schema(fields)))


ROWS: dict[int, list[Any]] = {
    1: [[1, 2], [], None],
    2: [[[1, 2], [3, 4]], [], None, [[]], [[], [5, 6, 7, 8]]],
    3: [[[[1, 2], [3, 4]], [[], [5, 6, 7, 8]]], [[]], [], None, [[[], []]]],
}


@pytest.mark.parametrize("value_type", [pa.int64(), pa.float32(), pa.binary(), pa.large_binary()])
@pytest.mark.parametrize(
    ("depth", "partitions"),
    [
        (1, ()),
        (1, (2,)),
        (2, ("a",)),
        (2, ("a", 2)),
        (2, (2, "a")),
        (3, ("a", "b")),
        (3, (5, "a", 2, "b", 2)),
    ],
)
def test_ragged_tensors(
    value_type: pa.DataType, depth: int, partitions: tuple[str | int, ...]
) -> None:
    data_type = value_type
    for _ in range(depth):
        data_type = L(data_type)
    rows: Any = ROWS[depth]
    if pa.types.is_binary(value_type) or pa.types.is_large_binary(value_type):
        rows = _as_bytes(rows)
    batch = pa.record_batch({"r": pa.array(rows, data_type), "o": pa.array([[7]] * len(rows))})
    schema = ragged_schema(*partitions)
    for start in range(len(rows)):
        assert_equal(batch[start:], schema)


def _as_bytes(rows: Any) -> Any:
    if isinstance(rows, list):
        return [_as_bytes(row) for row in rows]
    return None if rows is None else b"%d" % rows


@pytest.mark.parametrize(
    ("depth", "schema"),
    [
        (2, None),
        (2, ragged_schema()),
        (2, ragged_schema("a", "b")),
        (2, ragged_schema(2)),
        (3, ragged_schema("a")),
        (1, ragged_schema("a")),
        (2, ragged_schema("a", path=())),
        (2, ragged_schema("a", path=("v", "w"))),
        (2, ragged_schema("v")),
    ],
)
def test_ragged_tensors_that_are_refused(depth: int, schema: schema_pb2.Schema | None) -> None:
    data_type = pa.int64()
    for _ in range(depth):
        data_type = L(data_type)
    assert_refused(pa.record_batch({"r": pa.array(ROWS[depth], data_type)}), schema)


@pytest.mark.parametrize(
    "batch",
    [
        pa.record_batch([pa.array([[1]])] * 2, names=["a", "a"]),
        pa.record_batch({"a": [{"x": 1}]}),
        pa.record_batch({"a": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))}),
    ],
    ids=["name twice", "struct", "map"],
)
def test_batches_that_are_refused(batch: pa.RecordBatch) -> None:
    assert_refused(batch)


def test_batch_without_columns() -> None:
    assert_equal(pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([]))))


@given(schema_and_examples=strategies.wire_example_lists())
def test_example_to_numpy_dict(
    schema_and_examples: tuple[dict[str, Kind], list[WireExample]],
) -> None:
    for one in schema_and_examples[1]:
        found, expected = ExampleToNumpyDict(one.data), peer.ExampleToNumpyDict(one.data)
        assert found.keys() == expected.keys()
        for name, array in found.items():
            theirs = expected[name]
            assert (array is None) == (theirs is None)
            if array is not None:
                assert array.dtype == theirs.dtype
                np.testing.assert_array_equal(array, theirs)


# --- Different on purpose ---------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2]),
        pa.array([[1]], pa.list_(pa.int32())),
        pa.array([[0.5]]),
        pa.array(["text"]),
        pa.nulls(1),
    ],
    ids=lambda column: str(column.type),
)
def test_more_types_are_taken(column: pa.Array) -> None:
    batch = pa.record_batch({"a": column})
    assert len(RecordBatchToExamples(batch)) == len(column)
    with pytest.raises(RuntimeError):
        peer.RecordBatchToExamples(batch)


def test_null_among_values_is_refused() -> None:
    """tfx-bsl writes whatever stands in its place."""
    batch = pa.record_batch({"a": pa.array([[None, 1]], pa.list_(pa.int64()))})
    assert len(peer.RecordBatchToExamples(batch)) == 1
    with pytest.raises(EncodeError):
        RecordBatchToExamples(batch)


def test_null_among_inner_lists_is_refused() -> None:
    """tfx-bsl writes an empty one."""
    batch = pa.record_batch({"r": pa.array([[None]], L(L(pa.int64())))})
    schema = ragged_schema("a")
    assert len(peer.RecordBatchToExamplesEncoder(schema).encode(batch)) == 1
    with pytest.raises(EncodeError):
        RecordBatchToExamplesEncoder(schema).encode(batch)


def test_ragged_tensor_over_another_column_is_refused() -> None:
    """tfx-bsl mixes the values of both."""
    rows = pa.array([[[1]]], L(L(pa.int64())))
    batch = pa.record_batch({"r": rows, "v": pa.array([[2]])})
    schema = ragged_schema("a")
    assert len(peer.RecordBatchToExamplesEncoder(schema).encode(batch)) == 1
    with pytest.raises(SchemaError):
        RecordBatchToExamplesEncoder(schema).encode(batch)


def test_ragged_tensor_without_whole_uniform_rows_is_refused() -> None:
    """tfx-bsl writes lengths that leave out the rest."""
    batch = pa.record_batch({"r": pa.array([[[1, 2, 3]]], L(L(pa.int64())))})
    schema = ragged_schema("a", 2)
    assert len(peer.RecordBatchToExamplesEncoder(schema).encode(batch)) == 1
    with pytest.raises(EncodeError):
        RecordBatchToExamplesEncoder(schema).encode(batch)
