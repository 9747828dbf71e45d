"""Tensors of each TFXIO class, as TensorFlow and TensorFlow Transform take them."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import pytest

from tests.compat.peers import import_peer
from tests.tfxio.every_class import CLASSES
from tests.tfxio.pipelines import run
from tfrecord_beam.tfxio import TensorAdapter, TensorFlowDatasetOptions

tf = import_peer("tensorflow")
peer = import_peer("tfx_bsl.tfxio.tensor_adapter")

WITH_DATASET = ["TFExampleRecord", "TFSequenceExampleRecord", "RawTfRecordTFXIO"]
ONE_EPOCH = TensorFlowDatasetOptions(2, num_epochs=1, shuffle=False)


@pytest.mark.parametrize("name", CLASSES)
def test_adapter(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    config = pickle.loads(pickle.dumps(tfxio.TensorAdapterConfig()))
    assert isinstance(config, peer.TensorAdapterConfig)
    adapters: list[Any] = [tfxio.TensorAdapter(), TensorAdapter(config), peer.TensorAdapter(config)]
    specs = adapters[0].TypeSpecs()
    assert sorted(specs) == known.tensors
    [batch] = run(*known.head(), tfxio.BeamSource()).elements
    for adapter in adapters:
        assert adapter.TypeSpecs() == adapter.OriginalTypeSpecs() == specs
        tensors = adapter.ToBatchTensors(batch, produce_eager_tensors=True)
        assert all(specs[each].is_compatible_with(tensors[each]) for each in known.tensors)
        assert sorted(adapter.ToBatchTensors(batch, False)) == known.tensors
        with pytest.raises(ValueError, match="schema"):
            adapter.ToBatchTensors(batch.select([]))
        with tf.Graph().as_default(), pytest.raises(RuntimeError, match=r"[Ee]ager"):
            adapter.ToBatchTensors(batch, True)


@pytest.mark.parametrize("name", CLASSES)
def test_projected_adapter_knows_all_tensors(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    once = tfxio.Project(known.tensors[-2:])
    for projected in (once, once.Project(known.tensors[-1:])):
        adapter = projected.TensorAdapter()
        assert adapter.OriginalTypeSpecs() == tfxio.TensorAdapter().TypeSpecs()
        assert list(adapter.TypeSpecs()) == list(projected.TensorRepresentations())
        assert projected.TensorAdapterConfig().original_type_specs is not None
        assert peer.TensorAdapter(projected.TensorAdapterConfig()).TypeSpecs()


@pytest.mark.parametrize("name", WITH_DATASET)
def test_data_set(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    dataset = tfxio.TensorFlowDataset(ONE_EPOCH)
    assert dataset.element_spec == tfxio.TensorAdapter().TypeSpecs()
    assert len(list(dataset)) == 2
    label = known.tensors[-1]
    features, label_spec = tfxio.TensorFlowDataset(ONE_EPOCH._replace(label_key=label)).element_spec
    assert sorted([*features, label]) == known.tensors
    assert label_spec == dataset.element_spec[label]
    with pytest.raises(ValueError, match=r"^Expected label_key, .*, found 'unknown'"):
        tfxio.TensorFlowDataset(ONE_EPOCH._replace(label_key="unknown"))
    projected = tfxio.Project([label]).TensorFlowDataset(ONE_EPOCH)
    assert list(projected.element_spec) == [label]


def test_raw_records_are_a_vector_of_strings(tmp_path: pathlib.Path) -> None:
    for name in ("RawTfRecordTFXIO", "RawBeamRecordTFXIO"):
        specs = CLASSES[name].make(tmp_path).TensorAdapter().TypeSpecs()
        assert specs == {"raw": tf.TensorSpec([None], tf.string)}
