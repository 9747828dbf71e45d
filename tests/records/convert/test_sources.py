"""Tests of files of other formats as record batches."""

from __future__ import annotations

import gzip
import math
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import CorruptRecordError, DecodeError, SchemaError
from tfrecord_beam.records.convert import csv_file, parquet_file
from tfrecord_beam.records.convert.formats import Format, choose_format
from tfrecord_beam.records.convert.sources import iter_file
from tfrecord_beam.records.convert.targets import write_file
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem

TABLE = pa.table({"i": [1, None, 3], "l": [["a"], [], None], "f": [0.5, -0.0, None]})


def schema_of(text: str) -> schema_pb2.Schema:
    return text_format.Parse(text, schema_pb2.Schema())


def read(path: pathlib.Path, content: bytes | None = None, **options: Any) -> pa.Table:
    """Writes a file, if its content is given, and reads it."""
    if content is not None:
        path.write_bytes(content)
    file_format = choose_format("source_format", None, [path.name])
    batches = list(iter_file(path.open("rb"), str(path), file_format, **options))
    return pa.Table.from_batches(batches)


def test_parquet(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path, row_group_size=2)
    assert read(path) == TABLE
    assert read(path, columns=["f", "i"]) == TABLE.select(["f", "i"])


def test_batches_of_large_rows_are_small(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"image": [bytes([i]) * 1000 for i in range(50)]})
    pq.write_table(table, path, use_dictionary=False, compression="none")
    monkeypatch.setattr(parquet_file, "_BATCH_BYTES", 10_000)
    batches = list(iter_file(path.open("rb"), str(path), Format.PARQUET))
    assert len(batches) >= 5
    assert pa.Table.from_batches(batches) == table


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows"])
@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow(tmp_path: pathlib.Path, new: Any, name: str) -> None:
    """Whether it is a file or a stream is told by the content."""
    path = tmp_path / name
    with new(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)
    assert read(path) == TABLE
    assert read(path, columns=["l"]) == TABLE.select(["l"])


def test_csv_by_looks(tmp_path: pathlib.Path) -> None:
    """Numbers and booleans are told by their looks, nothing else is."""
    content = """int,float,nan,bool,text,day,empty,quoted
1,1.5,nan,true,a,2024-01-01,,""
-2,2,1,,"b\nc",,,x
"""
    table = read(tmp_path / "a.csv", content.encode())
    types = [
        pa.int64(),
        pa.float64(),
        pa.float64(),
        pa.bool_(),
        *([pa.large_string()] * 4),
    ]
    assert table.schema.types == types
    first, second = table.to_pylist()
    assert math.isnan(first.pop("nan"))
    assert second.pop("nan") == 1
    assert list(first.values()) == [1, 1.5, True, "a", "2024-01-01", None, ""]
    assert list(second.values()) == [-2, 2.0, None, "b\nc", None, None, "x"]


def test_compressed_text_that_is_cut(tmp_path: pathlib.Path) -> None:
    content = gzip.compress(b"a\n" + b"1\n" * 1000)[:-6]
    for name in ("a.csv.gz", "a.jsonl.gz"):
        with pytest.raises(CorruptRecordError, match="a whole gzip stream") as caught:
            read(tmp_path / name, content)
        assert caught.value.file == str(tmp_path / name)


def test_integers_of_csv_that_are_too_large_keep_their_digits(tmp_path: pathlib.Path) -> None:
    content = b"id,x,y\n18446744073709551615,1.5,99999999999999999999\n,2,\n7,,1\n"
    schema = schema_of('feature { name: "y" type: FLOAT }')
    assert read(tmp_path / "a.csv", content, schema=schema).to_pydict() == {
        "id": ["18446744073709551615", None, "7"],
        "x": [1.5, 2.0, None],
        "y": [1e20, None, 1.0],
    }


def test_csv_by_schema(tmp_path: pathlib.Path) -> None:
    schema = schema_of(
        'feature { name: "code" type: BYTES } feature { name: "x" type: FLOAT }'
        'feature { name: "n" type: INT }'
    )
    content = b'code,x,n\n007,1,1\n"",,\n\xff,2.5,\n'
    table = read(tmp_path / "a.csv", content, schema=schema)
    assert table.to_pylist() == [
        {"code": b"007", "x": 1.0, "n": 1},
        {"code": b"", "x": None, "n": None},
        {"code": b"\xff", "x": 2.5, "n": None},
    ]


def test_csv_of_one_column_keeps_empty_lines(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path / "a.csv", b"x\n1\n\n3\n").to_pydict() == {"x": [1, None, 3]}
    assert read(tmp_path / "a.csv", b"x,y\n1,2\n\n3,4\n").num_rows == 2


