"""Prepares the census with TensorFlow Transform and trains on it: CSV -> TFT -> TFRecord -> Keras.

python examples/census_tft.py [TRAIN_CSV TEST_CSV]

The files are adult.data and adult.test of the UCI Adult data set; without arguments people are made
up. Needs the extra [tft]. Prints how often the model is right about the people of the second file.
"""

from __future__ import annotations

import sys
import tempfile

import apache_beam as beam
import tensorflow as tf
import tensorflow_transform as tft
import tensorflow_transform.beam as tft_beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from census_model import NUMBERS, WORDS, train_model
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.records.demo import CENSUS_TYPES, write_census_csv
from tfrecord_beam.tfxio import CsvTFXIO, RecordBatchToExamplesEncoder

FEATURE = 'feature {{ name: "{}" type: {} presence {{ min_fraction: 1 }} shape {{}} }}'
FEATURES = [FEATURE.format(name, "FLOAT") for name in NUMBERS] + [
    FEATURE.format(name, "BYTES") for name in [*WORDS, "label"]
]
SCHEMA = text_format.Parse("".join(FEATURES), schema_pb2.Schema())


def preprocess(inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Returns numbers from 0 to 1, words by their place in the vocabulary, the label as 0 or 1."""
    outputs = {name: tft.scale_to_0_1(inputs[name]) for name in NUMBERS}
    for name in WORDS:
        words = tf.strings.strip(inputs[name])
        outputs[name] = tft.compute_and_apply_vocabulary(
            words, num_oov_buckets=1, vocab_filename=name
        )
    is_rich = tf.strings.regex_full_match(inputs["label"], r" *>50K\.?")
    return {**outputs, "label": tf.cast(is_rich, tf.int64)}


def transform(train: str, test: str, folder: str) -> None:
    """Writes the transformed people of both files, and what TFT learned from the first."""
    train_csv = CsvTFXIO(train, [*CENSUS_TYPES], schema=SCHEMA)
    test_csv = CsvTFXIO(test, [*CENSUS_TYPES], schema=SCHEMA, skip_header_lines=1)
    # Without a runner Beam may take one that it downloads first; this one is part of it.
    pipeline = beam.Pipeline(runner=FnApiRunner())
    with pipeline, tft_beam.Context(temp_dir=f"{folder}/temp"):
        data = pipeline | "ReadTrain" >> train_csv.BeamSource(), train_csv.TensorAdapterConfig()
        transformed, function = data | tft_beam.AnalyzeAndTransformDataset(
            preprocess, output_record_batches=True
        )
        _ = function | tft_beam.WriteTransformFn(folder)
        data = pipeline | "ReadTest" >> test_csv.BeamSource(), test_csv.TensorAdapterConfig()
        transformed_test = (data, function) | tft_beam.TransformDataset(output_record_batches=True)
        encoder = RecordBatchToExamplesEncoder(transformed[1].schema)
        for name, (batches, _) in [("train", transformed), ("test", transformed_test)]:
            _ = (
                batches
                | f"Encode {name}" >> beam.FlatMapTuple(lambda batch, _: encoder.encode(batch))
                | f"Write {name}" >> beam.io.WriteToTFRecord(f"{folder}/{name}")
            )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        transform(*(sys.argv[1:] or write_census_csv(folder)), folder=f"{folder}/out")
        print(f"accuracy on the test set: {train_model(f'{folder}/out'):.3f}")
