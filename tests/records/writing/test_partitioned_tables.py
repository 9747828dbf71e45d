"""Tables to folders by the values of columns, and back with these columns: nothing is changed."""

from __future__ import annotations

import datetime
import pathlib
import tempfile
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.tfxio.pipelines import run
from tfrecord_beam import BeamSource, SchemaError, WriteToTFRecord, read_table, write_table
from tfrecord_beam.records.hive import format_path

INT, FLOAT, BYTES = schema_pb2.INT, schema_pb2.FLOAT, schema_pb2.BYTES


def schema_of(**types: int) -> schema_pb2.Schema:
    return schema_pb2.Schema(
        feature=[schema_pb2.Feature(name=name, type=each) for name, each in types.items()]
    )


def by_number(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: int(row["n"][0]))


TEXTS = st.one_of(
    st.none(),
    st.text(st.characters(codec="utf-8"), max_size=6),
    st.sampled_from(["__HIVE_DEFAULT_PARTITION__", "", ".", "..", "a/b", "%41", "_a", "*", "a=b"]),
)
INTEGERS = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))


@given(
    st.lists(st.tuples(TEXTS, INTEGERS), min_size=1, max_size=12),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=5).filter(
        lambda name: name not in ("n", "i") and "\0" not in name  # which no column may have
    ),
)
def test_rows_come_back(rows: list[tuple[str | None, int | None]], name: str) -> None:
    table = pa.table(
        {
            "n": range(len(rows)),
            name: pa.array([text for text, _ in rows], pa.string()),
            "i": pa.array([number for _, number in rows], pa.int64()),
        }
    )
    expected = [
        {
            "n": [index],
            name: None if text is None else [text.encode()],
            "i": None if number is None else [number],
        }
        for index, (text, number) in enumerate(rows)
    ]
    schema = schema_of(n=INT, **{name: BYTES}, i=INT)
    with tempfile.TemporaryDirectory() as folder:
        files = write_table(table, f"{folder}/", schema, partition_by=[name, "i"])
        for file in files:
            assert file.path.startswith(f"{folder}/{format_path(file.partition)}/part-")
        read = read_table(folder, schema, partition_columns="hive")
        assert read.schema.names == ["n", name, "i"]
        assert by_number(read) == expected
        without = read_table(folder, partition_columns="hive")
        assert by_number(without.select([name, "n"])) == [
            {name: row[name], "n": row["n"]} for row in expected
        ]


def test_other_types_come_back(tmp_path: pathlib.Path) -> None:
    table = pa.table(
        {
            "n": [1, 2],
            "bool": [True, False],
            "day": [datetime.date(2024, 1, 2), None],
            "bytes": [[b"a"], [b"b"]],
        }
    )
    columns = ["bool", "day", "bytes"]
    write_table(table, f"{tmp_path}/", partition_by=columns)
    schema = schema_of(n=INT, bool=INT, day=BYTES, bytes=BYTES)
    assert by_number(read_table(tmp_path, schema, partition_columns="hive")) == [
        {"n": [1], "bool": [1], "day": [b"2024-01-02"], "bytes": [b"a"]},
        {"n": [2], "bool": [0], "day": None, "bytes": [b"b"]},
    ]


@pytest.mark.parametrize(
    ("column", "kind", "text"),
    [
        (pa.array(["x"]), INT, "Expected int64_list for feature 'p', found bytes_list"),
        (pa.array([1]), BYTES, "Expected bytes_list for feature 'p', found int64_list"),
        (
            pa.array([datetime.date(2024, 1, 1)]),
            INT,
            "Expected int64_list for feature 'p', found bytes_list",
        ),
    ],
)
def test_columns_that_would_not_come_back(
    tmp_path: pathlib.Path, column: pa.Array, kind: int, text: str
) -> None:
    with pytest.raises(SchemaError, match=text):
        write_table(
            {"n": [1], "p": column}, f"{tmp_path}/", schema_of(n=INT, p=kind), partition_by=["p"]
        )


def test_values_of_two_kinds_in_one_folder(tmp_path: pathlib.Path) -> None:
    batches = [pa.record_batch({"p": [1], "n": [1]}), pa.record_batch({"p": ["1"], "n": [2]})]
    with pytest.raises(SchemaError, match="Expected one kind for feature 'p', found bytes_list in"):
        write_table(iter(batches), f"{tmp_path}/", partition_by=["p"])


def test_through_beam(tmp_path: pathlib.Path) -> None:
    rows = [{"n": n, "day": f"2024-01-{n % 3 + 1:02}", "hour": n % 2 or None} for n in range(20)]
    schema = schema_of(hour=INT, n=INT, day=BYTES)
    write = WriteToTFRecord(f"{tmp_path}/out/", schema, partition_by=["day", "hour"], num_shards=2)
    with beam.Pipeline() as pipeline:
        _ = pipeline | beam.Create(rows) | write
    source = BeamSource(f"{tmp_path}/out/day=*/*/*.tfrecord", schema, partition_columns="hive")
    table = pa.Table.from_batches(run(source).elements)
    assert table.schema.names == ["hour", "n", "day"]
    assert by_number(table) == [
        {
            "hour": [row["hour"]] if row["hour"] else None,
            "n": [row["n"]],
            "day": [str(row["day"]).encode()],
        }
        for row in rows
    ]
