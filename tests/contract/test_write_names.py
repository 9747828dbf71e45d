"""Names of files, and spellings of codecs."""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import pytest
from apache_beam.io.filesystem import CompressionTypes

from tests.contract.writing import (
    SUFFIXES,
    WAYS,
    Write,
    names,
    numbers,
    stored,
    write_by_table,
    x_of,
)
from tfrecord_beam import TFRecordWriter, WriteToTFRecord, write_table

SPELLINGS = [
    (None, None),
    ("", None),
    ("none", None),
    ("None", None),
    ("uncompressed", None),
    (CompressionTypes.UNCOMPRESSED, None),
    ("gzip", "gzip"),
    ("GZIP", "gzip"),
    ("gz", "gzip"),
    (".gz", "gzip"),
    (CompressionTypes.GZIP, "gzip"),
    ("zlib", "zlib"),
    ("ZLIB", "zlib"),
    ("deflate", "zlib"),
    (".deflate", "zlib"),
    (CompressionTypes.DEFLATE, "zlib"),
    ("bz2", "bz2"),
    (".bz2", "bz2"),
    (CompressionTypes.BZIP2, "bz2"),
    ("zstd", "zstd"),
    (".zst", "zstd"),
    (CompressionTypes.ZSTD, "zstd"),
    ("lz4", "lz4"),
    ("snappy", "snappy"),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("spelling", "codec"), SPELLINGS)
def test_spellings_of_codecs(
    tmp_path: pathlib.Path, spelling: str | None, codec: str | None
) -> None:
    [file] = write_by_table([numbers(0, 3)], tmp_path / "a", num_shards=1, compression=spelling)
    assert file.path == str(tmp_path / f"a-00000-of-00001.tfrecord{SUFFIXES[codec]}")
    assert len(stored(file.path)) == 3
    WriteToTFRecord(str(tmp_path / "b"), compression=spelling)
    with TFRecordWriter(str(tmp_path / "c"), compression=spelling) as writer:
        writer.write(b"record")
    assert (tmp_path / "c").exists()


@pytest.mark.parametrize("codec", [None, "gzip", "zlib"])
def test_codecs_of_tensorflow_do_not_warn(tmp_path: pathlib.Path, codec: str | None) -> None:
    WriteToTFRecord(str(tmp_path / "a"), compression=codec)  # a warning is an error here


