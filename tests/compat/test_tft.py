"""TensorFlow Transform on batches of this library."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

import tfrecord_beam
from tests.compat.peers import import_peer
from tfrecord_beam.records.demo import DemoFiles, write_census
from tfrecord_beam.tfxio import RecordBatchToExamplesEncoder, TFExampleRecord

tf = import_peer("tensorflow")
tft = import_peer("tensorflow_transform")
tft_beam = import_peer("tensorflow_transform.beam")
analyzer_cache = import_peer("tensorflow_transform.beam.analyzer_cache")

ROOT = pathlib.Path(__file__).parents[2]

NAMES = ["age", "education"]
NUM_RECORDS = 300


def preprocess(inputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "age": tft.scale_to_0_1(inputs["age"]),
        "education": tft.compute_and_apply_vocabulary(inputs["education"]),
    }


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> DemoFiles:
    return write_census(tmp_path_factory.mktemp("census"), num_records=NUM_RECORDS, num_shards=2)


@pytest.fixture
def people(census: DemoFiles) -> pa.Table:
    return tfrecord_beam.read_table(*census)


def scaled_ages(people: pa.Table) -> list[float]:
    ages = people["age"].combine_chunks().flatten().to_numpy()
    scaled = (ages - ages.min()) / (ages.max() - ages.min())
    return sorted(scaled.astype(np.float32).tolist())


def read_ages(pattern: str) -> list[float]:
    table = tfrecord_beam.read_table(pattern, columns=["age"])
    return sorted(table["age"].combine_chunks().flatten().to_pylist())


def write(batches: Any, prefix: pathlib.Path) -> None:
    encoder = RecordBatchToExamplesEncoder()
    _ = (
        batches
        | "Encode" >> beam.FlatMapTuple(lambda batch, _: encoder.encode(batch))
        | "Write" >> beam.io.WriteToTFRecord(str(prefix))
    )


def test_census_from_csv_to_a_trained_model() -> None:
    finished = subprocess.run(
        [sys.executable, "examples/census_tft.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    accuracy = re.search(r"^accuracy on the test set: (0\.\d{3})$", finished.stdout, re.MULTILINE)
    # Whoever says "<=50K" of each of these people is right about four of five.
    assert accuracy and float(accuracy[1]) > 0.75


def test_projected_records_with_columns_passed_through(
    census: DemoFiles, people: pa.Table, tmp_path: pathlib.Path
) -> None:
    tfxio = TFExampleRecord(census.pattern, schema=census.schema)
    projected = tfxio.Project([*NAMES, "fnlwgt"])
    assert projected.ArrowSchema().names == ["age", "fnlwgt", "education"]
    config = projected.TensorAdapterConfig()
    config.tensor_representations.pop("fnlwgt")  # a column, but no input of `preprocess`
    context = tft_beam.Context(temp_dir=str(tmp_path / "temp"), passthrough_keys={"fnlwgt"})
    with beam.Pipeline(runner=FnApiRunner()) as pipeline, context:
        dataset = pipeline | "Read" >> projected.BeamSource(batch_size=64), config
        (batches, _), _ = dataset | tft_beam.AnalyzeAndTransformDataset(
            preprocess, output_record_batches=True
        )
        write(batches, tmp_path / "out")
    assert read_ages(f"{tmp_path}/out-*") == scaled_ages(people)
    passed = tfrecord_beam.read_table(f"{tmp_path}/out-*", columns=["fnlwgt"])["fnlwgt"]
    assert sorted(passed.to_pylist()) == sorted(people["fnlwgt"].to_pylist())


def test_analysis_with_a_cache(census: DemoFiles, people: pa.Table, tmp_path: pathlib.Path) -> None:
    """The second run takes all from the cache, reads nothing, and transforms the same."""
    tfxio = TFExampleRecord(census.pattern, schema=census.schema).Project(NAMES)
    config, key = tfxio.TensorAdapterConfig(), analyzer_cache.DatasetKey("all")
    cache: Any = {}
    for attempt in range(2):
        reading = beam.Pipeline(runner=FnApiRunner())
        with reading as pipeline, tft_beam.Context(temp_dir=str(tmp_path / f"temp-{attempt}")):
            batches = pipeline | "Read" >> tfxio.BeamSource()
            if attempt:
                cache = pipeline | analyzer_cache.ReadAnalysisCacheFromFS(
                    str(tmp_path / "cache"), [key]
                )
            function, written = (
                {key: None if attempt else batches},
                cache,
                config,
            ) | tft_beam.AnalyzeDatasetWithCache(preprocess)
            if not attempt:
                _ = written | analyzer_cache.WriteAnalysisCacheToFS(
                    pipeline, str(tmp_path / "cache")
                )
            (transformed, _) = ((batches, config), function) | tft_beam.TransformDataset(
                output_record_batches=True
            )
            write(transformed, tmp_path / f"out-{attempt}")
    expected = scaled_ages(people)
    assert read_ages(f"{tmp_path}/out-0-*") == expected
    assert read_ages(f"{tmp_path}/out-1-*") == expected
