"""Tests of record batches to files of other formats."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tfrecord_beam.errors import EncodeError, SchemaError, WriteError
from tfrecord_beam.records.convert import targets
from tfrecord_beam.records.convert.formats import choose_format
from tfrecord_beam.records.convert.sources import iter_file
from tfrecord_beam.records.convert.targets import write_file
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem

TABLE = pa.table(
    {
        "i": pa.array([1, None, -3]),
        "f": pa.array([0.1, None, 1e30], pa.float32()),
        "s": pa.array(['a,"b"\n', "", None], pa.large_string()),
    }
)
LISTS = pa.table({"l": pa.array([[1, 2], [], None]), "t": [["a"], None, ["b", ""]]})

NAMES = ["a.parquet", "a.arrow", "a.arrows", "a.csv", "a.csv.gz", "a.jsonl", "a.jsonl.zst"]


def write(path: pathlib.Path, table: pa.Table, **options: Any) -> tuple[int, int]:
    return write_file(
        table.to_batches(),
        table.schema,
        str(path),
        choose_format("target_format", None, [path.name]),
        DirectOutputFileSystem(),
        **options,
    )


def read(path: pathlib.Path) -> pa.Table:
    file_format = choose_format("source_format", None, [path.name])
    return pa.Table.from_batches(iter_file(path.open("rb"), str(path), file_format))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read(tmp_path: pathlib.Path, name: str) -> None:
    path = tmp_path / "new" / name
    assert write(path, TABLE) == (3, path.stat().st_size)
    assert os.listdir(path.parent) == [name]
    table = read(path)
    assert table.schema.names == TABLE.schema.names
    rows = table.cast(TABLE.schema).to_pylist()
    assert rows == TABLE.to_pylist()


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows", "a.jsonl"])
def test_lists(tmp_path: pathlib.Path, name: str) -> None:
    write(tmp_path / name, LISTS)
    assert read(tmp_path / name).to_pylist() == LISTS.to_pylist()


def test_lists_are_none_of_csv(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SchemaError, match="one value a row in column 'l' for CSV, found list<"):
        write(tmp_path / "a.csv", LISTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_no_rows(tmp_path: pathlib.Path, name: str) -> None:
    assert write(tmp_path / name, TABLE.slice(0, 0))[0] == 0
    if "json" not in name:
        path = tmp_path / name
        file_format = choose_format("source_format", None, [name])
        assert not any(batch.num_rows for batch in iter_file(path.open("rb"), name, file_format))


def test_content_of_text(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "a.csv", TABLE.slice(0, 2))
    assert (tmp_path / "a.csv").read_text() == '"i","f","s"\n1,0.1,"a,""b""\n"\n,,""\n'
    write(tmp_path / "a.jsonl", TABLE.select(["i", "s"]).slice(0, 2))
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"i": 1, "s": 'a,"b"\n'}, {"i": None, "s": ""}]
    write(tmp_path / "a.csv.gz", TABLE)
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b'"i"')
    write(tmp_path / "b.csv", TABLE, compression="zstd")
    content = zstandard.ZstdDecompressor().stream_reader((tmp_path / "b.csv").read_bytes()).read()
    assert content.startswith(b'"i"')


def test_compression(tmp_path: pathlib.Path) -> None:
    for codec, expected in ((None, "SNAPPY"), ("gzip", "GZIP"), ("zstd", "ZSTD"), ("none", None)):
        write(tmp_path / "a.parquet", TABLE, compression=codec, overwrite=True)
        found = pq.read_metadata(tmp_path / "a.parquet").row_group(0).column(0).compression
        assert found == (expected or "UNCOMPRESSED")
    repeated = pa.table({"x": [1] * 10_000})
    plain = write(tmp_path / "a.arrow", repeated)[1]
    assert write(tmp_path / "b.arrow", repeated, compression="zstd")[1] < plain / 10


@pytest.mark.parametrize(
    ("name", "compression", "text"),
    [
        ("a.parquet", "bz2", "Expected compression of parquet to be None or one of snappy, none"),
        ("a.arrow", "gzip", "Expected compression of arrow to be None or one of none, zstd, lz4"),
        ("a.parquet.gz", None, "Expected a name without the suffix of a codec for parquet"),
        ("a.parquet.gz", "gzip", "Expected a name without the suffix of a codec for parquet"),
        ("a.arrows.zst", "zstd", "Expected a name without the suffix of a codec for arrow-stream"),
        ("a.csv.gz", "zstd", "write it with compression='gzip'"),
        ("a.csv", "rar", "Expected compression"),
        ("a.csv", "auto", "Expected compression"),
    ],
)
def test_wrong_compression(
    tmp_path: pathlib.Path, name: str, compression: str | None, text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        write(tmp_path / name, TABLE, compression=compression)
    assert list(tmp_path.iterdir()) == []


def test_row_groups_are_large(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.parquet", pa.concat_tables([TABLE, TABLE]))
    assert pq.read_metadata(tmp_path / "a.parquet").num_row_groups == 1
    monkeypatch.setattr(targets, "_ROW_GROUP_BYTES", 1)
    write(tmp_path / "b.parquet", pa.concat_tables([TABLE, TABLE]))
    assert pq.read_metadata(tmp_path / "b.parquet").num_row_groups == 2


@pytest.mark.parametrize("name", NAMES)
def test_file_is_whole_or_not_there(tmp_path: pathlib.Path, name: str) -> None:
    def fail() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches()
        raise KeyboardInterrupt

    file_format = choose_format("target_format", None, [name])
    for content in (None, b"old"):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(KeyboardInterrupt):
            write_file(
                fail(),
                TABLE.schema,
                str(tmp_path / name),
                file_format,
                DirectOutputFileSystem(),
                overwrite=True,
            )
        assert [path.read_bytes() for path in tmp_path.iterdir()] == [content] * (
            content is not None
        )


def test_file_that_is_there(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(WriteError, match=r"found one - at .*a\.csv \(mode='overwrite'"):
        write(path, TABLE)
    assert path.read_text() == "old"
    write(path, TABLE, overwrite=True)
    assert path.read_text() != "old"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_what_a_dead_process_left_is_removed(tmp_path: pathlib.Path) -> None:
    for name in (
        "a.csv",
        ".a.csv.crc",
        ".a.csv-temp-0123456789abcdef",
        ".b.csv-temp-1",
        "a.csv-temp-1",
    ):
        (tmp_path / name).write_text("")
    write(tmp_path / "a.csv", TABLE, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == [".b.csv-temp-1", "a.csv", "a.csv-temp-1"]


def test_folder_that_is_a_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError):
        write(tmp_path / "file" / "a.csv", TABLE)


def test_bytes_in_lists_of_lists_of_json(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "a.jsonl", pa.table({"x": [[[b"a", "é".encode()]]]}))
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"x": [["a", "é"]]}
    with pytest.raises(EncodeError, match=r"Expected UTF-8 text for JSON, found b'\\xff'"):
        write(tmp_path / "b.jsonl", pa.table({"x": [[[b"\xff"]]]}))


def test_disk_that_is_full(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, data: object) -> None:
        raise WriteError("Expected to write the file, found 'No space left on device'")

    monkeypatch.setattr("tfrecord_beam.records.writing.file_system.OutputFile.write", fail)
    for name in NAMES:
        with pytest.raises(WriteError, match="No space left"):
            write(tmp_path / name, TABLE)
    assert list(tmp_path.iterdir()) == []
