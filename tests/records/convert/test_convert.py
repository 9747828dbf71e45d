"""Tests of conversions between TFRecord and other formats."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf import text_format
from hypothesis import HealthCheck, given, settings, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.frames import framed
from tfrecord_beam import convert, count, read_table, write_table
from tfrecord_beam.errors import (
    CorruptRecordError,
    DecodeError,
    EncodeError,
    NoMatchError,
    SchemaError,
    WriteError,
)
from tfrecord_beam.kernel.reference.protos import SequenceExample

TABLE = pa.table(
    {
        "f": pa.array([0.5, None, -0.0], pa.float32()),
        "i": pa.array([1, None, -3]),
        "l": pa.array([[1, 2], [], None]),
        "s": pa.array(["a", "é", None]),
    }
)
NAMES = ["a.parquet", "a.arrow", "a.arrows", "a.csv", "a.csv.gz", "a.jsonl"]
FLAT = TABLE.drop_columns(["l"])


def schema_of(text: str) -> schema_pb2.Schema:
    return text_format.Parse(text, schema_pb2.Schema())


SCHEMA = schema_of(
    """
    feature { name: "f" type: FLOAT shape {} }
    feature { name: "i" type: INT value_count { max: 1 } }
    feature { name: "l" type: INT }
    feature { name: "s" type: BYTES shape {} string_domain {} }
    """
)


@pytest.fixture
def records(tmp_path: pathlib.Path) -> str:
    """A TFRecord file of the table."""
    path = str(tmp_path / "in" / "a.tfrecord")
    write_table(TABLE, path)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(tmp_path: pathlib.Path, name: str) -> None:
    """The same rows, through each format."""
    table = FLAT if "csv" in name else TABLE
    first, second = str(tmp_path / "a.tfrecord"), str(tmp_path / "b.tfrecord.gz")
    write_table(table, first)
    [written] = convert(first, tmp_path / name)
    assert written.path == str(tmp_path / name)
    assert (written.num_records, written.num_bytes) == (3, (tmp_path / name).stat().st_size)
    [written] = convert(tmp_path / name, second)
    assert (written.path, written.num_records) == (second, 3)
    assert repr(read_table(second).to_pylist()) == repr(read_table(first).to_pylist())
    convert(first, tmp_path / "again" / name)
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_columns_are_those_of_the_schema(records: str, tmp_path: pathlib.Path) -> None:
    convert(records, tmp_path / "a.parquet", SCHEMA)
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.cast(TABLE.schema).to_pylist() == TABLE.to_pylist()
    assert table.schema.field("s").type == pa.large_string()
    for schema in (None, "infer"):
        convert(records, tmp_path / "b.parquet", schema, mode="overwrite")
        table = pq.read_table(tmp_path / "b.parquet")
        assert table.schema.names == ["f", "i", "l", "s"]
        assert table.schema.field("i").type == pa.int64()
        assert table.schema.field("s").type == pa.large_string()
    convert(records, tmp_path / "b.parquet", strings=False, mode="overwrite")
    assert pq.read_schema(tmp_path / "b.parquet").field("s").type == pa.large_binary()


def test_types_come_back_by_the_schema_of_the_first_file(tmp_path: pathlib.Path) -> None:
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(TABLE, first)
    convert(first, tmp_path / "a.tfrecord")
    convert(tmp_path / "a.tfrecord", second, first)
    table = pq.read_table(second)
    assert table.schema.types[1:] == [pa.int64(), pa.large_list(pa.int64()), pa.large_string()]
    assert table.cast(TABLE.schema).to_pylist() == TABLE.to_pylist()


def test_columns_that_are_asked_for(records: str, tmp_path: pathlib.Path) -> None:
    convert(records, tmp_path / "a.parquet", columns=["s", "l"], strings=["s"], scalars=False)
    schema = pq.read_schema(tmp_path / "a.parquet")
    assert schema.names == ["s", "l"]
    assert schema.field("s").type.value_type == pa.large_string()
    pq.write_table(TABLE, tmp_path / "b.parquet")
    convert(tmp_path / "b.parquet", tmp_path / "b.tfrecord", SCHEMA, columns=["l", "f"])
    assert read_table(tmp_path / "b.tfrecord").schema.names == ["f", "l"]


def test_columns_that_are_not_there(records: str, tmp_path: pathlib.Path) -> None:
    pq.write_table(TABLE, tmp_path / "b.parquet")
    for source, target in ((records, "a.parquet"), (tmp_path / "b.parquet", "a.tfrecord")):
        for schema in (None, SCHEMA):
            with pytest.raises(SchemaError, match="found 'x'"):
                convert(source, tmp_path / target, schema, columns=["x"])
    with pytest.raises(SchemaError, match="'s'"):
        convert(
            tmp_path / "b.parquet",
            tmp_path / "a.tfrecord",
            schema_of('feature { name: "f" type: FLOAT }'),
        )
    assert sorted(os.listdir(tmp_path)) == ["b.parquet", "in"]


def test_lists_are_none_of_csv(records: str, tmp_path: pathlib.Path) -> None:
    choices: list[bool | list[str]] = [True, False, ["f"]]
    for scalars in choices:
        with pytest.raises(DecodeError, match=r"for feature 'l', found 2 .* record 0"):
            convert(records, tmp_path / "a.csv", scalars=scalars)
    assert os.listdir(tmp_path) == ["in"]


def test_bytes_of_which_some_are_no_text_stay_bytes(tmp_path: pathlib.Path) -> None:
    write_table({"x": np.array([b"a", b"\xff"])}, tmp_path / "a.tfrecord")
    convert(tmp_path / "a.tfrecord", tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == {"x": [b"a", b"\xff"]}


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_bytes_that_are_no_text(tmp_path: pathlib.Path, name: str) -> None:
    write_table({"x": np.array([b"a", b"\xff"])}, tmp_path / "a.tfrecord")
    with pytest.raises(
        DecodeError, match=r"UTF-8 text for feature 'x', found b'\\xff' .* record 1"
    ):
        convert(tmp_path / "a.tfrecord", tmp_path / name)
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_csv_by_schema(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("code,x\n007,1\n08,2\n")
    schema = schema_of('feature { name: "code" type: BYTES } feature { name: "x" type: FLOAT }')
    convert(tmp_path / "a.csv", tmp_path / "a.tfrecord", schema)
    table = read_table(tmp_path / "a.tfrecord")
    assert table.to_pydict() == {"code": [[b"007"], [b"08"]], "x": [[1.0], [2.0]]}


def test_several_files(tmp_path: pathlib.Path) -> None:
    for number in range(3):
        pq.write_table(pa.table({"x": [number]}), tmp_path / f"{number}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    convert(tmp_path, tmp_path / "out" / "a.tfrecord")
    assert read_table(tmp_path / "out").column("x").to_pylist() == [[0], [1], [2]]
    write_table({"y": np.arange(2)}, tmp_path / "out" / "b.tfrecord")
    convert(tmp_path / "out", tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_text() == '"x","y"\n0,\n1,\n2,\n,0\n,1\n'


def test_options_of_write_table(tmp_path: pathlib.Path) -> None:
    pq.write_table(pa.table({"x": range(10), "p": list("ab") * 5}), tmp_path / "a.parquet")
    files = convert(
        tmp_path / "a.parquet",
        tmp_path / "out" / "part",
        partition_by=["p"],
        num_shards=2,
        compression="gzip",
        write_success=True,
    )
    assert len(files) == 4
    assert (tmp_path / "out" / "_SUCCESS").exists()
    assert all(file.path.endswith(".tfrecord.gz") for file in files)
    convert(tmp_path / "out", tmp_path / "b.csv", partition_columns="hive")
    rows = (tmp_path / "b.csv").read_text().splitlines()
    assert rows[0] == '"x","p"'
    assert sorted(rows[1:]) == sorted(f'{x},"{"ab"[x % 2]}"' for x in range(10))
    convert(tmp_path / "out", tmp_path / "flat.tfrecord", partition_columns="hive")
    assert read_table(tmp_path / "flat.tfrecord").schema.names == ["p", "x"]


def test_columns_of_records(records: str, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "out" / "day=1"
    steps: list[tuple[int, int]] = []
    convert(records, folder / "a.tfrecord", columns=["s", "i"], progress=lambda *s: steps.append(s))
    assert read_table(folder / "a.tfrecord").schema.names == ["i", "s"]
    total = pathlib.Path(records).stat().st_size
    assert steps == sorted(steps)
    assert steps[-1] == (2 * total, 2 * total)
    for name in ("b.tfrecord", "b.parquet"):
        with pytest.raises(SchemaError, match=r"^Expected columns among .*, found 'ii' \(did you"):
            convert(records, tmp_path / name, columns=["s", "ii"])
    convert(
        tmp_path / "out", tmp_path / "c.tfrecord", columns=["day", "i"], partition_columns="hive"
    )
    assert read_table(tmp_path / "c.tfrecord").to_pylist()[0] == {"day": [b"1"], "i": [1]}


def test_records_are_copied_as_they_are(tmp_path: pathlib.Path) -> None:
    contents = [b"", b"no message", bytes(range(256))]
    (tmp_path / "a.tfrecord").write_bytes(framed(*contents))
    convert(tmp_path / "a.tfrecord", tmp_path / "b.tfrecord.gz")
    convert(tmp_path / "b.tfrecord.gz", tmp_path / "c.tfrecord")
    assert (tmp_path / "c.tfrecord").read_bytes() == framed(*contents)


def test_records_of_any_content(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.tfrecord").write_bytes(framed(b"\xff", b""))
    convert(tmp_path / "a.tfrecord", tmp_path / "a.parquet", record_type="ByteArray")
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.to_pydict() == {"byteArray": [b"\xff", b""]}
    convert(tmp_path / "a.parquet", tmp_path / "b.tfrecord", record_type="ByteArray")
    assert (tmp_path / "b.tfrecord").read_bytes() == framed(b"\xff", b"")


def test_sequence_examples(tmp_path: pathlib.Path) -> None:
    record = SequenceExample()
    record.context.feature["x"].int64_list.value.append(1)
    for text in (b"a", b"b"):
        record.feature_lists.feature_list["y"].feature.add().bytes_list.value.append(text)
    (tmp_path / "a.tfrecord").write_bytes(framed(record.SerializeToString()))
    for name in ("a.parquet", "a.jsonl"):
        convert(tmp_path / "a.tfrecord", tmp_path / name, record_type="SequenceExample")
        convert(
            tmp_path / name,
            tmp_path / "b.tfrecord",
            record_type="SequenceExample",
            mode="overwrite",
        )
        [found] = read_table(tmp_path / "b.tfrecord", record_type="SequenceExample").to_pylist()
        assert found == {"x": [1], "##SEQUENCE##": {"y": [[b"a"], [b"b"]]}}


def test_files_that_are_there(records: str, tmp_path: pathlib.Path) -> None:
    for name in ("a.parquet", "b.tfrecord"):
        (tmp_path / name).write_text("old")
        with pytest.raises(WriteError):
            convert(records, tmp_path / name)
        assert (tmp_path / name).read_text() == "old"
        convert(records, tmp_path / name, mode="overwrite")
        assert (tmp_path / name).read_bytes() != b"old"
    with pytest.raises(
        ValueError, match="mode to be one of error, overwrite for a file of parquet"
    ):
        convert(records, tmp_path / "c.parquet", mode="append")


def test_source_is_target(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    write_table(TABLE, path)
    convert(path, path, columns=["i"], mode="overwrite")
    assert read_table(path).to_pydict() == {"i": [[1], None, [-3]]}


def test_failure_leaves_nothing(records: str, tmp_path: pathlib.Path) -> None:
    data = pathlib.Path(records).read_bytes()
    pathlib.Path(records).write_bytes(data[:-1])
    for name in (*NAMES, "b.tfrecord"):
        with pytest.raises(CorruptRecordError):
            convert(records, tmp_path / name, SCHEMA, columns=["i", "s"])
    (tmp_path / "in" / "a.jsonl").write_text('{"a": 1}\n' * 99_999 + "{")
    with pytest.raises(DecodeError, match="line 100000"):
        convert(tmp_path / "in" / "a.jsonl", tmp_path / "b.tfrecord")
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize(
    ("source", "target", "options", "text"),
    [
        (
            "a.parquet",
            "b.csv",
            {},
            "Expected TFRecord as the source or the target, found parquet to",
        ),
        ("a.parquet", "b.orc", {}, r"found '.*b\.orc' \(give target_format: tfrecord, parquet"),
        ("a.tfrecord", "b.csv", {"num_shards": 2}, "found num_shards, which write TFRecord files"),
        ("a.parquet", "b.tfrecord.gz", {"compression": "zlib"}, "write it with compression='gzip'"),
        ("a.tfrecord", "b.csv", {"compression": "auto", "mode": "x"}, "mode"),
    ],
)
def test_wrong_options(
    tmp_path: pathlib.Path, source: str, target: str, options: dict[str, Any], text: str
) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    write_table(TABLE, tmp_path / "a.tfrecord")
    with pytest.raises(ValueError, match=text):
        convert(tmp_path / source, tmp_path / target, **options)
    assert sorted(os.listdir(tmp_path)) == ["a.parquet", "a.tfrecord"]


def test_folder_as_target(records: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"^Expected target to be that of a file, found '.+/new/'"):
        convert(records, f"{tmp_path}/new/", target_format="csv")
    assert os.listdir(tmp_path) == ["in"]


def test_value_that_cannot_be_encoded_is_found_in_its_file(tmp_path: pathlib.Path) -> None:
    for name, values in (("a", [1, 2]), ("b", []), ("c", [3, 1 << 63])):
        pq.write_table(pa.table({"x": pa.array(values, pa.uint64())}), tmp_path / f"{name}.parquet")
    with pytest.raises(EncodeError) as caught:
        convert(tmp_path / "*.parquet", tmp_path / "new.tfrecord")
    assert (caught.value.file, caught.value.record) == (str(tmp_path / "c.parquet"), 1)


def test_columns_that_cannot_be_encoded_are_found_in_their_file(tmp_path: pathlib.Path) -> None:
    for name, table in (
        ("b", pa.table({"x": [{"y": 1}]})),
        ("c", pa.table({"x": ["text"]})),
        ("d", pa.Table.from_arrays([pa.array([1])] * 2, ["x", "x"])),
    ):
        pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table, path)
        with pytest.raises(SchemaError) as caught:
            convert([tmp_path / "a.parquet", path], tmp_path / "new.tfrecord")
        assert caught.value.file == str(path)


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("num_shard", r" \(did you mean 'num_shards'\?\)$"),
        ("column_nams", r" \(did you mean 'column_names'\?\)$"),
        ("path", ""),
    ],
)
def test_misspelt_option(records: str, tmp_path: pathlib.Path, option: str, hint: str) -> None:
    options: dict[str, Any] = {option: 2}
    for target in ("b.tfrecord", "b.csv"):
        text = f"^Expected options of convert or write_table, found '{option}'{hint}"
        with pytest.raises(ValueError, match=text):
            convert(records, tmp_path / target, **options)


def test_csv_without_names(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text('1,"a"\n2,""\n')
    names = ["n", "t"]
    convert(tmp_path / "a.csv", tmp_path / "a.tfrecord", column_names=names)
    assert read_table(tmp_path / "a.tfrecord").to_pydict() == {
        "n": [[1], [2]],
        "t": [[b"a"], [b""]],
    }
    convert(tmp_path / "a.tfrecord", tmp_path / "b.csv", column_names=names)
    assert (tmp_path / "b.csv").read_text() == (tmp_path / "a.csv").read_text()
    convert(tmp_path / "a.tfrecord", tmp_path / "t.csv", column_names=["t"])
    assert (tmp_path / "t.csv").read_text() == '"a"\n""\n'


@pytest.mark.parametrize(
    ("source", "target", "options", "text"),
    [
        ("a.csv", "b", {"column_names": "n"}, "Expected a list of column_names, found 'n'"),
        ("a.csv", "b", {"column_names": ["n", "n"]}, "Expected different column_names, found 'n'"),
        ("a.csv", "b", {"column_names": []}, "Expected at least one of column_names, found none"),
        (
            "a.csv",
            "b",
            {"column_names": ["n", "\ud800"]},
            "Expected names of column_names in UTF-8",
        ),
        ("a", "b.csv", {"column_names": []}, "Expected at least one of column_names, found none"),
        ("a", "b.json", {"column_names": ["f"]}, "for CSV only, found them for tfrecord to json"),
        ("a", "b.csv", {"column_names": ["x"]}, "found 'x'"),
        ("a", "b.csv", {"column_names": ["f"], "columns": ["f"]}, "columns or column_names"),
    ],
)
def test_names_of_columns_that_cannot_be(
    tmp_path: pathlib.Path, source: str, target: str, options: dict[str, Any], text: str
) -> None:
    write_table(TABLE, tmp_path / "a")
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=text):
        convert(tmp_path / source, tmp_path / target, **options)


def test_rows_without_columns(records: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(SchemaError, match="Expected columns for parquet, found none"):
        convert(records, tmp_path / "a.parquet", columns=[])
    convert(records, tmp_path / "a.jsonl", columns=[])
    assert (tmp_path / "a.jsonl").read_text() == "{}\n" * 3


def test_target_that_looks_like_a_pattern(records: str, tmp_path: pathlib.Path) -> None:
    for name in ("a*.csv", "[a].tfrecord", "a?.parquet"):
        with pytest.raises(ValueError, match="target"):
            convert(records, tmp_path / name)
    assert os.listdir(tmp_path) == ["in"]


def test_no_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NoMatchError):
        convert(tmp_path / "a.parquet", tmp_path / "a.tfrecord")


@pytest.mark.parametrize("name", [*NAMES, "b.tfrecord"])
def test_progress(tmp_path: pathlib.Path, name: str) -> None:
    write_table(FLAT, tmp_path / "a.tfrecord")
    calls: list[tuple[int, int]] = []
    for source, target in (("a.tfrecord", name), (name, "c.tfrecord")):
        calls.clear()
        convert(tmp_path / source, tmp_path / target, progress=lambda *call: calls.append(call))
        assert calls == sorted(calls)
        assert {total for _, total in calls} == {calls[-1][0]}


def test_no_rows(tmp_path: pathlib.Path) -> None:
    write_table(TABLE.slice(0, 0), tmp_path / "a.tfrecord")
    for name in ("a.parquet", "a.csv", "a.arrow", "a.jsonl"):
        [written] = convert(tmp_path / "a.tfrecord", tmp_path / name, SCHEMA, columns=["f", "i"])
        assert written.num_records == 0
    convert(tmp_path / "a.parquet", tmp_path / "b.tfrecord")
    assert count(tmp_path / "b.tfrecord") == 0


_VALUES = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "f": st.floats(width=32, allow_nan=False),
    "s": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    rows=st.lists(st.fixed_dictionaries({}, optional=_VALUES), min_size=1),
    name=st.sampled_from(NAMES),
)
def test_rows_come_back(rows: list[dict[str, Any]], name: str, tmp_path: pathlib.Path) -> None:
    """Through each format, with the schema that all of them have."""
    types = {"i": pa.int64(), "f": pa.float32(), "s": pa.string()}
    table = pa.table({key: pa.array([row.get(key) for row in rows], types[key]) for key in types})
    first, second, other = tmp_path / "a.tfrecord", tmp_path / "b.tfrecord", tmp_path / name
    write_table(table, first, mode="overwrite")
    schema = schema_of(
        'feature { name: "i" type: INT shape {} } feature { name: "f" type: FLOAT shape {} }'
        'feature { name: "s" type: BYTES shape {} }'
    )
    convert(first, other, schema, mode="overwrite")
    convert(other, second, schema, mode="overwrite")
    assert read_table(second, schema).equals(read_table(first, schema))


_ENDLESS = """
    import sys
    from tfrecord_beam import convert

    source, target = sys.argv[1:]
    while True:
        convert(source, target, mode="overwrite")
        print("done", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["b.parquet", "b.jsonl"])
