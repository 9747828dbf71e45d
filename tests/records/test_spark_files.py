"""Directories that spark-tfrecord wrote, where they lie beside the project, value by value.

What those files are like is tested without them too: the rest of this module lays out small ones.
"""

from __future__ import annotations

import base64
import collections
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import framed
from tests.records.compressing import COMPRESS, compress_hadoop
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import CorruptRecordError, DecodeError
from tfrecord_beam.kernel.plan import SEQUENCE_COLUMN, RecordType
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.hive import format_folder
from tfrecord_beam.records.inference import infer_schema
from tfrecord_beam.records.table import count, read_table
from tfrecord_beam.schema.from_spark import schema_from_spark
from tfrecord_beam.schema.tfmd import sequence_schema_columns
from tfrecord_beam.transforms.read import BeamSource, RawRecordBeamSource

DATA = pathlib.Path(__file__).parents[3] / "shared" / "data" / "spark"

CASES = sorted(path.name for path in DATA.glob("*/")) if DATA.is_dir() else []

Row = dict[str, Any]

_TYPES = {"int64_list": pa.int64(), "float_list": pa.float32(), "bytes_list": pa.large_binary()}


class Case:
    """A directory and what is told of it."""

    def __init__(self, name: str) -> None:
        if not DATA.is_dir():
            pytest.skip(f"there are no files {DATA}")
        self.folder = DATA / name / "data"
        self.expected = json.loads((DATA / name / "expected.json").read_text())
        self.record_type: str = self.expected["record_type"]

    def stored(self, file: str) -> list[Any] | None:
        """Returns what a file's records hold; None where that is told of no records."""
        stored: list[Any] | None = self.expected["files"][file].get("stored")
        return stored

    def rows(self) -> list[Row]:
        """Returns the rows that were given to Spark, as lists of features."""
        return [
            {name: _features(value) for name, value in row.items()} for row in self.expected["rows"]
        ]


@pytest.fixture(params=CASES or ["none"])
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def _features(value: Mapping[str, Any] | None) -> list[Any] | None:
    """Returns the values of a feature, by what a row holds that Spark was given."""
    if value is None:
        return None
    ((kind, content),) = value.items()
    if kind == "array":
        return sum((_features(each) or [] for each in content), [])
    convert: dict[str, Any] = {"long": int, "float": float.fromhex, "string": str.encode}
    return [convert[kind](content)]


def _decoded(feature: Mapping[str, list[Any]]) -> tuple[pa.DataType, list[Any]]:
    ((kind, values),) = feature.items()
    convert: dict[str, Any] = {
        "int64_list": int,
        "float_list": float.fromhex,
        "bytes_list": base64.b64decode,
    }
    return _TYPES[kind], [convert[kind](value) for value in values]


def stored_columns(records: list[Mapping[str, Any]], part: str) -> dict[str, tuple[Any, list[Any]]]:
    """Returns type and rows of each feature that records hold; null where one lacks it."""
    columns: dict[str, tuple[Any, list[Any]]] = {}
    for number, record in enumerate(records):
        for name, feature in record[part].items():
            column = columns.setdefault(name, (_column_type(feature), [None] * len(records)))
            steps = isinstance(feature, list)
            column[1][number] = (
                [_decoded(step)[1] for step in feature] if steps else _decoded(feature)[1]
            )
    return columns


def _column_type(feature: Any) -> pa.DataType | None:
    if not isinstance(feature, list):
        return pa.large_list(_decoded(feature)[0])
    return pa.large_list(pa.large_list(_decoded(feature[0])[0])) if feature else None


def check_column(column: pa.ChunkedArray, expected: tuple[Any, list[Any]]) -> None:
    column_type, rows = expected
    if column_type is not None:
        assert column.type == column_type
    assert repr(column.to_pylist()) == repr(rows)  # tells nan and -0.0 apart


