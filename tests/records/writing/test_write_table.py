"""Tests of write_table: rows of whatever offers them, to shards of whatever number and codec."""

from __future__ import annotations

import itertools
import pathlib
import tempfile
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.records.writing.folders import batch_of, paths_in, records_in
from tfrecord_beam import (
    EncodeError,
    SchemaError,
    WriteError,
    WrittenFile,
    read_table,
    write_table,
)
from tfrecord_beam.records.writing import spill, table as table_module
from tfrecord_beam.records.writing.bundle import BundleWriter

SCHEMA_OF_IDS = schema_pb2.Schema(feature=[{"name": "id", "type": "INT"}])
CODECS = [None, "gzip", "zlib", "bz2", "zstd", "lz4", "snappy"]


def write(folder: pathlib.Path, records: list[bytes], **options: Any) -> list[WrittenFile]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of codecs that TensorFlow cannot read
        return write_table(batch_of(*records), folder / "a", record_type="ByteArray", **options)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("num_shards", [1, 2, 3, 5])
def test_every_number_of_shards_and_records(
    tmp_path: pathlib.Path, codec: str | None, num_shards: int
) -> None:
    for count in (0, 1, 2, 4, 5, 6, 40):
        records = [b"record %d" % i for i in range(count)]
        folder = tmp_path / str(count)
        files = write(folder, records, num_shards=num_shards, compression=codec)
        assert len(files) == num_shards
        assert records_in(*(file.path for file in files)) == records
        sizes = [file.num_records for file in files]
        assert max(sizes) - min(sizes) <= 1
        check_files(folder, files)


def check_files(folder: pathlib.Path, files: list[WrittenFile]) -> None:
    """Checks that the files are those of the folder, and what is said of them."""
    assert paths_in(folder) == sorted(
        str(pathlib.Path(file.path).relative_to(folder)) for file in files
    )
    for file in files:
        assert file.num_bytes == pathlib.Path(file.path).stat().st_size
        assert file.num_records == len(records_in(file.path))


