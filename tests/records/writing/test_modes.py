"""What each mode does to folders that are empty, half full, or have files of others."""

from __future__ import annotations

import pathlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from tests.records.writing.folders import batch_of, paths_in, records_in
from tfrecord_beam import WriteError, write_table
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.plan import WrittenFile, plan_cleanup
from tfrecord_beam.records.writing.start import check_mode, start_write

MODES = ["error", "append", "overwrite", "ignore"]
UUID = "0123abcd-0123-4567-89ab-0123456789ab"
ID = "0123abcd01234567"
"""As writes have it."""

FOREIGN = [
    "_SUCCESS",
    "README.md",
    "a.tfrecord",
    "a-00000-of-00002.csv",
    "a-more-00000-of-00001.tfrecord",
    "b-00000-of-00001.tfrecord",
    ".hidden",
    "below/a-00000-of-00001.tfrecord",
    "day=1/a-00000-of-00001.tfrecord",
    f"part-00000-{UUID}-c000.tfrecord",
]
"""Files that a write to the prefix ``a`` never touches."""


def write(folder: pathlib.Path, *records: bytes, **options: Any) -> list[WrittenFile]:
    options = {"num_shards": 2, **options}
    return write_table(batch_of(*records), folder / "a", record_type="ByteArray", **options)


