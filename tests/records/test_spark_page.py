"""What the page for users of Spark says: its tables are what really happens."""

from __future__ import annotations

import datetime
import decimal
import inspect
import json
import pathlib
import re
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import framed
from tests.records.test_spark_files import DATA
from tfrecord_beam import (
    BeamSource,
    WriteToTFRecord,
    convert,
    infer_schema,
    iter_batches,
    read_table,
    write_table,
)
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.records.encode import RecordEncoder

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "spark.md"

DAY = datetime.datetime(2024, 1, 1)

WRITTEN: list[tuple[str, pa.DataType, str, Any]] = [
    ("IntegerType", pa.int32(), "int64_list", 1),
    ("LongType", pa.int64(), "int64_list", 1),
    ("FloatType", pa.float32(), "float_list", 1.5),
    ("DoubleType", pa.float64(), "float_list", 1.5),
    ("DecimalType(10, 2)", pa.decimal128(10, 2), "float_list", decimal.Decimal("12.34")),
    ("StringType", pa.string(), "bytes_list", "a"),
    ("BinaryType", pa.binary(), "bytes_list", b"a"),
    ("BooleanType", pa.bool_(), "refused", True),
    ("ByteType", pa.int8(), "refused", 1),
    ("ShortType", pa.int16(), "refused", 1),
    ("DateType", pa.date32(), "refused", DAY.date()),
    ("TimestampType", pa.timestamp("us", "UTC"), "refused", DAY),
    ("TimestampNTZType", pa.timestamp("us"), "refused", DAY),
    ("NullType", pa.null(), "nothing", None),
    ("ArrayType(LongType)", pa.list_(pa.int64()), "int64_list", [1, 2]),
    ("ArrayType(DoubleType)", pa.list_(pa.float64()), "float_list", [1.5]),
    ("ArrayType(StringType)", pa.list_(pa.string()), "bytes_list", ["a", ""]),
    ("ArrayType(BooleanType)", pa.list_(pa.bool_()), "refused", [True]),
    ("StructType", pa.struct([("a", pa.int64())]), "refused", {"a": 1}),
    ("MapType", pa.map_(pa.string(), pa.int64()), "refused", [("a", 1)]),
]
"""Spark type, the Arrow type that Spark makes of it, what spark-tfrecord stores, and a value."""

READ = [
    ("int64_list", 1, "`LongType`, `IntegerType` (wraps), arrays of them"),
    (
        "float_list",
        1.5,
        "`FloatType`, `DoubleType`, `DecimalType` (rounded to its scale), arrays of them",
    ),
    ("bytes_list", b"a", "`BinaryType`, `StringType` (invalid UTF-8 is replaced), arrays of them"),
]


def table_of(mark: str) -> list[str]:
    """Returns the lines of a marked table, without its header."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"<!-- {mark} -->\n\|[^\n]*\n\|[-|]+\|\n(.*?)<!-- end -->", text, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def encode(column: pa.Array) -> Example:
    [record] = RecordEncoder().encode_records(pa.record_batch({"x": column}))
    return Example.FromString(record)


def read(example: Example, path: pathlib.Path, **options: Any) -> pa.DataType:
    path.write_bytes(framed(example.SerializeToString()))
    return read_table(path, **options).schema.field("x").type


def short(data_type: pa.DataType) -> str:
    """Returns a type as the page spells it; how pyarrow does has changed."""
    return re.sub(r"item: | \('entries'\)", "", str(data_type))


def test_options_exist() -> None:
    callables = (
        BeamSource,
        WriteToTFRecord,
        convert,
        infer_schema,
        iter_batches,
        read_table,
        write_table,
    )
    known = {name for each in callables for name in inspect.signature(each).parameters}
    named = set(re.findall(r"`([a-z_]+)=", PAGE.read_text(encoding="utf-8")))
    assert len(named) > 20
    assert named <= known


def test_types_written(tmp_path: pathlib.Path) -> None:
    lines = []
    for spark, arrow, theirs, value in WRITTEN:
        cells = ["refused", "-"]
        try:
            example = encode(pa.array([value], arrow))
        except SchemaError:
            pass
        else:
            kind = example.features.feature["x"].WhichOneof("kind")
            read_as = short(read(example, tmp_path / "a"))
            cells = [f"`{kind}`" if kind else "no kind", f"`{read_as}`"]
        theirs = f"`{theirs}`" if theirs.endswith("_list") else theirs
        lines.append("| " + " | ".join([f"`{spark}`", f"`{short(arrow)}`", theirs, *cells]) + " |")
    assert table_of("types written") == lines


def test_types_read(tmp_path: pathlib.Path) -> None:
    lines = []
    for kind, value, spark in READ:
        example = Example()
        getattr(example.features.feature["x"], kind).value.append(value)
        scalars: dict[str, Any] = {"scalars": ["x"]}
        found = [
            f"`{short(read(example, tmp_path / 'a', **options))}`"
            for options in ({}, scalars, {**scalars, "strings": ["x"]})
        ]
        lines.append("| " + " | ".join([f"`{kind}`", *found, spark]) + " |")
    assert table_of("types read") == lines


def test_kinds_that_spark_stored() -> None:
    """By the directories that it wrote."""
    if not DATA.is_dir():
        pytest.skip(f"there are no files {DATA}")
    told = {spark: kind for spark, _, kind, _ in WRITTEN}
    seen = set()
    for folder in DATA.glob("*/"):
        expected = json.loads((folder / "expected.json").read_text())
        fields = json.loads((folder / "schema.json").read_text())["fields"]
        types = {field["name"]: _spark_type(field["type"]) for field in fields}
        for file in expected["files"].values():
            for record in file.get("stored", ()):
                for name, feature in {
                    **record.get("features", {}),
                    **record.get("context", {}),
                }.items():
                    if types[name] in told:
                        assert list(feature) == [told[types[name]]]
                        seen.add(types[name])
    assert len(seen) >= 8


def _spark_type(described: Any) -> str:
    if isinstance(described, dict):
        return f"ArrayType({_spark_type(described['elementType'])})"
    if described.startswith("decimal"):
        return "DecimalType(10, 2)" if described == "decimal(10,2)" else described
    return f"{described.capitalize()}Type"


def test_value_of_a_decimal() -> None:
    """The point is not lost, as it is in Spark."""
    example = encode(pa.array([decimal.Decimal("12.34")]))
    assert example.features.feature["x"].float_list.value == pytest.approx([12.34])
