"""A `tf.data.Dataset` as TFXIO."""

from __future__ import annotations

import collections
import pathlib
from typing import Any

import pyarrow as pa
import pytest

from tests.compat.peers import import_peer
from tests.tfxio.pipelines import run
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions
from tfrecord_beam.tfxio.dataset_tfxio import DatasetTFXIO, DatasetTFXIOOptions

tf = import_peer("tensorflow")
peer = import_peer("tfx_bsl.tfxio.dataset_tfxio")

INT = pa.large_list(pa.int64())
FLOAT = pa.large_list(pa.float32())
BYTES = pa.large_list(pa.large_binary())


def dataset(batch_size: int = 4, **options: Any) -> Any:
    data = {
        "id": tf.range(10, dtype=tf.int32)[:, tf.newaxis],
        "score": tf.range(10, dtype=tf.float64)[:, tf.newaxis] / 4,
        "words": tf.RaggedTensor.from_row_lengths([b"a"] * 10, [0, 1] * 4 + [3, 3]),
        "flags": tf.sparse.from_dense([[i % 2 == 1, False] for i in range(10)]),
    }
    return tf.data.Dataset.from_tensor_slices(data).batch(batch_size, **options)


def rows(batches: Any) -> list[str]:
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


def test_same_as_tfx_bsl(tmp_path: pathlib.Path) -> None:
    ours = DatasetTFXIO(dataset())
    theirs = peer.DatasetTFXIO(dataset(), peer.DatasetTFXIOOptions(str(tmp_path)))
    assert ours.ArrowSchema() == theirs.ArrowSchema()
    assert ours.TensorRepresentations() == theirs.TensorRepresentations()
    found = run(ours.BeamSource()).elements
    assert rows(found) == rows(run(theirs.BeamSource()).elements)
    adapter = ours.TensorAdapter()  # that of tfx_bsl refuses the sparse tensor
    assert adapter.OriginalTypeSpecs() == adapter.TypeSpecs()
    tensors = adapter.ToBatchTensors(max(found, key=lambda batch: int(batch.num_rows)))
    assert tensors["id"].shape == (4, 1)


@pytest.mark.parametrize("num_shards", [None, 3])
@pytest.mark.parametrize(("batch_size", "sizes"), [(None, [4, 4]), (3, [3, 3, 2]), (8, [8])])
def test_data_set_of_fixed_batches(
    batch_size: int | None, sizes: list[int], num_shards: int | None, tmp_path: pathlib.Path
) -> None:
    options = DatasetTFXIOOptions(str(tmp_path), num_shards=num_shards)
    tfxio = DatasetTFXIO(dataset(drop_remainder=True), options)
    for _ in range(2):  # each time with files of its own
        batches = run(tfxio.BeamSource(batch_size)).elements
        assert sorted(batch.num_rows for batch in batches) == sorted(sizes)
        assert sorted(row for b in batches for row in b.column("id").to_pylist()) == [
            [i] for i in range(8)
        ]
    assert len(list(tmp_path.rglob("*.arrow"))) == 2 * (num_shards or 1)


def test_without_beam() -> None:
    tfxio = DatasetTFXIO(dataset())
    options = RecordBatchesOptions(6, num_epochs=2, shuffle=False)
    batches = list(tfxio.RecordBatches(options))
    assert [batch.num_rows for batch in batches] == [6, 6, 6, 2]
    assert {batch.schema for batch in batches} == {tfxio.ArrowSchema()}
    ids = [row for batch in batches for row in batch.column("id").to_pylist()]
    assert ids == 2 * [[i] for i in range(10)]
    shuffled = list(tfxio.RecordBatches(options._replace(shuffle=True, shuffle_seed=1)))
    assert rows(shuffled) == rows(batches)
    assert shuffled != batches
    with pytest.raises(ValueError, match="batch_size"):
        tfxio.RecordBatches(options._replace(batch_size=0))


Point = collections.namedtuple("Point", ["x", "y"])


