from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tests.tensors.batches import (
    DENSE,
    INT64,
    RAGGED,
    VARLEN,
    contents,
    convert,
    dense,
    int_batch,
    ragged,
    representation,
    sparse,
)
from tfrecord_beam.errors import DecodeError, SchemaError
from tfrecord_beam.tensors.specs import DenseSpec, RaggedSpec, RaggedValue, SparseSpec, SparseValue
from tfrecord_beam.tensors.to_numpy import BatchConverter

NESTED = pa.large_list(INT64)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS = [*INTEGERS, "float16", "float32", "float64"]


def batch_of(values: Any, type_: pa.DataType = INT64) -> pa.RecordBatch:
    return pa.record_batch({"v": pa.array(values, type_)})


# --- Values -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rows", "expected"),
    [
        (dense(), [[1], [2]], [1, 2]),
        (dense(2), [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        (dense(2, 1), [[1, 2], [3, 4]], [[[1], [2]], [[3], [4]]]),
        (dense(0), [[], None], [[], []]),
        (dense(2), [], []),
        (dense(default="int_value: 7"), [[1], None], [1, 7]),
        (dense(2, default="int_value: 7"), [None, [1, 2]], [[7, 7], [1, 2]]),
        (dense(1, 2, default="uint_value: 7"), [None, None], [[[7, 7]], [[7, 7]]]),
        (dense(0, default="int_value: 7"), [None, []], [[], []]),
    ],
)
def test_dense(text: str, rows: list[list[int] | None], expected: Any) -> None:
    assert contents(convert(text, int_batch(v=rows))) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[5, 6], None, [], [7]], ([[0, 0], [0, 1], [3, 0]], [5, 6, 7], [4, 2])),
        ([None, []], ([], [], [2, 0])),
        ([], ([], [], [0, 0])),
    ],
)
def test_varlen(rows: list[list[int] | None], expected: Any) -> None:
    assert contents(convert(VARLEN, int_batch(v=rows))) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), ([[0], [0], [2]], [3])),
        ((10,), ([[0, 9], [0, 0], [2, 4]], [3, 10])),
        ((-1,), ([[0, 9], [0, 0], [2, 4]], [3, -1])),
        ((10, 2), ([[0, 9, 0], [0, 0, 1], [2, 4, 1]], [3, 10, 2])),
    ],
)
def test_sparse(sizes: tuple[int, ...], expected: Any) -> None:
    """Values stay in the order of the row."""
    batch = int_batch(v=[[5, 6], None, [7]], i=[[9, 0], None, [4]], j=[[0, 1], None, [1]])
    indices, values, dense_shape = contents(convert(sparse(*sizes), batch))
    assert values == [5, 6, 7]
    assert (indices, dense_shape) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ragged(), [[1, 2, 3, 4], [], [5, 6]]),
        (ragged(2), [[[1, 2], [3, 4]], [], [[5, 6]]]),
        (ragged(2, 1), [[[[1], [2]], [[3], [4]]], [], [[[5], [6]]]]),
        (ragged(1, 2), [[[[1, 2]], [[3, 4]]], [], [[[5, 6]]]]),
        (ragged("i"), [[[1], [2, 3, 4]], [], [[5], [6]]]),
        (ragged(2, "i"), [[[[1], [2, 3, 4]]], [], [[[5], [6]]]]),
        (ragged("j", "i"), [[[[1], [2, 3, 4]]], [], [[[5]], [[6]]]]),
        (ragged("h", 2), [[[[1, 2], [3, 4]]], [], [[], [[5, 6]]]]),
    ],
)
def test_ragged(text: str, expected: Any) -> None:
    batch = int_batch(
        v=[[1, 2, 3, 4], None, [5, 6]],
        i=[[1, 3], None, [1, 1]],
        j=[[2], None, [1, 1]],
        h=[[2], None, [0, 1]],
    )
    assert contents(convert(text, batch)) == expected