def test_csv_in_many_blocks(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "_BLOCK_BYTES", 64)
    lines = "".join(f"{i},text {i}\n" for i in range(500))
    table = read(tmp_path / "a.csv.gz", gzip.compress(b"n,t\n" + lines.encode()))
    assert table.to_pydict() == {"n": list(range(500)), "t": [f"text {i}" for i in range(500)]}
    with pytest.raises(DecodeError, match=r"a\.csv, feature 'n' \(.*give a schema"):
        read(tmp_path / "a.csv", b"n\n" + b"1\n" * 99 + b"x\n")


@pytest.mark.parametrize("block_bytes", [64, 8 << 20])
@pytest.mark.parametrize(
    "content",
    [
        'n,t\n1,"a\nb"\n2,"open\n3,c\n',
        'n,t\n1,"a\nb"\n2,"open',
        'n,t\r\n1,a"b\r\n\r\n2,"op""en\r\n',
        't,n\n"a\nb",1\n"open,2\n' + "c,3\n" * 9,
        't,n\na,1\nb,2\nc,"3\n',
        't\na\n\n"b""\n',
    ],
)
def test_csv_with_a_quote_left_open(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, content: str, block_bytes: int
) -> None:
    monkeypatch.setattr(csv_file, "_BLOCK_BYTES", block_bytes)
    for name, data in (("a.csv", content.encode()), ("a.csv.gz", gzip.compress(content.encode()))):
        with pytest.raises(DecodeError, match="Expected every quote closed, found one") as caught:
            read(tmp_path / name, data)
        assert (caught.value.file, caught.value.line) == (str(tmp_path / name), 4)


