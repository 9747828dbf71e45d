"""Tensors of record batches: the library against tfx_bsl, which both need TensorFlow.

Size: batches of 1,024 records. `TensorAdapter.ToBatchTensors` with 20 batches that are decoded
before, whose columns are dense (census), of variable length or ragged (wide_sparse, 200 columns),
or dense and long (dense), and with one batch 20 times whose 50 tensors have a column of values and
one of their indices, 0 to 7 a row. Beside eager tensors stands what TensorFlow takes alone to make
sparse and ragged ones of tensors that are there: who calls its constructors cannot be faster.
`TFExampleRecord.TensorFlowDataset` with a file of 100,000 census records, read in order and
shuffled.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

import tfrecord_beam
from tests.bench import generate_data, harness

_BATCH_SIZE = 1024
_NUM_BATCHES = 20
_SPARSE_TENSORS = 50
_PACKAGES = {"tfrecord_beam": None, "tfx_bsl": "tfx_bsl"}

Representations = dict[str, schema_pb2.TensorRepresentation]


def _tfxio(package: str, path: Path, schema: schema_pb2.Schema) -> Any:
    module: Any = importlib.import_module(f"{package}.tfxio.tf_example_record")
    return module.TFExampleRecord(str(path), schema=schema)


def _decoded(
    folder: Path, name: str, *, as_ragged: bool
) -> tuple[list[pa.RecordBatch], Representations]:
    """Returns batches of a dataset and the tensors that its schema says."""
    schema = generate_data.DATASETS[name].schema()
    schema.represent_variable_length_as_ragged = as_ragged
    path = generate_data.write_dataset(name, _BATCH_SIZE * _NUM_BATCHES, folder)
    batches = list(tfrecord_beam.iter_batches(path, schema, batch_size=_BATCH_SIZE))
    return batches, _tfxio("tfrecord_beam", path, schema).TensorRepresentations()


def _with_indices() -> tuple[list[pa.RecordBatch], Representations]:
    """Returns batches with columns of values and of their indices, and the tensors of these."""
    random = np.random.default_rng(0)
    columns: dict[str, pa.Array] = {}
    representations = {}
    for name in map(str, range(_SPARSE_TENSORS)):
        offsets = np.concatenate(([0], np.cumsum(random.integers(0, 8, _BATCH_SIZE))))
        indices = random.integers(0, 100, offsets[-1])
        columns[f"{name} index"] = pa.LargeListArray.from_arrays(offsets, indices)
        values = random.random(offsets[-1], np.float32)
        columns[f"{name} value"] = pa.LargeListArray.from_arrays(offsets, values)
        representations[name] = schema_pb2.TensorRepresentation(
            sparse_tensor={
                "dense_shape": {"dim": [{"size": 100}]},
                "index_column_names": [f"{name} index"],
                "value_column_name": f"{name} value",
            }
        )
    return [pa.record_batch(columns)] * _NUM_BATCHES, representations


def _make_tensors(adapter: Any, batches: Sequence[pa.RecordBatch], eager: bool) -> int:
    for batch in batches:
        adapter.ToBatchTensors(batch, produce_eager_tensors=eager)
    return sum(batch.num_rows for batch in batches)


def _construct(parts: list[list[Any]], as_ragged: bool) -> int:
    import tensorflow as tf

    for some in parts * _NUM_BATCHES:
        if as_ragged:
            tf.RaggedTensor.from_row_splits(*some, validate=False)
        else:
            tf.SparseTensor(*some)
    return _BATCH_SIZE * _NUM_BATCHES


def _construct_case(tensors: Sequence[Any], size: int) -> harness.Case:
    """Returns the case in which TensorFlow makes the tensors of a batch once more, of the parts."""
    import tensorflow as tf

    as_ragged = isinstance(tensors[0], tf.RaggedTensor)
    names = ["values", "row_splits"] if as_ragged else ["indices", "values", "dense_shape"]
    parts = [[getattr(tensor, name) for name in names] for tensor in tensors]
    run = functools.partial(_construct, parts, as_ragged)
    return harness.Case("TensorFlow's constructors", run, _BATCH_SIZE * _NUM_BATCHES, size)


def _adapter_cases(
    batches: Sequence[pa.RecordBatch], representations: Representations, eager: bool
) -> list[harness.Case]:
    import tensorflow as tf

    size = sum(batch.nbytes for batch in batches)
    cases = []
    tensors: list[Any] = []
    for package, needs in _PACKAGES.items():
        if needs is None or harness.is_installed(needs):
            module: Any = importlib.import_module(f"{package}.tfxio.tensor_adapter")
            config = module.TensorAdapterConfig(batches[0].schema, representations)
            adapter = module.TensorAdapter(config)
            run = functools.partial(_make_tensors, adapter, batches, eager)
            cases.append(harness.Case(package, run, _BATCH_SIZE * _NUM_BATCHES, size, needs))
            tensors = [*adapter.ToBatchTensors(batches[0], produce_eager_tensors=eager).values()]
    if eager and not isinstance(tensors[0], tf.Tensor):
        cases.append(_construct_case(tensors, size))
    return cases


def _read_dataset(package: str, path: Path, schema: schema_pb2.Schema, shuffle: bool) -> int:
    options = importlib.import_module(f"{package}.tfxio.dataset_options")
    dataset = _tfxio(package, path, schema).TensorFlowDataset(
        options.TensorFlowDatasetOptions(_BATCH_SIZE, num_epochs=1, shuffle=shuffle)
    )
    name = schema.feature[0].name
    return sum(int(batch[name].shape[0]) for batch in dataset)


def _dataset_cases(folder: Path, count: int, *, shuffle: bool) -> list[harness.Case]:
    schema = generate_data.DATASETS["census"].schema()
    path = generate_data.write_dataset("census", count, folder)
    return [
        harness.Case(
            package,
            functools.partial(_read_dataset, package, path, schema, shuffle),
            count,
            path.stat().st_size,
            needs,
        )
        for package, needs in _PACKAGES.items()
    ]


def measure(run: harness.Run) -> None:
    data = {
        "dense (census)": _decoded(run.folder, "census", as_ragged=False),
        "dense and long": _decoded(run.folder, "dense", as_ragged=False),
        "of variable length": _decoded(run.folder, "wide_sparse", as_ragged=False),
        "ragged": _decoded(run.folder, "wide_sparse", as_ragged=True),
        "sparse, with indices": _with_indices(),
    }
    for eager in (True, False):
        for kind, (batches, representations) in data.items():
            run.compare(
                f"ToBatchTensors: {kind}, {'eager' if eager else 'numpy'}",
                _adapter_cases(batches, representations, eager),
            )
    count = run.count(100_000)
    for shuffle in (False, True):
        order = "shuffled" if shuffle else "in order"
        cases = _dataset_cases(run.folder, count, shuffle=shuffle)
        run.compare(f"TensorFlowDataset: {order}", cases)


if __name__ == "__main__":
    harness.main(measure, __doc__)
