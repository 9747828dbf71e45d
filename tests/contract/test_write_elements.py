"""Elements of every kind, and records of every type."""

from __future__ import annotations

import pathlib
import re
from collections import Counter
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest

from tests.contract.writing import (
    Write,
    numbers,
    records_of,
    stored,
    visible,
    write_by_beam,
    write_by_table,
    write_each,
)
from tests.schema.schemas import parse_schema
from tests.wire import (
    NO_KIND,
    bytes_list,
    entry,
    example,
    feature_list,
    floats,
    int64,
    sequence_example,
)
from tfrecord_beam import (
    SchemaError,
    TFRecordBeamError,
    WriteToTFRecord,
    count,
    read_table,
)
from tfrecord_beam.kernel.reference.protos import Example, SequenceExample


class Person(NamedTuple):
    name: str
    age: int | None
    scores: list[float]


ROWS = [
    {"name": [b"Ann"], "age": [7], "scores": [0.5, 1.5]},
    {"name": [b"Bo"], "age": None, "scores": []},
]

ELEMENTS: dict[str, list[Any]] = {
    "dicts": [
        {"name": "Ann", "age": 7, "scores": [0.5, 1.5]},
        {"name": b"Bo", "age": None, "scores": []},
    ],
    "dicts of lists": [
        {"name": ["Ann"], "age": [7], "scores": (0.5, 1.5)},
        {"name": ["Bo"], "scores": []},
    ],
    "dicts of arrays": [
        {
            "name": np.array([b"Ann"], object),
            "age": np.int64(7),
            "scores": np.array([0.5, 1.5], np.float32),
        },
        {"name": np.array([b"Bo"], object), "age": None, "scores": np.array([], np.float32)},
    ],
    "named tuples": [Person("Ann", 7, [0.5, 1.5]), Person("Bo", None, [])],
    "rows": [
        beam.Row(name="Ann", age=7, scores=[0.5, 1.5]),
        beam.Row(name="Bo", age=None, scores=[]),
    ],
}


@pytest.mark.parametrize("kind", list(ELEMENTS))
def test_rows(tmp_path: pathlib.Path, kind: str) -> None:
    written = write_by_beam(ELEMENTS[kind], tmp_path / "a", num_shards=2)
    assert sum(file.num_records for file in written) == 2
    rows = sorted(read_table(tmp_path).to_pylist(), key=lambda row: row["name"])
    assert [{name: row[name] for name in ("name", "age", "scores")} for row in rows] == ROWS


def test_features_stand_by_first_appearance(tmp_path: pathlib.Path) -> None:
    elements = [{"z": 1, "a": 2}, {"m": 3, "z": 4}]
    [file] = write_by_beam(elements, tmp_path / "a", num_shards=1)
    assert records_of([file]) == Counter(
        [
            example(entry("z", int64(1)), entry("a", int64(2)), entry("m", NO_KIND)),
            example(entry("z", int64(4)), entry("a", NO_KIND), entry("m", int64(3))),
        ]
    )
    options: dict[str, Any] = {"null_as_absent": True, "num_shards": 1}
    [file] = write_by_beam(elements, tmp_path / "absent", **options)
    assert records_of([file]) == Counter(
        [
            example(entry("z", int64(1)), entry("a", int64(2))),
            example(entry("z", int64(4)), entry("m", int64(3))),
        ]
    )


def test_the_schema_says_the_kind_of_rows(tmp_path: pathlib.Path) -> None:
    schema = parse_schema('feature { name: "f" type: FLOAT } feature { name: "s" type: BYTES }')
    elements = [{"f": [1], "s": ["é"]}, {"f": 2, "s": None}, {"f": [], "s": []}]
    [file] = write_by_beam(elements, tmp_path / "a", schema=schema, num_shards=1)
    assert records_of([file]) == Counter(
        [
            example(entry("f", floats(1)), entry("s", bytes_list("é".encode()))),
            example(entry("f", floats(2)), entry("s", NO_KIND)),
            example(entry("f", floats()), entry("s", bytes_list())),
        ]
    )


def test_messages(tmp_path: pathlib.Path) -> None:
    one, other = Example(), SequenceExample()
    for name in ("b", "a", "c"):
        one.features.feature[name].int64_list.value.append(1)
        other.context.feature[name].float_list.value.append(2)
    written = write_by_beam([one], tmp_path / "a")
    assert records_of(written) == {one.SerializeToString(deterministic=True): 1}
    written = write_by_beam([other], tmp_path / "b", record_type="SequenceExample")
    assert records_of(written) == {other.SerializeToString(deterministic=True): 1}


RECORDS = [b"", b"not a message", b"\xff" * 1000, example(entry("a", int64(1))), b"x", b"x"]


def test_bytes_are_the_records_whatever_their_type(tmp_path: pathlib.Path) -> None:
    types: list[tuple[Any, int | None]] = [
        ("Example", None),
        ("SequenceExample", 1),
        ("ByteArray", 3),
    ]
    transforms = {
        name: WriteToTFRecord(str(tmp_path / name), record_type=name, num_shards=shards)
        for name, shards in types
    }
    for written in write_each(RECORDS, transforms).values():
        assert records_of(written) == Counter(RECORDS)


@pytest.mark.parametrize(
    "type_", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()], ids=str
)
def test_byte_arrays_of_batches(tmp_path: pathlib.Path, type_: pa.DataType) -> None:
    values = ["", "é", "record"]
    batch = pa.record_batch({"any": pa.array([value.encode() for value in values]).cast(type_)})
    [file] = write_by_table([batch], tmp_path / "a", record_type="ByteArray", num_shards=1)
    assert stored(file.path) == [value.encode() for value in values]
    assert count(file.path) == 3


