"""Tests of WriteToTFRecord on Beam's runner in this process."""

from __future__ import annotations

import collections
import enum
import itertools
import pathlib
import socket
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from unittest import mock

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.display import DisplayData
from apache_beam.transforms.window import FixedWindows, GlobalWindow, Sessions, TimestampedValue
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.records.writing.encodings import encoding_of
from tests.records.writing.folders import paths_in, records_in
from tests.schema.schemas import parse_schema
from tests.tfxio.example_files import NUM_RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import run
from tests.transforms.writing import (
    RECORDS,
    InBundles,
    InOneBundle,
    check_files,
    write,
    written,
)
from tfrecord_beam import (
    BeamSource,
    EncodeError,
    RawRecordBeamSource,
    ReadRecordBlocks,
    SchemaError,
    WriteError,
    WriteToTFRecord,
    read_table,
    write_table,
)
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.records.writing.bundle import BundleResult, check_results
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.shards import ShardFile
from tfrecord_beam.transforms import write_steps
from tfrecord_beam.transforms.filesystem import BeamOutputFileSystem
from tfrecord_beam.transforms.write_steps import WriteLocally, WriteSteps

SCHEMA_OF_IDS = schema_pb2.Schema(feature=[{"name": "id", "type": "INT"}])


class Number(enum.IntEnum):
    ONE = 1


class Kind(enum.Enum):
    ONE = 1


@pytest.mark.parametrize("num_shards", [None, 3])
@pytest.mark.parametrize("count", [0, 2, 50])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_records_to_shards(
    tmp_path: pathlib.Path, num_shards: int | None, count: int, compression: str | None
) -> None:
    records = RECORDS[:count]
    prefix = tmp_path / "out" / "a"
    files = write(records, prefix, num_shards=num_shards, compression=compression)
    check_files(tmp_path / "out", files)
    assert len(files) == (num_shards or 1)
    assert sorted(records_in(*(file.path for file in files))) == sorted(records)


def batches(count: int = 4, rows: int = 5) -> list[pa.RecordBatch]:
    return [
        pa.record_batch({"id": range(i * rows, (i + 1) * rows), "name": [f"n{i}"] * rows})
        for i in range(count)
    ]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_shards": 3},
        {"num_shards": 30},
        {"num_shards": 3, "shuffle": True},
        {"max_records_per_shard": 7},
        {"max_bytes_per_shard": 200},
        {"partition_by": ["name"]},
        {"partition_by": ["name"], "num_shards": 2},
        {"partition_by": ["name"], "max_records_per_shard": 2},
    ],
)
def test_batches_in_each_way_once_whatever_is_repeated(
    tmp_path: pathlib.Path, options: dict[str, Any]
) -> None:
    """The runner runs every bundle so many times more, and throws away what those gave."""
    transform = WriteToTFRecord(f"{tmp_path}/", **options)
    runner = FnApiRunner(bundle_repeat=2)
    files = sorted({*run(InBundles(batches()), transform, runner=runner).elements})
    check_files(tmp_path, files)
    assert sorted(read_table(tmp_path).column("id").to_pylist()) == [[i] for i in range(20)]
    if "partition_by" in options:
        assert {file.partition for file in files} == {(("name", f"n{i}"),) for i in range(4)}


def test_output_is_there_once_the_files_are(tmp_path: pathlib.Path) -> None:
    result = run(
        beam.Create(RECORDS),
        WriteToTFRecord(tmp_path / "a", num_shards=3),
        ReadRecordBlocks(),
        beam.FlatMap(lambda block: list(block.records())),
    )
    assert sorted(result.elements) == sorted(RECORDS)


