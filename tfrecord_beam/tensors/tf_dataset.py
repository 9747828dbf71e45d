"""Record batches as a `tf.data.Dataset`; TensorFlow is imported on use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.schema.names import check_known
from tfrecord_beam.tensors.specs import (
    AnyArray,
    DenseSpec,
    NumpyTensor,
    RaggedValue,
    SparseSpec,
    SparseValue,
    TensorSpec,
)
from tfrecord_beam.tensors.to_numpy import BatchConverter
from tfrecord_beam.tensors.to_tensorflow import type_spec

if TYPE_CHECKING:
    import tensorflow as tf


def make_dataset(
    read_batches: Callable[[], Iterable[pa.RecordBatch]],
    converter: BatchConverter,
    *,
    label: str | None = None,
    prefetch: int = -1,
) -> tf.data.Dataset:
    """Returns a dataset with one element for each batch: its tensors by name.

    Args:
      read_batches: called each time that the dataset is iterated.
      converter: makes the tensors.
      label: name of the tensor that is the label: elements are then pairs of a dict of the other
        tensors and the label. None: elements are dicts of all tensors.
      prefetch: number of batches to prepare ahead; -1: TensorFlow chooses it.

    Raises:
      SchemaError: there is no tensor with the name of the label.
    """
    with ExtraImport():
        import tensorflow as tf

    specs = converter.specs
    if label is not None:
        check_known([label], specs, "label_key, which is the name of a tensor")

    def generate() -> Iterator[tuple[AnyArray, ...]]:
        for batch in read_batches():
            tensors = converter.convert(batch).values()
            yield tuple(part for tensor in tensors for part in _parts(tensor))

    def assemble(*parts: tf.Tensor) -> Any:
        remaining = iter(parts)
        tensors = {name: _assemble(spec, remaining) for name, spec in specs.items()}
        return tensors if label is None else (tensors, tensors.pop(label))

    # A generator's sparse and ragged tensors would be wrapped one by one in Python.
    signature = tuple(part for spec in specs.values() for part in _part_specs(spec))
    dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
    # AutoGraph has nothing to convert here, but would take longer than 100 batches do.
    as_it_is = tf.autograph.experimental.do_not_convert(assemble)
    return dataset.map(as_it_is).prefetch(prefetch)


def _parts(tensor: NumpyTensor) -> Iterator[AnyArray]:
    if isinstance(tensor, SparseValue):
        yield from tensor
    elif isinstance(tensor, RaggedValue):
        yield tensor.values
        yield from tensor.row_splits
    else:
        yield tensor


def _part_specs(spec: TensorSpec) -> Iterator[tf.TensorSpec]:
    """Yields the specifications of the `_parts` of a tensor."""
    with ExtraImport():
        import tensorflow as tf

    whole = type_spec(spec)
    if isinstance(spec, DenseSpec):
        yield whole
    elif isinstance(spec, SparseSpec):
        rank = len(spec.shape)
        yield tf.TensorSpec([None, rank], tf.int64)
        yield tf.TensorSpec([None], whole.dtype)
        yield tf.TensorSpec([rank], tf.int64)
    else:
        yield tf.TensorSpec([None, *spec.shape[1 + spec.ragged_rank :]], whole.dtype)
        for _ in range(spec.ragged_rank):
            yield tf.TensorSpec([None], whole.row_splits_dtype)


def _assemble(spec: TensorSpec, parts: Iterator[tf.Tensor]) -> Any:
    """Returns the tensor assembled from the next parts."""
    with ExtraImport():
        import tensorflow as tf

    if isinstance(spec, DenseSpec):
        return next(parts)
    if isinstance(spec, SparseSpec):
        sparse = tf.SparseTensor(next(parts), next(parts), next(parts))
        sparse.set_shape(spec.shape)
        return sparse
    values = next(parts)
    splits = [next(parts) for _ in range(spec.ragged_rank)]
    return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)
