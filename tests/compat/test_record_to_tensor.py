"""Records that a TensorFlow graph decodes: the decoders, the TFXIO classes, and tfx_bsl's."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import apache_beam as beam
import pytest

from tests.compat.peers import import_peer
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, write_files
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tfxio.coders.tf_graph_record_decoder import (
    LoadedDecoder,
    TFGraphRecordDecoder,
    load_decoder,
    save_decoder,
)
from tfrecord_beam.tfxio.record_to_tensor_tfxio import (
    BeamRecordToTensorTFXIO,
    TFRecordToTensorTFXIO,
)

tf = import_peer("tensorflow")
peer_decoder = import_peer("tfx_bsl.coders.tf_graph_record_decoder")
peer_tfxio = import_peer("tfx_bsl.tfxio.record_to_tensor_tfxio")


def decode(records: Any) -> dict[str, Any]:
    """The length of each record, and its first bytes."""
    return {
        "length": tf.strings.length(records)[:, tf.newaxis],
        "bytes": tf.RaggedTensor.from_tensor(
            tf.strings.unicode_decode(tf.strings.substr(records, 0, 2), "ISO-8859-1").to_tensor()
        ),
    }


def decode_twice(records: Any) -> dict[str, Any]:
    """Each record as two rows, with its number."""
    indices = tf.repeat(tf.range(tf.size(records)), 2)
    ragged = tf.RaggedTensor.from_row_lengths(indices, tf.ones_like(indices))
    return {"row": tf.gather(records, indices)[:, tf.newaxis], "index": ragged}


class Lengths(TFGraphRecordDecoder):
    def decode_record(self, records: Any) -> dict[str, Any]:
        return decode(records)


class Twice(TFGraphRecordDecoder):
    index: str | None = "index"

    def decode_record(self, records: Any) -> dict[str, Any]:
        return decode_twice(records)

    @property
    def record_index_tensor_name(self) -> str | None:
        return self.index


_PeerDecoder: Any = peer_decoder.TFGraphRecordDecoder


class PeerTwice(_PeerDecoder):  # type: ignore[misc]
    def decode_record(self, records: Any) -> dict[str, Any]:
        return decode_twice(records)

    @property
    def record_index_tensor_name(self) -> str:
        return "index"


def rows(batches: Any) -> list[str]:
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


def check_decoder(decoder: Any) -> None:
    assert decoder.record_index_tensor_name == "index"
    assert set(decoder.output_type_specs()) == {"row", "index"}
    tensors = decoder.decode_record(tf.constant([b"a", b"b"]))
    assert tensors["index"].to_list() == [[0], [0], [1], [1]]


def test_decoder_is_saved_and_loaded(tmp_path: pathlib.Path) -> None:
    Twice().save(str(tmp_path / "ours"))
    peer_decoder.save_decoder(PeerTwice(), str(tmp_path / "theirs"))
    for name in ("ours", "theirs"):
        check_decoder(load_decoder(str(tmp_path / name)))
        check_decoder(peer_decoder.load_decoder(str(tmp_path / name)))
    assert Twice().output_type_specs().keys() == PeerTwice().output_type_specs().keys()


def test_decoder_that_cannot_be(tmp_path: pathlib.Path) -> None:
    decoder = Twice()
    decoder.index = "x"
    with pytest.raises(SchemaError, match=r"^Expected record_index_tensor_name to be .*'x'$"):
        save_decoder(decoder, str(tmp_path))
    tf.saved_model.save(tf.Module(), str(tmp_path / "other"))
    with pytest.raises(SchemaError, match=r"^Expected a SavedModel of a TFGraphRecordDecoder, fou"):
        load_decoder(str(tmp_path / "other"))


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    Lengths().save(str(tmp_path / "lengths"))
    return str(tmp_path / "lengths")


@pytest.mark.parametrize("raw", [None, "raw"])
def test_rows_are_those_of_tfx_bsl(path: str, raw: str | None, tmp_path: pathlib.Path) -> None:
    files = list(map(str, write_files(tmp_path)))
    ours = TFRecordToTensorTFXIO(files, path, ["test"], raw)
    theirs = peer_tfxio.TFRecordToTensorTFXIO(files, path, ["test"], raw)
    assert ours.ArrowSchema() == theirs.ArrowSchema()
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    expected = run(theirs.BeamSource())
    memory = BeamRecordToTensorTFXIO(path, ["test"], "memory", raw)
    for found in (
        run(ours.BeamSource()),
        run(ours.BeamSource(7)),
        run(ours.RawRecordBeamSource(), ours.RawRecordToRecordBatch(7)),
        run(beam.Create(RECORDS), memory.BeamSource()),
    ):
        assert all(batch.schema == ours.ArrowSchema() for batch in found.elements)
        assert rows(found.elements) == rows(expected.elements)
        name = "record_to_tensor_tfxio_decoder_load_seconds"
        assert name in found.in_namespace("tfx.test")
        assert name in expected.in_namespace("tfx.test")
    assert ours.DecodeFunction()([b"abc"])["length"].numpy().tolist() == [[3]]


def test_record_of_each_row(tmp_path: pathlib.Path) -> None:
    Twice().save(str(tmp_path / "twice"))
    tfxio = BeamRecordToTensorTFXIO(str(tmp_path / "twice"), None, "memory", "raw")
    projected = pickle.loads(pickle.dumps(tfxio.Project(["row"])))
    assert projected.ArrowSchema().names == ["row", "raw"]
    batches = run(beam.Create(RECORDS), projected.BeamSource(10)).elements
    assert sum(batch.num_rows for batch in batches) == 2 * NUM_RECORDS
    for batch in batches:
        assert batch.schema == projected.ArrowSchema()
        assert batch.column("row").to_pylist() == batch.column("raw").to_pylist()
    with pytest.raises(ValueError, match=r"^Expected tensors among 'row', found 'index'$"):
        projected.Project(["index"])


def test_arguments_that_cannot_be(path: str) -> None:
    with pytest.raises(ValueError, match=r"^Expected a raw-record column with a name of its own"):
        BeamRecordToTensorTFXIO(path, None, "memory", "length")
    with pytest.raises(ValueError, match=r"^Expected file_pattern"):
        TFRecordToTensorTFXIO([], path, None)
    assert isinstance(load_decoder(path), LoadedDecoder)
