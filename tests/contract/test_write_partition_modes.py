"""What each mode of writing does to partitions that are there."""

from __future__ import annotations

import pathlib
from typing import Any

import pyarrow as pa
import pytest

from tests.contract.partitions import by_key, keyed
from tests.contract.writing import Write, names, tree, write_by_table
from tfrecord_beam import WriteError


def test_overwrite_partitions(write: Write, tmp_path: pathlib.Path) -> None:
    old = keyed(pa.array(["x", "y", "z", "z"]))
    write_by_table([old], tmp_path / "a", partition_by=["k"], num_shards=3)
    foreign = {"k=x/note.txt": b"1", "k=x/b-00000-of-00001.tfrecord": b"2"}
    for name, data in foreign.items():
        (tmp_path / name).write_bytes(data)
    before = tree(tmp_path)
    new = keyed(pa.array(["x", "new"]))
    write([new], tmp_path / "a", partition_by=["k"], num_shards=1, mode="overwrite_partitions")
    after = tree(tmp_path)
    kept = {name for name in before if name.startswith(("k=y", "k=z"))}
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    files = {name for name, data in after.items() if data is not None and name not in kept}
    assert files == {
        "k=x/a-00000-of-00001.tfrecord",
        "k=new/a-00000-of-00001.tfrecord",
        *foreign,
    }
    assert {name: after[name] for name in foreign} == foreign


def test_overwrite_and_error_look_into_all_partitions(write: Write, tmp_path: pathlib.Path) -> None:
    old = keyed(pa.array(["x", "y"]))
    write_by_table([old], tmp_path / "a", partition_by=["k"])
    (tmp_path / "k=x" / "note.txt").write_bytes(b"")
    before = tree(tmp_path)
    options: dict[str, Any] = {"partition_by": ["k"]}
    new = keyed(pa.array(["z"]))
    with pytest.raises(WriteError, match="k=x"):
        write([new], tmp_path / "a", **options)
    assert write([new], tmp_path / "a", mode="ignore", **options) == []
    assert tree(tmp_path) == before
    written = write([new], tmp_path / "a", mode="overwrite", **options)
    assert set(names(tmp_path)) == {"k=x/note.txt", "k=z/a-00000-of-00001.tfrecord"}
    assert [file.num_records for file in written] == [1]


def test_append_to_partitions(write: Write, tmp_path: pathlib.Path) -> None:
    for mode in ("error", "append"):
        write([keyed(pa.array(["x", "y"]))], tmp_path / "a", partition_by=["k"], mode=mode)
    assert by_key(tmp_path) == {b"x": [0, 0], b"y": [1, 1]}