def test_what_was_read_is_written_and_read_again(tmp_path: pathlib.Path) -> None:
    (tmp_path / "in").mkdir()
    paths = [str(path) for path in write_files(tmp_path / "in")]
    source = BeamSource(paths, SCHEMA, batch_size=4, desired_bundle_bytes=400)
    [*files] = written(run(source, WriteToTFRecord(tmp_path / "out" / "a", SCHEMA, num_shards=2)))
    assert sum(file.num_records for file in files) == NUM_RECORDS
    before = sorted(read_table(paths, SCHEMA).to_pylist(), key=lambda row: row["id"])
    after = sorted(read_table(tmp_path / "out", SCHEMA).to_pylist(), key=lambda row: row["id"])
    assert after == before


def test_files_may_be_read_and_overwritten_at_once(tmp_path: pathlib.Path) -> None:
    write(RECORDS, tmp_path / "a", num_shards=3)
    source = RawRecordBeamSource(tmp_path / "a*", desired_bundle_bytes=100)
    transform = WriteToTFRecord(tmp_path / "a", num_shards=2, mode="overwrite")
    check_files(tmp_path, written(run(source, transform)))
    assert sorted(records_in(tmp_path / "a*")) == sorted(RECORDS)


class Person(NamedTuple):
    name: str
    age: int


PEOPLE = [("ann", 41), ("bob", 17), ("eve", 5)]


def example_of(name: str, age: int) -> Any:
    example = Example()
    example.features.feature["name"].bytes_list.value.append(name.encode())
    example.features.feature["age"].int64_list.value.append(age)
    return example


@pytest.mark.parametrize(
    "elements",
    [
        [{"name": name, "age": age} for name, age in PEOPLE],
        [Person(*each) for each in PEOPLE],
        [beam.Row(name=name, age=age) for name, age in PEOPLE],
        [example_of(*each) for each in PEOPLE],
        [example_of(*each).SerializeToString() for each in PEOPLE],
        [pa.record_batch({"name": [name], "age": [age]}) for name, age in PEOPLE],
    ],
    ids=["dict", "NamedTuple", "Row", "message", "bytes", "RecordBatch"],
)
@pytest.mark.parametrize("num_shards", [None, 2])
def test_elements_of_each_type(
    tmp_path: pathlib.Path, elements: list[Any], num_shards: int | None
) -> None:
    files = write(elements, tmp_path / "a", num_shards=num_shards)
    rows = read_table([file.path for file in files]).to_pylist()
    assert sorted(rows, key=lambda row: row["name"]) == [
        {"age": [age], "name": [name.encode()]} for name, age in PEOPLE
    ]


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        ([b"a", {"a": 1}], "Expected bytes or a protobuf message as the elements before, found"),
        ([{"a": 1}, 5], "Expected a RecordBatch, bytes, a protobuf message, a mapping, .* found 5"),
        ([{"a": 1}, {"a": "x"}], "Expected int64 for feature 'a', found 'x'"),
        ([None], "Expected a RecordBatch, bytes, .* found None"),
    ],
)
def test_elements_that_are_refused(tmp_path: pathlib.Path, elements: list[Any], text: str) -> None:
    with pytest.raises(EncodeError, match=text):
        run(InOneBundle(elements), WriteToTFRecord(tmp_path / "a", num_shards=1))
    assert [path for path in paths_in(tmp_path) if not path.startswith(".")] == []


def test_one_feature_of_two_kinds_in_two_bundles(tmp_path: pathlib.Path) -> None:
    different = [pa.record_batch({"a": [1]}), pa.record_batch({"a": ["x"]})]
    with pytest.raises(SchemaError, match="Expected one kind for feature 'a', found bytes_list"):
        run(InBundles(different), WriteToTFRecord(tmp_path / "a"))
    assert [path for path in paths_in(tmp_path) if not path.startswith(".")] == []


def test_batches_must_fit_the_schema(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SchemaError, match="'name'"):
        write(batches(1), tmp_path / "a", SCHEMA_OF_IDS)


