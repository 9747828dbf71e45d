"""Tests of tfrecord_beam.records.writing.names: what files are called, and whose they are."""

from __future__ import annotations

import pytest

from tfrecord_beam.records.writing.names import FileNames, make_id, name_pane
from tfrecord_beam.records.writing.options import WriteOptions

ID = "0123456789abcdef"
UUID = "0123abcd-0123-4567-89ab-0123456789ab"


def names(prefix: str = "out/data", **options: object) -> FileNames:
    return WriteOptions(prefix, **options).names  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (names(), "out/data-00001-of-00012.tfrecord"),
        (names(compression="gzip"), "out/data-00001-of-00012.tfrecord.gz"),
        (
            names(file_name_suffix=".tfrecord.gz", compression="gzip"),
            "out/data-00001-of-00012.tfrecord.gz",
        ),
        (names(file_name_suffix=".gzip", compression="gzip"), "out/data-00001-of-00012.gzip"),
        (names(file_name_suffix="", compression="zlib"), "out/data-00001-of-00012.deflate"),
        (names("out/"), "out/part-00001-of-00012.tfrecord"),
        (names("data"), "data-00001-of-00012.tfrecord"),
        (names("gs://bucket/a"), "gs://bucket/a-00001-of-00012.tfrecord"),
        (names("file:///a/b"), "/a/b-00001-of-00012.tfrecord"),
        (names(shard_name_template="_S_of_NNN"), "out/data_1_of_012.tfrecord"),
        (names(shard_name_template=".SS"), "out/data.01.tfrecord"),
        (names(shard_name_template="", num_shards=1), "out/data.tfrecord"),
        (names("out/a.tfrecord"), "out/a-00001-of-00012.tfrecord"),
        (names("out/a.tfrecord", compression="gzip"), "out/a-00001-of-00012.tfrecord.gz"),
        (names("out/a.tfrecord.gz", compression="gzip"), "out/a-00001-of-00012.tfrecord.gz"),
        (names("a.x.x", file_name_suffix=".x"), "a.x-00001-of-00012.x"),
        (names("a.x", file_name_suffix=""), "a.x-00001-of-00012"),
        (names("out/.tfrecord"), "out/.tfrecord-00001-of-00012.tfrecord"),
    ],
)
def test_paths(made: FileNames, path: str) -> None:
    assert made.path(1, 12) == path


def test_prefix_that_names_another_codec() -> None:
    with pytest.raises(ValueError, match=r"write it with compression='gzip'"):
        names("a.tfrecord.gz")


def test_paths_of_partitions_and_parts() -> None:
    path = names().path(0, 1, partition="a=1/b=x", part=f"-{ID}")
    assert path == f"out/a=1/b=x/data-{ID}-00000-of-00001.tfrecord"


@pytest.mark.parametrize(
    "path",
    [
        "data-00000-of-00001.tfrecord",
        "data-00000-of-00001.tfrecord.gz",
        "data-123456-of-200000.tfrecord.zst",
        f"data-{ID}-00000-of-00001.tfrecord",
        "data-20240101T000000Z-20240101T000100Z-0-00000-of-00001.tfrecord",
        "data-20240101T000000.500000Z-20240101T000100Z-12-00000-of-00001.tfrecord",
        f"data-{ID}-20240101T000000Z-20240101T000100Z-0-00000-of-00001.tfrecord",
        f"data-{ID}-{ID}.tfrecord",
        "data-pane-3-00000-of-00001.tfrecord",
        "a=1/data-00000-of-00001.tfrecord",
        "a=1/b=%2F/data-00000-of-00001.tfrecord.gz",
    ],
)
def test_own_files(path: str) -> None:
    assert names().is_own(path)
    assert names(compression="gzip").is_own(path)
    assert names().own([path]) == [f"out/{path}"]


@pytest.mark.parametrize(
    "path",
    [
        "data-00000-of-00001",
        "data-00000-of-00001.tfrecord.txt",
        "data-00000.tfrecord",
        "data-.tfrecord",
        "data.tfrecord",
        "data-more-00000-of-00001.tfrecord",
        "other-00000-of-00001.tfrecord",
        ".data-00000-of-00001.tfrecord",
        "folder/data-00000-of-00001.tfrecord",
        ".a=1/data-00000-of-00001.tfrecord",
        "data-00000-of-00001.tfrecord/a",
        "data-00000-of-00001xtfrecord",
        f"part-00000-{UUID}-c000.tfrecord",
        "data-0123-00000-of-00001.tfrecord",
    ],
)
def test_foreign_files(path: str) -> None:
    assert not names().is_own(path)


@pytest.mark.parametrize(
    "path",
    [
        f"part-00000-{UUID}-c000.tfrecord",
        f"part-00000-{UUID}-c000.tfrecord.deflate",
        f"part-00000-{UUID}.c000.tfrecord.gz",
        f"part-00000-{UUID}.tfrecord",
        f"a=1/part-00012-{UUID}.c001.tfrecord",
    ],
)
def test_files_of_spark_are_own_where_the_base_is_its(path: str) -> None:
    assert names("out/").is_own(path)
    assert not names("out/").is_own(path.replace(".tfrecord", ".parquet"))
    assert not names().is_own(path)


def test_characters_of_a_name_are_no_pattern() -> None:
    assert names("out/a.b+").is_own("a.b+-00000-of-00001.tfrecord")
    assert not names("out/a.b+").is_own("aXbb-00000-of-00001.tfrecord")


def test_own_file_of_an_exact_path() -> None:
    made = names("out/a.tfrecord", is_exact=True)
    assert made.path(0, 1) == "out/a.tfrecord"
    assert made.own(["a.tfrecord", "a.tfrecord.gz", "a=1/a.tfrecord", "axtfrecord"]) == [
        "out/a.tfrecord"
    ]


def test_temporary_folders_are_hidden_and_known_by_their_names() -> None:
    write_id = make_id()
    folder = names().temporary_folder(write_id)
    assert folder == f"out/.data-temp-{write_id}"
    assert names().is_temporary_folder(f".data-temp-{write_id}")
    assert not names().is_temporary_folder(f".dataset-temp-{write_id}")
    assert not names().is_temporary_folder(".data-temp-")


def test_ids_differ() -> None:
    assert len({make_id() for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (0, 60_000_000, "-19700101T000000Z-19700101T000100Z-7"),
        (1_500_000, 2_000_000, "-19700101T000001.500000Z-19700101T000002Z-7"),
        (-(2**63), 0, "--9223372036854775808us-19700101T000000Z-7"),
    ],
)
def test_windows(start: int, end: int, text: str) -> None:
    part = name_pane(start, end, 7)
    assert part == text
    assert names().is_own(f"data{part}-00000-of-00001.tfrecord")
