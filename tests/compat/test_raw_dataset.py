"""Datasets of raw records, and of what a graph makes of them, against those of tfx_bsl."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from tests.compat.peers import import_peer
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, write_files
from tfrecord_beam.tfxio import raw_tf_record, record_to_tensor_tfxio
from tfrecord_beam.tfxio.coders.tf_graph_record_decoder import TFGraphRecordDecoder
from tfrecord_beam.tfxio.dataset_options import TensorFlowDatasetOptions
from tfrecord_beam.tfxio.dataset_util import make_tf_record_dataset

tf = import_peer("tensorflow")
peer_options = import_peer("tfx_bsl.tfxio.dataset_options")
peer_raw = import_peer("tfx_bsl.tfxio.raw_tf_record")
peer_tensor = import_peer("tfx_bsl.tfxio.record_to_tensor_tfxio")
peer_util = import_peer("tfx_bsl.tfxio.dataset_util")


class Lengths(TFGraphRecordDecoder):
    """The length of each record, and twice that as label."""

    def decode_record(self, records: Any) -> dict[str, Any]:
        length = tf.strings.length(records)[:, tf.newaxis]
        return {"length": length, "twice": 2 * length}


@pytest.fixture
def file(tmp_path: pathlib.Path) -> str:
    """One file with the first of `RECORDS`: tfx_bsl reads several files in turns."""
    return str(write_files(tmp_path)[0])


@pytest.fixture
def decoder(tmp_path: pathlib.Path) -> str:
    """Path of a saved decoder."""
    path = str(tmp_path / "decoder")
    Lengths().save(path)
    return path


def contents(dataset: Any) -> list[str]:
    return [repr(tf.nest.flatten(element)) for element in dataset.as_numpy_iterator()]


def test_records_of_any_content(tmp_path: pathlib.Path) -> None:
    records = [b"\xff no Example\0", b"", b"\x0a\xff"]
    file = str(tmp_path / "any.tfrecord")
    with tf.io.TFRecordWriter(file) as writer:
        for record in records:
            writer.write(record)
    dataset = make_tf_record_dataset(file, 3, False, 1, False, 10, None)
    (batch,) = dataset.as_numpy_iterator()
    assert batch.tolist() == records


@pytest.mark.parametrize(
    "options",
    [
        (4, False, 1, False, 10, None),
        (4, True, 1, False, 10, None),
        (7, False, 3, False, 10, None),
    ],
)
def test_records_in_order(options: tuple[Any, ...], file: str) -> None:
    found = make_tf_record_dataset(file, *options)
    expected = peer_util.make_tf_record_dataset(file, *options)
    assert contents(found) == contents(expected)
    assert found.element_spec == tf.TensorSpec([None], tf.string)


def test_all_records_of_several_files_shuffled_and_endless(tmp_path: pathlib.Path) -> None:
    files = write_files(tmp_path)
    dataset = make_tf_record_dataset(files, NUM_RECORDS, False, None, True, 100, 3, 2, True)
    epochs = [batch.tolist() for batch in dataset.take(2).as_numpy_iterator()]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(RECORDS)
    assert epochs[0] != epochs[1]


def test_options_out_of_range_are_refused(file: str) -> None:
    with pytest.raises(ValueError, match=r"^Expected batch_size to be an int of at least 1"):
        make_tf_record_dataset(file, 0, False, 1, False, 10, None)
    with pytest.raises(ValueError, match=r"^Expected file_pattern to be"):
        make_tf_record_dataset([], 1, False, 1, False, 10, None)


def test_raw_records_as_tensors(file: str) -> None:
    found, expected = (
        module.RawTfRecordTFXIO(file, "raw", ["test"]).TensorFlowDataset(
            options(4, num_epochs=1, shuffle=False)
        )
        for module, options in (
            (raw_tf_record, TensorFlowDatasetOptions),
            (peer_raw, peer_options.TensorFlowDatasetOptions),
        )
    )
    assert contents(found) == contents(expected)
    assert found.element_spec == expected.element_spec


@pytest.mark.parametrize("label", [None, "twice"])
def test_decoded_records(label: str | None, file: str, decoder: str) -> None:
    found, expected = (
        module.TFRecordToTensorTFXIO(file, decoder, ["test"]).TensorFlowDataset(
            options(4, num_epochs=1, shuffle=False, label_key=label)
        )
        for module, options in (
            (record_to_tensor_tfxio, TensorFlowDatasetOptions),
            (peer_tensor, peer_options.TensorFlowDatasetOptions),
        )
    )
    assert contents(found) == contents(expected)


def test_projection_decodes_its_tensors(file: str, decoder: str) -> None:
    tfxio = record_to_tensor_tfxio.TFRecordToTensorTFXIO(file, decoder, ["test"])
    options = TensorFlowDatasetOptions(4, num_epochs=1, label_key="twice")
    assert set(
        tfxio.Project(["length"]).TensorFlowDataset(options._replace(label_key=None)).element_spec
    ) == {"length"}
    with pytest.raises(ValueError, match=r"^Expected label_key, .* among 'length', found 'twice'"):
        tfxio.Project(["length"]).TensorFlowDataset(options)


def test_classes_without_a_dataset_say_so(decoder: str) -> None:
    options = TensorFlowDatasetOptions(4)
    for tfxio in (
        raw_tf_record.RawBeamRecordTFXIO("memory", "raw", None),
        record_to_tensor_tfxio.BeamRecordToTensorTFXIO(decoder, None, "memory", None),
    ):
        with pytest.raises(NotImplementedError, match=r"gives no tf\.data\.Dataset$"):
            tfxio.TensorFlowDataset(options)
