"""Tests of tfrecord_beam.records.writing.inputs: tables of many kinds as batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst

from tfrecord_beam.errors import EncodeError, SchemaError
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.writing import inputs
from tfrecord_beam.records.writing.inputs import open_rows

BATCH = pa.record_batch({"a": [1, None, 3], "s": ["x", "y", None], "l": [[1.5], [], None]})
ROWS = BATCH.to_pylist()


class Stream:
    """Something else that has batches."""

    def __init__(self, data: pa.Table) -> None:
        self._data = data

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._data.__arrow_c_stream__(requested_schema)


class Array:
    """Something else that is a batch."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return BATCH.__arrow_c_array__(requested_schema)


class Dataset:
    """What a data set of Hugging Face has."""

    def with_format(self, name: str) -> Dataset:
        assert name == "arrow"
        return self

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        yield from (TABLE.slice(0, 1), TABLE.slice(1))


TABLE = pa.table(BATCH)


def to_batches(data: object) -> list[pa.RecordBatch]:
    num_rows, batches = open_rows(data)
    found = list(batches)
    assert num_rows in (None, sum(batch.num_rows for batch in found))
    return found


def read(data: object) -> pa.Table:
    batches = to_batches(data)
    for batch in batches:
        batch.validate(full=True)
        RecordEncoder(null_values="drop").encode_records(batch)
    return pa.Table.from_batches(batches)


def column(array: object) -> pa.Array:
    [batch] = to_batches({"x": array})
    batch.validate(full=True)
    return batch.column("x")


@pytest.mark.parametrize(
    "data",
    [
        BATCH,
        TABLE,
        pa.RecordBatchReader.from_batches(BATCH.schema, [BATCH]),
        pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]),
        Stream(TABLE),
        Array(),
        Dataset(),
        [BATCH],
        [TABLE.slice(0, 2), Stream(TABLE.slice(2))],
        (BATCH.slice(i, 1) for i in range(3)),
        BATCH.to_struct_array(),
        pa.chunked_array([BATCH.to_struct_array()]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_forms_of_a_table(data: object) -> None:
    table = read(data)
    assert table.schema.equals(BATCH.schema)
    assert table.to_pylist() == ROWS


def test_nothing() -> None:
    assert to_batches([]) == []
    assert sum(batch.num_rows for batch in to_batches(TABLE.slice(0, 0))) == 0
    assert to_batches({}) == to_batches({"x": np.zeros((0, 3))}) == []


@pytest.mark.parametrize("data", [pa.table({"a\0b": [1]}), pa.record_batch({"a\0b": [1]})])
def test_names_are_kept(data: object) -> None:
    """Arrow's interface for others would cut them."""
    assert [batch.schema.names for batch in to_batches(data)] == [["a\0b"]]


def test_batches_of_an_iterator_are_read_one_by_one() -> None:
    def endless() -> Iterator[pa.RecordBatch]:
        while True:
            yield BATCH

    rows = open_rows(endless())
    assert rows.num_rows is None
    assert next(rows.batches) is not next(rows.batches)


@pytest.mark.parametrize("num_rows", [1, 2, 999, 1000])
def test_batches_are_cut(monkeypatch: pytest.MonkeyPatch, num_rows: int) -> None:
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 800)
    data = pa.record_batch({"x": np.arange(num_rows), "y": np.zeros(num_rows)})
    batches = to_batches(data)
    assert max(batch.nbytes for batch in batches) <= 800
    assert len(batches) == -(-num_rows // 50)
    assert pa.Table.from_batches(batches).equals(pa.table(data))


def test_a_row_of_more_bytes_is_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 10)
    data = pa.record_batch({"x": ["a" * 100] * 3})
    assert [batch.num_rows for batch in to_batches(data)] == [1, 1, 1]


ARRAYS = npst.arrays(
    st.one_of(
        npst.boolean_dtypes(),
        npst.integer_dtypes(endianness="?"),
        npst.unsigned_integer_dtypes(endianness="?"),
        npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    ),
    npst.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=3).filter(
        lambda shape: shape[0]
    ),
)