def test_process_that_is_killed(tmp_path: pathlib.Path, name: str) -> None:
    source, target = tmp_path / "a.tfrecord", tmp_path / "out" / name
    write_table({"x": np.arange(50_000)}, source)
    convert(source, tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    command = [sys.executable, "-c", textwrap.dedent(_ENDLESS), str(source), str(target)]
    for wait_sec in (0.0, 0.013, 0.029):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(wait_sec)
            process.kill()
        assert target.read_bytes() == whole
    convert(source, target, mode="overwrite")
    assert os.listdir(tmp_path / "out") == [name]


_MEMORY = """
    import resource, sys
    from tfrecord_beam import convert

    folder, suffix, target = sys.argv[1:]
    convert(f"{folder}/small{suffix}", f"{folder}/small.out{target}")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    convert(f"{folder}/large{suffix}", f"{folder}/large.out{target}")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print((after - before) * (1 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "target"),
    [(".parquet", ".tfrecord"), (".tfrecord", ".parquet"), (".csv", ".tfrecord")],
)
def test_memory_is_bounded(tmp_path: pathlib.Path, suffix: str, target: str) -> None:
    generator = np.random.default_rng(1)
    for name, rows in (("small", 200_000), ("large", 2_000_000)):
        table = pa.table(
            {"x": generator.integers(0, 1 << 60, rows), "y": generator.random(rows, np.float32)}
        )
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=100_000)
        if suffix != ".parquet":
            convert(tmp_path / f"{name}.parquet", tmp_path / f"{name}.tfrecord")
        if suffix == ".csv":
            convert(tmp_path / f"{name}.tfrecord", tmp_path / f"{name}.csv")
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_MEMORY), str(tmp_path), suffix, target],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert int(output) < 200 << 20
    assert (tmp_path / f"large.out{target}").exists()
