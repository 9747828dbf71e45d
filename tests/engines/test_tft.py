"""TensorFlow Transform on each engine: what it learns of all records and makes of each."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa

from tests.compat.peers import import_peer
from tests.engines.engine import Engine
from tfrecord_beam import WriteToTFRecord, read_table
from tfrecord_beam.records.demo import write_census
from tfrecord_beam.tfxio import TFExampleRecord

tft = import_peer("tensorflow_transform")
tft_beam = import_peer("tensorflow_transform.beam")

NUM_RECORDS = 200


def preprocess(inputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "age": tft.scale_to_0_1(inputs["age"]),
        "education": tft.compute_and_apply_vocabulary(
            inputs["education"], vocab_filename="education"
        ),
    }


def values(table: pa.Table, name: str) -> Any:
    """Returns the values of a column that has one in each row."""
    return table[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)


def test_read_transform_and_write(engine: Engine, tmp_path: pathlib.Path) -> None:
    census = write_census(tmp_path, num_records=NUM_RECORDS, num_shards=2)
    tfxio = TFExampleRecord(census.pattern, schema=census.schema).Project(["age", "education"])

    def build(pipeline: beam.Pipeline) -> None:
        with tft_beam.Context(temp_dir=str(tmp_path / "temp")):
            batches = pipeline | "Read" >> tfxio.BeamSource(batch_size=64)
            (transformed, _), function = (
                batches,
                tfxio.TensorAdapterConfig(),
            ) | tft_beam.AnalyzeAndTransformDataset(preprocess, output_record_batches=True)
            _ = function | tft_beam.WriteTransformFn(str(tmp_path / "function"))
            batches = transformed | beam.Keys().with_output_types(pa.RecordBatch)
            _ = batches | WriteToTFRecord(f"{tmp_path}/out/", num_shards=2)

    engine.run(build)
    words = tft.TFTransformOutput(str(tmp_path / "function")).vocabulary_by_name("education")
    transformed = read_table(tmp_path / "out")
    assert transformed.num_rows == NUM_RECORDS
    people = read_table(*census)
    ages = values(people, "age")
    scaled = ((ages - ages.min()) / (ages.max() - ages.min())).astype(np.float32)
    assert sorted(
        (age, words[word])
        for age, word in zip(values(transformed, "age"), values(transformed, "education"))
    ) == sorted(zip(scaled, values(people, "education")))
