"""Converts record batches to TensorFlow tensors, under the names that TFXIO users know."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import pyarrow as pa

from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.options import check_instance, describe
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tensors import to_tensorflow
from tfrecord_beam.tensors.to_numpy import BatchConverter

if TYPE_CHECKING:
    import tensorflow as tf


@final
@dataclasses.dataclass
class TensorAdapterConfig:
    """The configuration of a `TensorAdapter`. It can be pickled.

    If tfx_bsl is installed, each is also an instance of tfx_bsl's class of this name, which
    TensorFlow Transform requires. tfx_bsl is loaded when the first config is created.

    Attributes:
      arrow_schema: that of the batches.
      tensor_representations: for each tensor, how it is made from columns.
      original_type_specs: type specifications of all tensors before projection; None: those of
        `tensor_representations`.
    """

    arrow_schema: pa.Schema
    tensor_representations: TensorRepresentations
    original_type_specs: dict[str, tf.TypeSpec] | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> TensorAdapterConfig:
        return super().__new__(_config_class())

    def __reduce__(self) -> tuple[Any, ...]:
        # By the name of this class, because each process creates the class of the instance.
        return TensorAdapterConfig, tuple(getattr(self, f.name) for f in dataclasses.fields(self))


@functools.cache
def _config_class() -> type[TensorAdapterConfig]:
    try:
        from tfx_bsl.tfxio import tensor_adapter
    except ImportError:
        return TensorAdapterConfig
    bases = (TensorAdapterConfig, tensor_adapter.TensorAdapterConfig)
    return type("TensorAdapterConfig", bases, {"__module__": __name__})


class TensorAdapter:
    """Makes TensorFlow tensors from record batches.

    Args:
      config: the schema of the batches, and how tensors are made from their columns; any object
        with the attributes of `TensorAdapterConfig`.

    Raises:
      ValueError: a tensor cannot be made according to its representation, or its original type
        specification is missing or different.
    """

    def __init__(self, config: TensorAdapterConfig) -> None:
        for name in ("arrow_schema", "tensor_representations", "original_type_specs"):
            if not hasattr(config, name):
                raise ValueError(f"Expected a config with {name}, found {describe(config)}")
        self._converter = BatchConverter(config.arrow_schema, config.tensor_representations)
        self._type_specs = {
            name: to_tensorflow.type_spec(spec) for name, spec in self._converter.specs.items()
        }
        original = config.original_type_specs
        self._original_type_specs = self._type_specs if original is None else original
        _check_original(self._original_type_specs, self._type_specs)

    def TypeSpecs(self) -> dict[str, tf.TypeSpec]:
        """Returns the type specification of each tensor."""
        return self._type_specs

    def OriginalTypeSpecs(self) -> dict[str, tf.TypeSpec]:
        """Returns the type specifications of all tensors before projection."""
        return self._original_type_specs

    def ToBatchTensors(
        self, record_batch: pa.RecordBatch, produce_eager_tensors: bool | None = None
    ) -> dict[str, Any]:
        """Returns the tensors of a batch by name.

        Args:
          record_batch: of the schema in the config.
          produce_eager_tensors: True: eager tensors, which may share the memory of the batch.
            False: arrays, `SparseTensorValue` and `RaggedTensorValue`. None: according to the mode
            of TensorFlow.

        Raises:
          ValueError: the batch has another schema, or values do not fit a tensor.
          RuntimeError: eager tensors are requested in graph mode.
        """
        with ExtraImport():
            import tensorflow as tf

        if produce_eager_tensors is None:
            produce_eager_tensors = tf.executing_eagerly()
        elif produce_eager_tensors and not tf.executing_eagerly():
            raise RuntimeError("Expected eager mode, for eager tensors were requested, found none")
        batch = self._converter.open(record_batch)
        finish = (
            to_tensorflow.to_eager_tensor
            if produce_eager_tensors
            else to_tensorflow.to_tensor_value
        )
        tensors = {}
        for name, convert in self._converter.converters.items():
            try:
                tensors[name] = finish(convert(batch))
            except ValueError as error:
                raise ValueError(f"Error raised when handling tensor {name!r}: {error}") from error
        return tensors


def _check_original(
    original: Mapping[str, tf.TypeSpec], derived: Mapping[str, tf.TypeSpec]
) -> None:
    check_instance("original_type_specs", original, Mapping)
    for name, spec in derived.items():
        if original.get(name) != spec:
            raise ValueError(
                "Expected original_type_specs to be a superset of the type specs of the tensor "
                f"representations, {spec} for tensor {name!r}, found {original.get(name)}"
            )
