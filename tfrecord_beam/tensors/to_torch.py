"""Converts numpy tensors to those of PyTorch, which is imported on use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfrecord_beam import kernel
from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.tensors.padding import are_ordered, close_shape, pad as pad_tensor
from tfrecord_beam.tensors.specs import AnyArray, NumpyTensor, RaggedValue, SparseValue

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch

    TorchTensor: TypeAlias = torch.Tensor | AnyArray | SparseValue | RaggedValue


def to_torch_tensor(value: NumpyTensor, *, pad: bool = False) -> TorchTensor:
    """Returns a tensor, which shares the memory of `value` if possible.

    PyTorch has no strings, so they stay numpy arrays of `bytes` (dtype object); and it has no
    ragged tensors with several ragged dimensions.

    Args:
      value: a dense value becomes a tensor; strings are returned unchanged. A sparse value becomes
        a tensor of layout `torch.sparse_coo`, with strings a `SparseValue`. A ragged value becomes
        a nested tensor of layout `torch.jagged`, with strings or several ragged dimensions a
        `RaggedValue`. The parts of `SparseValue` and `RaggedValue` are tensors, except strings.
      pad: convert all to dense tensors, see `tfrecord_beam.tensors.padding.pad`.

    Raises:
      DecodeError: as `tfrecord_beam.tensors.padding.pad`.
    """
    if pad:
        value = pad_tensor(value)
    if isinstance(value, SparseValue):
        return _to_sparse(value)
    if isinstance(value, RaggedValue):
        return _to_ragged(value)
    return _share(value)


def _to_sparse(value: SparseValue) -> TorchTensor:
    with ExtraImport():
        import torch

    shape = close_shape(value)
    indices, values = _share(value.indices), _share(value.values)
    if value.values.dtype.kind == "O":
        return SparseValue(indices, values, _share(shape))
    return torch.sparse_coo_tensor(
        indices.T,
        values,
        shape.tolist(),
        check_invariants=False,  # the converter has checked them
        is_coalesced=are_ordered(value.indices),
    )


def _to_ragged(value: RaggedValue) -> TorchTensor:
    with ExtraImport():
        import torch

    values, splits = _share(value.values), tuple(map(_share, value.row_splits))
    if value.values.dtype.kind == "O" or len(splits) > 1:
        return RaggedValue(values, splits)
    return torch.nested.nested_tensor_from_jagged(values, offsets=splits[0])


def _share(array: AnyArray) -> Any:
    """Returns a tensor over the memory of an array; an array of strings is returned unchanged."""
    with ExtraImport():
        import torch

    return array if array.dtype.kind == "O" else torch.from_numpy(kernel.as_writable(array))
