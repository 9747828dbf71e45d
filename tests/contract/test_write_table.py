"""What `write_table` takes."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.contract.writing import check_written, names, numbers, stored, x_of
from tests.wire import bytes_list, entry, example, floats, int64
from tfrecord_beam import WrittenFile, count, read_table, write_table

BATCHES = [numbers(0, 5), numbers(5, 6), numbers(6, 6), numbers(6, 20)]
TABLE = pa.Table.from_batches(BATCHES)


class Stream:
    """What other libraries of data frames show of a table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return TABLE.__arrow_c_stream__(requested_schema)


class Array:
    """What other libraries show of a batch."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return numbers(0, 20).__arrow_c_array__(requested_schema)


DATA: dict[str, Callable[[], Any]] = {
    "table": lambda: TABLE,
    "batch": lambda: numbers(0, 20),
    "reader": lambda: pa.RecordBatchReader.from_batches(TABLE.schema, BATCHES),
    "stream": Stream,
    "array": Array,
    "iterator": lambda: iter(BATCHES),
    "generator": lambda: (batch for batch in BATCHES),
    "list": lambda: BATCHES,
    "dict": lambda: {
        "x": np.arange(20),
        "s": np.array([f"text {i}" for i in range(20)], object),
    },
}


@pytest.mark.parametrize("form", list(DATA))
def test_forms_of_data(tmp_path: pathlib.Path, form: str) -> None:
    path = tmp_path / "new" / "a.tfrecord"
    [file] = write_table(DATA[form](), str(path))
    assert file == WrittenFile(str(path), 20, path.stat().st_size, (), None)
    assert x_of(path) == list(range(20))
    assert read_table(path).column("s").to_pylist() == [[b"text %d" % i] for i in range(20)]
    check_written([file], path.parent)
    written = write_table(DATA[form](), tmp_path / "shards" / "a", num_shards=3)
    check_written(written, tmp_path / "shards")
    assert sorted(x_of(tmp_path / "shards")) == list(range(20))


def test_pandas(tmp_path: pathlib.Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": range(20), "s": [f"text {i}" for i in range(20)]})
    write_table(frame, str(tmp_path / "a"))
    assert read_table(tmp_path / "a").column_names == ["s", "x"]
    assert x_of(tmp_path / "a") == list(range(20))


def test_polars(tmp_path: pathlib.Path) -> None:
    polars = pytest.importorskip("polars")
    write_table(polars.from_arrow(TABLE), str(tmp_path / "a"))
    assert x_of(tmp_path / "a") == list(range(20))


def test_arrays_of_numpy(tmp_path: pathlib.Path) -> None:
    """One axis: a value a row; two: a list a row."""
    arrays = {
        "i": np.array([1, 2], np.int32),
        "f": np.array([[1, 2, 3], [4, 5, 6]], np.float32),
        "b": np.array([b"x", b"yz"]),
        "u": np.array(["é", "y"]),
        "t": np.array([True, False]),
    }
    write_table(arrays, str(tmp_path / "a"))
    assert stored(tmp_path / "a") == [
        example(
            entry("i", int64(1)),
            entry("f", floats(1, 2, 3)),
            entry("b", bytes_list(b"x")),
            entry("u", bytes_list("é".encode())),
            entry("t", int64(1)),
        ),
        example(
            entry("i", int64(2)),
            entry("f", floats(4, 5, 6)),
            entry("b", bytes_list(b"yz")),
            entry("u", bytes_list(b"y")),
            entry("t", int64(0)),
        ),
    ]


def test_arrays_that_are_no_table(tmp_path: pathlib.Path) -> None:
    wrong: list[dict[str, Any]] = [
        {"x": np.array(5)},
        {"x": np.array([1 + 2j])},
        {"x": np.array([object()])},
    ]
    for arrays in wrong:
        with pytest.raises(ValueError, match="'x'"):
            write_table(arrays, str(tmp_path / "a"))
    with pytest.raises(ValueError, match="'y'"):
        write_table({"x": np.arange(3), "y": np.arange(4)}, str(tmp_path / "a"))
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "data",
    [None, 5, b"bytes", "text", [b"record"], [1, 2], iter([{"x": 1}]), object()],
    ids=range(8),
)
def test_what_is_no_data(tmp_path: pathlib.Path, data: Any) -> None:
    with pytest.raises(ValueError, match="xpected"):
        write_table(data, str(tmp_path / "a"))
    assert names(tmp_path) == []


def test_empty_data(tmp_path: pathlib.Path) -> None:
    forms: list[Any] = [TABLE.slice(0, 0), iter(()), [], {}, numbers(0, 0)]
    for number, data in enumerate(forms):
        [file] = write_table(data, str(tmp_path / str(number)))
        assert file.num_records == 0
        assert count(file.path) == 0


def test_chunks_of_a_table_that_differ(tmp_path: pathlib.Path) -> None:
    table = pa.table(
        {
            "a": pa.chunked_array([[1, 2], [3], [], [4, 5, 6]], pa.int64()),
            "b": pa.chunked_array([["u"], ["v", "w", "x"], ["y", "z"]]),
        }
    )
    write_table(table, str(tmp_path / "a"))
    read = read_table(tmp_path / "a")
    assert read.column("a").to_pylist() == [[i] for i in range(1, 7)]
    assert read.column("b").to_pylist() == [[b] for b in (b"u", b"v", b"w", b"x", b"y", b"z")]


def test_path_objects(tmp_path: pathlib.Path) -> None:
    assert write_table(TABLE, tmp_path / "a.tfrecord")[0].path == str(tmp_path / "a.tfrecord")
    written = write_table(TABLE, tmp_path / "b", num_shards=2)
    assert [pathlib.Path(file.path).name for file in written] == [
        "b-00000-of-00002.tfrecord",
        "b-00001-of-00002.tfrecord",
    ]


def test_relative_paths(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(TABLE, "a.tfrecord")
    write_table(TABLE, "b", num_shards=2)
    write_table(TABLE, "c/d", num_shards=1)
    assert names(tmp_path) == [
        "a.tfrecord",
        "b-00000-of-00002.tfrecord",
        "b-00001-of-00002.tfrecord",
        "c/d-00000-of-00001.tfrecord",
    ]


def test_an_iterator_that_fails(tmp_path: pathlib.Path) -> None:
    def batches() -> Any:
        yield numbers(0, 1000)
        raise KeyError("mine")

    for options in ({}, {"num_shards": 2}, {"partition_by": ["s"]}):
        with pytest.raises(KeyError, match="mine"):
            write_table(batches(), str(tmp_path / "a"), **options)
        assert names(tmp_path) == []
        assert list(tmp_path.iterdir()) == []
