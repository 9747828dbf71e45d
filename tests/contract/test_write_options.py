"""Options that are refused when a write is built."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.writing import names, numbers
from tfrecord_beam import TFRecordWriter, WriteToTFRecord, write_table

WRONG_OPTIONS: list[dict[str, Any]] = [
    {"compression": "auto"},
    {"compression": "gzipp"},
    {"compression": "lzo"},
    {"compression": b"gzip"},
    {"compression": 1},
    {"compression": True},
    {"compression": "gzip", "compression_level": 10},
    {"compression": "gzip", "compression_level": -2},
    {"compression": "gzip", "compression_level": "9"},
    {"compression": "gzip", "compression_level": True},
    {"num_shards": 0},
    {"num_shards": -1},
    {"num_shards": 1.5},
    {"num_shards": "2"},
    {"num_shards": True},
    {"max_records_per_shard": 0},
    {"max_records_per_shard": "10"},
    {"max_bytes_per_shard": 0},
    {"max_bytes_per_shard": -5},
    {"num_shards": 2, "max_records_per_shard": 10},
    {"num_shards": 2, "max_bytes_per_shard": 10},
    {"shard_name_template": "", "num_shards": 2},
    {"shard_name_template": ""},
    {"shard_name_template": "-of-NNNNN", "num_shards": 2},
    {"shard_name_template": 5, "num_shards": 2},
    {"shard_name_template": "/SSSSS", "num_shards": 2},
    {"file_name_suffix": None},
    {"file_name_suffix": 1},
    {"file_name_suffix": "/x"},
    {"record_type": "example"},
    {"record_type": "ExampleListWithContext"},
    {"record_type": None},
    {"shuffle": True},
    {"shuffle": "yes", "num_shards": 2},
    {"shuffle": True, "num_shards": 2, "seed": "1"},
    {"shuffle": True, "num_shards": 2, "seed": 1.5},
    {"write_success": "yes"},
    {"write_index": 1.5},
    {"null_as_absent": "no"},
    {"null_values": "skip"},
    {"null_values": None},
    {"keep_partition_columns": "yes", "partition_by": ["s"]},
    {"partition_by": ["s", "s"]},
    {"partition_by": [1]},
    {"partition_by": 5},
    {"feature_list_columns": [1], "record_type": "SequenceExample"},
    {"schema": 5},
]


@pytest.mark.parametrize("options", WRONG_OPTIONS, ids=str)
def test_wrong_options_are_refused_when_built(
    tmp_path: pathlib.Path, options: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="xpected"):
        WriteToTFRecord(str(tmp_path / "a"), **options)
    with pytest.raises(ValueError, match="xpected"):
        write_table(numbers(0, 1), str(tmp_path / "a"), **options)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "options",
    [
        {"write_locality": "worker"},
        {"write_locality": None},
        {"ordered": "yes"},
        {"ordered": True, "num_shards": 2},
    ],
    ids=str,
)
def test_wrong_options_of_pipelines(tmp_path: pathlib.Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        WriteToTFRecord(str(tmp_path / "a"), **options)


@pytest.mark.parametrize("name", ["compresion", "num_shard", "overwrite"])
def test_misspelt_options(tmp_path: pathlib.Path, name: str) -> None:
    options: dict[str, Any] = {name: 1}
    makers: list[Callable[[], Any]] = [
        lambda: WriteToTFRecord(str(tmp_path / "a"), **options),
        lambda: write_table(numbers(0, 1), str(tmp_path / "a"), **options),
        lambda: TFRecordWriter(str(tmp_path / "a"), **options),
    ]
    for make in makers:
        with pytest.raises(TypeError, match=name):
            make()
    assert names(tmp_path) == []


@pytest.mark.parametrize("prefix", ["a*", "a?", "a[0]", "x*/a"])
def test_pattern_characters_in_the_prefix(tmp_path: pathlib.Path, prefix: str) -> None:
    with pytest.raises(ValueError, match=r"[*?\[]"):
        WriteToTFRecord(f"{tmp_path}/{prefix}", num_shards=1)
    with pytest.raises(ValueError, match=r"[*?\[]"):
        write_table(numbers(0, 1), f"{tmp_path}/{prefix}", num_shards=1)
    assert names(tmp_path) == []


@pytest.mark.parametrize("prefix", [None, 5, b"a", "", ["a"]])
def test_prefixes_that_are_none(prefix: Any) -> None:
    with pytest.raises(ValueError, match="xpected"):
        WriteToTFRecord(prefix)
    with pytest.raises(ValueError, match="xpected"):
        write_table(numbers(0, 1), prefix)
    with pytest.raises(ValueError, match="xpected"):
        TFRecordWriter(prefix)
