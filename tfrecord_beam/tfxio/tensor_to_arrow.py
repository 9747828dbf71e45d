"""Converts tensors to record batches, under the names that TFXIO users know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.options import check_instance, describe
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tensors.to_arrow import (
    DenseColumn,
    RaggedColumn,
    SparseColumns,
    TensorColumns,
    VarLenColumn,
    columns_schema,
    convert_tensors,
)

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_DTYPES = {name: np.dtype(name) for name in (*_INTEGERS, "float16", "float32", "float64")}
_DTYPES["string"] = np.dtype(object)
"""TensorFlow's element types that there are columns for, as numpy's."""


class TensorsToRecordBatchConverter:
    """Converts tensors with known type specifications to record batches.

    A dense tensor becomes a column of the same name (`large_list`), a ragged one a column of nested
    lists, a sparse one with two dimensions a column of lists as long as its rows, and any other
    sparse one a column of values and an index column for each dimension except that of the batch.

    Args:
      type_specs: TensorFlow's type specifications by name of tensor. The first dimension is the
        batch; that of a dense tensor must be of unknown size, its others of known sizes.
      options: names of columns, and which sparse tensors keep their indices. None: `Options()`.

    Raises:
      SchemaError: a specification cannot be represented by columns (such as one of bools), or two
        columns have the same name.
    """

    class Options:
        """Options of the converter.

        Args:
          sparse_tensor_value_column_name_template: name of a sparse tensor's column of values,
            with ``{tensor_name}`` in it.
          sparse_tensor_index_column_name_template: name of a sparse tensor's columns of indices,
            with ``{tensor_name}`` and ``{index}``, the number of the dimension, in it.
          generic_sparse_tensor_names: names of sparse tensors of two dimensions that keep their
            indices.
        """

        def __init__(
            self,
            sparse_tensor_value_column_name_template: str = "{tensor_name}$values",
            sparse_tensor_index_column_name_template: str = "{tensor_name}$index{index}",
            generic_sparse_tensor_names: frozenset[str] = frozenset(),
        ) -> None:
            self.sparse_tensor_value_column_name_template = sparse_tensor_value_column_name_template
            self.sparse_tensor_index_column_name_template = sparse_tensor_index_column_name_template
            self.generic_sparse_tensor_names = generic_sparse_tensor_names

    def __init__(self, type_specs: Mapping[str, Any], options: Options | None = None) -> None:
        check_instance("type_specs", type_specs, Mapping)
        options = self.Options() if options is None else options
        check_instance("options", options, self.Options)
        self._columns = [
            _columns_of(name, spec, options) for name, spec in sorted(type_specs.items())
        ]
        self._arrow_schema = columns_schema(self._columns)

    def arrow_schema(self) -> pa.Schema:
        """Returns the schema of every batch, with columns in order of the tensors' names."""
        return self._arrow_schema

    def tensor_representations(self) -> TensorRepresentations:
        """Returns for each tensor how it is made from columns."""
        return {tensor.name: tensor.representation() for tensor in self._columns}

    def convert(self, tensors: Mapping[str, Any]) -> pa.RecordBatch:
        """Returns the tensors as one batch. Numbers share their memory and are not copied.

        Args:
          tensors: by the names of `type_specs`: eager tensors, numpy arrays, `SparseTensorValue`
            or `RaggedTensorValue`.

        Raises:
          TensorMismatchError: a tensor does not fit its specification.
          SchemaError: a tensor is missing or unknown; the batch sizes differ; the indices of a
            sparse tensor are not in order, or have gaps that a list column cannot represent.
        """
        check_instance("tensors", tensors, Mapping)
        return convert_tensors(self._columns, self._arrow_schema, tensors)


def _columns_of(
    name: str, spec: Any, options: TensorsToRecordBatchConverter.Options
) -> TensorColumns:
    """Returns how a tensor of a TensorFlow type specification becomes columns."""
    with ExtraImport():
        import tensorflow as tf

    check_instance("each name of a tensor", name, str)
    if not isinstance(spec, (tf.TensorSpec, tf.SparseTensorSpec, tf.RaggedTensorSpec)):
        raise _no_columns(name, spec, "the specification of a tensor")
    if spec.dtype.name not in _DTYPES:
        raise _no_columns(name, spec, "numbers or strings", "cast bools to tf.uint8")
    common: dict[str, Any] = {"name": name, "spec": str(spec), "dtype": _DTYPES[spec.dtype.name]}
    is_named_generic = name in options.generic_sparse_tensor_names
    if isinstance(spec, tf.SparseTensorSpec) and spec.shape.rank is None and not is_named_generic:
        return VarLenColumn(**common, shape=(None,))
    if not spec.shape.rank:
        raise _no_columns(name, spec, "a batch dimension")
    batch, *shape = spec.shape.as_list()
    if isinstance(spec, tf.TensorSpec):
        if batch is not None or None in shape:
            raise _no_columns(name, spec, "a batch of unknown size and other dimensions of known")
        return DenseColumn(**common, shape=tuple(shape))
    if isinstance(spec, tf.RaggedTensorSpec):
        ragged, inner = shape[: spec.ragged_rank], shape[spec.ragged_rank :]
        if not ragged or ragged.count(None) < len(ragged) or not all(inner):
            raise _no_columns(name, spec, "ragged dimensions before uniform ones of known sizes")
        return RaggedColumn(
            **common,
            ragged_rank=spec.ragged_rank,
            inner_shape=tuple(inner),
            row_splits_dtype=_DTYPES[spec.row_splits_dtype.name],
        )
    if not shape:
        raise _no_columns(name, spec, "a dimension besides that of the batch")
    if len(shape) == 1 and not is_named_generic:
        return VarLenColumn(**common, shape=tuple(shape))
    return SparseColumns(
        **common,
        shape=tuple(shape),
        value_column=_fill(options.sparse_tensor_value_column_name_template, tensor_name=name),
        index_columns=tuple(
            _fill(options.sparse_tensor_index_column_name_template, tensor_name=name, index=index)
            for index in range(len(shape))
        ),
    )


def _fill(template: str, **values: object) -> str:
    """Returns the name of a column according to a template."""
    try:
        return template.format(**values)
    except (AttributeError, LookupError, ValueError) as error:
        fields = " and ".join(f"{{{field}}}" for field in values)
        raise SchemaError(
            f"Expected a template of the name of a column with {fields} in it, "
            f"found {describe(template)}"
        ) from error


def _no_columns(name: str, spec: Any, expected: str, hint: str | None = None) -> SchemaError:
    return SchemaError(f"Expected {expected} for tensor {name!r}, found {spec}", hint=hint)