@pytest.mark.parametrize("codec", ["bz2", "zstd", "lz4", "snappy"])
def test_other_codecs_warn_once(tmp_path: pathlib.Path, codec: str) -> None:
    for write in (
        lambda: WriteToTFRecord(str(tmp_path / "a"), compression=codec),
        lambda: write_table(
            numbers(0, 9), str(tmp_path / "b"), num_shards=3, compression=codec, mode="overwrite"
        ),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            write()
        [warning] = [each for each in caught if issubclass(each.category, UserWarning)]
        assert codec in str(warning.message)
        assert "TensorFlow" in str(warning.message)


@pytest.mark.parametrize(
    ("suffix", "codec", "expected"),
    [
        (".tfrecord", None, ".tfrecord"),
        (".tfrecord", "gzip", ".tfrecord.gz"),
        (".tfrecord.gz", "gzip", ".tfrecord.gz"),
        (".gz", "gzip", ".gz"),
        ("", None, ""),
        ("", "gzip", ".gz"),
        ("", "zlib", ".deflate"),
        (".tfrecord.deflate", "zlib", ".tfrecord.deflate"),
        (".rec", "zlib", ".rec.deflate"),
        (".tfrecord.v2", None, ".tfrecord.v2"),
    ],
)
def test_suffixes(tmp_path: pathlib.Path, suffix: str, codec: str | None, expected: str) -> None:
    options = {"file_name_suffix": suffix, "compression": codec, "num_shards": 1}
    [file] = write_by_table([numbers(0, 2)], tmp_path / "a", **options)
    assert names(tmp_path) == [f"a-00000-of-00001{expected}"]
    assert sorted(x_of(file.path)) == [0, 1]


LYING_SUFFIXES = [
    (".tfrecord.gz", None, "gzip"),
    (".tfrecord.gz", "zlib", "gzip"),
    (".gz", "bz2", "gzip"),
    (".tfrecord.deflate", "gzip", "zlib"),
    (".zst", None, "zstd"),
    (".tfrecord.bz2", "gzip", "bz2"),
    (".snappy", "gzip", "snappy"),
    (".lz4", None, "lz4"),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("suffix", "codec", "named"), LYING_SUFFIXES)
def test_suffixes_that_lie(
    tmp_path: pathlib.Path, suffix: str, codec: str | None, named: str
) -> None:
    path = str(tmp_path / f"a{suffix}")
    for write in (
        lambda: WriteToTFRecord(
            str(tmp_path / "a"), file_name_suffix=suffix, compression=codec, num_shards=1
        ),
        lambda: write_table(
            numbers(0, 1), str(tmp_path / "a"), file_name_suffix=suffix, compression=codec,
            num_shards=1,
        ),
        lambda: write_table(numbers(0, 1), path, compression=codec),
        lambda: TFRecordWriter(path, compression=codec),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=named):
            write()
    assert names(tmp_path) == []


def test_exact_paths_say_which_codec_they_want(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"compression=['\"]gzip['\"]"):
        write_table(numbers(0, 1), str(tmp_path / "a.tfrecord.gz"))
    write_table(numbers(0, 1), str(tmp_path / "a.tfrecord.gz"), compression="gzip")
    write_table(numbers(0, 1), str(tmp_path / "a.tfrecord"), compression="gzip")
    assert names(tmp_path) == ["a.tfrecord", "a.tfrecord.gz"]
    assert x_of(tmp_path) == [0, 0]


@pytest.mark.parametrize(
    ("template", "shards", "expected"),
    [
        (None, 2, ["a-00000-of-00002.tfrecord", "a-00001-of-00002.tfrecord"]),
        ("-SSSSS-of-NNNNN", 1, ["a-00000-of-00001.tfrecord"]),
        ("-SS-NN", 2, ["a-00-02.tfrecord", "a-01-02.tfrecord"]),
        ("_S", 2, ["a_0.tfrecord", "a_1.tfrecord"]),
        ("", 1, ["a.tfrecord"]),
    ],
)
def test_templates(
    tmp_path: pathlib.Path, template: str | None, shards: int, expected: list[str]
) -> None:
    write: Write = WAYS["beam" if template == "" else "table"]
    options: dict[str, Any] = {"num_shards": shards, "shard_name_template": template}
    write([numbers(0, 5)], tmp_path / "a", **options)
    assert names(tmp_path) == expected
    assert sorted(x_of(tmp_path)) == list(range(5))
    # Files of a template are found again by it.
    write([numbers(5, 9)], tmp_path / "a", mode="overwrite", **options)
    assert names(tmp_path) == expected
    assert sorted(x_of(tmp_path)) == list(range(5, 9))


@pytest.mark.parametrize("slash", ["", "/"])
def test_folder_as_prefix(write: Write, tmp_path: pathlib.Path, slash: str) -> None:
    if slash:
        prefix: Any = f"{tmp_path}/out/"
        write([numbers(0, 5)], prefix, num_shards=2)
        expected = ["out/part-00000-of-00002.tfrecord", "out/part-00001-of-00002.tfrecord"]
    else:
        write([numbers(0, 5)], tmp_path / "out", num_shards=2)
        expected = ["out-00000-of-00002.tfrecord", "out-00001-of-00002.tfrecord"]
    assert names(tmp_path) == expected


def test_strange_names(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "ö b=c,d%20+" / "k=v"
    write_by_table([numbers(0, 5)], folder / "pré fix.v2", num_shards=1)
    write_by_table([numbers(5, 9)], folder / "pré fix.v2", num_shards=1, mode="append")
    assert sorted(x_of(folder)) == list(range(9))
    write_by_table([numbers(0, 1)], folder / "pré fix.v2", num_shards=1, mode="overwrite")
    assert names(folder) == ["pré fix.v2-00000-of-00001.tfrecord"]
