"""The model that census_tft.py trains, on TFRecord files that TensorFlow Transform prepared."""

from __future__ import annotations

import tensorflow as tf
import tensorflow_transform as tft

from tfrecord_beam.tfxio import TensorFlowDatasetOptions, TFExampleRecord

NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
WORDS = [
    *("workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"),
    "native-country",
]

LAYERS = (100, 70, 50, 20)
BATCH_SIZE = 128
EPOCHS = 12


def build_model(transformed: tft.TFTransformOutput) -> tf.keras.Model:
    """Returns a model of dense layers over numbers as they are and words as one of many."""
    layers = tf.keras.layers
    inputs = {name: tf.keras.Input((), name=name) for name in NUMBERS}
    parts = [layers.Reshape((1,))(each) for each in inputs.values()]
    for name in WORDS:
        inputs[name] = tf.keras.Input((), name=name, dtype=tf.int64)
        words = transformed.num_buckets_for_transformed_feature(name)
        one_of = layers.CategoryEncoding(num_tokens=words, output_mode="multi_hot")
        parts.append(one_of(layers.Reshape((1,))(inputs[name])))
    hidden = layers.Concatenate()(parts)
    for units in LAYERS:
        hidden = layers.Dropout(0.2)(layers.Dense(units, activation="relu")(hidden))
    model = tf.keras.Model(inputs, layers.Dense(2)(hidden))
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def read(folder: str, name: str, transformed: tft.TFTransformOutput) -> tf.data.Dataset:
    """Returns (features, label) batches of one of the transformed files, in random order."""
    tfxio = TFExampleRecord(f"{folder}/{name}-*", schema=transformed.transformed_metadata.schema)
    return tfxio.TensorFlowDataset(
        TensorFlowDatasetOptions(BATCH_SIZE, num_epochs=1, shuffle_seed=0, label_key="label")
    )


def train_model(folder: str) -> float:
    """Trains on the training set and returns the accuracy on the test set."""
    tf.keras.utils.set_random_seed(0)
    transformed = tft.TFTransformOutput(folder)
    model = build_model(transformed)
    model.fit(read(folder, "train", transformed), epochs=EPOCHS, verbose=2)
    _, accuracy = model.evaluate(read(folder, "test", transformed), verbose=0)
    return float(accuracy)