def test_csv_with_a_quote_left_open_in_a_large_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long before its end is read, which may be the end of a cell as well."""
    monkeypatch.setattr(csv_file, "_BLOCK_BYTES", 64)
    content = b"t,n\na,1\n" + b'"open,2\n' + b"c,3\n" * 99_999
    with pytest.raises(
        DecodeError, match=r"^Expected a row of at most 64 .*the quote cl"
    ) as caught:
        read(tmp_path / "a.csv", content)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "a.csv"), 3)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "^Expected a line with the names of the columns, found none - at"),
        (b"\n\r\n", "^Expected a line with the names of the columns, found none - at"),
        (b"a,b\n1,2\n3\n", r"^Expected a line of 2 cells, found 1: '3' - at .*a\.csv, record 1$"),
        (b"a\n1,2\n", r"^Expected a line of 1 cell, found 2: '1,2' - at .*a\.csv, record 0$"),
        ("é\n1\n".encode("utf-16"), r"^Expected UTF-8 in the names .*a\.csv, line 1$"),
    ],
)
def test_csv_that_cannot_be_read(tmp_path: pathlib.Path, content: bytes, text: str) -> None:
    with pytest.raises(DecodeError, match=text) as caught:
        read(tmp_path / "a.csv", content)
    assert caught.value.file == str(tmp_path / "a.csv")


@pytest.mark.parametrize("content", [b"a,b", b"a,b\n", b"a,b\r\n\r\n"])
def test_csv_without_rows(tmp_path: pathlib.Path, content: bytes) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    assert not list(iter_file((tmp_path / "a.csv").open("rb"), "a.csv", Format.CSV))


@pytest.mark.parametrize("codec", ["gzip", "zlib", "bz2", "zstd", "lz4", "snappy"])
def test_csv_of_each_codec(tmp_path: pathlib.Path, codec: str) -> None:
    suffixes = {"gzip": ".gz", "zlib": ".deflate", "zstd": ".zst"}
    path = tmp_path / f"a.csv{suffixes.get(codec, f'.{codec}')}"
    write_file(
        [pa.record_batch({"n": [1, 2]})],
        pa.schema([("n", pa.int64())]),
        str(path),
        Format.CSV,
        DirectOutputFileSystem(),
    )
    assert read(path).to_pydict() == {"n": [1, 2]}


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.csv"])
def test_columns_of_one_name(tmp_path: pathlib.Path, name: str) -> None:
    path = tmp_path / name
    table = pa.Table.from_arrays([pa.array([i]) for i in range(3)], ["a", "a", "b"])
    if name == "a.parquet":
        pq.write_table(table, path)
    elif name == "a.arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        path.write_text("a,a,b\n0,1,2\n")
    assert read(path, columns=["b"]).to_pydict() == {"b": [2]}
    if name == "a.csv":
        schema = schema_of('feature { name: "b" type: INT }')
        with pytest.raises(DecodeError, match="feature 'b'"):
            read(path, b"a,a,b\n0,1,x\n", schema=schema)
        path.write_text("a,a,b\n0,1,2\n")
    with pytest.raises(SchemaError, match=r"^Expected different columns of a batch, found 'a'"):
        read(path, columns=["a"])


def test_csv_without_names(tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"column_names": ["n", "t"]}
    table = read(tmp_path / "a.csv", b"1,a\n\n2,\n", **options)
    assert table.to_pydict() == {"n": [1, 2], "t": ["a", None]}
    assert read(tmp_path / "a.csv", b"1\n\n", column_names=["n"]).to_pydict() == {"n": [1, None]}
    with pytest.raises(DecodeError, match=r"^Expected a line of 2 cells, found 3.*, record 2$"):
        read(tmp_path / "a.csv", b'1,a\n\n2,"b\nc"\n3,d,4\n', **options)
    (tmp_path / "a.csv").write_bytes(b"")
    assert not list(iter_file((tmp_path / "a.csv").open("rb"), "a.csv", Format.CSV, **options))


@pytest.mark.parametrize("number", ["39", " -1", "0.5", ".5", "1e-3"])
def test_csv_whose_first_line_may_be_data(tmp_path: pathlib.Path, number: str) -> None:
    path = tmp_path / "a.csv"
    text = (
        rf"^Expected names of columns in the first line of a CSV file, found the number "
        rf"{number!r} - at {path}, line 1 \(if that line is data, give column_names\)$"
    )
    lines = f"Ada,{number}\nBob,7\n".encode()
    with pytest.warns(UserWarning, match=text):
        assert read(path, lines).column_names == ["Ada", number]
    assert read(path, lines, column_names=["name", "age"]).num_rows == 2
    schema = schema_of(f'feature {{ name: "{number}" type: INT }}')
    assert read(path, lines, schema=schema).num_rows == 1
    assert read(path, b"a1,1a,-,2020-01-01\n1,2,3,4\n").num_rows == 1


def test_json(tmp_path: pathlib.Path) -> None:
    content = '{"i": 1, "s": "é", "l": [1, 2]}\n\n{"day": "2024-01-01", "l": [], "b": true}\n'
    table = read(tmp_path / "a.jsonl", content.encode())
    assert table.to_pylist() == [
        {"i": 1, "s": "é", "l": [1, 2], "day": None, "b": None},
        {"i": None, "s": None, "l": [], "day": "2024-01-01", "b": True},
    ]
    assert read(tmp_path / "a.jsonl.gz", gzip.compress(content.encode())) == table
    assert read(tmp_path / "a.jsonl", columns=["b", "i"]).schema.names == ["b", "i"]


def test_json_by_schema(tmp_path: pathlib.Path) -> None:
    schema = schema_of('feature { name: "x" type: FLOAT } feature { name: "y" type: INT }')
    table = read(tmp_path / "a.jsonl", b'{"x": 1}\n{"x": 1.5}\n', schema=schema)
    assert table.to_pylist() == [{"x": 1.0, "y": None}, {"x": 1.5, "y": None}]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("[1]", r"Expected a JSON object in each line, found \[1\]"),
        ('{"a": 1', "Expected a JSON object in each line, found b'{\"a\": 1'"),
        ("[" * 100_000, "Expected a JSON object in each line"),
        ('{"i": 1, "i": 2}', "'i' comes twice"),
        ('{"i": -1e400}', "'-1e400' is beyond float64"),
        ('{"i": "x"}', "Expected int64 for feature 'i', found 'x'"),
        ('{"i": 1.5}', r"found 1\.5 .*\(a schema can say that ints are FLOAT, too\)$"),
        ('{"s": "\\ud800"}', "feature 's'"),
        ('{"i": 99999999999999999999}', "feature 'i'"),
    ],
)
def test_json_that_cannot_be_read(tmp_path: pathlib.Path, line: str, text: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"i": 1}}\n\n{line}\n')
    with pytest.raises(DecodeError, match=text) as caught:
        read(path)
    assert caught.value.file == str(path)
    assert caught.value.line == 3


def test_bytes_that_are_no_text_in_json(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DecodeError, match="line 1"):
        read(tmp_path / "a.jsonl", b'{"a": "\xff"}\n')


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows"])
def test_other_content(tmp_path: pathlib.Path, name: str) -> None:
    content = b"this is neither the one nor the other"
    with pytest.raises(DecodeError, match="data, found some that cannot be read") as caught:
        read(tmp_path / name, content)
    assert caught.value.file == str(tmp_path / name)


def test_every_cut_of_a_file_is_an_error_or_ends_with_whole_rows(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    data = path.read_bytes()
    for size in range(0, len(data), 7):
        with pytest.raises(DecodeError):
            read(path, data[:size])


def test_unknown_column(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    for name, content in (("a.parquet", None), ("a.csv", b"x\n1\n"), ("a.jsonl", b'{"x": 1}\n')):
        with pytest.raises(SchemaError, match="found 'nothing'"):
            read(tmp_path / name, content, columns=["nothing"])