@pytest.mark.parametrize("codec", [None, "gzip"])
@pytest.mark.parametrize("most", [1, 2, 3, 7, 100])
def test_most_records_of_a_file(tmp_path: pathlib.Path, codec: str | None, most: int) -> None:
    for count in (0, 1, 6, 7, 8):
        records = [b"%d" % i for i in range(count)]
        folder = tmp_path / str(count)
        files = write(folder, records, max_records_per_shard=most, compression=codec)
        assert len(files) == max(1, -(-count // most))
        assert all(file.num_records <= most for file in files)
        assert records_in(*(file.path for file in files)) == records
        check_files(folder, files)


@pytest.mark.parametrize(
    ("most", "sizes"), [(1, [1] * 5), (17, [1] * 5), (35, [2, 1, 2]), (36, [2, 1, 2]), (1000, [5])]
)
def test_most_bytes_of_a_file(tmp_path: pathlib.Path, most: int, sizes: list[int]) -> None:
    records = [b"1", b"22", b"3" * 100, b"4", b"55"]  # with 16 more each in its frame
    files = write(tmp_path, records, max_bytes_per_shard=most)
    assert [file.num_records for file in files] == sizes
    assert records_in(*(file.path for file in files)) == records


def test_both_bounds_count(tmp_path: pathlib.Path) -> None:
    records = [b"1", b"2" * 100, b"3", b"4", b"5"]
    files = write(tmp_path, records, max_bytes_per_shard=60, max_records_per_shard=2)
    assert [file.num_records for file in files] == [1, 1, 2, 1]


@pytest.mark.parametrize("codec", CODECS)
def test_suffix_tells_the_codec(tmp_path: pathlib.Path, codec: str | None) -> None:
    suffixes = ["", ".gz", ".deflate", ".bz2", ".zst", ".lz4", ".snappy"]
    [file] = write(tmp_path, [b"1"], num_shards=1, compression=codec)
    assert file.path.endswith("-00000-of-00001.tfrecord" + suffixes[CODECS.index(codec)])


@pytest.mark.parametrize("codec", ["bz2", "zstd", "lz4", "snappy"])
def test_codec_that_tensorflow_cannot_read(tmp_path: pathlib.Path, codec: str) -> None:
    with pytest.warns(UserWarning, match=f"cannot read .* {codec}") as caught:
        write_table({"a": [1]}, tmp_path / "a", compression=codec)
    assert caught[0].filename == __file__


def test_equal_input_gives_equal_files(tmp_path: pathlib.Path) -> None:
    for folder in ("1", "2"):
        for name, options in {
            "x": {"compression": "gzip"},
            "y": {"num_shards": 3, "shuffle": True, "seed": 7},
        }.items():
            table = pa.table({"a": range(100), "b": ["text"] * 100})
            write_table(table, tmp_path / folder / name, **options)  # type: ignore[arg-type]
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes()


def test_shuffle_without_seed_is_another_one_each_time(tmp_path: pathlib.Path) -> None:
    records = [b"%d" % i for i in range(100)]
    orders = [
        records_in(*(f.path for f in write(tmp_path / str(i), records, num_shards=2, shuffle=True)))
        for i in range(2)
    ]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(records)
    assert orders[0] != orders[1]


class Stream:
    """Something that offers a stream of Arrow data, and has no length."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class Array:
    """Something that offers one Arrow array of structs."""

    def __init__(self, table: pa.Table) -> None:
        self._batch = table.combine_chunks().to_batches()[0]

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._batch.__arrow_c_array__(requested_schema)


def batches_of(table: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from table.to_batches(max_chunksize=3)


TABLE = pa.table({"a": pa.array(range(10)), "b": [[i] * (i % 3) for i in range(10)]})


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        TABLE.to_batches()[0],
        TABLE.slice(0, 10).to_reader(),
        Stream(TABLE),
        Array(TABLE),
        batches_of,
        list(batches_of(TABLE)),
    ],
    ids=["table", "batch", "reader", "stream", "array", "iterator", "list"],
)
@pytest.mark.parametrize("num_shards", [None, 1])
def test_data_of_each_type(tmp_path: pathlib.Path, data: Any, num_shards: int | None) -> None:
    if isinstance(data, pa.RecordBatchReader):
        data = TABLE.to_reader()
    [file] = write_table(data(TABLE) if data is batches_of else data, tmp_path / "a",
                         num_shards=num_shards)  # fmt: skip
    read = read_table(file.path)
    assert read.column("a").to_pylist() == [[i] for i in range(10)]
    assert read.column("b").to_pylist() == TABLE.column("b").to_pylist()


def test_dict_of_numpy_arrays(tmp_path: pathlib.Path) -> None:
    arrays = {
        "scalar": np.arange(3),
        "matrix": np.arange(6, dtype=np.float32).reshape(3, 2),
        "cube": np.arange(12).reshape(3, 2, 2),
        "text": np.array([b"a", b"b", b"c"], object),
        "list": [[1], [], [2, 3]],
    }
    [file] = write_table(arrays, tmp_path / "a")
    assert read_table(file.path).to_pydict() == {
        "scalar": [[0], [1], [2]],
        "matrix": [[0, 1], [2, 3], [4, 5]],
        "cube": [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]],
        "text": [[b"a"], [b"b"], [b"c"]],
        "list": [[1], [], [2, 3]],
    }


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (5, "or a mapping of names to arrays, found 5"),
        ("a.csv", "Expected a table or batches of pyarrow, "),
        ([1], "Expected an iterable of tables or batches, found 1"),
        ({5: [1]}, "Expected names of columns as str, found 5"),
        ({"a": [1, "b"]}, "Expected int64 for feature 'a', found 'b' - at record 1"),
        (
            {"a": np.zeros((2, 2)), "b": [1]},
            "Expected arrays of one length, found {'a': 2, 'b': 1}",
        ),
    ],
)
def test_data_that_is_refused(tmp_path: pathlib.Path, data: Any, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        write_table(data, tmp_path / "a")
    assert text in str(caught.value)
    assert paths_in(tmp_path) == []


def test_schema_is_kept_to(tmp_path: pathlib.Path) -> None:
    schema = 'feature { name: "a" type: INT } feature { name: "b" type: BYTES }'
    (tmp_path / "schema.pbtxt").write_text(schema)
    folder = tmp_path / "out"
    for columns, text in (
        ({"a": [1]}, "found none for 'b'"),
        ({"a": [1], "b": ["x"], "c": [1]}, "found 'c'"),
        ({"a": [1.5], "b": ["x"]}, "Expected int64_list for feature 'a', found float_list"),
    ):
        with pytest.raises(SchemaError) as caught:
            write_table(columns, folder / "a", tmp_path / "schema.pbtxt")
        assert text in str(caught.value)
    assert paths_in(folder) == []
    write_table({"b": ["x"], "a": [1]}, folder / "a", tmp_path / "schema.pbtxt")
    columns = {"a": [1, 2], "b": ["x", None]}
    write_table(columns, f"{folder}/", tmp_path / "schema.pbtxt", partition_by=["b"])
    assert len(paths_in(folder)) == 3


def test_one_feature_of_two_kinds(tmp_path: pathlib.Path) -> None:
    batches = [pa.record_batch({"a": [1]}), pa.record_batch({"a": ["x"]})]
    with pytest.raises(SchemaError) as caught:
        write_table(iter(batches), tmp_path / "a")
    assert str(caught.value) == (
        "Expected one kind for feature 'a', found bytes_list in some batches and int64_list in "
        "others"
    )
    assert paths_in(tmp_path) == []
    batches[1] = pa.record_batch({"a": pa.nulls(1)})
    assert write_table(iter([*batches, batches[0]]), tmp_path / "a")[0].num_records == 3


def test_input_that_fails_leaves_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "BUFFER_BYTES", 1)

    def fail() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": [1]})
        raise KeyError("of the user")

    for num_shards in (None, 2):
        with pytest.raises(KeyError, match="of the user"):
            write_table(fail(), tmp_path / "a", num_shards=num_shards)
    assert paths_in(tmp_path) == []


def test_thousand_partitions(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "BUFFER_BYTES", 20_000)
    table = pa.table({"key": [i % 1000 for i in range(4000)], "value": range(4000)})
    files = write_table(table, f"{tmp_path}/", partition_by=["key"])
    assert len(files) == 1000
    assert {file.num_records for file in files} == {4}
    values = read_table(f"{tmp_path}/key=17/").column("value").to_pylist()
    assert values == [[17], [1017], [2017], [3017]]


def test_partition_columns_can_stay(tmp_path: pathlib.Path) -> None:
    table = pa.table({"key": ["a", None, ""], "value": [1, 2, 3]})
    files = write_table(table, f"{tmp_path}/", partition_by=["key"], keep_partition_columns=True)
    assert [file.partition for file in files] == [(("key", "a"),), (("key", None),), (("key", ""),)]
    assert [read_table(file.path).column_names for file in files] == [["key", "value"]] * 3


def test_partitions_in_shards(tmp_path: pathlib.Path) -> None:
    table = pa.table({"key": [1, 2] * 50, "value": range(100)})
    files = write_table(table, f"{tmp_path}/", partition_by=["key"], num_shards=3)
    assert [file.partition[0][1] for file in files] == ["1"] * 3 + ["2"] * 3
    assert {file.num_records for file in files} <= {16, 17}
    assert read_table(tmp_path).num_rows == 100


def test_columns_that_partition_must_be_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SchemaError, match="day"):
        write_table({"a": [1]}, f"{tmp_path}/", partition_by=["day"])
    assert paths_in(tmp_path) == []


def test_folder_that_cannot_be_written(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="Not a directory"):
        write_table({"a": [1]}, tmp_path / "file" / "a")


def test_path_of_a_folder(tmp_path: pathlib.Path) -> None:
    [file] = write_table({"a": [1]}, f"{tmp_path}/out/")
    assert file.path == f"{tmp_path}/out/part-00000-of-00001.tfrecord"


OPTIONS: list[dict[str, Any]] = [
    {},
    {"num_shards": 1},
    {"num_shards": 4},
    {"num_shards": 3, "shuffle": True, "seed": 1},
    {"max_records_per_shard": 3},
    {"max_bytes_per_shard": 70},
    {"partition_by": ["key"]},
    {"partition_by": ["key"], "num_shards": 2},
    {"partition_by": ["key"], "max_records_per_shard": 2, "compression": "gzip"},
]


@given(
    sizes=st.lists(st.integers(0, 9), max_size=6),
    options=st.sampled_from(OPTIONS),
    buffer_bytes=st.sampled_from([1, 100, 1 << 20]),
    is_known=st.booleans(),
)
def test_each_row_is_there_once_and_in_its_place(
    sizes: list[int], options: dict[str, Any], buffer_bytes: int, is_known: bool
) -> None:
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    schema = pa.schema({"id": pa.int64(), "key": pa.int64()})
    batches = [
        pa.record_batch(
            [
                pa.array(range(start, start + size), pa.int64()),
                pa.array([i % 3 for i in range(start, start + size)], pa.int64()),
            ],
            schema,
        )
        for start, size in zip(starts, sizes)
    ]
    data: Any = pa.Table.from_batches(batches, schema) if is_known else iter(batches)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "BUFFER_BYTES", buffer_bytes)
        files = write_table(data, f"{folder}/", **options)
        check_files(pathlib.Path(folder), files)
        ids = [
            [row for [row] in read_table(file.path, SCHEMA_OF_IDS).column("id").to_pylist()]
            for file in files
        ]
    total = sum(sizes)
    assert sorted(sum(ids, [])) == list(range(total))
    if not options.get("shuffle"):
        assert all(each == sorted(each) for each in ids)
    if "partition_by" not in options and not options.get("shuffle") and is_known:
        assert sum(ids, []) == list(range(total))
    for file, each in zip(files, ids):
        assert all(str(i % 3) == value for i in each for _, value in file.partition)


def test_value_that_cannot_be_encoded_is_found_in_the_table(tmp_path: pathlib.Path) -> None:
    chunks = [pa.array(values, pa.uint64()) for values in ([1, 2], [3, 1 << 63])]
    table = pa.table({"x": pa.chunked_array(chunks)})
    with pytest.raises(EncodeError) as caught:
        write_table(table, tmp_path / "a")
    assert (caught.value.record, caught.value.feature) == (3, "x")


def test_a_batch_is_written_while_the_next_is_made(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "_WORTH_A_THREAD", 0)
    add, next_is_made = BundleWriter.add, threading.Event()

    def wait_and_add(self: BundleWriter, rows: Any) -> None:
        assert next_is_made.wait(60)
        add(self, rows)

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"id": [0, 1]})
        next_is_made.set()
        yield from (pa.record_batch({"id": [i, i + 1]}) for i in range(2, 40, 2))

    monkeypatch.setattr(BundleWriter, "add", wait_and_add)
    options: dict[str, Any] = {"max_records_per_shard": 7}
    files = write_table(batches(), tmp_path / "a", **options)
    assert [file.num_records for file in files] == [7] * 5 + [5]
    ids = read_table(tmp_path).column("id").to_pylist()
    assert ids == [[i] for i in range(40)]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_what_a_thread_cannot_write_is_an_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(table_module, "_WORTH_A_THREAD", 0)
    add, calls = BundleWriter.add, itertools.count()

    def fail(self: BundleWriter, rows: Any) -> None:
        if next(calls) == at:
            raise WriteError("the disk is full")
        add(self, rows)

    monkeypatch.setattr(BundleWriter, "add", fail)
    batches = (pa.record_batch({"id": [i]}) for i in range(3))
    with pytest.raises(WriteError, match="the disk is full"):
        write_table(batches, tmp_path / "a")
    assert paths_in(tmp_path) == []
