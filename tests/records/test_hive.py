"""Tests of tfrecord_beam.records.hive: partitions as folders, there and back."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.records.hive import (
    Partition,
    check_partition_by,
    format_folder,
    format_path,
    parse_path,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.one_of(st.none(), TEXTS, st.just("__HIVE_DEFAULT_PARTITION__"))
PARTITIONS = st.dictionaries(TEXTS.filter(bool), VALUES, max_size=4).map(
    lambda values: tuple(values.items())
)


@given(PARTITIONS)
def test_round_trip(partition: Partition) -> None:
    parsed = parse_path(f"out/{format_path(partition)}/part-0=1.tfrecord")
    assert list(parsed.items()) == [
        (name, None if value is None else value.encode()) for name, value in partition
    ]


@given(PARTITIONS.filter(bool))
def test_folders_are_portable_names(partition: Partition) -> None:
    for folder in format_path(partition).split("/"):
        assert folder[0] not in "._"
        assert not set(folder) & set("\"#'*/:?[\\]^{\x7f\0\n\t")
        assert folder.count("=") == 1


@given(st.tuples(TEXTS.filter(bool), VALUES), st.tuples(TEXTS.filter(bool), VALUES))
def test_different_values_have_different_folders(one: Any, other: Any) -> None:
    assert (format_folder(*one) == format_folder(*other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "value", "folder"),
    [
        ("p", "plain", "p=plain"),
        ("p", None, "p=__HIVE_DEFAULT_PARTITION__"),
        ("p", "__HIVE_DEFAULT_PARTITION__", "p=%5F_HIVE_DEFAULT_PARTITION__"),
        ("p", "__HIVE_DEFAULT_PARTITION__x", "p=__HIVE_DEFAULT_PARTITION__x"),
        ("p", "", "p="),
        ("p", "a/b:c=d%", "p=a%2Fb%3Ac%3Dd%25"),
        ("p", "\0\x1f\x7f", "p=%00%1F%7F"),
        ("p", "_a.", "p=_a."),
        ("p", " ü中, }&;+~", "p= ü中, }&;+~"),
        ("_p", "1", "%5Fp=1"),
        (".p", "1", "%2Ep=1"),
        ("a=b", "1", "a%3Db=1"),
    ],
)
def test_folder(name: str, value: str | None, folder: str) -> None:
    assert format_folder(name, value) == folder
    assert parse_path(f"{folder}/f") == {name: None if value is None else value.encode()}


@pytest.mark.parametrize("character", string.printable)
def test_what_is_escaped(character: str) -> None:
    escaped = format_folder("p", character) != f"p={character}"
    assert escaped == (character in "\"#%'*/:=?[\\]^{\t\n\r\v\f")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("part-0.tfrecord", {}),
        ("a=1", {}),
        ("a=1/f", {"a": b"1"}),
        ("/data/lr=0.1/out/day=1/chunk/f", {"lr": b"0.1", "day": b"1"}),
        ("gs://bucket/a=1/b=2/f", {"a": b"1", "b": b"2"}),
        ("=1/a/f", {}),
        ("a==/f", {"a": b"="}),
        ("a=%ff%/f", {"a": b"\xff%"}),
        ("a=%C3%BC/f", {"a": "ü".encode()}),
        ("a=\udcff/f", {"a": b"\xff"}),  # a name on disk that is no UTF-8
    ],
)
def test_path(path: str, found: dict[str, bytes | None]) -> None:
    assert parse_path(path) == found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a=1/b=2/a=1/f", "Expected different partition columns, found 'a' twice"),
        ("%FF=1/f", "Expected UTF-8 as name of a partition column, found '%FF'"),
    ],
)
def test_path_that_makes_no_sense(path: str, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_path(path)
    assert str(caught.value) == f"{text} - at {path}"


@pytest.mark.parametrize("names", ["day", b"day", 5, [5], ["a", "a"], ["a", ""]])
def test_wrong_names_of_columns(names: Any) -> None:
    with pytest.raises(SchemaError, match=r"^Expected .* partition columns.*, found "):
        check_partition_by(names)


def test_names_of_columns() -> None:
    assert check_partition_by(iter(["a", "b"])) == ("a", "b")