BYTES = pa.array([b"x", b"y"], pa.binary())


@pytest.mark.parametrize(
    "columns",
    [
        {"a": BYTES, "b": BYTES},
        {"a": BYTES, "n": pa.array([1, 2])},
        {"n": pa.array([1, 2])},
        {"a": pa.array([b"x", None])},
    ],
    ids=["two", "bytes and integers", "integers", "null"],
)
def test_batches_that_are_no_byte_arrays(
    tmp_path: pathlib.Path, columns: dict[str, pa.Array]
) -> None:
    batch = pa.record_batch(columns)
    with pytest.raises(TFRecordBeamError, match="xpected") as caught:
        write_by_table([batch], tmp_path / "a", record_type="ByteArray", num_shards=1)
    assert isinstance(caught.value, ValueError)
    if len(columns) == 2:
        assert isinstance(caught.value, SchemaError)
    assert repr(list(columns)[-1]) in str(caught.value)
    assert visible(tmp_path) == []


LISTS = pa.array([[[1], [], [2, 3]], None, []], pa.list_(pa.list_(pa.int64())))
STEPS = [feature_list("l", int64(1), int64(), int64(2, 3)), b"", feature_list("l")]


def test_nested_lists_are_feature_lists(write: Write, tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch({"c": pa.array([[0.5], [], None], pa.list_(pa.float32())), "l": LISTS})
    context = [floats(0.5), floats(), NO_KIND]
    expected = [
        sequence_example(steps, context=example(entry("c", feature)))
        for feature, steps in zip(context, STEPS)
    ]
    [file] = write([batch], tmp_path / "a", record_type="SequenceExample", num_shards=1)
    assert stored(file.path) == expected
    table = read_table(file.path, record_type="SequenceExample")
    assert table.column("c").to_pylist() == [[0.5], [], None]
    found = [row and row["l"] for row in table.column("##SEQUENCE##").to_pylist()]
    assert found == LISTS.to_pylist()


def test_fields_of_the_struct_are_feature_lists(tmp_path: pathlib.Path) -> None:
    struct = pa.StructArray.from_arrays([LISTS], ["l"])
    batch = pa.record_batch({"c": pa.array([1, 2, 3]), "##SEQUENCE##": struct})
    expected = [
        sequence_example(steps, context=example(entry("c", int64(number))))
        for number, steps in zip((1, 2, 3), STEPS)
    ]
    [file] = write_by_table([batch], tmp_path / "a", record_type="SequenceExample", num_shards=1)
    assert stored(file.path) == expected


def test_feature_lists_by_name(tmp_path: pathlib.Path) -> None:
    """A list of one level that is named has a step of one value for each value."""
    flat = pa.array([[1, 2], [], None], pa.list_(pa.int64()))
    batch = pa.record_batch({"flat": flat, "other": flat})
    options: dict[str, Any] = {"record_type": "SequenceExample", "num_shards": 1}
    [file] = write_by_table([batch], tmp_path / "a", feature_list_columns=["flat"], **options)
    expected = [
        (int64(1, 2), feature_list("flat", int64(1), int64(2))),
        (int64(), feature_list("flat")),
        (NO_KIND, b""),
    ]
    assert stored(file.path) == [
        sequence_example(steps, context=example(entry("other", feature)))
        for feature, steps in expected
    ]
    with pytest.raises(SchemaError, match="'lost'"):
        write_by_table([batch], tmp_path / "b", feature_list_columns=["flat", "lost"], **options)
    nested = pa.record_batch({"l": LISTS})
    with pytest.raises(SchemaError, match="'l'"):
        write_by_table([nested], tmp_path / "c", feature_list_columns=[], **options)


def test_nested_lists_of_an_example(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SchemaError, match="'l'"):
        write_by_table([pa.record_batch({"l": LISTS})], tmp_path / "a", num_shards=1)


def test_rows_of_sequences(tmp_path: pathlib.Path) -> None:
    elements = [{"id": 1, "l": [[1], [2, 3]]}, {"id": 2, "l": []}]
    written = write_by_beam(elements, tmp_path / "a", record_type="SequenceExample")
    assert records_of(written) == Counter(
        [
            sequence_example(
                feature_list("l", int64(1), int64(2, 3)), context=example(entry("id", int64(1)))
            ),
            sequence_example(feature_list("l"), context=example(entry("id", int64(2)))),
        ]
    )


@pytest.mark.parametrize("element", [5, None, "text", (1, 2)], ids=repr)
def test_elements_that_cannot_be_written(tmp_path: pathlib.Path, element: Any) -> None:
    with pytest.raises(TFRecordBeamError, match=rf"found {re.escape(repr(element))}"):
        write_by_beam([element], tmp_path / "a")
    assert visible(tmp_path) == []


@pytest.mark.parametrize("record_type", ["Example", "SequenceExample"])
def test_rows_without_columns(tmp_path: pathlib.Path, record_type: str) -> None:
    batch = pa.RecordBatch.from_struct_array(pa.array([{}] * 3, pa.struct([])))
    written = write_by_table([batch], tmp_path / "a", record_type=record_type, num_shards=2)
    assert sum(file.num_records for file in written) == 3


def test_batches_are_not_changed(tmp_path: pathlib.Path) -> None:
    batch = numbers(0, 10)
    copy = pa.record_batch(batch.to_pydict(), schema=batch.schema)
    write_by_table([batch.slice(3, 4)], tmp_path / "a", num_shards=1)
    assert batch.equals(copy)
    assert len(stored(tmp_path / "a-00000-of-00001.tfrecord")) == 4
