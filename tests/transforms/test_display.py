"""Tests of tfrecord_beam.transforms.display: each option of a transform is on its job's page."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.transforms.display import DisplayData
from apache_beam.transforms.error_handling import CollectingErrorHandler

import tfrecord_beam
from tests.tfxio.example_files import SCHEMA, write_files

TRANSFORMS: list[type[beam.PTransform]] = [
    public
    for name in tfrecord_beam.__all__
    if inspect.isclass(public := getattr(tfrecord_beam, name))
    and issubclass(public, beam.PTransform)
]

NOT_SHOWN = ["schema"]
"""It may be long. Its features are, as `columns`, where they are what is read."""

OPTIONS: dict[str, Any] = {
    "batch_bytes": 1000,
    "batch_size": 10,
    "columns": ["name", "id"],
    "compression": "gzip",
    "compression_level": 3,
    "content_domains": True,
    "desired_bundle_bytes": 300,
    "error_handler": CollectingErrorHandler(),
    "feature_list_columns": ["steps"],
    "file_name_suffix": ".records",
    "infer_shape": True,
    "int_domains": True,
    "keep_partition_columns": True,
    "max_bytes_per_shard": 1000,
    "max_corrupt_records": 5,
    "max_records_per_shard": 10,
    "mode": "overwrite",
    "null_as_absent": True,
    "null_values": "drop",
    "num_shards": 3,
    "on_conflict": "drop",
    "ordered": True,
    "partition_by": ["name"],
    "partition_columns": "hive",
    "raw_record_column_name": "raw",
    "record_type": "SequenceExample",
    "scalars": ["id"],
    "seed": 7,
    "shard_name_template": "-SSS",
    "shuffle": True,
    "string_domains": 9,
    "strings": ["name"],
    "validate_crc": False,
    "with_filename": True,
    "write_index": True,
    "write_locality": "local",
    "write_success": True,
}

NEEDS = {
    "compression_level": ["compression"],
    "feature_list_columns": ["record_type"],
    "keep_partition_columns": ["partition_by"],
    "max_corrupt_records": ["error_handler"],
    "seed": ["shuffle", "num_shards"],
    "shuffle": ["num_shards"],
}
"""Options that are refused without others."""


def shown_by(transform: beam.PTransform) -> dict[str, Any]:
    return {item.key: item.value for item in DisplayData.create_from(transform).items}


def as_shown(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(value)
    return value if isinstance(value, (bool, int, str)) else type(value).__name__


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.__name__)
def test_each_option_is_shown(transform: type[beam.PTransform], tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    given: dict[str, Any] = {
        "file_pattern": f"{tmp_path}/*",
        "file_path_prefix": f"{tmp_path}/out",
        "output": f"{tmp_path}/report.html",
        "schema": SCHEMA,
        "columns": OPTIONS["columns"],
    }
    names = [*inspect.signature(transform).parameters]
    always = {name: given[name] for name in names if name in given}
    for option in names:
        wanted = [option, *NEEDS.get(option, [])]
        options = always | {name: OPTIONS[name] for name in wanted if name not in always}
        shown = shown_by(transform(**options))
        assert shown.items() >= {
            (name, as_shown(value)) for name, value in options.items() if name not in NOT_SHOWN
        }


def test_columns_of_a_schema_are_shown() -> None:
    names = [feature.name for feature in SCHEMA.feature]
    for transform in (tfrecord_beam.DecodeRecordBlocks(SCHEMA), tfrecord_beam.ToRows(SCHEMA)):
        assert shown_by(transform)["columns"].split(", ") == names
