"""Tests of tfrecord_beam.records.writing.options: everything wrong is found when it is said."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import pytest

from tfrecord_beam.records.writing.options import WriteOptions


@pytest.mark.parametrize(
    "options",
    [
        {"max_records_per_shard": 1, "num_shards": 1},
        {"max_bytes_per_shard": 1, "num_shards": 1},
        {"shuffle": True},
        {"seed": 1},
        {"seed": 1, "num_shards": 2},
        {"ordered": True, "num_shards": 2},
        {"ordered": True, "max_records_per_shard": 2},
        {"ordered": True, "shuffle": True, "num_shards": 1},
        {"ordered": True, "partition_by": ["a"]},
        {"keep_partition_columns": True},
        {"mode": "overwrite_partitions"},
        {"is_exact": True, "mode": "append"},
        {"is_exact": True, "shard_name_template": "-SS"},
        {"is_exact": True, "file_name_suffix": ".x"},
        {"write_index": True, "compression": "gzip"},
        {"write_locality": "local", "num_shards": 1},
        {"write_locality": "local", "partition_by": ["a"]},
        {"write_locality": "local", "ordered": True},
        {"write_locality": "local", "shard_name_template": "-SS"},
        {"write_locality": "local", "mode": "overwrite"},
        {"write_locality": "local", "mode": "ignore"},
        {"write_locality": "local", "write_success": True},
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^Expected options that go together, found \S"):
        WriteOptions("out/a", **options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"shard_name_template": "-NN"}, "hold the shard's number as a run of S"),
        ({"shard_name_template": ""}, "Expected num_shards=1 where shard_name_template is empty"),
        ({"shard_name_template": "/SS"}, "without the characters"),
        ({"shard_name_template": "-S*"}, "without the characters"),
        ({"shard_name_template": "-W-SS"}, "windows are part of the name"),
        ({"shard_name_template": 5}, "None or a str, found 5"),
        ({"file_name_suffix": "/a"}, "without slashes"),
        ({"file_name_suffix": 5}, "without slashes, found 5"),
        ({"file_name_suffix": ".a*"}, "pattern characters"),
        ({"file_name_suffix": ".gz"}, "compression='gzip'"),
        ({"file_name_suffix": ".zst", "compression": "gzip"}, "compression='zstd'"),
        ({"compression": "auto"}, "found 'auto'"),
        ({"compression": "rar"}, "found 'rar'"),
        ({"compression_level": 3}, "compression_level"),
        ({"compression": "gzip", "compression_level": 10}, "compression_level"),
        ({"mode": "Overwrite"}, "Expected mode to be one of error, .*, found 'Overwrite'"),
        ({"write_locality": "here"}, "Expected write_locality to be one of"),
        ({"partition_by": []}, r"names of columns, found \[\]"),
        ({"partition_by": "day"}, "partition"),
        ({"partition_by": ["a", "a"]}, "found 'a' twice"),
        ({"num_shards": 10**7}, "at most 1000000"),
        ({"is_exact": True, "file_path_prefix": "a.gz"}, "compression='gzip'"),
    ],
)
def test_wrong_values(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        WriteOptions(**{"file_path_prefix": "out/a", **options})


@pytest.mark.parametrize("prefix", ["out/*", "out/a?", "out[1]/a", "", None, 5, b"out", "a\0b"])
def test_prefixes_that_are_refused(prefix: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected .*, found "):
        WriteOptions(prefix)


@pytest.mark.parametrize(
    ("options", "is_direct"),
    [
        ({}, True),
        ({"max_records_per_shard": 1}, True),
        ({"num_shards": 1}, False),
        ({"partition_by": ["a"]}, False),
        ({"ordered": True}, False),
    ],
)
def test_who_makes_whole_files(options: dict[str, Any], is_direct: bool) -> None:
    assert WriteOptions("a", **options).is_direct is is_direct


def test_options_travel() -> None:
    options = WriteOptions(pathlib.Path("out") / "a", num_shards=3, compression="GZIP")
    _ = options.names.is_own("x")
    there = pickle.loads(pickle.dumps(options))
    assert there == options
    assert there.names.path(0, 3) == "out/a-00000-of-00003.tfrecord.gz"