def test_names_of_tensors() -> None:
    ints = tf.zeros([2, 1], tf.int64)
    structure = {"b": Point(ints, ints + 1), "a": {"c": ints + 2}, "t": (ints + 3, ints + 4)}
    data = tf.data.Dataset.from_tensors(structure)
    [batch] = run(DatasetTFXIO(data).BeamSource()).elements
    assert batch.slice(0, 1).to_pylist() == [
        {"a_c": [2], "b_x": [0], "b_y": [1], "t_feature0": [3], "t_feature1": [4]}
    ]
    named = DatasetTFXIOOptions(feature_names=["v", "w", "x", "y", "z"])
    [batch] = run(DatasetTFXIO(data, named).BeamSource()).elements
    assert batch.slice(0, 1).to_pylist() == [{"v": [2], "w": [0], "x": [1], "y": [3], "z": [4]}]
    pair = tf.data.Dataset.from_tensors(((ints, ints), ints))
    assert DatasetTFXIO(pair).ArrowSchema().names == ["feature0", "feature1", "feature2"]
    assert DatasetTFXIO(tf.data.Dataset.from_tensors(ints)).ArrowSchema().names == ["feature0"]


def test_types() -> None:
    data = {
        "bool": tf.constant([[True]]),
        "half": tf.constant([[0.5]], tf.float16),
        "text": tf.constant([["é"]]),
    }
    tfxio = DatasetTFXIO(tf.data.Dataset.from_tensors(data))
    assert tfxio.ArrowSchema() == pa.schema([("bool", INT), ("half", FLOAT), ("text", BYTES)])
    [batch] = run(tfxio.BeamSource()).elements
    assert batch.to_pylist() == [{"bool": [1], "half": [0.5], "text": ["é".encode()]}]


@pytest.mark.parametrize("kind", ["dense", "ragged", "sparse"])
def test_doubles_beyond_float32_are_refused(kind: str) -> None:
    values: Any = tf.constant([[1.0, float("inf"), -1e300]], tf.float64)
    if kind == "ragged":
        values = tf.RaggedTensor.from_row_lengths(values[0], [1, 2])
    elif kind == "sparse":
        values = tf.sparse.from_dense(values)
    tfxio = DatasetTFXIO(tf.data.Dataset.from_tensors({"x": values}))
    text = r"^Expected numbers in the range of float32 in tensor 'x', found -1e\+300$"
    with pytest.raises(ValueError, match=text):
        run(tfxio.BeamSource())


def test_what_cannot_be() -> None:
    ints = tf.zeros([2, 1], tf.int64)
    one = tf.data.Dataset.from_tensors({"a": ints})
    with pytest.raises(ValueError, match=r"^Expected feature_names for 1 tensor, found 2 names$"):
        DatasetTFXIO(one, DatasetTFXIOOptions(feature_names=["x", "y"]))
    with pytest.raises(ValueError, match=r"^Expected different feature names, found 'a_b' twice$"):
        DatasetTFXIO(tf.data.Dataset.from_tensors({"a": {"b": ints}, "a_b": ints}))
    with pytest.raises(ValueError, match=r"^Expected num_shards to be None or an int of at least"):
        DatasetTFXIO(one, DatasetTFXIOOptions(num_shards=0))
    with pytest.raises(ValueError, match=r"for tensor 'a', found complex128$"):
        DatasetTFXIO(tf.data.Dataset.from_tensors({"a": tf.zeros([2, 1], tf.complex128)}))
    with pytest.raises(ValueError, match=r"^Expected a batch dimension for tensor 'a'"):
        DatasetTFXIO(tf.data.Dataset.from_tensors({"a": tf.constant(1)}))
    with pytest.raises(ValueError, match=r"^Expected batch_size"):
        DatasetTFXIO(one).BeamSource(0)
    with pytest.raises(NotImplementedError, match=r"^DatasetTFXIO cannot leave tensors out"):
        DatasetTFXIO(one).Project(["a"])
