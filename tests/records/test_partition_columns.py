"""Tests of tfrecord_beam.records.partition_columns: columns that are folders, read like others."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.frames import framed
from tests.tfxio.pipelines import run
from tests.wire import bytes_list, entry, example, feature_list, int64, sequence_example
from tfrecord_beam import (
    BeamSource,
    DecodeRecordBlocks,
    ReadRecordBlocks,
    SchemaError,
    iter_batches,
    read_table,
)
from tfrecord_beam.records.corruption import CorruptRecord

INT, FLOAT, BYTES = schema_pb2.INT, schema_pb2.FLOAT, schema_pb2.BYTES

BINARIES = pa.large_list(pa.large_binary())
INTEGERS = pa.large_list(pa.int64())
FLOATS = pa.large_list(pa.float32())


def schema_of(**types: int) -> schema_pb2.Schema:
    return schema_pb2.Schema(
        feature=[schema_pb2.Feature(name=name, type=each) for name, each in types.items()]
    )


def write(root: pathlib.Path, folder: str, *records: bytes, name: str = "part-0") -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / folder / name).write_bytes(framed(*records))


def numbered(*numbers: int) -> list[bytes]:
    return [example(entry("n", int64(number))) for number in numbers]


def read(path: Any, schema: Any = None, **options: Any) -> pa.Table:
    """Reads as one table, as batches and through Beam, which must be the same rows."""
    table = read_table(path, schema, partition_columns="hive", **options)
    table.validate(full=True)
    batches = list(iter_batches(path, schema, partition_columns="hive", **options))
    rows = [row for batch in batches for row in batch.to_pylist()]
    for row, expected in zip(rows, table.to_pylist(), strict=True):
        assert {**dict.fromkeys(table.schema.names), **row} == expected
    for batch in batches:
        assert [name for name in table.schema.names if name in batch.schema.names] == (
            batch.schema.names
        )
    for steps in (
        [BeamSource(path, schema, partition_columns="hive", **options)],
        [ReadRecordBlocks(path), DecodeRecordBlocks(schema, partition_columns="hive", **options)],
    ):
        found = [row for batch in run(*steps).elements for row in batch.to_pylist()]
        assert sorted(map(str, found)) == sorted(map(str, rows))
    return table


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with two levels of partitions."""
    out = tmp_path / "out"
    write(out, "day=1/c=a", *numbered(1, 2))
    write(out, "day=1/c=__HIVE_DEFAULT_PARTITION__", *numbered(3))
    write(out, "day=02/c=", *numbered(4))
    write(out, "day=02/c=%C3%BC%2F中", *numbered(5, 6))
    return out


ROWS: list[dict[str, Any]] = [
    {"c": ["ü/中".encode()], "day": [b"02"], "n": [5]},
    {"c": ["ü/中".encode()], "day": [b"02"], "n": [6]},
    {"c": [b""], "day": [b"02"], "n": [4]},
    {"c": None, "day": [b"1"], "n": [3]},
    {"c": [b"a"], "day": [b"1"], "n": [1]},
    {"c": [b"a"], "day": [b"1"], "n": [2]},
]


def by_number(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["n"][0]))


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("", {1, 2, 3, 4, 5, 6}),
        ("/", {1, 2, 3, 4, 5, 6}),
        ("/day=*/c=*/part-*", {1, 2, 3, 4, 5, 6}),
        ("/**/part-0", {1, 2, 3, 4, 5, 6}),
        ("/day=1/", {1, 2, 3}),
        ("/day=1", {1, 2, 3}),
        ("/day=1/*/", {1, 2, 3}),
        ("/day=1/c=a/part-0", {1, 2}),
        ("/day=[0]*/c=/", {4}),
    ],
)
def test_rows_are_the_same_whatever_the_pattern(
    root: pathlib.Path, pattern: str, numbers: set[int]
) -> None:
    table = read(str(root) + pattern)
    assert table.schema == pa.schema([("c", BINARIES), ("day", BINARIES), ("n", INTEGERS)])
    expected = [row for row in ROWS if row["n"][0] in numbers]
    assert by_number(table.to_pylist()) == by_number(expected)


def test_several_patterns(root: pathlib.Path) -> None:
    assert read([root / "day=1", root / "day=02"]).num_rows == len(ROWS)