def to_python(values: Any) -> Any:
    """Returns numbers of numpy, which older versions of pyarrow give for float16, as Python's."""
    if isinstance(values, list):
        return [to_python(value) for value in values]
    return values.item() if isinstance(values, np.generic) else values


@given(ARRAYS, st.integers(0, 3))
def test_arrays_of_numbers(array: Any, axes: int) -> None:
    array = (
        np.moveaxis(array, min(axes, array.ndim - 1), 0) if array.size else array
    )  # not always contiguous
    found = column(array)
    rows = [row.tolist() if array.ndim == 1 else row.ravel(order="C").tolist() for row in array]
    assert repr(to_python(found.to_pylist())) == repr(rows)
    leaf = found.type if array.ndim == 1 else found.type.value_type
    assert leaf == pa.from_numpy_dtype(array.dtype.newbyteorder("="))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array(["ü", ""]), pa.array(["ü", ""])),
        (np.array([b"\xff", b"ab"]), pa.array([b"\xff", b"ab"])),
        (np.array([["a", "b"]]), pa.array([["a", "b"]], pa.large_list(pa.string()))),
        (np.array([b"a\0", "b", None], object), pa.array([b"a\0", b"b", None])),
        (np.array([[b"a", b"b"], [None, b"c"]], object), pa.array([[b"a", b"b"], [None, b"c"]])),
        (np.array([[1, 2], [3], None], object), pa.array([[1, 2], [3], None])),
        (np.array([[[1], [2]]], object), pa.array([[1, 2]])),
        (np.array(["2024-01-02"], "M8[D]"), pa.array([19724], pa.int32()).cast(pa.date32())),
        (np.zeros((2, 0)), pa.array([[], []], pa.large_list(pa.float64()))),
        (np.ma.array([1, 2, 3], mask=np.array([0, 1, 0], bool)), pa.array([1, None, 3])),
        (np.ma.array([1, 2]), pa.array([1, 2])),
        (
            np.ma.array([[1, 2], [3, 4]], mask=np.array([[0, 1], [0, 0]], bool)),
            pa.array([[1, None], [3, 4]], pa.large_list(pa.int64())),
        ),
        (
            np.ma.array(np.array(["a", "b"], object), mask=np.array([1, 0], bool)),
            pa.array([None, "b"]),
        ),
        (np.array([np.nan, 1.0]), pa.array([float("nan"), 1.0])),
    ],
)
def test_other_arrays(array: Any, expected: pa.Array) -> None:
    found = column(array)
    assert found.type == expected.type
    assert str(found) == str(expected)


def test_rows_of_arrays_of_their_own() -> None:
    rows = np.empty(2, object)
    rows[:] = [np.array([1, 2]), np.array([3])]
    assert column(rows).to_pylist() == [[1, 2], [3]]


@pytest.mark.parametrize("mapping", [dict, MappingProxyType])
def test_several_arrays(mapping: Any) -> None:
    arrays: Mapping[str, Any] = mapping({"b": np.arange(2), "a": np.zeros((2, 1, 2))})
    [batch] = to_batches(arrays)
    assert batch.to_pylist() == [{"b": 0, "a": [0.0, 0.0]}, {"b": 1, "a": [0.0, 0.0]}]
    assert batch.schema.names == ["b", "a"]


def test_columns_that_are_no_numpy_arrays() -> None:
    chunks = pa.chunked_array([[1], [2, 3]])
    table = read({"l": [[1], None, []], "t": ("a", "b", None), "c": chunks, "p": BATCH["a"]})
    assert table.to_pylist() == [
        {"l": [1], "t": "a", "c": 1, "p": 1},
        {"l": None, "t": "b", "c": 2, "p": None},
        {"l": [], "t": None, "c": 3, "p": 3},
    ]


@pytest.mark.parametrize(
    ("data", "num_rows"),
    [(TABLE, 3), (BATCH, 3), ({"a": np.zeros((2, 5))}, 2), ([BATCH], None), (Stream(TABLE), None)],
)
def test_number_of_rows(data: object, num_rows: int | None) -> None:
    assert open_rows(data).num_rows == num_rows


