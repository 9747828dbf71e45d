"""Converts record batches to numpy tensors, according to tensor representations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import check_instance
from tfrecord_beam.tensors.dense import DenseConverter
from tfrecord_beam.tensors.ragged import RaggedConverter
from tfrecord_beam.tensors.sparse import SparseConverter, VarlenConverter
from tfrecord_beam.tensors.specs import NumpyTensor, TensorSpec


class Converter(Protocol):
    """Makes one tensor from each record batch of one schema."""

    @property
    def spec(self) -> TensorSpec:
        """The specification of the tensor."""

    def __call__(self, batch: kernel.BatchReader) -> NumpyTensor:
        """Returns the tensor of a batch; raises DecodeError if its values do not fit."""


_CONVERTERS: dict[str, Callable[[str, schema_pb2.TensorRepresentation, pa.Schema], Converter]] = {
    "dense_tensor": DenseConverter,
    "varlen_sparse_tensor": VarlenConverter,
    "sparse_tensor": SparseConverter,
    "ragged_tensor": RaggedConverter,
}


class BatchConverter:
    """Makes tensors from record batches. It can be pickled.

    Example::

      converter = BatchConverter(schema, {"age": representation})
      for batch in batches:
        age = converter.convert(batch)["age"]

    Args:
      schema: that of the batches. Columns of tensors are lists, `list` or `large_list`, of integer,
        float, binary or string values.
      representations: for each tensor, how it is made from columns.

    Raises:
      SchemaError: a tensor cannot be made according to its representation.
    """

    def __init__(
        self,
        schema: pa.Schema,
        representations: Mapping[str, schema_pb2.TensorRepresentation],
    ) -> None:
        check_instance("arrow_schema", schema, pa.Schema)
        check_instance("tensor_representations", representations, Mapping)
        self._schema = schema
        self._reads_most = 2 * len(representations) >= len(schema)  # columns, of those there are
        self.converters: dict[str, Converter] = {
            name: _make_converter(name, representation, schema)
            for name, representation in representations.items()
        }

    @property
    def specs(self) -> dict[str, TensorSpec]:
        """The specification of each tensor."""
        return {name: converter.spec for name, converter in self.converters.items()}

    def convert(self, batch: pa.RecordBatch) -> dict[str, NumpyTensor]:
        """Returns the tensors of a batch, each an array, a `SparseValue` or a `RaggedValue`.

        Raises:
          SchemaError: the batch has another schema.
          DecodeError: values do not fit the representation of a tensor.
        """
        reader = self.open(batch)
        return {name: converter(reader) for name, converter in self.converters.items()}

    def open(self, batch: pa.RecordBatch) -> kernel.BatchReader:
        """Returns what the converters read a batch with.

        Raises:
          SchemaError: the batch has another schema.
          ValueError: it is no batch.
        """
        check_instance("record_batch", batch, pa.RecordBatch)
        if batch.schema.equals(self._schema):
            return kernel.BatchReader(batch, self._reads_most)
        if batch.schema.names != self._schema.names:
            raise SchemaError(
                f"Expected same schema. Expected columns {self._schema.names}, "
                f"found {batch.schema.names}"
            )
        expected, found = next(
            (a, b) for a, b in zip(self._schema, batch.schema, strict=True) if not a.equals(b)
        )
        raise SchemaError(f"Expected same schema. Expected column {expected}, found {found}")


def _make_converter(
    name: str, representation: schema_pb2.TensorRepresentation, schema: pa.Schema
) -> Converter:
    check_instance(
        f"the representation of tensor {name!r}", representation, schema_pb2.TensorRepresentation
    )
    kind = representation.WhichOneof("kind")
    if kind is None:
        raise SchemaError(f"Expected a representation of tensor {name!r} of some kind, found none")
    return _CONVERTERS[kind](name, representation, schema)
