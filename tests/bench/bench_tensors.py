"""Tensors of record batches: the library against tfx_bsl, which both need TensorFlow.

Size: batches of 1,024 records. `TensorAdapter.ToBatchTensors` with 20 batches that are decoded
before, whose columns are dense (census), sparse or ragged (wide_sparse, 200 columns), or dense and
long (dense); `TFExampleRecord.TensorFlowDataset` with a file of 100,000 census records, read in
order and shuffled.
"""

from __future__ import annotations

import functools
import importlib
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

import tfrecord_beam
from tests.bench import generate_data, harness

_BATCH_SIZE = 1024
_NUM_BATCHES = 20
_PACKAGES = {"tfrecord_beam": None, "tfx_bsl": "tfx_bsl"}


def _tfxio(package: str, path: Path, schema: schema_pb2.Schema) -> Any:
    module: Any = importlib.import_module(f"{package}.tfxio.tf_example_record")
    return module.TFExampleRecord(str(path), schema=schema)


def _make_tensors(adapter: Any, batches: Sequence[pa.RecordBatch], eager: bool) -> int:
    for batch in batches:
        adapter.ToBatchTensors(batch, produce_eager_tensors=eager)
    return sum(batch.num_rows for batch in batches)


def _adapter_cases(
    folder: Path, name: str, *, as_ragged: bool = False, eager: bool = True
) -> list[harness.Case]:
    schema = generate_data.DATASETS[name].schema()
    schema.represent_variable_length_as_ragged = as_ragged
    path = generate_data.write_dataset(name, _BATCH_SIZE * _NUM_BATCHES, folder)
    batches = list(tfrecord_beam.iter_batches(path, schema, batch_size=_BATCH_SIZE))
    cases = []
    for package, needs in _PACKAGES.items():
        if needs is None or harness.is_installed(needs):
            adapter = _tfxio(package, path, schema).TensorAdapter()
            run = functools.partial(_make_tensors, adapter, batches, eager)
            size = sum(batch.nbytes for batch in batches)
            cases.append(harness.Case(package, run, _BATCH_SIZE * _NUM_BATCHES, size, needs))
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
    for eager, (name, ragged) in itertools.product(
        (True, False),
        [("census", False), ("dense", False), ("wide_sparse", False), ("wide_sparse", True)],
    ):
        kind = f"{name}, {'eager' if eager else 'numpy'}{', ragged' if ragged else ''}"
        run.compare(
            f"ToBatchTensors: {kind}",
            _adapter_cases(run.folder, name, as_ragged=ragged, eager=eager),
        )
    count = run.count(100_000)
    for shuffle in (False, True):
        order = "shuffled" if shuffle else "in order"
        cases = _dataset_cases(run.folder, count, shuffle=shuffle)
        run.compare(f"TensorFlowDataset: {order}", cases)


if __name__ == "__main__":
    harness.main(measure, __doc__)
