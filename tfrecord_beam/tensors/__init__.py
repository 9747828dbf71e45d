"""Record batches as tensors: of numpy, TensorFlow and PyTorch, each imported where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrecord_beam.tensors.torch_dataset import TorchDataset as TorchDataset


def __getattr__(name: str) -> object:
    if name != "TorchDataset":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tfrecord_beam.tensors.torch_dataset import TorchDataset

    return TorchDataset