def sequence_fields(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    struct = table.column(SEQUENCE_COLUMN)
    return dict(zip([field.name for field in struct.type], struct.flatten()))


def as_tfrecord_type(record_type: str) -> RecordType:
    return "SequenceExample" if record_type == "SequenceExample" else "Example"


def read_raw(path: os.PathLike[str]) -> list[bytes]:
    return [record for block in iter_blocks(path) for record in block.records()]


def test_all_cases_are_here() -> None:
    if not DATA.is_dir():
        pytest.skip(f"there are no files {DATA}")
    assert len(CASES) == 34


def test_files(case: Case) -> None:
    """Each file alone: its columns, their types and each value."""
    for file, told in case.expected["files"].items():
        path = case.folder.parent / file
        stored = case.stored(file)
        assert count(path) == told.get("records", 100)
        if stored is None or not stored:
            continue
        if case.record_type == "ByteArray":
            assert read_raw(path) == [base64.b64decode(record["raw"]) for record in stored]
            continue
        table = read_table(path, record_type=as_tfrecord_type(case.record_type))
        is_sequence = case.record_type == "SequenceExample"
        context = stored_columns(stored, "context" if is_sequence else "features")
        assert sorted({*table.schema.names} - {SEQUENCE_COLUMN}) == sorted(context)
        for name, expected in context.items():
            check_column(table.column(name), expected)
        if is_sequence:
            feature_lists = stored_columns(stored, "feature_lists")
            fields = sequence_fields(table)
            assert sorted(fields) == sorted(feature_lists)
            for name, expected in feature_lists.items():
                check_column(fields[name], expected)


@pytest.mark.parametrize(
    "name", ["plain_100", "census_200", "codec_gzip", "codec_deflate", "codec_snappy", "codec_lz4"]
)
def test_rows(name: str) -> None:
    """Cases of simple types: what was given is what is read."""
    case = Case(name)
    table = read_table(case.folder)
    rows = case.rows()
    assert sorted(table.schema.names) == sorted(rows[0])
    assert repr(table.select(list(rows[0])).to_pylist()) == repr(rows)


def test_folders(case: Case) -> None:
    """All files of a folder and of those under it; markers and side-cars are none."""
    num_records = sum(told.get("records", 100) for told in case.expected["files"].values())
    assert len(case.expected["rows"]) == num_records
    assert count(case.folder) == num_records
    if case.record_type != "ByteArray":
        table = read_table(case.folder, record_type=as_tfrecord_type(case.record_type))
        assert table.num_rows == num_records


@pytest.mark.parametrize("name", ["codec_snappy", "partition_string", "parts_many", "seq_all"])
def test_pipeline(name: str) -> None:
    case = Case(name)
    record_type = as_tfrecord_type(case.record_type)
    batches = run(BeamSource(str(case.folder), record_type=record_type)).elements
    found = [repr(sorted(row.items())) for batch in batches for row in batch.to_pylist()]
    table = read_table(case.folder, record_type=record_type)
    names = {name for batch in batches for name in batch.schema.names}
    assert names == set(table.schema.names)
    if len(batches) == 1:
        assert found == [repr(sorted(row.items())) for row in table.to_pylist()]
    assert len(found) == table.num_rows


@pytest.mark.parametrize("name", ["partition_string", "partition_two", "partition_zero_padded"])
def test_partitions(name: str) -> None:
    """Columns that are folders come back with the others; what Spark took for null stays that."""
    case = Case(name)
    table = read_table(case.folder, partition_columns="hive")
    rows = [_as_partitioned(row, case.expected["partition_by"]) for row in case.expected["rows"]]
    assert sorted(table.schema.names) == sorted(rows[0])
    found = table.select(list(rows[0])).to_pylist()
    assert sorted(map(repr, found)) == sorted(map(repr, rows))


def test_names_of_folders() -> None:
    """They are those that we give, but that Spark takes an empty text for null."""
    case = Case("partition_string")
    values = [row["p"]["string"] if row["p"] else None for row in case.expected["rows"]]
    ours = {format_folder("p", value) for value in values}
    assert ours - {folder.name for folder in case.folder.glob("p=*")} == {"p="}
    assert len(ours) == len(set(values)) > 20


def _as_partitioned(row: Mapping[str, Any], partition_by: list[str]) -> Row:
    return {
        name: _partition_value(value) if name in partition_by else _features(value)
        for name, value in row.items()
    }


def _partition_value(value: Mapping[str, Any] | None) -> list[bytes] | None:
    ((_, content),) = value.items() if value else ((None, None),)
    return [str(content).encode()] if content else None


def test_raw_records() -> None:
    case = Case("bytearray")
    (file,) = case.expected["files"]
    expected = [base64.b64decode(record["raw"]) for record in case.stored(file) or []]
    assert run(RawRecordBeamSource(str(case.folder))).elements == expected
    table = read_table(case.folder, record_type="ByteArray")
    assert table.column("byteArray").to_pylist() == [[record] for record in expected]
    with pytest.raises(DecodeError, match="record 1 "):
        read_table(case.folder)


@pytest.mark.parametrize("name", ["seq_all", "seq_long", "seq_decimal", "codec_gzip_seq"])
def test_sequence_examples_are_no_examples(name: str) -> None:
    """Read as such they would lose their feature lists."""
    with pytest.raises(DecodeError, match=r"record 0 \(.*record_type='SequenceExample'"):
        read_table(Case(name).folder)


# The same layouts, laid out here.


def serialized(number: int) -> bytes:
    example = Example()
    example.features.feature["id"].int64_list.value.append(number)
    return example.SerializeToString()


def test_folder_of_parts(tmp_path: pathlib.Path) -> None:
    name = "part-{:05}-0e2a8d8e-58b6-4b6e-9b2a-5a9b7a1d1c57-c000.tfrecord{}"
    contents = {
        name.format(0, ""): b"",
        name.format(1, ""): framed(serialized(1)),
        name.format(2, ".gz"): COMPRESS["gzip"](b""),
        name.format(3, ".gz"): COMPRESS["gzip"](framed(serialized(3))),
        name.format(4, ".deflate"): COMPRESS["zlib"](framed(serialized(4))),
        name.format(5, ".snappy"): compress_hadoop(
            framed(serialized(5)), "snappy", block_bytes=99, chunk_bytes=99
        ),
        name.format(6, ".lz4"): compress_hadoop(
            framed(serialized(6)), "lz4", block_bytes=99, chunk_bytes=99
        ),
        name.format(7, ".bz2"): COMPRESS["bz2"](framed(serialized(7))),
        "_SUCCESS": b"",
        "._SUCCESS.crc": b"crc\0\0\0\2\0",
    }
    for file, content in contents.items():
        (tmp_path / file).write_bytes(content)
        (tmp_path / f".{file}.crc").write_bytes(b"crc\0\0\0\2\0\x12\x34\x56\x78")
    assert read_table(tmp_path).column("id").to_pylist() == [[1], [3], [4], [5], [6], [7]]
    elements = run(RawRecordBeamSource(str(tmp_path))).elements
    assert sorted(elements) == [serialized(number) for number in (1, 3, 4, 5, 6, 7)]


def test_folders_of_partitions(tmp_path: pathlib.Path) -> None:
    folders = [
        "y=2020/d=2024-01-01",
        "y=2020/d=__HIVE_DEFAULT_PARTITION__",
        "y=_x/d=a%2Fb",
        "y= /d=",
    ]
    for number, folder in enumerate(folders):
        (tmp_path / folder).mkdir(parents=True)
        file = f"part-00000-1.c{number:03}.tfrecord"
        (tmp_path / folder / file).write_bytes(framed(serialized(number)))
        (tmp_path / folder / f".{file}.crc").write_bytes(b"crc\0")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "part-00000.tfrecord").write_bytes(framed(serialized(9)))
    ids = collections.Counter(each for (each,) in read_table(tmp_path).column("id").to_pylist())
    assert ids == {0: 1, 1: 1, 2: 1, 3: 1}


