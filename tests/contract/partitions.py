"""Batches with keys, and their rows by the keys that reading a partitioned folder gives."""

from __future__ import annotations

import pathlib
from typing import Any

import pyarrow as pa

from tfrecord_beam import read_table


def keyed(keys: pa.Array, name: str = "k") -> pa.RecordBatch:
    """Returns a batch with these keys, and the rows' numbers as column `x`."""
    return pa.record_batch({name: keys, "x": pa.array(range(len(keys)), pa.int64())})


def by_key(path: pathlib.Path, name: str = "k", **options: Any) -> dict[Any, list[int]]:
    """Returns the rows' numbers for each key that reading gives."""
    found: dict[Any, list[int]] = {}
    table = read_table(path, partition_columns="hive", **options)
    for row in table.select([name, "x"]).to_pylist():
        key = row[name] if row[name] is None else row[name][0]
        found.setdefault(key, []).extend(row["x"])
    return found
