"""Tests of tfrecord_beam.urls: spellings of paths and URLs."""

from __future__ import annotations

import os
import pathlib
from unittest import mock

import pyarrow.fs
import pytest

from tests.cli.files import PEOPLE, write, write_schema
from tfrecord_beam import BeamSource, count, read_table, write_table
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.schema.tfmd import load_schema
from tfrecord_beam.urls import has_scheme, normalize_path, resolve_url


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a b%20", "/a b%20"),
        ("a://b", "a://b"),
        ("a/b://c", "a/b://c"),
        ("file:a", "file:a"),
        ("./file:/a", "./file:/a"),
        ("file:///a%20b*", "/a b*"),
        ("file:/a", "/a"),
        ("file://localhost/a", "/a"),
        ("FILE:///a", "/a"),
        ("File://LocalHost/A", "/A"),
        ("file:////a", "//a"),
        ("GS://Bucket/A%20", "gs://Bucket/A%20"),
        ("s3://b/a/*?region=x&scheme=http", "s3://b?region=x&scheme=http/a/*"),
        ("s3://b?region=x/a/*", "s3://b?region=x/a/*"),
        ("s3://b/?region=x", "s3://b?region=x/"),
        ("s3://b/a-?", "s3://b/a-?"),
        ("s3://b/day=?/a", "s3://b/day=?/a"),
        ("/a/b?region=x", "/a/b?region=x"),
    ],
)
def test_one_spelling(path: str, expected: str) -> None:
    assert normalize_path(path) == expected


def test_paths_have_slashes_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    assert normalize_path(r"a\b") == r"a\b"  # a name like any other
    monkeypatch.setattr(os, "sep", "\\")
    assert normalize_path(r"C:\out\a") == "C:/out/a"
    assert normalize_path(r"gs://b/a\b") == r"gs://b/a\b"
    options = WriteOptions(pathlib.PureWindowsPath(r"C:\out") / "a", num_shards=2)
    assert options.names.path(0, 2) == "C:/out/a-00000-of-00002.tfrecord"
    assert options.names.temporary_folder("1") == "C:/out/.a-temp-1"


@pytest.mark.parametrize("url", ["file://host/a", "FILE://a", "file://"])
def test_file_of_another_machine_is_refused(url: str) -> None:
    with pytest.raises(ValueError) as caught:
        normalize_path(url)
    assert str(caught.value) == (
        f"Expected the URL of a local file, found {url!r} "
        "(write file:///folder/file, or the path alone)"
    )


def test_lone_surrogate_is_refused() -> None:
    for read in (normalize_path, count, BeamSource, load_schema):
        with pytest.raises(ValueError, match=r"^Expected a path that can be .*, found 'a\\ud800'$"):
            read("a\ud800")
    assert normalize_path("a\udcff") == "a\udcff"  # a byte of a name that is not UTF-8


def test_nul_is_refused() -> None:
    for read in (normalize_path, count, BeamSource, load_schema):
        with pytest.raises(ValueError, match=r"^Expected a path without NUL .*, found 'a\\x00b'$"):
            read("a\0b")


@pytest.mark.parametrize(
    ("path", "expected"),
    [("gs://a", True), ("S3://a", True), ("a/gs://b", False), ("://a", False), ("gs:/a", False)],
)
def test_what_is_a_url(path: str, expected: bool) -> None:
    assert has_scheme(path) is expected


@pytest.mark.parametrize("url", ["foo://x", "http://x/y", "gs:///x", "a://b://c"])
def test_url_that_nobody_knows(url: str) -> None:
    for read in (resolve_url, count, load_schema):
        with pytest.raises(
            ValueError, match=rf"^Expected a URL that pyarrow knows .*found '{url}'"
        ):
            read(url)
    with pytest.raises(ValueError, match=rf"^Expected a URL that Beam knows, found '{url}'"):
        BeamSource(url)


def test_process_has_one_file_system_for_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    file_system, key = resolve_url("file:///a/b")
    other, other_key = resolve_url("file:///c")
    assert (key, other_key) == ("/a/b", "/c")
    assert file_system is other
    process = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: process + 1)  # as in a fork
    assert resolve_url("file:///a")[0] is not file_system


def test_query_is_for_the_store(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    urls_of_stores = set()

    def from_uri(url: str) -> tuple[pyarrow.fs.FileSystem, str]:
        urls_of_stores.add(url)
        return pyarrow.fs.LocalFileSystem(), f"{tmp_path}/"

    monkeypatch.setattr(pyarrow.fs, "FileSystem", mock.Mock(from_uri=from_uri))
    query = "?region=eu-west-1&endpoint_override=localhost:9000"
    [file] = write_table({"n": [1]}, f"x://bucket/a/b.tfrecord{query}")
    assert (tmp_path / "a" / "b.tfrecord").exists()
    for path in (file.path, f"x://bucket/a/*.tfrecord{query}", f"x://bucket{query}"):
        assert count(path) == 1
    assert urls_of_stores == {f"x://bucket{query}"}
    with pytest.raises(ValueError, match=r"^Expected a URL without a query.*--s3_endpoint_url"):
        BeamSource(file.path)


@pytest.mark.parametrize("prefix", ["file://", "file:", "FILE://", "file://localhost"])
def test_url_of_a_local_file_is_its_path_with_beam_and_without(
    tmp_path: pathlib.Path, prefix: str
) -> None:
    path = prefix + write(tmp_path, "a.tfrecord", *PEOPLE)
    schema = prefix + write_schema(tmp_path)
    assert count(path) == read_table(path, schema).num_rows == len(PEOPLE)
    BeamSource(path, schema)
