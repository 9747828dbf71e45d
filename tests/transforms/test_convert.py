"""ConvertFiles gives what `convert` gives, shard by shard."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.frames import framed
from tests.tfxio.pipelines import run
from tfrecord_beam import (
    DecodeError,
    SchemaError,
    WriteError,
    convert,
    count,
    read_table,
    write_table,
)
from tfrecord_beam.records.convert.conversion import plan_conversion
from tfrecord_beam.records.paths import DirectFileSystem
from tfrecord_beam.transforms.convert import ConvertFiles
from tfrecord_beam.transforms.metrics import NAMESPACE

TABLES = [pa.table({"n": [i, i + 10, None], "s": ["a", None, f"é{i}"]}) for i in range(3)]


def plan(source: Any, target: Any, **options: Any) -> ConvertFiles:
    defaults = dict.fromkeys(("source_format", "target_format", "columns", "column_names"))
    schema = options.pop("schema", None)
    options = {**defaults, "compression": "auto", **options}
    return ConvertFiles(plan_conversion(source, target, schema, DirectFileSystem(), **options))


@pytest.fixture
def records(tmp_path: pathlib.Path) -> pathlib.Path:
    for number, table in enumerate(TABLES):
        write_table(table, tmp_path / "in" / f"{number}.tfrecord")
    return tmp_path / "in"


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".csv.gz", ".jsonl", ".arrow", ".arrows"])
def test_there_and_back(records: pathlib.Path, tmp_path: pathlib.Path, suffix: str) -> None:
    target = tmp_path / "out" / f"a{suffix}"
    result = run(plan(records, target))
    names = [f"a-{number:05}-of-00003{suffix}" for number in range(3)]
    assert sorted(os.listdir(tmp_path / "out")) == names
    assert [
        (os.path.basename(file.path), file.num_records) for file in sorted(result.elements)
    ] == [(name, 3) for name in names]
    assert result.in_namespace(NAMESPACE)["records_written"] == 9
    for number, name in enumerate(names):  # the same as without Beam, but for the common schema
        alone = tmp_path / "alone" / name
        convert(records / f"{number}.tfrecord", alone)
        assert alone.read_bytes() == (tmp_path / "out" / name).read_bytes()
    back = run(plan(tmp_path / "out", tmp_path / "back" / "b.tfrecord.gz")).elements
    assert all(".tfrecord.gz" in file.path and "/b-00000-of-" in file.path for file in back[:1])
    rows = [repr(row) for row in read_table(tmp_path / "back").to_pylist()]
    assert sorted(rows) == sorted(repr(row) for row in read_table(records).to_pylist())


def test_one_file(tmp_path: pathlib.Path) -> None:
    write_table(TABLES[0], tmp_path / "a.tfrecord")
    [written] = run(plan(tmp_path / "a.tfrecord", tmp_path / "a.parquet")).elements
    assert written.path == str(tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 3


def test_parquet_of_many_row_groups(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfrecord_beam.transforms.convert.MIN_RANGE_BYTES", 1)
    for number in range(2):
        table = pa.table({"n": range(number * 100, number * 100 + 100)})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=7)
    result = run(plan(tmp_path, tmp_path / "out" / "a.tfrecord"))
    assert result.in_namespace(NAMESPACE)["batches"] == 30
    rows = read_table(tmp_path / "out").column("n").to_pylist()
    assert sorted(rows) == [[n] for n in range(200)]


def test_columns_of_records(tmp_path: pathlib.Path) -> None:
    write_table({"a": [1], "b": [2]}, tmp_path / "day=1" / "a.tfrecord")
    options: dict[str, Any] = {"columns": ["day", "b"], "partition_columns": "hive"}
    run(plan(tmp_path / "day=1", tmp_path / "out.tfrecord", **options))
    assert read_table(tmp_path / "out*").to_pylist() == [{"b": [2], "day": [b"1"]}]
    with pytest.raises(SchemaError, match="found 'c'"):
        run(plan(tmp_path / "day=1", tmp_path / "no.tfrecord", columns=["c"]))


def test_records_are_copied(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.tfrecord").write_bytes(framed(b"no message", b""))
    options = {"write_options": {"num_shards": 1, "shard_name_template": ""}}
    run(plan(tmp_path / "a.tfrecord", tmp_path / "b", **options))
    assert (tmp_path / "b.tfrecord").read_bytes() == framed(b"no message", b"")


def test_options(records: pathlib.Path, tmp_path: pathlib.Path) -> None:
    options = {"write_options": {"num_shards": 2}, "compression": "zlib"}
    run(plan(records, tmp_path / "out" / "x", columns=["n"], **options))
    assert len(list((tmp_path / "out").glob("x-0000?-of-00002.tfrecord.deflate"))) == 2
    table = read_table(tmp_path / "out")
    assert table.schema.names == ["n"]
    assert table.num_rows == 9


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("a", "a-00000-of-00001.tfrecord"),
        ("a.tfrecord.gz", "a-00000-of-00001.tfrecord.gz"),
        ("a.tfr", "a-00000-of-00001.tfr"),
        ("a.TFRecords", "a-00000-of-00001.TFRecords"),
    ],
)
def test_shards_are_called_the_same_with_beam_and_without(
    records: pathlib.Path, tmp_path: pathlib.Path, target: str, name: str
) -> None:
    [alone] = convert(records, tmp_path / "alone" / target, num_shards=1)
    options = {"write_options": {"num_shards": 1}}
    [file] = run(plan(records, tmp_path / "beam" / target, **options)).elements
    assert (alone.path, file.path) == (
        str(tmp_path / "alone" / name),
        str(tmp_path / "beam" / name),
    )


def test_files_that_are_there(records: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a-00001-of-00003.csv").write_text("old")
    with pytest.raises(WriteError, match=r"a-00001-of-00003\.csv"):
        plan(records, tmp_path / "a.csv")
    run(plan(records, tmp_path / "a.csv", mode="overwrite"))
    assert (tmp_path / "a-00001-of-00003.csv").read_text() != "old"


def test_file_that_comes_while_the_pipeline_waits(
    records: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    first, second, third = (plan(records, tmp_path / "a.csv") for _ in range(3))
    other = tmp_path / "a-00001-of-00003.csv"
    other.write_text("of another")
    with pytest.raises(WriteError, match=r"found one - at .*a-00001-of-00003\.csv"):
        run(first)
    assert other.read_text() == "of another"
    other.unlink()
    run(second)
    whole = other.read_bytes()
    assert sum(file.num_records for file in run(third).elements) == 9  # as an attempt that is late
    assert other.read_bytes() == whole
    assert not [name for name in os.listdir(tmp_path) if name[0] == "."]


def test_error_leaves_nothing(records: pathlib.Path, tmp_path: pathlib.Path) -> None:
    write_table({"n": pa.array([[1, 2]])}, records / "9.tfrecord")
    with pytest.raises(DecodeError, match=r"for feature 'n', found 2 .*9\.tfrecord, record 0"):
        run(plan(records / "9.tfrecord", tmp_path / "a.csv", scalars=["n"]))
    assert os.listdir(tmp_path) == ["in"]


def test_partitions(tmp_path: pathlib.Path) -> None:
    table = pa.table({"n": [1, 2, 3], "p": ["a", "b", "a"]})
    pq.write_table(table, tmp_path / "a.parquet")
    options = {"write_options": {"partition_by": ["p"]}}
    run(plan(tmp_path / "a.parquet", tmp_path / "out" / "part", **options))
    assert sorted(os.listdir(tmp_path / "out")) == ["p=a", "p=b"]
    run(plan(tmp_path / "out", tmp_path / "b.jsonl", partition_columns="hive"))
    lines = "".join(path.read_text() for path in sorted(tmp_path.glob("b-*.jsonl")))
    assert sorted(lines.splitlines()) == [
        '{"n": 1, "p": "a"}',
        '{"n": 2, "p": "b"}',
        '{"n": 3, "p": "a"}',
    ]
    assert count(tmp_path / "out") == 3


def test_target_that_is_not_utf8(tmp_path: pathlib.Path) -> None:
    write_table(TABLES[0], tmp_path / "a.tfrecord")
    for name in ("b\udcff.csv", "b\udcff.tfrecord"):
        with pytest.raises(ValueError, match=r"^Expected file names in UTF-8, found '.*b\\udcff"):
            plan(tmp_path / "a.tfrecord", tmp_path / name)
