"""Tests of which format a file is."""

from __future__ import annotations

from typing import Any

import pytest

from tfrecord_beam.records.convert.formats import Format, choose_format


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.tfrecord", Format.TFRECORD),
        ("folder.csv/a.tfrecords.gz", Format.TFRECORD),
        ("gs://bucket/a.tfrecord-00000-of-00010", Format.TFRECORD),
        ("part-00000-x-c000.tfrecord.deflate", Format.TFRECORD),
        ("a", Format.TFRECORD),
        ("a.b/c-00000-of-00001.gz", Format.TFRECORD),
        ("a.PARQUET", Format.PARQUET),
        ("a.csv.gz", Format.CSV),
        ("a.jsonl.zst", Format.JSON),
        ("a.ndjson", Format.JSON),
        ("a.json", Format.JSON),
        ("a.arrow", Format.ARROW),
        ("a.feather", Format.ARROW),
        ("a.arrows", Format.ARROW_STREAM),
    ],
)
def test_names(name: str, expected: Format) -> None:
    assert choose_format("source_format", None, [name, name]) is expected


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt-00000-of-00001", "a.par"])
def test_names_that_tell_nothing(name: str) -> None:
    with pytest.raises(ValueError) as caught:
        choose_format("source_format", None, ["a.csv", name])
    text = str(caught.value)
    assert f"found {name!r}" in text
    assert "give source_format: tfrecord, parquet, csv, json, arrow, arrow-stream;" in text


def test_option_counts_before_names() -> None:
    assert choose_format("target_format", "csv", ["a.parquet", "b"]) is Format.CSV


@pytest.mark.parametrize("option", ["CSV", "orc", 5, ""])
def test_unknown_option(option: Any) -> None:
    with pytest.raises(ValueError, match="Expected target_format to be None or one of tfrecord, "):
        choose_format("target_format", option, ["a.csv"])


def test_files_of_several_formats() -> None:
    with pytest.raises(ValueError, match=r"found 'a\.csv' and 'b\.json'"):
        choose_format("source_format", None, ["a.csv", "b.json"])
