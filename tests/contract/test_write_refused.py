"""Bad input is refused by what was wrong and where, and no file is left."""

from __future__ import annotations

import dataclasses
import datetime
import os
import pathlib
import re
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest

from tests.contract.writing import (
    WAYS,
    Write,
    numbers,
    records_of,
    stored,
    tree,
    visible,
    write_by_table,
)
from tests.schema.schemas import parse_schema
from tests.tfxio.pipelines import run
from tests.wire import NO_KIND, bytes_list, entry, example, floats, int64
from tfrecord_beam import (
    EncodeError,
    SchemaError,
    TFRecordBeamError,
    TFRecordWriter,
    WriteError,
    WriteToTFRecord,
    write_table,
)


def check_nothing_is_left(folder: pathlib.Path) -> None:
    assert visible(folder) == []


UNSUPPORTED = {
    "struct": pa.array([{"f": 1}]),
    "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
    "list<": pa.array([[[[1]]]]),
    "union": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
    "month_day_nano_interval": pa.array([pa.MonthDayNano([1, 2, 3])]),
}


@pytest.mark.parametrize("type_name", list(UNSUPPORTED))
def test_unsupported_types(tmp_path: pathlib.Path, type_name: str) -> None:
    batch = pa.record_batch({"ok": pa.array([1]), "bad": UNSUPPORTED[type_name]})
    with pytest.raises(SchemaError, match=rf"'bad'.*{type_name}") as caught:
        write_by_table([batch], tmp_path / "a")
    assert caught.value.hint
    check_nothing_is_left(tmp_path)


VALUES = {
    "null among integers": (pa.array([[1], [2, None]], pa.list_(pa.int64())), 1, "null"),
    "null among bytes": (pa.array([[b"x", None]], pa.list_(pa.binary())), 0, "null"),
    "uint64": (pa.array([1, 2, 2**63], pa.uint64()), 2, str(2**63)),
    "uint64 in a list": (pa.array([[1], [2, 2**64 - 1]], pa.list_(pa.uint64())), 1, str(2**64 - 1)),
    "float64": (pa.array([1.0, -1e300]), 1, re.escape("-1e+300")),
    "decimal": (pa.array([Decimal(1), Decimal(10) ** 60], pa.decimal256(76, 0)), 1, "1"),
}


@pytest.mark.parametrize("what", list(VALUES))
def test_values_that_no_record_can_hold(tmp_path: pathlib.Path, what: str) -> None:
    column, row, found = VALUES[what]
    batch = pa.record_batch({"ok": pa.nulls(len(column), pa.int64()), "bad": column})
    with pytest.raises(EncodeError, match=rf"'bad'.* - at record {row}\b") as caught:
        write_by_table([batch], tmp_path / "a", num_shards=2)
    assert re.search(found, str(caught.value))
    assert (caught.value.feature, caught.value.record) == ("bad", row)
    check_nothing_is_left(tmp_path)


