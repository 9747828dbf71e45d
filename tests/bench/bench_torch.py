"""Batches of PyTorch tensors: the library against the package tfrecord, in one process.

Size: 20,000 census records in one uncompressed file, which the peer reads record by record in
Python; the library also reads 500,000. Both give batches of 1000 rows to a `DataLoader` without
workers, so that core is compared with core: of the five number features, and of all 15. The peer
gives strings as lists of `bytes`. It does not look at CRCs; the library checks them all. torchdata,
which had a reader of TFRecord files, has none in its latest version, 0.11.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensorflow_metadata.proto.v0 import schema_pb2

from tests.bench import generate_data, harness, readers

_RECORDS = 20_000
_MANY_RECORDS = 500_000
_NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
_TYPES = {schema_pb2.INT: "int", schema_pb2.FLOAT: "float", schema_pb2.BYTES: "byte"}


def _count_rows(dataset: Any, batch_size: int | None) -> int:
    data: Any = importlib.import_module("torch.utils.data")
    return sum(len(batch["age"]) for batch in data.DataLoader(dataset, batch_size=batch_size))


def _read(path: Path, schema: schema_pb2.Schema, names: Sequence[str]) -> int:
    from tfrecord_beam.tensors import TorchDataset

    dataset = TorchDataset(path, schema, batch_size=readers.BATCH_SIZE, tensor_names=names)
    return _count_rows(dataset, None)


def _read_with_tfrecord(path: Path, description: Mapping[str, str]) -> int:
    package: Any = importlib.import_module("tfrecord.torch.dataset")
    dataset = package.TFRecordDataset(str(path), None, description)
    return _count_rows(dataset, readers.BATCH_SIZE)


def _cases(run: harness.Run, names: Sequence[str]) -> list[harness.Case]:
    schema = generate_data.DATASETS["census"].schema(names)
    few_records, many_records = run.count(_RECORDS), run.count(_MANY_RECORDS)
    path = generate_data.write_dataset("census", few_records, run.folder)
    many = generate_data.write_dataset("census", many_records, run.folder)
    description = {feature.name: _TYPES[feature.type] for feature in schema.feature}
    return [
        harness.Case(
            "TorchDataset",
            functools.partial(_read, path, schema, names),
            few_records,
            path.stat().st_size,
            "torch",
        ),
        harness.Case(
            f"TorchDataset, {many_records:,} records",
            functools.partial(_read, many, schema, names),
            many_records,
            many.stat().st_size,
            "torch",
        ),
        harness.Case(
            "tfrecord",
            functools.partial(_read_with_tfrecord, path, description),
            few_records,
            path.stat().st_size,
            "tfrecord",
        ),
    ]


def measure(run: harness.Run) -> None:
    if not harness.is_installed("torch"):
        return
    for names in (_NUMBERS, list(generate_data.DATASETS["census"].features)):
        run.compare(f"census, {len(names)} of 15 features", _cases(run, names))


if __name__ == "__main__":
    harness.main(measure, __doc__)