@pytest.mark.parametrize("batched", [False, True])
def test_ordered(tmp_path: pathlib.Path, batched: bool) -> None:
    pairs: list[Any] = [(i, record) for i, record in enumerate(RECORDS)]
    if batched:
        pairs = list(enumerate(batches()))
    [file] = written(run(InBundles(pairs[::-1]), WriteToTFRecord(tmp_path / "a", ordered=True)))
    if batched:
        assert read_table(file.path).column("id").to_pylist() == [[i] for i in range(20)]
    else:
        assert records_in(file.path) == RECORDS


def test_ordered_elements_are_pairs(tmp_path: pathlib.Path) -> None:
    with pytest.raises(EncodeError, match=r"^Expected pairs of .*, found b'a' - at record 0"):
        write([b"a"], tmp_path / "a", ordered=True)


def test_shuffle_does_not_depend_on_bundles(tmp_path: pathlib.Path) -> None:
    contents = []
    for name, elements in (("1", RECORDS), ("2", RECORDS[::-1])):
        transform = WriteToTFRecord(tmp_path / name / "a", num_shards=3, shuffle=True, seed=5)
        files = written(run(InBundles(elements), transform))
        contents.append([records_in(file.path) for file in files])
    assert contents[0] == contents[1]
    assert sorted(sum(contents[0], [])) == sorted(RECORDS)
    assert sum(contents[0], []) != sorted(RECORDS)