def test_ragged_of_nested_lists() -> None:
    rows = [[[1, 2], [3, 4]], None, [None, [], [5, 6]]]
    lengths = [[[2], [1, 1]], None, [None, [], [2]]]
    batch = pa.record_batch({"v": pa.array(rows, NESTED), "i": pa.array(lengths, NESTED)})
    assert contents(convert(ragged(), batch)) == [[[1, 2], [3, 4]], [], [[], [], [5, 6]]]
    assert contents(convert(ragged(2), batch)) == [[[[1, 2]], [[3, 4]]], [], [[], [], [[5, 6]]]]
    by_lengths = [[[[1, 2]], [[3], [4]]], [], [[], [], [[5, 6]]]]
    assert contents(convert(ragged("i"), batch)) == by_lengths


def test_ragged_of_structs() -> None:
    struct = pa.struct({"a": NESTED, "b": INT64, "c": INT64})
    rows: Any = [
        {"a": [[1], [2, 3]], "b": [4, 5, 6], "c": [1, 2]},
        None,
        {"a": None, "b": [], "c": []},
    ]
    batch = batch_of(rows, struct)
    assert contents(convert(ragged(path="v.a"), batch)) == [[[1], [2, 3]], [], []]
    assert contents(convert(ragged("c", path="v.b"), batch)) == [[[4], [5, 6]], [], []]
    lists = batch_of(
        [[{"a": [1, 2]}, {"a": None}], None, [None]], pa.list_(pa.struct({"a": INT64}))
    )
    assert contents(convert(ragged(path="v.a"), lists)) == [[[1, 2], []], [], [[]]]
    flat = batch_of([[{"a": 1}, {"a": 2}], None], pa.large_list(pa.struct({"a": pa.int64()})))
    assert contents(convert(ragged(path="v.a"), flat)) == [[1, 2], []]


def test_a_null_struct_hides_what_is_under_it() -> None:
    fields = [pa.array([[1], [2]], INT64)]
    hiding = pa.StructArray.from_arrays(fields, ["a"], mask=pa.array([True, False]))
    batch = pa.record_batch({"v": hiding})
    assert contents(convert(ragged(path="v.a"), batch)) == [[], [2]]


@pytest.mark.parametrize("text", [dense(default="int_value: 0"), VARLEN, RAGGED])
@pytest.mark.parametrize("kind", [pa.ListArray, pa.LargeListArray])
def test_a_null_list_hides_values_under_it(text: str, kind: Any) -> None:
    hiding = kind.from_arrays(
        [0, 1, 2, 3], pa.array([1, 2, 3]), mask=pa.array([False, True, False])
    )
    plain = pa.array([[1], None, [3]], hiding.type)
    found, expected = (convert(text, pa.record_batch({"v": array})) for array in (hiding, plain))
    assert contents(found) == contents(expected)


# --- Laws -------------------------------------------------------------------------------

ROWS = st.lists(st.none() | st.lists(st.integers(0, 9), max_size=4), max_size=8)


@given(rows=ROWS, data=st.data(), text=st.sampled_from([VARLEN, RAGGED, sparse(10)]))
def test_a_slice_of_a_batch_is_a_batch(
    rows: list[list[int] | None], data: st.DataObject, text: str
) -> None:
    start = data.draw(st.integers(0, len(rows)))
    length = data.draw(st.integers(0, len(rows) - start))
    whole = int_batch(v=rows, i=rows)
    part = int_batch(v=rows[start : start + length], i=rows[start : start + length])
    assert contents(convert(text, whole.slice(start, length))) == contents(convert(text, part))


@given(rows=ROWS)
def test_ragged_has_the_rows_of_the_column(rows: list[list[int] | None]) -> None:
    assert contents(convert(RAGGED, int_batch(v=rows))) == [row or [] for row in rows]


@given(rows=ROWS)
def test_varlen_has_the_rows_of_the_column(rows: list[list[int] | None]) -> None:
    indices, values, (num_rows, longest) = contents(convert(VARLEN, int_batch(v=rows)))
    found: list[list[int]] = [[] for _ in range(num_rows)]
    for (row, position), value in zip(indices, values):
        assert position == len(found[row])
        found[row].append(value)
    assert found == [row or [] for row in rows]
    assert longest == max(map(len, found), default=0)