def make(folder: pathlib.Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("has_foreign", [False, True])
def test_folder_without_own_files(tmp_path: pathlib.Path, mode: str, has_foreign: bool) -> None:
    folder = tmp_path / "new" / "out"
    foreign = FOREIGN if has_foreign else []
    make(folder, *foreign)
    files = write(folder, b"1", b"2", b"3", mode=mode)
    names = [pathlib.Path(file.path).name for file in files]
    assert paths_in(folder) == sorted([*foreign, *names])
    assert records_in(*(file.path for file in files)) == [b"1", b"2", b"3"]
    if mode != "append":
        assert names == ["a-00000-of-00002.tfrecord", "a-00001-of-00002.tfrecord"]


OWN = [
    "a-00000-of-00003.tfrecord",
    "a-00001-of-00002.tfrecord",
    "a-00000-of-00002.tfrecord.gz",
    f"a-{ID}-00000-of-00001.tfrecord",
]
"""Files that earlier writes to the prefix ``a`` made, some of them half done."""


@pytest.mark.parametrize("own", OWN)
def test_error_where_there_is_one(tmp_path: pathlib.Path, own: str) -> None:
    make(tmp_path, own, *FOREIGN)
    with pytest.raises(WriteError) as caught:
        write(tmp_path, b"1")
    assert str(caught.value) == (
        f"Expected no files of this data set, found 1 - at {tmp_path / own} "
        "(mode='overwrite' replaces them, 'append' adds to them)"
    )
    assert paths_in(tmp_path) == sorted([own, *FOREIGN])


@pytest.mark.parametrize("own", OWN)
def test_ignore_where_there_is_one(tmp_path: pathlib.Path, own: str) -> None:
    make(tmp_path, own, *FOREIGN)
    assert write(tmp_path, b"1", mode="ignore") == []
    assert paths_in(tmp_path) == sorted([own, *FOREIGN])


@pytest.mark.parametrize(
    ("name", "options"), [("a", {"partition_by": ["day"]}), ("part", {}), ("", {})]
)
def test_files_in_partitions_are_own(
    tmp_path: pathlib.Path, name: str, options: dict[str, Any]
) -> None:
    own = f"month=1/{name or 'part'}-00000-of-00001.tfrecord"
    make(tmp_path, own)
    data, path = pa.table({"day": [7]}), f"{tmp_path}/{name}"
    options = {"num_shards": 1, **options}
    with pytest.raises(WriteError, match=own):
        write_table(data, path, **options)
    [file] = write_table(data, path, mode="overwrite", **options)
    assert [str(tmp_path / each) for each in paths_in(tmp_path)] == [file.path]


def test_append_leaves_all_that_is_there(tmp_path: pathlib.Path) -> None:
    make(tmp_path, *OWN, *FOREIGN)
    files = write(tmp_path, b"1", mode="append") + write(tmp_path, b"2", mode="append")
    names = [pathlib.Path(file.path).name for file in files]
    assert len({*names}) == 4
    assert paths_in(tmp_path) == sorted([*OWN, *FOREIGN, *names])
    assert sorted(records_in(*(file.path for file in files))) == [b"1", b"2"]


def test_overwrite_leaves_new_files_and_foreign_ones(tmp_path: pathlib.Path) -> None:
    make(tmp_path, *OWN, *FOREIGN)
    files = write(tmp_path, b"1", b"2", mode="overwrite")
    names = ["a-00000-of-00002.tfrecord", "a-00001-of-00002.tfrecord"]
    assert paths_in(tmp_path) == sorted([*FOREIGN, *names])
    assert records_in(*(file.path for file in files)) == [b"1", b"2"]


def test_side_cars_of_what_is_replaced_go_too(tmp_path: pathlib.Path) -> None:
    stale = [".a-00001-of-00002.tfrecord.crc", ".a-00000-of-00009.tfrecord.crc", "._SUCCESS.crc"]
    others = [".b.crc", ".a-00007-of-00009.tfrecord.crc"]
    make(tmp_path, "a-00000-of-00009.tfrecord", "_SUCCESS", *stale, *others)
    write(tmp_path, b"1", b"2", mode="overwrite", write_success=True)
    names = ["_SUCCESS", "a-00000-of-00002.tfrecord", "a-00001-of-00002.tfrecord"]
    assert paths_in(tmp_path) == sorted([*names, *others])


def test_files_of_spark_are_replaced_where_the_prefix_is_a_folder(tmp_path: pathlib.Path) -> None:
    names = [f"part-00000-{UUID}-c000.tfrecord", f"part-00000-{UUID}.c000.tfrecord.gz"]
    side_cars = [f".{name}.crc" for name in names]
    make(tmp_path, "a=1/" + names[0], "a=1/" + side_cars[0], names[1], side_cars[1], "b.tfrecord")
    write_table(batch_of(b"1"), f"{tmp_path}/", None, record_type="ByteArray", num_shards=1,
                mode="overwrite")  # fmt: skip
    assert paths_in(tmp_path) == ["b.tfrecord", "part-00000-of-00001.tfrecord"]


def rows(*days: int) -> pa.RecordBatch:
    return pa.record_batch({"day": days, "value": [f"value of {day}" for day in days]})


def write_days(folder: pathlib.Path, *days: int, **options: Any) -> list[WrittenFile]:
    return write_table(rows(*days), f"{folder}/", partition_by=["day"], **options)


NAME = "part-00000-of-00001.tfrecord"


@pytest.mark.parametrize("mode", ["error", "append", "overwrite", "ignore", "overwrite_partitions"])
def test_partitions_in_an_empty_folder(tmp_path: pathlib.Path, mode: str) -> None:
    files = write_days(tmp_path, 1, 2, 1, mode=mode)
    assert paths_in(tmp_path) == sorted(
        str(pathlib.Path(file.path).relative_to(tmp_path)) for file in files
    )
    assert [(file.partition, file.num_records) for file in files] == [
        ((("day", "1"),), 2),
        ((("day", "2"),), 1),
    ]


def test_overwrite_partitions_leaves_those_without_new_records(tmp_path: pathlib.Path) -> None:
    write_days(tmp_path, 1, 2, 3, mode="append")
    before = paths_in(tmp_path)
    make(tmp_path, "day=2/foreign.txt", "other-00000-of-00001.tfrecord")
    write_days(tmp_path, 2, 4, mode="overwrite_partitions")
    assert paths_in(tmp_path) == sorted(
        [
            *(name for name in before if not name.startswith("day=2/")),
            "day=2/foreign.txt",
            f"day=2/{NAME}",
            f"day=4/{NAME}",
            "other-00000-of-00001.tfrecord",
        ]
    )


def test_overwrite_removes_partitions_without_new_records(tmp_path: pathlib.Path) -> None:
    write_days(tmp_path, 1, 2)
    write_days(tmp_path, 2, 4, mode="overwrite")
    assert paths_in(tmp_path) == [f"day=2/{NAME}", f"day=4/{NAME}"]


def test_no_row_makes_no_partition(tmp_path: pathlib.Path) -> None:
    write_days(tmp_path, 1)
    assert write_days(tmp_path, mode="overwrite_partitions") == []
    assert paths_in(tmp_path) == [f"day=1/{NAME}"]
    assert write_days(tmp_path, mode="overwrite") == []
    assert paths_in(tmp_path) == []


@pytest.mark.parametrize("mode", MODES)
def test_leftovers_of_a_write_that_died(tmp_path: pathlib.Path, mode: str) -> None:
    dead, other = f".a-temp-{ID}", f".b-temp-{ID}"
    make(tmp_path, f"{dead}/spill", f"{other}/spill")
    write(tmp_path, b"1", mode=mode)
    hidden = [path for path in paths_in(tmp_path) if path.startswith(".")]
    kept = [other] if mode != "append" else [dead, other]
    assert hidden == sorted(name for each in kept for name in (f"{each}/", f"{each}/spill"))


def test_append_beside_a_write_that_is_putting_files_in_place(tmp_path: pathlib.Path) -> None:
    there = [f".a-temp-{ID}/", f".a-temp-{ID}/x", f"a-{ID}-00000-of-00002.tfrecord"]
    make(tmp_path, *there[1:])
    files = write(tmp_path, b"1", mode="append")
    names = [pathlib.Path(file.path).name for file in files]
    assert paths_in(tmp_path) == sorted([*there, *names])


@pytest.mark.usefixtures("no_waiting")
def test_append_warns_of_a_write_that_died_while_it_put_files_in_place(
    tmp_path: pathlib.Path,
) -> None:
    make(tmp_path, f".a-temp-{ID}/started", f"a-{ID}-00000-of-00002.tfrecord")
    with pytest.warns(UserWarning, match=f"found some .*delete .* the files with {ID} in their"):
        write(tmp_path, b"1", mode="append")


def test_append_waits_for_a_write_that_is_just_ending(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / f".a-temp-{ID}" / "started"
    make(tmp_path, f".a-temp-{ID}/started", f"a-{ID}-00000-of-00001.tfrecord")
    monkeypatch.setattr(time, "sleep", lambda _: mark.unlink(missing_ok=True))
    assert [file.num_records for file in write(tmp_path, b"1", b"2", mode="append")] == [1, 1]


def test_appending_from_several_threads(tmp_path: pathlib.Path) -> None:
    records = [b"%d" % number for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        written = list(threads.map(lambda record: write(tmp_path, record, mode="append"), records))
    assert sorted(records_in(*(file.path for files in written for file in files))) == sorted(
        records
    )
    assert len(paths_in(tmp_path)) == 2 * len(records)


def test_exact_path_in_each_mode(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    make(tmp_path, "a.tfrecord.gz", "a-00000-of-00001.tfrecord")
    before = paths_in(tmp_path)

    def write_one(record: bytes, mode: Any = "error") -> list[WrittenFile]:
        return write_table(batch_of(record), path, record_type="ByteArray", mode=mode)

    assert write_one(b"1") == [WrittenFile(str(path), 1, 17)]
    with pytest.raises(WriteError, match=r"^Expected no file of this name, found one"):
        write_one(b"2")
    assert write_one(b"3", "ignore") == []
    assert records_in(path) == [b"1"]
    write_one(b"4", "overwrite")
    assert records_in(path) == [b"4"]
    assert paths_in(tmp_path) == sorted(["a.tfrecord", *before])


@pytest.mark.parametrize(
    ("mode", "before", "in_all"),
    [
        ("error", 1, 2),
        ("append", 0, 1),
        ("ignore", 0, 2),
        ("overwrite", 0, 1),
        ("overwrite_partitions", 0, 1),
    ],
)
def test_folder_is_listed_where_the_mode_can_refuse_it(
    tmp_path: pathlib.Path, mode: Any, before: int, in_all: int
) -> None:
    options = WriteOptions(tmp_path / "a", mode=mode, partition_by=["id"])
    file_system = mock.Mock(wraps=DirectOutputFileSystem())
    check_mode(options, file_system)
    assert file_system.list_folder.call_count == before
    file_system = mock.Mock(wraps=DirectOutputFileSystem())
    write = start_write(options, file_system)
    plan_cleanup([], options, write, file_system)
    assert file_system.list_folder.call_count == in_all
