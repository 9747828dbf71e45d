"""Hive-style folders by the values of columns, and those columns back."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest

from tests.contract.partitions import by_key, keyed
from tests.contract.writing import (
    Write,
    check_written,
    names,
    numbers,
    records_of,
    tree,
    visible,
    write_by_beam,
    write_by_table,
    x_of,
)
from tests.schema.schemas import parse_schema
from tests.tfxio.pipelines import run
from tfrecord_beam import (
    BeamSource,
    SchemaError,
    TFRecordBeamError,
    iter_batches,
    read_table,
    write_table,
)

ESCAPED = {
    "plain": "plain",
    "a/b": "a%2Fb",
    "k=v": "k%3Dv",
    "100%": "100%25",
    "a:b": "a%3Ab",
    "#\"'": "%23%22%27",
    "*?": "%2A%3F",
    "[x]{y}": "%5Bx%5D%7By}",
    "back\\slash": "back%5Cslash",
    "tab\tnew\nline": "tab%09new%0Aline",
    " blank ": " blank ",
    "a,b&c;d+e~f": "a,b&c;d+e~f",
    ".hidden": ".hidden",
    "_hidden": "_hidden",
    "Grüße, 世界": "Grüße, 世界",
    "007": "007",
    "": "",
    "..": "..",
    "__HIVE_DEFAULT_PARTITION__": "%5F_HIVE_DEFAULT_PARTITION__",
}
"""Values, and how Spark and Hive write them in names of folders."""


def test_texts(write: Write, tmp_path: pathlib.Path) -> None:
    texts = [*ESCAPED, None]
    keys = pa.array(texts * 2, pa.string())
    written = write([keyed(keys)], tmp_path / "a", partition_by=["k"])
    check_written(written, tmp_path)
    folders = {f"k={text}" for text in (*ESCAPED.values(), "__HIVE_DEFAULT_PARTITION__")}
    assert {path.name for path in tmp_path.iterdir()} == folders
    size = len(texts)
    expected = {text: [row, row + size] for row, text in enumerate(texts)}
    found = by_key(tmp_path)
    assert {
        key if key is None else key.decode(): sorted(rows) for key, rows in found.items()
    } == expected
    assert {file.partition for file in written} == {(("k", text),) for text in texts}
    # The column is in the names of folders alone.
    assert read_table(tmp_path).column_names == ["x"]


TYPED = [
    (pa.array([7, -7, 0, 2**63 - 1, None], pa.int64()), ["7", "-7", "0", str(2**63 - 1), None]),
    (pa.array([1, 255], pa.uint8()), ["1", "255"]),
    (pa.array([True, False, None]), ["true", "false", None]),
    (pa.array([b"x", b"\xc3\xa9"], pa.binary()), ["x", "é"]),
    (pa.array(["x", "y"], pa.large_string()), ["x", "y"]),
    (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y"]),
    (pa.array([datetime.date(2024, 1, 31), None]), ["2024-01-31", None]),
    (pa.array([["x"], None, ["y"]], pa.list_(pa.string())), ["x", None, "y"]),
    (pa.array([[5], [6]], pa.large_list(pa.int64())), ["5", "6"]),
]


@pytest.mark.parametrize(("keys", "texts"), TYPED, ids=lambda keys: str(getattr(keys, "type", "")))
def test_types(tmp_path: pathlib.Path, keys: pa.Array, texts: list[str | None]) -> None:
    written = write_by_table([keyed(keys)], tmp_path / "a", partition_by=["k"])
    assert {file.partition for file in written} == {(("k", text),) for text in texts}
    found = {None if key is None else key.decode() for key in by_key(tmp_path)}
    assert found == set(texts)
    assert sorted(x_of(tmp_path)) == list(range(len(keys)))


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([0.1, 1e300, -0.0, float("inf")], pa.float64()),
        pa.array([0.1, 3.4e38], pa.float32()),
        pa.array([decimal.Decimal("1.20"), decimal.Decimal("-0.01")]),
        pa.array([1, 1_700_000_000_123_456], pa.timestamp("us")),
        pa.array([1, 1_700_000_000_123], pa.timestamp("ms", "UTC")),
        pa.array([b"\xff", b"\xfe"], pa.binary()),
    ],
    ids=lambda keys: str(keys.type),
)
def test_types_that_keep_rows_apart_or_are_refused(tmp_path: pathlib.Path, keys: pa.Array) -> None:
    try:
        written = write_by_table([keyed(keys)], tmp_path / "a", partition_by=["k"])
    except TFRecordBeamError as error:
        assert "'k'" in str(error)
        assert tree(tmp_path) == {}
    else:
        assert len({file.partition for file in written}) == len(keys)
        assert sorted(x_of(tmp_path)) == list(range(len(keys)))


SCHEMA = parse_schema(
    """
    feature { name: "k" type: INT }
    feature { name: "f" type: FLOAT }
    feature { name: "x" type: INT presence { min_fraction: 1 } }
    """
)


def test_kinds_are_those_of_the_schema(write: Write, tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch(
        {
            "k": pa.array([7, 8, None], pa.int64()),
            "f": pa.array(["0.5", "-1e3", "7"]),
            "x": pa.array([0, 1, 2], pa.int64()),
        }
    )
    write([batch], tmp_path / "a", partition_by=["k", "f"])
    assert (tmp_path / "k=7" / "f=0.5").is_dir()
    expected = [
        {"k": [7], "f": [0.5], "x": [0]},
        {"k": [8], "f": [-1000.0], "x": [1]},
        {"k": None, "f": [7.0], "x": [2]},
    ]
    readings = [
        read_table(tmp_path, SCHEMA, partition_columns="hive").to_pylist(),
        [
            row
            for batch in iter_batches(tmp_path, SCHEMA, partition_columns="hive")
            for row in batch.to_pylist()
        ],
        [
            row
            for batch in run(BeamSource(str(tmp_path), SCHEMA, partition_columns="hive")).elements
            for row in batch.to_pylist()
        ],
    ]
    for rows in readings:
        assert sorted(rows, key=lambda row: row["x"]) == expected
    table = read_table(tmp_path, SCHEMA, partition_columns="hive")
    assert table.schema.field("k").type == pa.large_list(pa.int64())
    assert table.schema.field("f").type == pa.large_list(pa.float32())
    by_looks = read_table(tmp_path, partition_columns="hive")
    assert by_looks.schema.field("k").type == pa.large_list(pa.large_binary())


def test_text_that_is_no_number(tmp_path: pathlib.Path) -> None:
    write_table(keyed(pa.array(["x"])), str(tmp_path / "a"), partition_by=["k"])
    with pytest.raises(SchemaError, match=r"'k'.*k=x/a-00000-of-00001\.tfrecord"):
        read_table(tmp_path, SCHEMA, partition_columns="hive")


def test_columns_left_in_the_records(write: Write, tmp_path: pathlib.Path) -> None:
    keys = pa.array(["x", None, "y"], pa.string())
    write([keyed(keys)], tmp_path / "a", partition_by=["k"], keep_partition_columns=True)
    rows = read_table(tmp_path).to_pylist()
    assert sorted(rows, key=lambda row: row["x"]) == [
        {"k": [b"x"], "x": [0]},
        {"k": None, "x": [1]},
        {"k": [b"y"], "x": [2]},
    ]
    with pytest.raises(SchemaError, match="'k'"):
        read_table(tmp_path, partition_columns="hive")


def test_several_columns_in_the_order_asked_for(write: Write, tmp_path: pathlib.Path) -> None:
    batch = numbers(0, 6)
    for name in ("m", "y"):
        batch = batch.append_column(name, pa.array([f"{name}{i % 2}" for i in range(6)]))
    written = write([batch], tmp_path / "a", partition_by=["y", "m"], num_shards=2)
    assert names(tmp_path) == [
        f"y=y{i}/m=m{i}/a-0000{shard}-of-00002.tfrecord" for i in (0, 1) for shard in (0, 1)
    ]
    check_written(written, tmp_path)
    assert {file.partition for file in written} == {
        (("y", f"y{i}"), ("m", f"m{i}")) for i in (0, 1)
    }


@contextmanager
def few_open_files(most: int) -> Iterator[None]:
    """Lets this process open no file whose number is `most` or above."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_thousand_partitions_with_few_open_files(write: Write, tmp_path: pathlib.Path) -> None:
    keys = pa.array([f"key {i * 7 % 1000}" for i in range(3000)])
    batch = keyed(keys)
    with few_open_files(120):
        written = write(
            [batch.slice(0, 1700), batch.slice(1700)], tmp_path / "a", partition_by=["k"]
        )
    assert len(written) == 1000
    assert {file.num_records for file in written} == {3}
    check_written(written, tmp_path)
    assert by_key(tmp_path) == {
        b"key %d" % (i * 7 % 1000): [i, i + 1000, i + 2000] for i in range(1000)
    }


