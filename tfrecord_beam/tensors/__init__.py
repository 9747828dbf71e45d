"""Record batches as tensors of numpy, TensorFlow and PyTorch, which are imported on use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrecord_beam.lazy import import_on_use

if TYPE_CHECKING:
    from tfrecord_beam.tensors.torch_dataset import TorchDataset as TorchDataset

_MODULES = {"tfrecord_beam.tensors.torch_dataset": ["TorchDataset"]}

__getattr__, __dir__, __all__ = import_on_use(__name__, _MODULES)