# --- Types ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("list_of", [pa.list_, pa.large_list])
@pytest.mark.parametrize("text", [DENSE, VARLEN, RAGGED, sparse()])
def test_numbers_keep_their_type(name: str, list_of: Any, text: str) -> None:
    dtype = np.dtype(name)
    rows = np.array([[1], [2]], dtype)
    batch = batch_of(list(rows), list_of(pa.from_numpy_dtype(dtype)))
    converter = BatchConverter(batch.schema, {"t": representation(text)})
    tensor = converter.convert(batch)["t"]
    values = tensor if isinstance(tensor, np.ndarray) else tensor.values
    assert converter.specs["t"].dtype == values.dtype == dtype
    assert values.tolist() == [1, 2]


@pytest.mark.parametrize(
    "type_", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()], ids=str
)
@pytest.mark.parametrize("text", [DENSE, VARLEN, RAGGED, sparse()])
def test_strings_become_bytes(type_: pa.DataType, text: str) -> None:
    batch = batch_of([["é"], ["b"]], pa.large_list(type_))
    tensor = convert(text, batch)
    values = tensor if isinstance(tensor, np.ndarray) else tensor.values
    assert values.dtype == object
    assert values.tolist() == ["é".encode(), b"b"]


def test_default_value_keeps_zero_bytes_at_its_end() -> None:
    batch = batch_of([[b"a\0"], None], pa.large_list(pa.binary()))
    tensor = convert(dense(default=r'bytes_value: "b\000"'), batch)
    assert contents(tensor) == [b"a\0", b"b\0"]


def test_numbers_are_not_copied() -> None:
    batch = int_batch(v=[[1, 2], [3, 4]])
    address = batch.column("v").values.buffers()[1].address
    for text in (dense(2), VARLEN, ragged(), ragged(2)):
        tensor = convert(text, batch)
        values = tensor if isinstance(tensor, np.ndarray) else tensor.values
        assert values.__array_interface__["data"][0] == address


@pytest.mark.parametrize(
    "type_",
    [
        pa.int64(),
        pa.null(),
        pa.large_list(pa.bool_()),
        pa.large_list(pa.null()),
        pa.large_list(pa.dictionary(pa.int32(), pa.string())),
        pa.list_(pa.int64(), 2),
        pa.large_list(pa.string_view()),
        pa.large_list(pa.timestamp("s")),
        pa.map_(pa.string(), pa.int64()),
        pa.struct({"a": INT64}),
    ],
    ids=str,
)
@pytest.mark.parametrize("text", [DENSE, VARLEN, RAGGED, sparse()])
def test_unsupported_types(type_: pa.DataType, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        BatchConverter(pa.schema({"v": type_}), {"t": representation(text)})
    assert str(caught.value).endswith(
        f"integer, float, binary or string values in column 'v' for tensor 't', found {type_}"
    )


# --- Specs ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (dense(2, 3), DenseSpec(np.dtype("int64"), (None, 2, 3))),
        (VARLEN, SparseSpec(np.dtype("int64"), (None, None))),
        (sparse(7, -1), SparseSpec(np.dtype("int64"), (None, 7, None))),
        (
            ragged(3, "i", 2, 4, dtype="INT32"),
            RaggedSpec(np.dtype("int64"), (None,) * 4 + (2, 4), 3, np.dtype("int32")),
        ),
    ],
)
def test_spec(text: str, expected: Any) -> None:
    schema = pa.schema({"v": INT64, "i": INT64, "j": INT64})
    assert BatchConverter(schema, {"t": representation(text)}).specs == {"t": expected}


def test_int32_row_splits() -> None:
    tensor = convert(ragged(2, "i", dtype="INT32"), int_batch(v=[[1]], i=[[1, 0]]))
    assert isinstance(tensor, RaggedValue)
    assert [splits.dtype for splits in tensor.row_splits] == [np.int32] * 3


