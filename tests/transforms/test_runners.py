"""The sources on Beam's local runner in each of its modes: always the same records.

The runner is named: the one that Beam takes by default would download an engine.
"""

from __future__ import annotations

import itertools
import pathlib
import sys

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to

from tests.contract.writing import SUFFIXES, no_warnings, stored
from tests.records.writing.folders import paths_in, records_in
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tfrecord_beam.records.inference import infer_schema
from tfrecord_beam.report.write import write_report
from tfrecord_beam.transforms.infer import InferSchema
from tfrecord_beam.transforms.read import BeamSource, RawRecordBeamSource
from tfrecord_beam.transforms.report import WriteReport
from tfrecord_beam.transforms.write import WriteToTFRecord

MODES = [
    "in_memory",
    "multi_threading",
    pytest.param("multi_processing", marks=pytest.mark.slow),
]


def options_of(mode: str) -> PipelineOptions:
    return PipelineOptions(
        [
            "--runner=apache_beam.runners.portability.fn_api_runner.FnApiRunner",
            "--direct_num_workers=2",
            f"--direct_running_mode={mode}",
        ]
    )


@pytest.mark.parametrize("mode", MODES)
def test_records_are_the_same_on_each_runner(
    mode: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Worker processes find the package where this one does.
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, sys.path)))
    write_files(tmp_path)
    with beam.Pipeline(options=options_of(mode)) as pipeline:
        raw = pipeline | RawRecordBeamSource(tmp_path, desired_bundle_bytes=400)
        assert_that(raw, equal_to(RECORDS), label="Records")
        batches = pipeline | BeamSource(tmp_path, SCHEMA, batch_size=6, desired_bundle_bytes=400)
        ids = batches | beam.FlatMap(lambda batch: batch.column("id").flatten().to_pylist())
        assert_that(ids, equal_to(list(range(NUM_RECORDS))), label="Ids")
        schema = pipeline | InferSchema(tmp_path, int_domains=True, desired_bundle_bytes=400)
        expected = infer_schema(tmp_path, int_domains=True)
        assert_that(schema, equal_to([expected]), label="Schema")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("num_shards", [None, 3])
def test_files_written_on_each_runner(
    mode: str, num_shards: int | None, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, sys.path)))
    with beam.Pipeline(options=options_of(mode)) as pipeline:
        files = (
            pipeline
            | beam.Create(RECORDS)
            | beam.Reshuffle()
            | WriteToTFRecord(tmp_path / "a", num_shards=num_shards)
        )
        counts = files | beam.Map(lambda file: file.num_records) | beam.CombineGlobally(sum)
        assert_that(counts, equal_to([len(RECORDS)]))
    assert sorted(records_in(tmp_path / "a*")) == sorted(RECORDS)
    assert all(not path.startswith(".") for path in paths_in(tmp_path))
    assert len(paths_in(tmp_path)) == 3 or num_shards is None


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("codec", SUFFIXES)
def test_each_number_of_shards_and_of_records_on_each_runner(
    mode: str, codec: str | None, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, sys.path)))
    cases = [*itertools.product((None, 2, 5), (0, 1, 23))]
    with no_warnings(), beam.Pipeline(options=options_of(mode)) as pipeline:
        for shards, records in cases:
            name = f"{shards} {records}"
            _ = (
                pipeline
                | f"Create {name}" >> beam.Create(RECORDS[:records])
                | f"Write {name}"
                >> WriteToTFRecord(tmp_path / name / "a", num_shards=shards, compression=codec)
            )
    for shards, records in cases:
        files = [*(tmp_path / f"{shards} {records}").iterdir()]
        assert sorted(record for file in files for record in stored(file)) == sorted(
            RECORDS[:records]
        )
        assert {file.name for file in files} == {
            f"a-{shard:05}-of-{len(files):05}.tfrecord{SUFFIXES[codec]}"
            for shard in range(len(files) if shards is None else shards)
        }


@pytest.mark.parametrize("mode", MODES)
def test_report_is_the_same_on_each_runner(
    mode: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, sys.path)))
    files = write_files(tmp_path)
    expected = write_report(files, tmp_path / "expected", SCHEMA)
    with beam.Pipeline(options=options_of(mode)) as pipeline:
        _ = pipeline | WriteReport(files, tmp_path / "page", SCHEMA, desired_bundle_bytes=400)
    assert (tmp_path / "page").read_bytes() == pathlib.Path(expected.path).read_bytes()