def test_strings_of_any_length() -> None:
    if not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"):
        pytest.skip("needs numpy 2")
    assert column(np.array(["ü", "b" * 99], np.dtypes.StringDType())).to_pylist() == ["ü", "b" * 99]


ONE_OF = "Expected a table or batches of pyarrow, what has __arrow_c_stream__, or a mapping of "


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (5, f"{ONE_OF}names to arrays, found 5"),
        (None, f"{ONE_OF}names to arrays, found None"),
        ("path", f"{ONE_OF}names to arrays, found 'path'"),
        (b"record", f"{ONE_OF}names to arrays, found b'record'"),
        (pa.array([1]), ONE_OF),
        (pa.chunked_array([[1]]), ONE_OF),
        ({"a": 1}, "Expected an array of rows for feature 'a', found 1"),
        ({"a": np.array(1)}, "Expected an array of rows for feature 'a', found array(1)"),
        ({"a": "text"}, "Expected an array of rows for feature 'a', found 'text'"),
        ({1: np.arange(2)}, "Expected names of columns as str, found 1"),
        (
            {"a": np.arange(2), "b": np.arange(3)},
            "Expected arrays of one length, found {'a': 2, 'b': 3}",
        ),
        ({"a": np.zeros(2, "c8")}, "Expected numbers, bool, str, bytes or objects for feature 'a'"),
        ({"a": np.zeros(2, "i4,f4")}, "Expected numbers, bool, str, bytes or objects for feature "),
        ([5], "Expected an iterable of tables or batches, found 5"),
        (
            [{"a": 1}],
            "Expected an iterable of tables or batches, found {'a': 1} "
            "(make one of rows: pyarrow.Table.from_pylist)",
        ),
        ([pa.array([1])], ONE_OF),
    ],
)
def test_what_is_no_table(data: object, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        (to_batches(data))
    assert str(caught.value).startswith(text)


def test_objects_that_make_no_column() -> None:
    for array in (np.array([1, 2, "a"], object), np.array([[1, 2], [1, 2], [1, "a"]], object)):
        with pytest.raises(EncodeError, match=r"for feature 'a', found .* - at record 2"):
            to_batches({"a": array})


def test_pandas() -> None:
    pd = pytest.importorskip("pandas", reason="needs pandas")
    frame = pd.DataFrame({"a": [1, 2, 3], "s": ["x", None, "z"], "l": [[1], [2, 3], None]})
    rows = [
        {"a": 1, "s": "x", "l": [1]},
        {"a": 2, "s": None, "l": [2, 3]},
        {"a": 3, "s": "z", "l": None},
    ]
    assert read(frame).to_pylist() == rows
    assert read(frame[frame["a"] != 2]).to_pylist() == [rows[0], rows[2]]
    assert read(frame.set_index(pd.Index(["p", "q", "r"]))).to_pylist() == rows
    named = read(frame.set_index(pd.Index(["p", "q", "r"], name="key")))
    assert named.column("key").to_pylist() == ["p", "q", "r"]


def test_polars() -> None:
    pl = pytest.importorskip("polars", reason="needs polars")
    frame = pl.DataFrame(
        {
            "a": [1, None, 3],
            "s": ["x", None, "z"],
            "b": [b"\xff", b"", None],
            "c": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
            "l": [[1.5], [], None],
        }
    )
    assert read(frame).to_pylist() == frame.to_dicts()
    assert read(frame.slice(1)).to_pylist() == frame.to_dicts()[1:]
    assert read([frame, frame]).num_rows == 6


def test_data_sets() -> None:
    datasets = pytest.importorskip("datasets", reason="needs datasets of Hugging Face")
    numbers = datasets.Dataset.from_dict({"n": list(range(2500)), "s": ["a"] * 2500})
    assert read(numbers).column("n").to_pylist() == list(range(2500))
    chosen = numbers.select(range(2499, 0, -2))
    assert read(chosen).column("n").to_pylist() == list(range(2499, 0, -2))
    assert read(chosen.to_iterable_dataset()).num_rows == 1250