def test_nulls_in_lists_on_request(tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch(
        {
            "i": pa.array([[1, None], [None], None, []], pa.list_(pa.int64())),
            "f": pa.array([[None, 1.5], [], [None, None], None], pa.list_(pa.float32())),
            "b": pa.array([[b"x"], [None, b""], None, [None]], pa.list_(pa.binary())),
        }
    )
    expected = {
        "drop": [
            (int64(1), floats(1.5), bytes_list(b"x")),
            (int64(), floats(), bytes_list(b"")),
            (NO_KIND, floats(), NO_KIND),
            (int64(), NO_KIND, bytes_list()),
        ],
        "fill": [
            (int64(1, 0), floats(0, 1.5), bytes_list(b"x")),
            (int64(0), floats(), bytes_list(b"", b"")),
            (NO_KIND, floats(0, 0), NO_KIND),
            (int64(), NO_KIND, bytes_list(b"")),
        ],
    }
    for null_values, rows in expected.items():
        [file] = write_by_table(
            [batch], tmp_path / null_values, num_shards=1, null_values=null_values
        )
        assert stored(file.path) == [
            example(*(entry(name, feature) for name, feature in zip("ifb", row))) for row in rows
        ]


def test_rounding_is_to_the_nearest_float(tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch(
        {
            "d": pa.array([Decimal("12.34"), Decimal("-0.01")], pa.decimal128(10, 2)),
            "f": pa.array([16777217.0, 1e-300]),
        }
    )
    [file] = write_by_table([batch], tmp_path / "a", num_shards=1)
    assert stored(file.path) == [
        example(entry("d", floats(12.34)), entry("f", floats(16777216.0))),
        example(entry("d", floats(-0.01)), entry("f", floats(0.0))),
    ]


def test_times_are_integers_of_their_unit(tmp_path: pathlib.Path) -> None:
    moment = datetime.datetime(1970, 1, 2, tzinfo=datetime.timezone.utc)
    batch = pa.record_batch(
        {
            "date": pa.array([moment.date()], pa.date32()),
            "ms": pa.array([moment], pa.timestamp("ms", "UTC")),
            "us": pa.array([moment.replace(tzinfo=None)], pa.timestamp("us")),
        }
    )
    [file] = write_by_table([batch], tmp_path / "a", num_shards=1)
    values = {"date": 1, "ms": 86_400_000, "us": 86_400_000_000}
    expected = example(*(entry(name, int64(value)) for name, value in values.items()))
    assert stored(file.path) == [expected]


def test_columns_that_come_twice(tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch([pa.array([1])] * 2, names=["twin", "twin"])
    with pytest.raises(SchemaError, match="'twin'"):
        write_by_table([batch], tmp_path / "a")
    check_nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    ("elements", "row"),
    [
        ([{"n": 1}, {"n": 1}, {"n": b"x"}], 2),
        ([{"n": "x"}, {"n": 1}], 1),
        ([{"n": 2**63}], 0),
        ([{"n": [1, [2]]}], 0),
        ([{"n": {"f": object()}}], 0),
    ],
    ids=["bytes", "integer", "too large", "nested unevenly", "object"],
)
def test_rows_that_cannot_be_written(
    tmp_path: pathlib.Path, elements: list[dict[str, Any]], row: int
) -> None:
    [name] = elements[0]
    with pytest.raises(ValueError, match=rf"'{name}'") as caught:
        # Not through a coder, which may know less than the writing of rows.
        rows = beam.FlatMap(lambda _: elements)
        run(beam.Create([0]), rows, WriteToTFRecord(str(tmp_path / "a"), num_shards=1))
    assert isinstance(caught.value, TFRecordBeamError)
    assert caught.value.record == row
    check_nothing_is_left(tmp_path)


@dataclasses.dataclass
class Text:
    """An element that Beam pickles; in a dict it would refuse a lone surrogate itself."""

    s: str


def test_lone_surrogates(tmp_path: pathlib.Path) -> None:
    with pytest.raises(EncodeError, match=r"UTF-8 .* 's', found 'bad") as caught:
        run(
            beam.Create([Text("ok"), Text("bad \ud800")], reshuffle=False),
            WriteToTFRecord(str(tmp_path / "a")),
        )
    assert caught.value.record == 1
    check_nothing_is_left(tmp_path)


SCHEMA = parse_schema('feature { name: "x" type: INT } feature { name: "s" type: BYTES }')


def test_batches_that_fit_the_schema(tmp_path: pathlib.Path) -> None:
    batch = numbers(0, 4).select(["s", "x"])
    assert len(records_of(write_by_table([batch], tmp_path / "a", schema=SCHEMA))) == 4


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"x": [1]}, "'s'"),
        ({"x": [1], "s": ["a"], "more": [1]}, "'more'"),
        ({"x": [1.5], "s": ["a"]}, "'x'.*(double|float_list)"),
        ({"x": [1], "s": [1]}, "'s'.*int64"),
        ({"x": ["1"], "s": ["a"]}, "'x'.*(string|bytes_list)"),
    ],
    ids=["missing", "more", "floats", "integers", "text"],
)
def test_batches_that_do_not_fit_the_schema(
    write: Write, tmp_path: pathlib.Path, columns: dict[str, Any], found: str
) -> None:
    batch = pa.record_batch({name: pa.array(values) for name, values in columns.items()})
    with pytest.raises(SchemaError, match=found):
        write([batch], tmp_path / "a", schema=SCHEMA)
    check_nothing_is_left(tmp_path)