def test_bounds_within_partitions(tmp_path: pathlib.Path) -> None:
    keys = pa.array([["x", "y"][i % 2] for i in range(20)])
    written = write_by_table(
        [keyed(keys)], tmp_path / "a", partition_by=["k"], max_records_per_shard=4
    )
    assert sorted(file.num_records for file in written) == [2, 2, 4, 4, 4, 4]
    check_written(written, tmp_path)


def test_no_rows_give_no_partition(write: Write, tmp_path: pathlib.Path) -> None:
    assert write([keyed(pa.array([], pa.string()))], tmp_path / "a", partition_by=["k"]) == []
    assert tree(tmp_path) == {}


def test_columns_of_strange_names(tmp_path: pathlib.Path) -> None:
    name = "a/b=c ü%"
    write_by_table([keyed(pa.array(["x"]), name)], tmp_path / "a", partition_by=[name])
    assert by_key(tmp_path, name) == {b"x": [0]}


@pytest.mark.parametrize("name", ["_k", ".k"])
def test_columns_whose_folders_would_be_hidden(tmp_path: pathlib.Path, name: str) -> None:
    """Readers skip such folders: rows may not get lost in them."""
    try:
        write_by_table([keyed(pa.array(["x"]), name)], tmp_path / "a", partition_by=[name])
    except ValueError as error:
        assert name in str(error)
    else:
        assert by_key(tmp_path, name) == {b"x": [0]}


def test_several_values_in_a_row(write: Write, tmp_path: pathlib.Path) -> None:
    keys = pa.array([["x"], ["x", "y"]], pa.list_(pa.string()))
    with pytest.raises(TFRecordBeamError, match=r"'k'.*record 1|record 1.*'k'"):
        write([keyed(keys)], tmp_path / "a", partition_by=["k"])
    assert visible(tmp_path) == []


def test_columns_that_are_not_there(write: Write, tmp_path: pathlib.Path) -> None:
    with pytest.raises(SchemaError, match="'lost'"):
        write([numbers(0, 3)], tmp_path / "a", partition_by=["x", "lost"])
    assert visible(tmp_path) == []


def test_records_of_partitions_by_all_columns(write: Write, tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch({"k": pa.array(["x", "x", "y"])})
    written = write([batch], tmp_path / "a", partition_by=["k"])
    assert sum(records_of(written).values()) == 3
    table = read_table(tmp_path, partition_columns="hive")
    assert table.column("k").to_pylist() == [[b"x"], [b"x"], [b"y"]]


def test_bytes_have_no_columns(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="'k'"):
        write_by_beam([b"record"], tmp_path / "a", partition_by=["k"])
    assert visible(tmp_path) == []