def test_converter_can_be_pickled() -> None:
    batch = int_batch(v=[[1], None], i=[[1], []])
    texts = [dense(default="int_value: 3"), VARLEN, ragged("i"), sparse(2)]
    converter = BatchConverter(batch.schema, {text: representation(text) for text in texts})
    copy = pickle.loads(pickle.dumps(converter))
    assert copy.specs == converter.specs
    for text in texts:
        assert contents(copy.convert(batch)[text]) == contents(converter.convert(batch)[text])


def test_sparse_parts_have_their_types() -> None:
    tensor = convert(sparse(-1), int_batch(v=[[1]], i=[[2]]))
    assert isinstance(tensor, SparseValue)
    assert tensor.indices.dtype == tensor.dense_shape.dtype == np.int64
    assert tensor.indices.shape == (1, 2)


# --- Errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expected a representation of tensor 't' of some kind, found none"),
        (
            'dense_tensor { column_name: "x" }',
            "Expected column 'x' for tensor 't', found only 'v', 'i', 'f', 's'",
        ),
        ("dense_tensor {}", "Expected the name of a column for tensor 't', found none"),
        ("ragged_tensor {}", "Expected the name of a column for tensor 't', found none"),
        (dense(-1), "Expected a shape of sizes from 0 for dense tensor 't', found [-1]"),
        (
            dense(default="float_value: 1"),
            "Expected int_value or uint_value as the default value of int64 tensor 't', "
            "found float_value",
        ),
        (
            'dense_tensor { column_name: "v" default_value {} }',
            "Expected int_value or uint_value as the default value of int64 tensor 't', found none",
        ),
        (
            dense(default="uint_value: 9223372036854775808"),
            "Expected a default value in the range of int64 for tensor 't', "
            "found 9223372036854775808",
        ),
        (
            sparse(1, 2, indices=["i"]),
            "Expected a dense_shape of as many sizes as sparse tensor 't' has index columns, 1, "
            "found [1, 2]",
        ),
        (
            sparse(1, indices=["f"]),
            "Expected integers in index column 'f' for tensor 't', found large_list<item: float>",
        ),
        (
            ragged("f"),
            "Expected integers in column 'f' of row lengths for tensor 't', found float",
        ),
        (
            ragged(0),
            "Expected a row_length, or a uniform_row_length of at least 1, for ragged tensor 't', "
            "found 0",
        ),
        (
            ragged(path="v.a"),
            "Expected a struct in column 'v' for tensor 't', found large_list<item: int64>",
        ),
        (
            ragged(path="s.x"),
            "Expected field 'x' in column 's' for tensor 't', found only 'a'",
        ),
        (
            ragged("v", path="s.a"),
            "Expected field 'v' in column 's' for tensor 't', found only 'a'",
        ),
    ],
)
def test_representation_that_does_not_fit(text: str, message: str) -> None:
    schema = pa.schema(
        {"v": INT64, "i": INT64, "f": pa.large_list(pa.float32()), "s": pa.struct({"a": INT64})}
    )
    with pytest.raises(SchemaError) as caught:
        BatchConverter(schema, {"t": representation(text)})
    assert str(caught.value) == message


def test_column_that_is_there_twice() -> None:
    schema = pa.schema([("v", INT64), ("v", INT64)])
    with pytest.raises(SchemaError, match=r"^Expected column 'v' .* once, found it 2 times$"):
        BatchConverter(schema, {"t": representation(DENSE)})


def test_many_columns_are_not_all_named() -> None:
    schema = pa.schema({f"c{i}": INT64 for i in range(12)})
    with pytest.raises(SchemaError, match=r"'c0', .*, 'c9' and 2 more$"):
        BatchConverter(schema, {"t": representation(DENSE)})