def test_without_the_option_folders_are_no_columns(root: pathlib.Path) -> None:
    assert read_table(root).schema.names == ["n"]


def test_types_are_those_of_the_schema(root: pathlib.Path) -> None:
    table = read(root, schema_of(day=INT, n=INT, c=BYTES))
    assert table.schema == pa.schema([("day", INTEGERS), ("n", INTEGERS), ("c", BINARIES)])
    assert set(map(str, table.column("day").to_pylist())) == {"[1]", "[2]"}


def test_what_is_not_in_the_schema_comes_last_as_bytes(root: pathlib.Path) -> None:
    table = read(root, schema_of(missing=INT, day=FLOAT, n=INT), raw_record_column_name="raw")
    assert table.schema.names == ["missing", "day", "n", "c", "raw"]
    assert table.schema.field("day").type == FLOATS
    assert table.schema.field("c").type == BINARIES
    assert table.column("missing").null_count == len(ROWS)
    assert set(map(str, table.column("day").to_pylist())) == {"[1.0]", "[2.0]"}


@pytest.mark.parametrize("columns", [["n", "day"], ["day", "n"], ["day"], ["n"], []])
@pytest.mark.parametrize("schema", [None, schema_of(c=BYTES, day=INT, n=INT)])
def test_chosen_columns(root: pathlib.Path, columns: list[str], schema: Any) -> None:
    table = read(root, schema, columns=columns)
    assert table.schema.names == columns
    assert table.num_rows == len(ROWS)
    if "day" in columns:
        assert table.schema.field("day").type == (BINARIES if schema is None else INTEGERS)


def test_a_column_of_some_files_is_null_in_the_others(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "", *numbered(1))
    write(tmp_path, "a=x", *numbered(2))
    write(tmp_path, "a=x/b=y", *numbered(3))
    expected: list[dict[str, Any]] = [
        {"a": None, "b": None, "n": [1]},
        {"a": [b"x"], "b": [b"y"], "n": [3]},
        {"a": [b"x"], "b": None, "n": [2]},
    ]
    assert by_number(read(tmp_path).to_pylist()) == by_number(expected)
    table = read(tmp_path, schema_of(n=INT, a=BYTES))
    assert table.schema.names == ["n", "a", "b"]
    assert by_number(table.to_pylist()) == by_number(expected)


def test_folders_in_between_are_passed_over(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "lr=0.1", "out/day=1/chunk0", *numbered(1), name="part=0")
    table = read(tmp_path)
    assert table.to_pylist() == [{"day": [b"1"], "lr": [b"0.1"], "n": [1]}]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("-7", INT, [-7]),
        ("007", INT, [7]),
        ("true", INT, [1]),
        ("false", INT, [0]),
        ("9223372036854775807", INT, [2**63 - 1]),
        ("-9223372036854775808", INT, [-(2**63)]),
        ("7", FLOAT, [7.0]),
        ("-inf", FLOAT, [float("-inf")]),
        ("1e%2D3", FLOAT, [pa.scalar(0.001, pa.float32()).as_py()]),
        ("__HIVE_DEFAULT_PARTITION__", INT, None),
        ("__HIVE_DEFAULT_PARTITION__", FLOAT, None),
        ("%FF", BYTES, [b"\xff"]),
    ],
)
def test_value_of_a_kind(
    tmp_path: pathlib.Path, text: str, kind: int, expected: list[Any] | None
) -> None:
    write(tmp_path, f"p={text}", *numbered(1))
    assert read(tmp_path, schema_of(p=kind)).to_pylist() == [{"p": expected}]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, INT) for text in ("", "1.0", "0x10", "1_0", "%201", "9223372036854775808", "x")),
        *((text, INT) for text in ("True", "2024-01-02", "%D9%A1", "+1")),
        *((text, FLOAT) for text in ("", "x", "1e300", "true", "1_0", "%FF")),
    ],
)
def test_text_that_is_no_value_of_the_kind(tmp_path: pathlib.Path, text: str, kind: int) -> None:
    write(tmp_path, f"p={text}", *numbered(1))
    name = "int64_list" if kind == INT else "float_list"
    with pytest.raises(SchemaError) as caught:
        read_table(tmp_path, schema_of(p=kind), partition_columns="hive")
    assert str(caught.value).startswith(f"Expected {name} for feature 'p', found p=b")
    assert caught.value.file == str(tmp_path / f"p={text}" / "part-0")