def test_hidden_file_that_is_asked_for_is_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "_part").write_bytes(framed(serialized(1)))
    assert count(tmp_path / "_part") == 1


@pytest.mark.parametrize("codec", [None, "gzip", "zlib"])
def test_every_cut_is_an_error(codec: str | None, tmp_path: pathlib.Path) -> None:
    """Also where the end of what is left falls on the end of a record's header."""
    content = framed(serialized(1), serialized(2))
    data = COMPRESS[codec](content) if codec else content
    path = tmp_path / "part-00000.tfrecord"
    for size in range(1, len(data)):
        if data[:size] == framed(serialized(1)):
            continue  # whole, for all that a plain file can tell
        path.write_bytes(data[:size])
        with pytest.raises(CorruptRecordError):
            count(path, compression=codec or "none")


def test_kinds_are_those_of_the_schema_that_spark_was_given(case: Case) -> None:
    if case.record_type != "ByteArray":
        struct = json.loads((case.folder.parent / "schema.json").read_text())
        folders = case.expected["partition_by"]
        struct["fields"] = [each for each in struct["fields"] if each["name"] not in folders]
        context, steps = sequence_schema_columns(schema_from_spark(struct))
        record_type: Any = case.record_type
        inferred = infer_schema(case.folder, record_type=record_type)
        found_context, found_steps = sequence_schema_columns(inferred)
        assert set(found_context) <= set(context)
        assert set(found_steps) <= set(steps)
