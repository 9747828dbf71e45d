"""Tests of tfrecord_beam.records.signature: files of other kinds, by the tools that write them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.records.signature import describe_content

_TABLE = pa.table({"age": [1, 2, 3]})


def _written(kind: str) -> bytes:
    file = io.BytesIO()
    if kind == "parquet":
        pyarrow.parquet.write_table(_TABLE, file)
    elif kind == "orc":
        pyarrow.orc.write_table(_TABLE, file)
    elif kind == "feather":
        pyarrow.feather.write_feather(_TABLE, file)
    elif kind == "ipc":
        with pa.ipc.new_stream(file, _TABLE.schema) as writer:
            writer.write_table(_TABLE)
    elif kind == "numpy":
        np.save(file, np.arange(3))
    elif kind == "zip":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("name", "content")
    elif kind == "tar":
        with tarfile.open(fileobj=file, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("name"))
    return file.getvalue()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("parquet", "a Parquet file"),
        ("orc", "an ORC file"),
        ("feather", "an Arrow or Feather file"),
        ("ipc", "an Arrow IPC stream"),
        ("numpy", "a NumPy array"),
        ("zip", "a zip archive"),
        ("tar", "a tar archive"),
    ],
)
def test_files_of_other_libraries_are_named(kind: str, expected: str) -> None:
    assert describe_content(_written(kind)[:512]) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git-LFS pointer (run `git lfs pull`)"),
        (b"Obj\x01\x04\x16avro.schema", "an Avro file"),
        (gzip.compress(b"content", mtime=0), "a gzip-compressed file"),
        (bz2.compress(b"content"), "a bzip2-compressed file"),
        (lzma.compress(b"content"), "an xz-compressed file"),
        (pickle.dumps({"age": [1, 2, 3]}), "a Python pickle"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"%PDF-1.7", "a PDF document"),
        ("age,name\n".encode("utf-16"), "UTF-16 text"),
        (bytes(100), "zero bytes (was it written completely?)"),
        (json.dumps({"age": 3}).encode(), "JSON"),
        (json.dumps([{"age": 3}], indent=2).encode(), "JSON"),
        (b"{\n", "JSON"),
        (b"<!DOCTYPE html><html>", "an HTML page"),
        (b"\n<html lang='en'>", "an HTML page"),
        (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code>', "an XML document"),
        (b'features {\n  feature {\n    key: "age"', "a tf.train.Example in text format"),
        (b"age,name\n1,a\n", "CSV or other text"),
        (b"\xef\xbb\xbfage\tname\n", "CSV or other text"),
        (b"hello\nworld\n", "text"),
        ("naïve".encode()[:3], "text"),
    ],
)
def test_content_is_named(head: bytes, expected: str) -> None:
    assert describe_content(head) == expected


def test_sqlite_database_is_named(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "file.db")
    connection.execute("create table people (age integer)")
    connection.close()
    assert describe_content((tmp_path / "file.db").read_bytes()) == "an SQLite database"


@pytest.mark.parametrize(
    "head", [b"", b" \n", bytes(8), b"\x0b\x16\x21\x2c\x00\x80", b"ab\xff\xfe"]
)
def test_unknown_content_has_no_name(head: bytes) -> None:
    assert describe_content(head) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_named_or_not_but_never_an_error(head: bytes) -> None:
    description = describe_content(head)
    assert description is None or description