def test_local_bundles_look_at_their_folder_once(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_system = mock.Mock(wraps=BeamOutputFileSystem())
    monkeypatch.setattr(write_steps, "BeamOutputFileSystem", lambda: file_system)
    options = WriteOptions(tmp_path / "a", write_locality="local", write_index=True)
    steps = WriteSteps(options, encoding_of(options))
    [write] = steps.start(b"", has_end=True)
    do_fn = WriteLocally(steps)
    files = []
    for bundle in range(4):
        do_fn.start_bundle()
        do_fn.process([b"%d" % bundle], write, GlobalWindow())
        files += [each.value for each in do_fn.finish_bundle()]
    assert records_in(*(file.path for file in files)) == [b"0", b"1", b"2", b"3"]
    assert file_system.list_folder.call_count == 2  # as the write starts, and the first bundle
    assert len(paths_in(tmp_path)) == 2 * 4  # with their indexes, but no hidden folder


def test_local_files_have_names_of_their_own(tmp_path: pathlib.Path) -> None:
    for mode in ("error", "append"):
        transform = WriteToTFRecord(tmp_path / "a", write_locality="local", mode=mode)
        files = written(run(InBundles(RECORDS), transform))
        assert {file.host for file in files} == {socket.gethostname()}
        assert sorted(records_in(*(file.path for file in files))) == sorted(RECORDS)
    assert len(records_in(tmp_path / "a*")) == 2 * len(RECORDS)
    assert all(not path.startswith(".") for path in paths_in(tmp_path))
    with pytest.raises(WriteError, match=r"^Expected no files of this data set"):
        WriteToTFRecord(tmp_path / "a", write_locality="local")


@pytest.mark.parametrize("options", [{}, {"num_shards": 2}])
def test_modes(tmp_path: pathlib.Path, options: dict[str, Any]) -> None:
    prefix = tmp_path / "a"
    write(RECORDS, prefix, **options)
    with pytest.raises(WriteError, match=r"^Expected no files of this data set, found \d"):
        WriteToTFRecord(prefix, **options)
    assert write(RECORDS, prefix, mode="ignore", **options) == []
    write(RECORDS[:3], prefix, mode="append", **options)
    assert sorted(records_in(f"{prefix}*")) == sorted(RECORDS + RECORDS[:3])
    files = write(RECORDS[:2], prefix, mode="overwrite", write_success=True, **options)
    assert paths_in(tmp_path) == sorted(
        ["_SUCCESS", *(pathlib.Path(file.path).name for file in files)]
    )
    assert sorted(records_in(f"{prefix}*")) == RECORDS[:2]


def test_mode_is_looked_at_again_when_the_pipeline_runs(tmp_path: pathlib.Path) -> None:
    transform = WriteToTFRecord(tmp_path / "a")
    (tmp_path / "a-00000-of-00001.tfrecord").touch()
    with pytest.raises(WriteError, match=r"^Expected no files of this data set, found 1"):
        run(beam.Create(RECORDS), transform)
    assert paths_in(tmp_path) == ["a-00000-of-00001.tfrecord"]


def test_pipeline_that_runs_twice_writes_twice(tmp_path: pathlib.Path) -> None:
    pipeline = beam.Pipeline(runner=FnApiRunner())
    _ = pipeline | beam.Create([b"a"]) | WriteToTFRecord(tmp_path / "a", mode="append")
    for _ in range(2):
        pipeline.run().wait_until_finish()
    assert len(paths_in(tmp_path)) == 2
    assert records_in(tmp_path / "a*") == [b"a", b"a"]


def test_index_is_written_and_used(tmp_path: pathlib.Path) -> None:
    for mode in ("error", "overwrite"):
        files = write(RECORDS, tmp_path / "a", num_shards=2, write_index=True, mode=mode)
        assert paths_in(tmp_path) == sorted(
            name
            for file in files
            for name in (pathlib.Path(file.path).name, f".{pathlib.Path(file.path).name}.index")
        )
    write(RECORDS, tmp_path / "a", num_shards=1, mode="overwrite")
    assert paths_in(tmp_path) == ["a-00000-of-00001.tfrecord"]


def test_windows_of_a_bounded_input(tmp_path: pathlib.Path) -> None:
    stamped = [TimestampedValue(record, i * 10) for i, record in enumerate(RECORDS[:12])]
    for num_shards in (1, None):
        result = run(
            beam.Create(stamped),
            beam.Map(lambda each: each).with_output_types(bytes),
            beam.WindowInto(FixedWindows(60)),
            WriteToTFRecord(tmp_path / "a", mode="overwrite", num_shards=num_shards),
        )
        files = written(result)
        check_files(tmp_path, files)
        assert [pathlib.Path(file.path).name for file in files] == [
            "a-19700101T000000Z-19700101T000100Z-0-00000-of-00001.tfrecord",
            "a-19700101T000100Z-19700101T000200Z-0-00000-of-00001.tfrecord",
        ]
        assert [sorted(records_in(file.path)) for file in files] == [
            sorted(RECORDS[:6]),
            sorted(RECORDS[6:12]),
        ]


@pytest.mark.parametrize(
    "options", [{"num_shards": 1}, {"num_shards": 2, "shuffle": True}, {"num_shards": 7}]
)
def test_sessions_of_a_bounded_input(tmp_path: pathlib.Path, options: dict[str, Any]) -> None:
    seconds = [1, 2, 3, *range(100, 300)]
    stamped = [TimestampedValue(b"%d" % second, second) for second in seconds]
    for mode in ("error", "overwrite"):
        result = run(
            beam.Create(stamped),
            beam.Map(lambda each: each).with_output_types(bytes),
            beam.WindowInto(Sessions(30)),
            WriteToTFRecord(tmp_path / "a", mode=mode, **options),
        )
        files = written(result)
        check_files(tmp_path, files)
        by_window: dict[str, list[bytes]] = collections.defaultdict(list)
        for file in files:
            by_window[pathlib.Path(file.path).name[2:36]] += records_in(file.path)
        assert {name: sorted(map(int, records)) for name, records in by_window.items()} == {
            "19700101T000001Z-19700101T000033Z-": seconds[:3],
            "19700101T000140Z-19700101T000529Z-": seconds[3:],
        }
        assert len(files) == 2 * options["num_shards"]


@pytest.mark.parametrize("options", [{}, {"write_locality": "local"}, {"max_records_per_shard": 5}])
def test_sessions_need_a_number_of_shards(tmp_path: pathlib.Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^Expected num_shards for windows that merge \(sessions"):
        write_sessions = WriteToTFRecord(tmp_path / "a", **options)
        run(beam.Create(RECORDS), beam.WindowInto(Sessions(30)), write_sessions)


def test_one_worker_sees_no_segments(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[BundleResult] = []

    def check(results: Sequence[BundleResult], files: Sequence[ShardFile]) -> None:
        seen.extend(results)
        check_results(results, files)

    monkeypatch.setattr(write_steps, "check_results", check)
    files = written(run(InBundles(RECORDS), WriteToTFRecord(tmp_path / "a", num_shards=3)))
    check_files(tmp_path, files)
    assert sum(result.num_records for result in seen) == len(RECORDS)
    assert all(result.segments == {} for result in seen)


def test_display_data_and_label(tmp_path: pathlib.Path) -> None:
    transform = WriteToTFRecord(tmp_path / "a", num_shards=2, mode="append", compression="gzip")
    shown = DisplayData.create_from(transform).items
    assert {item.key: item.value for item in shown} == {
        "file_path_prefix": str(tmp_path / "a"),
        "num_shards": 2,
        "mode": "append",
        "compression": "gzip",
        "record_type": "Example",
        "null_values": "error",
    }
    assert transform.default_label() == "WriteToTFRecord"


def test_metrics(tmp_path: pathlib.Path) -> None:
    result = run(beam.Create(RECORDS), WriteToTFRecord(tmp_path / "a", num_shards=3))
    counted: dict[str, Any] = dict(result.in_namespace("tfrecord_beam"))
    assert counted.pop("write_msec") >= counted.pop("encode_msec") == 0  # there are no rows
    assert counted == {
        "files_written": 3,
        "records_written": len(RECORDS),
        "bytes_written": sum(file.num_bytes for file in result.elements),
    }


def test_time_of_encoding_is_counted(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that goes on by a second each time it is asked."""
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    result = run(beam.Create(batches(count=3)), WriteToTFRecord(tmp_path / "a", num_shards=1))
    counted: dict[str, Any] = dict(result.in_namespace("tfrecord_beam"))
    assert counted["encode_msec"] == 3 * 1000
    assert counted["write_msec"] > counted["encode_msec"]


def test_bytes_are_not_partitioned(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SchemaError, match=r"Expected rows with the columns \['a'\], found records"):
        write([b"a"], tmp_path / "a", partition_by=["a"])


def test_enums_are_written_as_by_write_table(tmp_path: pathlib.Path) -> None:
    write([{"x": Number.ONE}], tmp_path / "a")
    assert read_table(tmp_path / "a*").column("x").to_pylist() == [[1]]
    refused = r"for feature 'x', found <Kind.ONE: 1> - at record 0"
    with pytest.raises(EncodeError, match=refused):
        write([{"x": Kind.ONE}], tmp_path / "b")
    with pytest.raises(EncodeError, match=refused):
        write_table({"x": [Kind.ONE]}, tmp_path / "b")


def test_partition_columns_that_records_keep_are_in_the_schema(tmp_path: pathlib.Path) -> None:
    """Said before the pipeline runs; columns that are only in folders' names may be others."""
    schema = parse_schema('feature { name: "day" type: BYTES }')
    options: Any = {"partition_by": ["dya"], "keep_partition_columns": True}
    text = r"^Expected partition_by among 'day', found 'dya' \(did you mean 'day'\?\)$"
    with pytest.raises(SchemaError, match=text):
        WriteToTFRecord(f"{tmp_path}/", schema, **options)
    WriteToTFRecord(f"{tmp_path}/", schema, **{**options, "partition_by": ["day"]})
    WriteToTFRecord(f"{tmp_path}/", schema, partition_by=["hour"])
    WriteToTFRecord(f"{tmp_path}/", **options)