def test_one_name_has_one_kind_in_all_batches(write: Write, tmp_path: pathlib.Path) -> None:
    batches = [
        pa.record_batch({"n": pa.array(column), "m": pa.array([1])})
        for column in ([1], [None], [b"x"])
    ]
    for options in ({}, {"num_shards": 2}):
        with pytest.raises((WriteError, SchemaError), match="'n'") as caught:
            write(batches, tmp_path / "a", **options)
        text = str(caught.value)
        assert re.search("int64", text) and re.search("bytes|binary", text)
        check_nothing_is_left(tmp_path)


def test_batches_with_other_columns_or_widths(tmp_path: pathlib.Path) -> None:
    batches = [
        pa.record_batch({"a": pa.array([1], pa.int8()), "b": pa.array([0.5])}),
        pa.record_batch({"a": pa.array([[2]], pa.list_(pa.uint32()))}),
        pa.record_batch({"a": pa.nulls(1), "c": pa.array(["x"])}),
    ]
    assert sum(records_of(write_by_table(batches, tmp_path / "a", num_shards=1)).values()) == 3


def test_folder_that_is_a_file(write: Write, tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    for prefix in (tmp_path / "file" / "a", tmp_path / "file" / "deeper" / "a"):
        with pytest.raises(WriteError, match="file"):
            write([numbers(0, 1)], prefix, num_shards=1)
        with pytest.raises(WriteError, match="file"), TFRecordWriter(str(prefix)) as writer:
            writer.write(b"")
    assert tree(tmp_path) == {"file": b"content"}


def test_path_that_is_a_folder(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for mode in ("error", "overwrite"):
        with pytest.raises(WriteError, match="a"):
            write_table(numbers(0, 1), str(tmp_path / "a"), mode=mode)
        with pytest.raises(WriteError, match="a"), TFRecordWriter(str(tmp_path / "a"), mode=mode):
            pass
    assert tree(tmp_path) == {"a": None, "a/b": None}


@pytest.mark.skipif(not pathlib.Path("/proc/self").exists(), reason="needs /proc")
def test_folder_that_cannot_be_made(write: Write) -> None:
    with pytest.raises(WriteError, match="/proc/none"):
        write([numbers(0, 1)], pathlib.Path("/proc/none/a"), num_shards=1)
    with pytest.raises(WriteError, match="/proc/none"), TFRecordWriter("/proc/none/a") as writer:
        writer.write(b"")


@contextmanager
def read_only_folder() -> Iterator[pathlib.Path]:
    """Yields a folder in which this process may not write, whoever started it."""
    with tempfile.TemporaryDirectory() as name:
        pathlib.Path(name).chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            yield pathlib.Path(name)
        finally:
            os.seteuid(user)
            pathlib.Path(name).chmod(0o700)


def test_folder_without_permission() -> None:
    with read_only_folder() as folder:
        for prefix in (folder / "a", folder / "new" / "a"):
            with pytest.raises(WriteError, match="Permission denied"):
                write_by_table([numbers(0, 1)], prefix, num_shards=1)
        with pytest.raises(WriteError, match="Permission denied"):
            TFRecordWriter(str(folder / "a"))
        assert tree(folder) == {}


@contextmanager
def full_disk(most: int) -> Iterator[None]:
    """Lets no file of this process get larger than `most` bytes: writing more is an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    ("way", "options"),
    [("table", {}), ("table", {"compression": "gzip"}), ("beam", {"num_shards": 2})],
    ids=["plain", "gzip", "pipeline"],
)
def test_full_disk(tmp_path: pathlib.Path, way: str, options: dict[str, Any]) -> None:
    write = WAYS[way]
    records = [os.urandom(100_000) for _ in range(6)]
    batch = pa.record_batch({"record": pa.array(records, pa.binary())})
    with full_disk(200_000), pytest.raises(WriteError, match="File too large"):
        write([batch], tmp_path / "a", record_type="ByteArray", write_success=True, **options)
    check_nothing_is_left(tmp_path)
    if write is write_by_table:
        assert tree(tmp_path) == {}


def test_full_disk_of_a_writer(tmp_path: pathlib.Path) -> None:
    with (
        full_disk(100_000),
        pytest.raises(WriteError, match="File too large"),
        TFRecordWriter(str(tmp_path / "a")) as writer,
    ):
        for _ in range(10):
            writer.write(os.urandom(50_000))
    assert tree(tmp_path) == {}