@pytest.mark.parametrize("schema", [None, schema_of(p=BYTES), schema_of(n=INT)])
@pytest.mark.parametrize("feature", [int64(3), bytes_list(b"1"), bytes_list()])
def test_a_feature_of_the_same_name_is_an_error(
    tmp_path: pathlib.Path, schema: Any, feature: bytes
) -> None:
    write(tmp_path, "p=1", *numbered(1), example(entry("p", feature)), *numbered(2))
    with pytest.raises(SchemaError, match=r"^Expected no feature 'p' in records of .*part-0 \("):
        read_table(tmp_path, schema, partition_columns="hive")
    with pytest.raises(SchemaError, match=r"^Expected no feature 'p' in records of a folder p="):
        run(BeamSource(tmp_path, schema, partition_columns="hive"))
    assert read(tmp_path, schema, columns=[]).num_rows == 3


def test_a_feature_of_no_kind_is_none(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "p=1", example(entry("p")))
    assert read(tmp_path).to_pylist() == [{"p": [b"1"]}]
    assert read(tmp_path, schema_of(p=INT)).to_pylist() == [{"p": [1]}]


def test_a_name_that_comes_twice(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "p=1/p=2", *numbered(1))
    with pytest.raises(SchemaError, match="found 'p' twice"):
        read_table(tmp_path, partition_columns="hive")


def test_records_with_steps(tmp_path: pathlib.Path) -> None:
    record = sequence_example(
        feature_list("s", int64(1), int64(2)), context=example(entry("n", int64(7)))
    )
    write(tmp_path, "z=1", record)
    options: dict[str, Any] = {
        "record_type": "SequenceExample",
        "raw_record_column_name": "raw",
    }
    expected = {"n": [7], "z": [b"1"], "##SEQUENCE##": {"s": [[1], [2]]}, "raw": [record]}
    table = read(tmp_path, **options)
    assert table.to_pylist() == [expected]
    assert table.schema.names == list(expected)
    schema = schema_of(z=INT)
    schema.feature.add(
        name="##SEQUENCE##",
        type=schema_pb2.STRUCT,
        struct_domain={"feature": schema_of(s=INT).feature},
    )
    table = read(tmp_path, schema, **options)
    assert table.to_pylist() == [{"z": [1], "##SEQUENCE##": {"s": [[1], [2]]}, "raw": [record]}]


def test_records_of_any_content(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "p=1", b"\xff", b"")
    assert read(tmp_path, record_type="ByteArray").to_pylist() == [
        {"byteArray": [b"\xff"], "p": [b"1"]},
        {"byteArray": [b""], "p": [b"1"]},
    ]


def test_the_name_of_the_raw_column(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "raw=1", *numbered(1))
    with pytest.raises(SchemaError, match="Expected no feature 'raw' in records"):
        read_table(tmp_path, raw_record_column_name="raw", partition_columns="hive")


def test_other_forms(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "day=2024-01-02", *numbered(1, 2))
    table = read_table(tmp_path, scalars=["day", "n"], strings=["day"], partition_columns="hive")
    assert table.to_pylist() == [{"day": "2024-01-02", "n": 1}, {"day": "2024-01-02", "n": 2}]


def test_records_that_go_aside(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "p=1", *numbered(1), b"\xff", *numbered(2))
    aside: list[CorruptRecord] = []
    table = read_table(tmp_path, partition_columns="hive", error_handler=aside.append)
    assert table.to_pylist() == [{"n": [1], "p": [b"1"]}, {"n": [2], "p": [b"1"]}]
    assert [record.record for record in aside] == [1]


def test_no_rows(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "p=1")
    assert read(tmp_path, schema_of(p=INT)).schema == pa.schema([("p", INTEGERS)])


def test_pairs_with_the_file(root: pathlib.Path) -> None:
    source = BeamSource(root, with_filename=True, partition_columns="hive")
    found = {path: batch.column("day").to_pylist() for path, batch in run(source).elements}
    assert set(map(str, found.values())) == {
        "[[b'1'], [b'1']]",
        "[[b'1']]",
        "[[b'02']]",
        "[[b'02'], [b'02']]",
    }
    assert all(f"day={days[0][0].decode()}/" in path for path, days in found.items())
    assert pickle.loads(pickle.dumps(source)).display_data() == source.display_data()
