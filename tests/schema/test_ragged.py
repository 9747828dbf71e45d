"""Ragged tensors: the features that hold them, and representations that cannot be used."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.schema.ragged import RaggedColumn, RowLengths, ragged_columns, split_ragged

TWO = RaggedColumn(("values",), (RowLengths("outer"), RowLengths("inner")))
ONE = RaggedColumn(("values",), (RowLengths("lengths"),))


def add_ragged(
    schema: schema_pb2.Schema,
    tensor: str,
    path: list[str],
    *partitions: str | int,
    group: str = "",
) -> None:
    """Adds a representation; a str is the feature of row lengths, an int a uniform length."""
    ragged = schema.tensor_representation_group[group].tensor_representation[tensor].ragged_tensor
    ragged.feature_path.step.extend(path)
    for partition in partitions:
        if isinstance(partition, str):
            ragged.partition.add(row_length=partition)
        else:
            ragged.partition.add(uniform_row_length=partition)


def split(rows: list[Any], ragged: RaggedColumn, value_type: pa.DataType) -> dict[str, list[Any]]:
    data_type = value_type
    for _ in range(len(ragged.row_lengths) + 1):
        data_type = pa.large_list(data_type)
    features = split_ragged("x", pa.array(rows, data_type), ragged)
    for feature in features.values():
        feature.validate(full=True)
    return {name: feature.to_pylist() for name, feature in features.items()}


def test_ragged_columns_of_all_groups() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "a", ["v"], 7, "l1", 2, 5, "l2")
    add_ragged(schema, "b", ["v", "w"], group="other")
    add_ragged(schema, "a", ["v"], "l1", 10, "l2", group="other")
    schema.tensor_representation_group[""].tensor_representation["d"].dense_tensor.column_name = "d"
    assert ragged_columns(schema) == {
        "a": RaggedColumn(("v",), (RowLengths("l1", 10), RowLengths("l2"))),
        "b": RaggedColumn(("v", "w"), ()),
    }


def test_tensor_that_groups_represent_differently() -> None:
    schema = schema_pb2.Schema()
    add_ragged(schema, "a", ["v"], "l1")
    add_ragged(schema, "a", ["v"], "l2", group="other")
    with pytest.raises(
        SchemaError, match=r"^Expected one ragged representation of tensor 'a', fou"
    ):
        ragged_columns(schema)


def test_two_ragged_dimensions() -> None:
    rows = [[[[1, 2], [3]], [[4]]], [[[]]], [[]], [], None]
    assert split(rows, TWO, pa.int64()) == {
        "values": [[1, 2, 3, 4], [], [], [], None],
        "outer": [[2, 1], [1], [0], [], None],
        "inner": [[2, 1, 1], [0], [], [], None],
    }


def test_nulls_in_lists_are_dropped_or_filled() -> None:
    nested = pa.array([[[[1, None], None], None, [[2]]], None])
    dropped = split_ragged("x", nested, TWO, "drop")
    assert {name: feature.to_pylist() for name, feature in dropped.items()} == {
        "values": [[1, 2], None],
        "outer": [[1, 1], None],
        "inner": [[1, 1], None],
    }
    filled = split_ragged("x", nested, TWO, "fill")
    assert {name: feature.to_pylist() for name, feature in filled.items()} == {
        "values": [[1, 0, 2], None],
        "outer": [[2, 0, 1], None],
        "inner": [[2, 0, 1], None],
    }


def test_order_of_the_features() -> None:
    assert list(split([], TWO, pa.int64())) == ["values", "outer", "inner"]


@pytest.mark.parametrize("ragged", [RaggedColumn(("v",), ())])
def test_one_dimension_is_renamed(ragged: RaggedColumn) -> None:
    assert split([[True], None], ragged, pa.bool_()) == {"v": [[1], None]}


def test_type_null_is_null_everywhere() -> None:
    features = split_ragged("x", pa.nulls(2), TWO)
    assert features == dict.fromkeys(["values", "outer", "inner"], pa.nulls(2))


@given(
    st.lists(st.none() | st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3)),
    st.integers(0, 3),
)
def test_rows_can_be_told_from_values_and_lengths(
    rows: list[list[list[int]] | None], start: int
) -> None:
    column = pa.array(rows, pa.list_(pa.list_(pa.int32())))[start:]
    features = split_ragged("x", column, ONE)
    rebuilt = [
        None if values is None else _rebuild(values, lengths)
        for values, lengths in zip(features["values"].to_pylist(), features["lengths"].to_pylist())
    ]
    assert rebuilt == rows[start:]


def _rebuild(values: list[int], lengths: list[int]) -> list[list[int]]:
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    return [values[end - length : end] for end, length in zip(ends, lengths)]


def test_null_inner_list_has_a_null_length() -> None:
    assert split([[[1], None]], ONE, pa.int64()) == {"values": [[1]], "lengths": [[1, None]]}


def test_value_that_no_feature_holds() -> None:
    with pytest.raises(EncodeError, match=r"feature 'x', found 1e\+300 - at record 2$"):
        split([None, [], [[1.0], [2.0, 1e300]]], ONE, pa.float64())


@pytest.mark.parametrize(
    ("rows", "ragged", "found"),
    [
        ([[1]], ONE, "found 1 in list<item: int64>"),
        ([[[[1]]]], ONE, "found 3 in list<item: list<item: list<item: int64>>>"),
        ([[[1]]], RaggedColumn(("v",), ()), "found 2 in list<item: list<item: int64>>"),
        ([1], ONE, "found 0 in int64"),
    ],
)
def test_other_depth(rows: list[Any], ragged: RaggedColumn, found: str) -> None:
    expected = len(ragged.row_lengths) + 1
    with pytest.raises(SchemaError) as raised:
        split_ragged("x", pa.array(rows), ragged)
    assert str(raised.value) == (
        f"Expected lists nested {expected} deep for ragged tensor 'x', {found} - at feature 'x' "
        "(each row_length partition in the schema stands for one level of lists)"
    )


@pytest.mark.parametrize("path", [(), ("a", "b")])
def test_path_of_values_that_is_not_one_feature(path: tuple[str, ...]) -> None:
    with pytest.raises(
        SchemaError, match=r"^Expected the values of ragged tensor 'x' in a feature"
    ):
        split_ragged("x", pa.array([[[1]]]), RaggedColumn(path, (RowLengths("l"),)))


@pytest.mark.parametrize("lengths", [("v", "l"), ("l", "l")])
def test_features_of_one_name(lengths: tuple[str, ...]) -> None:
    with pytest.raises(SchemaError, match=r"^Expected features of different names for ragged tens"):
        split_ragged(
            "x", pa.array([[[[1]]]]), RaggedColumn(("v",), tuple(map(RowLengths, lengths)))
        )


def test_uniform_dimensions() -> None:
    ragged = RaggedColumn(("v",), (RowLengths("outer", 2), RowLengths("inner", 3)))
    rows = [None, [[[1] * 6, [2] * 3], []], [], [[[], [3] * 3]]]
    assert split(rows, ragged, pa.int64()) == {
        "v": [None, [1] * 6 + [2] * 3, [], [3] * 3],
        "outer": [None, [1, 0], [], [1]],
        "inner": [None, [2, 1], [], [0, 1]],
    }


def test_list_that_is_not_of_whole_uniform_rows() -> None:
    ragged = RaggedColumn(("v",), (RowLengths("l", 2),))
    with pytest.raises(EncodeError) as raised:
        split([None, [], [[1, 2]], [[], [1, 2, 3]]], ragged, pa.int64())
    assert str(raised.value) == (
        "Expected lists of a multiple of 2 elements in ragged tensor 'x', found one of 3 "
        "- at record 3, feature 'x'"
    )


def test_uniform_dimension_of_nothing() -> None:
    with pytest.raises(SchemaError, match=r"^Expected uniform_row_length of at least 1 for ragged"):
        split([[[]]], RaggedColumn(("v",), (RowLengths("l", 0),)), pa.int64())