@pytest.mark.parametrize(
    ("value", "fits"), [("65504", True), ("65505", False), ("inf", True), ("nan", True)]
)
def test_default_value_of_float16(value: str, fits: bool) -> None:
    batch = batch_of([None], pa.list_(pa.float16()))
    text = dense(default=f"float_value: {value}")
    if fits:
        assert np.array_equal(convert(text, batch), [float(value)], equal_nan=True)
    else:
        with pytest.raises(SchemaError, match=r"^Expected a default value in the range of float16"):
            convert(text, batch)


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (
            dense(2),
            {"v": [[1, 2], [3], [4, 5, 6]]},
            "Expected a list of length 2 in column 'v' for tensor 't', "
            "found one of length 1 - at record 1",
        ),
        (
            dense(),
            {"v": [[1], None]},
            "Expected a list of length 1 in column 'v' for tensor 't', "
            "found a null list - at record 1 "
            "(give the tensor a default_value, or another representation)",
        ),
        (
            dense(default="int_value: 1"),
            {"v": [None, []]},
            "Expected a list of length 1 in column 'v' for tensor 't', "
            "found one of length 0 - at record 1",
        ),
        (
            sparse(5),
            {"v": [[1], [2, 3]], "i": [[1], [2]]},
            "Expected as many indices as values, 2, in column 'i' for tensor 't', found 1 "
            "- at record 1",
        ),
        (
            sparse(5),
            {"v": [[1], None, [2, 3]], "i": [[4], None, [0, 5]]},
            "Expected indices from 0 to 4 in column 'i' for tensor 't', found 5 - at record 2",
        ),
        (
            sparse(-1),
            {"v": [[1]], "i": [[-1]]},
            "Expected indices of at least 0 in column 'i' for tensor 't', found -1 - at record 0",
        ),
        (
            ragged(2),
            {"v": [[1, 2], [3, 4, 5]]},
            "Expected lists that can be cut into rows of 2 in column 'v' for tensor 't', "
            "found one of 3 - at record 1",
        ),
        (
            ragged("i"),
            {"v": [[1, 2], [3]], "i": [[1, 1], [2]]},
            "Expected row lengths that sum up to 1 in column 'i' for tensor 't', found 2 "
            "- at record 1",
        ),
        (
            ragged("i"),
            {"v": [[1]], "i": [[2, -1]]},
            "Expected row lengths of at least 0 in column 'i' for tensor 't', found -1 "
            "- at record 0",
        ),
    ],
)
def test_values_that_do_not_fit(text: str, columns: Any, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        convert(text, int_batch(**columns))
    assert str(caught.value) == message


@pytest.mark.parametrize("text", [DENSE, VARLEN, RAGGED, sparse()])
@pytest.mark.parametrize("type_", [pa.int64(), pa.large_binary()], ids=str)
def test_null_value(text: str, type_: pa.DataType) -> None:
    values = (
        pa.array([1, None], pa.int64()) if type_ == pa.int64() else pa.array([b"", None], type_)
    )
    batch = pa.record_batch({"v": pa.LargeListArray.from_arrays([0, 1, 2], values)})
    with pytest.raises(DecodeError) as caught:
        convert(text, batch)
    message = "Expected no null value in column 'v' for tensor 't', found one - at record 1"
    assert str(caught.value) == message


def test_row_lengths_of_other_lists() -> None:
    batch = pa.record_batch(
        {"v": pa.array([[[1]], [[2], [3]]], NESTED), "i": pa.array([[[1]], [[2]]], NESTED)}
    )
    with pytest.raises(DecodeError) as caught:
        convert(ragged("i"), batch)
    assert str(caught.value) == (
        "Expected as many lists as there are of values in column 'i' for tensor 't', found others "
        "- at record 1"
    )


def test_another_schema() -> None:
    converter = BatchConverter(pa.schema({"v": INT64}), {})
    with pytest.raises(SchemaError) as caught:
        converter.convert(int_batch(w=[]))
    assert str(caught.value) == "Expected same schema. Expected columns ['v'], found ['w']"
    with pytest.raises(SchemaError) as caught:
        converter.convert(batch_of([], pa.list_(pa.int64())))
    assert str(caught.value) == (
        "Expected same schema. Expected column pyarrow.Field<v: large_list<item: int64>>, "
        "found pyarrow.Field<v: list<item: int64>>"
    )


def test_metadata_do_not_matter() -> None:
    schema = pa.schema({"v": INT64})
    converter = BatchConverter(schema.with_metadata({"a": "b"}), {"t": representation(RAGGED)})
    assert contents(converter.convert(int_batch(v=[[1]]))["t"]) == [[1]]
