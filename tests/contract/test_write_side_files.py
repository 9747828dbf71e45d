"""Marks, indexes and side-cars beside the files, and folders that Spark wrote."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pyarrow as pa
import pytest

from tests.contract.partitions import keyed
from tests.contract.writing import (
    Write,
    names,
    numbers,
    tree,
    write_by_beam,
    write_by_table,
    x_of,
)
from tests.tfxio.pipelines import run
from tfrecord_beam import (
    BeamSource,
    RawRecordBeamSource,
    TFRecordBeamError,
    WriteError,
    count,
    write_table,
)

DATA = pathlib.Path(__file__).parents[3] / "shared" / "data" / "spark"


def test_success(write: Write, tmp_path: pathlib.Path) -> None:
    batch = keyed(numbers(0, 3).column("s"))
    write([batch], tmp_path / "a", partition_by=["k"], write_success=True)
    assert [name for name in names(tmp_path) if "_SUCCESS" in name] == ["_SUCCESS"]
    assert tree(tmp_path)["_SUCCESS"] == b""
    assert sorted(x_of(tmp_path)) == list(range(3))


def test_index(write: Write, tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"num_shards": 2}
    written = write([numbers(0, 4000)], tmp_path / "a", write_index=True, **options)
    files = {pathlib.Path(file.path).name for file in written}
    side_files = set(names(tmp_path)) - files
    assert len(side_files) == 2
    assert all(name.startswith((".", "_")) for name in side_files)
    assert count(tmp_path) == 4000
    assert sorted(x_of(tmp_path)) == list(range(4000))
    # Many ranges of each file.
    found = run(RawRecordBeamSource(str(tmp_path), desired_bundle_bytes=5000)).elements
    assert len(found) == 4000
    batches = run(BeamSource(str(tmp_path), desired_bundle_bytes=5000)).elements
    values = [row["x"][0] for batch in batches for row in batch.to_pylist()]
    assert sorted(values) == list(range(4000))
    # A write without an index takes that of the old files away.
    write([numbers(0, 9)], tmp_path / "a", mode="overwrite", **options)
    assert len(names(tmp_path)) == 2
    assert sorted(x_of(tmp_path)) == list(range(9))


def sizes_batch(sizes: list[int]) -> pa.RecordBatch:
    """Returns records of these sizes, each different."""
    records = [b"%06d" % i + bytes(size) for i, size in enumerate(sizes)]
    return pa.record_batch({"record": pa.array(records, pa.binary())})


@pytest.mark.filterwarnings("ignore:The index of .* does not fit:RuntimeWarning")
def test_index_of_a_file_that_was_replaced(tmp_path: pathlib.Path) -> None:
    """Whoever replaces a file without its index gets its records, or is told; never others."""
    options: dict[str, Any] = {"num_shards": 1, "record_type": "ByteArray"}
    [file] = write_by_table(
        [sizes_batch([10, 30] * 1000)], tmp_path / "a", write_index=True, **options
    )
    for sizes in ([30, 10] * 1000, [20] * 2000, [10] * 500, [40] * 3000):
        [other] = write_by_table(
            [sizes_batch(sizes)], tmp_path / "other" / "a", mode="overwrite", **options
        )
        shutil.copy(other.path, file.path)
        assert count(file.path) == len(sizes)
        try:
            found = run(RawRecordBeamSource(file.path, desired_bundle_bytes=9000)).elements
        except TFRecordBeamError as error:
            assert file.path in str(error)
        else:
            assert len(set(found)) == len(found) == len(sizes)


def test_side_car_of_a_replaced_file_goes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "part-00000-x-c000.tfrecord"
    path.write_bytes(b"")
    (tmp_path / f".{path.name}.crc").write_bytes(b"of the old one")
    (tmp_path / ".other.tfrecord.crc").write_bytes(b"of another file")
    write_table(numbers(0, 3), str(path), mode="overwrite")
    assert names(tmp_path) == [".other.tfrecord.crc", path.name]
    assert x_of(path) == [0, 1, 2]


UUID = "97bd2c3a-95c0-451c-9868-f5a470a31cc5"

SPARK_NAMES = [
    f"part-00000-{UUID}-c000.tfrecord",
    f"part-00001-{UUID}-c012.tfrecord.gz",
    f"part-00002-{UUID}-c000.tfrecord.deflate",
    f"part-00003-{UUID}-c000.tfrecord.snappy",
    f"part-00004-{UUID}.c000.tfrecord",
]


def test_part_files_of_spark(tmp_path: pathlib.Path) -> None:
    folder: Any = f"{tmp_path}/"
    (tmp_path / "notes.txt").write_bytes(b"")
    for name in SPARK_NAMES:
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(WriteError, match=name):
            write_by_table([numbers(0, 3)], folder, num_shards=1)
        (tmp_path / name).unlink()
    for name in SPARK_NAMES:
        (tmp_path / name).write_bytes(b"")
        (tmp_path / f".{name}.crc").write_bytes(b"crc")
    before = tree(tmp_path)
    assert write_by_table([numbers(0, 3)], folder, num_shards=1, mode="ignore") == []
    assert tree(tmp_path) == before
    [appended] = write_by_table([numbers(0, 3)], folder, num_shards=1, mode="append")
    assert set(names(tmp_path)) == {*before, pathlib.Path(appended.path).name}
    write_by_table([numbers(0, 3)], folder, num_shards=1, mode="overwrite")
    assert names(tmp_path) == ["notes.txt", "part-00000-of-00001.tfrecord"]
    assert x_of(str(tmp_path / "part*")) == [0, 1, 2]


def test_part_files_are_foreign_to_other_prefixes(tmp_path: pathlib.Path) -> None:
    for name in SPARK_NAMES:
        (tmp_path / name).write_bytes(b"")
        (tmp_path / f".{name}.crc").write_bytes(b"crc")
    before = tree(tmp_path)
    write_by_table([numbers(0, 3)], tmp_path / "a", num_shards=1, mode="overwrite")
    assert set(names(tmp_path)) == {*before, "a-00000-of-00001.tfrecord"}


def copy_case(case: str, to: pathlib.Path) -> pathlib.Path:
    if not (DATA / case).exists():
        pytest.skip(f"there is no folder {DATA / case}")
    return pathlib.Path(shutil.copytree(DATA / case / "data", to / case))


def test_folder_of_spark_is_replaced(tmp_path: pathlib.Path) -> None:
    folder = copy_case("codec_deflate", tmp_path)
    old = names(folder)
    prefix: Any = f"{folder}/"
    read = BeamSource(str(folder))
    batches = run(read).elements
    write_by_beam(batches, prefix, num_shards=2, mode="overwrite", compression="gzip")
    assert not {name for name in names(folder) if "part-" in name} & set(old)
    assert count(folder) == 100
    assert len([name for name in names(folder) if name.endswith(".tfrecord.gz")]) == 2


def test_partitions_of_spark_are_replaced(tmp_path: pathlib.Path) -> None:
    folder = copy_case("partition_two", tmp_path)
    old = {name for name in names(folder) if "part-" in name}
    batch = numbers(0, 4)
    for name, value in (("y", "2021"), ("d", "2024-01-01")):
        batch = batch.append_column(name, [[value]] * 4)
    options: dict[str, Any] = {"partition_by": ["y", "d"], "num_shards": 1}
    prefix: Any = f"{folder}/"
    with pytest.raises(WriteError, match="part-"):
        write_by_beam([batch], prefix, **options)
    write_by_beam([batch], prefix, mode="overwrite_partitions", **options)
    now = {name for name in names(folder) if "part-" in name}
    place = "y=2021/d=2024-01-01/"
    assert now - old == {f"{place}part-00000-of-00001.tfrecord"}
    assert old - now == {name for name in old if name.startswith(place)}
