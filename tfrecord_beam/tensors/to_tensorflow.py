"""Converts numpy tensors to those of TensorFlow, which is imported on use."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeAlias

from tfrecord_beam import kernel
from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.tensors.specs import (
    AnyArray,
    DenseSpec,
    NumpyTensor,
    RaggedValue,
    SparseSpec,
    SparseValue,
    TensorSpec,
)

if TYPE_CHECKING:
    import tensorflow as tf

    EagerTensor: TypeAlias = tf.Tensor | tf.SparseTensor | tf.RaggedTensor


def type_spec(spec: TensorSpec) -> tf.TypeSpec:
    """Returns TensorFlow's type specification for a tensor."""
    with ExtraImport():
        import tensorflow as tf

    dtype = tf.string if spec.dtype.kind == "O" else tf.as_dtype(spec.dtype)
    if isinstance(spec, DenseSpec):
        return tf.TensorSpec(spec.shape, dtype)
    if isinstance(spec, SparseSpec):
        return tf.SparseTensorSpec(spec.shape, dtype)
    return tf.RaggedTensorSpec(spec.shape, dtype, spec.ragged_rank, tf.as_dtype(spec.splits_dtype))


def to_eager_tensor(value: NumpyTensor) -> EagerTensor:
    """Returns a tensor, which may share the memory of `value`."""
    if isinstance(value, SparseValue):
        return _to_sparse_tensor(value)
    if isinstance(value, RaggedValue):
        tensor = _to_tensor(value.values)
        for splits in reversed(value.row_splits):
            tensor = _split_rows(tensor, _to_tensor(splits))
        return tensor
    return _to_tensor(value)


def to_tensor_value(value: NumpyTensor) -> Any:
    """Returns a `tf.compat.v1` feed value: array, SparseTensorValue or RaggedTensorValue."""
    sparse_class, ragged_class = _value_classes()
    if isinstance(value, SparseValue):
        return sparse_class(*value)
    if isinstance(value, RaggedValue):
        ragged = value.values
        for splits in reversed(value.row_splits):
            ragged = ragged_class(ragged, splits)
        return ragged
    return value


@functools.cache
def _value_classes() -> tuple[Any, Any]:
    with ExtraImport():
        import tensorflow as tf

    return tf.compat.v1.SparseTensorValue, tf.compat.v1.ragged.RaggedTensorValue


def _to_sparse_tensor(value: SparseValue) -> tf.SparseTensor:
    """Returns a `tf.SparseTensor` of the parts.

    Its constructor checks that they are consistent, which those of a converter always are; this
    takes longer than everything else. So the fields are set directly, provided that the class has
    exactly the fields known here.
    """
    with ExtraImport():
        import tensorflow as tf

    parts = [*map(_to_tensor, value)]
    if not _sparse_tensor_has_known_fields():
        return tf.SparseTensor(*parts)
    tensor = tf.SparseTensor.__new__(tf.SparseTensor)
    tensor._indices, tensor._values, tensor._dense_shape = parts
    sizes = value.dense_shape.tolist()
    tensor._dense_shape_default = tf.TensorShape([None if size < 0 else size for size in sizes])
    return tensor


@functools.cache
def _sparse_tensor_has_known_fields() -> bool:
    with ExtraImport():
        import tensorflow as tf

    fields = vars(tf.SparseTensor([[0]], [0], [1]))
    return set(fields) == {"_indices", "_values", "_dense_shape", "_dense_shape_default"}


def _split_rows(values: tf.Tensor | tf.RaggedTensor, row_splits: tf.Tensor) -> tf.RaggedTensor:
    """Returns a `tf.RaggedTensor` of the parts.

    Its fields are set directly, for the same reason as those in `_to_sparse_tensor`.
    """
    with ExtraImport():
        import tensorflow as tf

    if not _ragged_tensor_has_known_fields():
        return tf.RaggedTensor.from_row_splits(values, row_splits, validate=False)
    partition = tf.experimental.RowPartition.__new__(tf.experimental.RowPartition)
    vars(partition).update(_OTHER_ENCODINGS, _row_splits=row_splits)
    tensor = tf.RaggedTensor.__new__(tf.RaggedTensor)
    tensor._values, tensor._row_partition = values, partition
    return tensor


_OTHER_ENCODINGS = dict.fromkeys(
    ("_row_lengths", "_value_rowids", "_nrows", "_uniform_row_length", "_nvals")
)
"""The other fields of a row partition for which only the splits are known."""


@functools.cache
def _ragged_tensor_has_known_fields() -> bool:
    with ExtraImport():
        import tensorflow as tf

    fields = vars(tf.RaggedTensor.from_row_splits([0], [0, 1], validate=False))
    if set(fields) != {"_values", "_row_partition"}:
        return False
    encodings = vars(fields["_row_partition"])
    known: bool = encodings == {**_OTHER_ENCODINGS, "_row_splits": encodings.get("_row_splits")}
    return known


def _to_tensor(array: AnyArray) -> tf.Tensor:
    with ExtraImport():
        import tensorflow as tf

    if array.dtype.kind == "O":
        # TensorFlow reads a list of bytes in half the time of an array of objects.
        values = array.tolist() if array.ndim == 1 else array
        return tf.constant(values, tf.string)
    if kernel.is_aligned(array):  # otherwise TensorFlow would abort the process
        return tf.experimental.dlpack.from_dlpack(kernel.as_writable(array).__dlpack__())
    return tf.constant(array)
