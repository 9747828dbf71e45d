"""Files that are no TFRecord files are named."""

from __future__ import annotations

import gzip

import pytest

from tests.records.damaging import DATA
from tests.records.reading import read_file
from tfrecord_beam.errors import CorruptRecordError
from tfrecord_beam.records.reader import ReadOptions


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b'{"a": 1, "b": 2}\n' * 3, "JSON"),
        (b"id,name\n1,one\n2,two\n", "CSV or other text"),
        (b"some lines of words\n", "text"),
        (b"hi", "text"),
        (b"PAR1" + bytes(range(60)), "a Parquet file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git-LFS pointer"),
        (gzip.compress(DATA), "a gzip-compressed file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("validate_crc", [True, False], ids=["CRCs", "no CRCs"])
def test_file_of_another_kind_is_named(content: bytes, named: str, validate_crc: bool) -> None:
    options = ReadOptions(compression="none", validate_crc=validate_crc)
    with pytest.raises(CorruptRecordError, match=rf"^Expected a TFRecord file, found {named}"):
        read_file(content, options=options)
    reading = read_file(content, options=options, collect=True)
    assert reading.records == []
    assert reading.damage() == [(0, len(content))]


def test_file_of_zeros_is_named() -> None:
    with pytest.raises(CorruptRecordError, match=r"found zero bytes \(was it written completely"):
        read_file(bytes(100))
