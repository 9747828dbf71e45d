"""What workers write to their logs."""

from __future__ import annotations

import logging
import pathlib
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.error_handling import ErrorHandler
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.frames import framed
from tests.records.reading import flip, frame_starts
from tests.records.writing.folders import paths_in
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import run
from tests.wire import entry, example, int64
from tfrecord_beam import (
    BeamSource,
    DecodeRecordBlocks,
    ReadRecordBlocks,
    WriteReport,
    WriteToTFRecord,
)

SCHEMA_OF_AGES = schema_pb2.Schema(feature=[{"name": "age", "type": "INT"}])


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "tfrecord_beam")
    return caplog


def lines(log: pytest.LogCaptureFixture) -> list[str]:
    ours = (record for record in log.records if record.name.startswith("tfrecord_beam"))
    return sorted(record.getMessage() for record in ours)


def test_each_file_is_named_once(tmp_path: pathlib.Path, log: pytest.LogCaptureFixture) -> None:
    """Whatever the number of its ranges, blocks, batches and records."""
    (tmp_path / "in").mkdir()
    files = write_files(tmp_path / "in")
    source = BeamSource(tmp_path / "in", SCHEMA, batch_size=2, desired_bundle_bytes=100)
    written = run(source, WriteToTFRecord(f"{tmp_path}/out/", num_shards=2)).elements
    assert sum(file.num_records for file in written) == NUM_RECORDS
    assert {file.path for file in written} == {
        str(tmp_path / "out" / path) for path in paths_in(tmp_path / "out")
    }
    assert lines(log) == [
        *sorted(f"Reading {file}" for file in files),
        *sorted(f"Wrote {f.path}: {f.num_records} records, {f.num_bytes} bytes" for f in written),
    ]


def test_a_report_logs_no_warning(tmp_path: pathlib.Path, log: pytest.LogCaptureFixture) -> None:
    """Some versions of Beam warn of what a DoFn returns."""
    pytest.importorskip("jinja2")
    (tmp_path / "a").write_bytes(framed(*RECORDS))
    run(WriteReport(tmp_path / "a", tmp_path / "a.html"))
    assert not [each for each in log.records if each.levelno >= logging.WARNING]


def test_corrupt_records_are_not_named(
    tmp_path: pathlib.Path, log: pytest.LogCaptureFixture
) -> None:
    """They go to the error handler; there may be millions."""
    file = tmp_path / "a.tfrecord"
    data = framed(*RECORDS)
    for start in frame_starts(RECORDS)[1:9]:
        data = flip(data, start + 12)
    file.write_bytes(data)
    with beam.Pipeline(runner=FnApiRunner()) as pipeline, ErrorHandler(beam.Map(id)) as handler:
        _ = pipeline | BeamSource(file, error_handler=handler)
    assert lines(log) == [f"Reading {file}"]


LOST = (
    "Expected columns among 'age', 'day', 'name', found 'agee', which no record has "
    "(did you mean 'age'?)"
)


@pytest.mark.parametrize("schema", [None, SCHEMA_OF_AGES])
@pytest.mark.parametrize("with_blocks", [False, True])
def test_columns_that_no_record_has_are_named_once(
    tmp_path: pathlib.Path,
    log: pytest.LogCaptureFixture,
    schema: schema_pb2.Schema | None,
    with_blocks: bool,
) -> None:
    """A schema says which columns there are before anything is read."""
    for day, feature in (("1", "age"), ("2", "age"), ("3", "name")):
        (tmp_path / f"day={day}").mkdir()
        record = example(entry("age", int64(1)), entry("name", int64(2)), entry(feature, int64(3)))
        (tmp_path / f"day={day}" / "a").write_bytes(framed(*[record] * 50))
    columns = ["age"] if schema else ["agee", "day", "name"]
    options: Any = {"columns": columns, "partition_columns": "hive"}
    if with_blocks:
        source = [ReadRecordBlocks(tmp_path, batch_size=5), DecodeRecordBlocks(schema, **options)]
    else:
        source = [BeamSource(tmp_path, schema, batch_size=5, desired_bundle_bytes=100, **options)]
    result = run(*source)
    assert sum(batch.num_rows for batch in result.elements) == 150
    warned = [each.getMessage() for each in log.records if each.levelno == logging.WARNING]
    assert warned == ([] if schema else [LOST])
    assert result.in_namespace("tfrecord_beam").get("lost_columns", 0) == len(warned)


@pytest.mark.parametrize("with_blocks", [False, True])
def test_schema_of_other_records_is_named_once(
    tmp_path: pathlib.Path, log: pytest.LogCaptureFixture, with_blocks: bool
) -> None:
    record = example(entry("agee", int64(1)), entry("name", int64(2)))
    for name in "abc":
        (tmp_path / name).write_bytes(framed(*[record] * 50))

    def warnings_of_reading() -> list[str]:
        log.clear()
        if with_blocks:
            run(ReadRecordBlocks(tmp_path, batch_size=5), DecodeRecordBlocks(SCHEMA_OF_AGES))
        else:
            run(BeamSource(tmp_path, SCHEMA_OF_AGES, batch_size=5, desired_bundle_bytes=100))
        return [each.getMessage() for each in log.records if each.levelno == logging.WARNING]

    assert warnings_of_reading() == [
        "Expected features of the schema among 'agee', 'name', found 'age', which no record has "
        "(did you mean 'agee'?)"
    ]
    (tmp_path / "d").write_bytes(framed(example(entry("age", int64(1)))))
    assert warnings_of_reading() == []


@pytest.mark.parametrize("with_blocks", [False, True])
def test_feature_of_a_schema_that_no_record_has_may_be_read(
    tmp_path: pathlib.Path, log: pytest.LogCaptureFixture, with_blocks: bool
) -> None:
    (tmp_path / "a").write_bytes(framed(example(entry("agee", int64(1)))))
    schema = schema_pb2.Schema()
    schema.CopyFrom(SCHEMA_OF_AGES)
    schema.feature.add(name="agee", type=schema_pb2.INT)
    if with_blocks:
        run(ReadRecordBlocks(tmp_path), DecodeRecordBlocks(schema, columns=["age"]))
    else:
        run(BeamSource(tmp_path, schema, columns=["age"]))
    assert [each for each in log.records if each.levelno == logging.WARNING] == []


def test_column_that_only_one_record_has_is_not_lost(
    tmp_path: pathlib.Path, log: pytest.LogCaptureFixture
) -> None:
    records = [example(entry("age", int64(1)))] * 99 + [example(entry("rare", int64(1)))]
    (tmp_path / "a").write_bytes(framed(*records))
    run(BeamSource(tmp_path / "a", columns=["age", "rare"], batch_size=5))
    assert not [each for each in log.records if each.levelno == logging.WARNING]
