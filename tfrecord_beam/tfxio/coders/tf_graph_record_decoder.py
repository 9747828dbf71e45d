"""Decoders of records that are TensorFlow graphs, saved as SavedModels.

Decoders saved by tfx_bsl can be loaded here, and vice versa. TensorFlow is imported on use.
"""

from __future__ import annotations

import abc
import os
from typing import TYPE_CHECKING, Any, TypeAlias

from tfrecord_beam.errors import Location, SchemaError
from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.options import check_instance, check_path

if TYPE_CHECKING:
    import tensorflow as tf

    TensorAlike: TypeAlias = tf.Tensor | tf.SparseTensor | tf.RaggedTensor

_RECORD_INDEX_PREFIX = "__record_index_tensor_name__:"
"""Prefix of the name of a signature of the SavedModel, followed by the name of the tensor."""


class TFGraphRecordDecoder(abc.ABC):
    """Converts a batch of records to tensors, with TensorFlow operations only.

    Example::

      class Decoder(TFGraphRecordDecoder):
        def decode_record(self, records):
          return {"length": tf.strings.length(records)[:, tf.newaxis]}

      Decoder().save("decoder")
      load_decoder("decoder").decode_record([b"abc"])
    """

    @abc.abstractmethod
    def decode_record(self, records: tf.Tensor) -> dict[str, TensorAlike]:
        """Returns the tensors of a batch of records. It is traced once, without AutoGraph.

        Args:
          records: a one-dimensional tensor of strings.

        Returns:
          Tensors by name, all with the same number of rows. If that differs from the number of
          records, one of them must be that of `record_index_tensor_name`.
        """

    @property
    def record_index_tensor_name(self) -> str | None:
        """Name of the tensor with the index of each row's record.

        A sparse or ragged tensor with one integer in each row. None: each record is one row.
        """
        return None

    def output_type_specs(self) -> dict[str, tf.TypeSpec]:
        """Returns the type specification of each tensor."""
        with ExtraImport():
            import tensorflow as tf

        outputs = _concrete_function(self).structured_outputs
        return {name: tf.type_spec_from_value(value) for name, value in outputs.items()}

    def save(self, path: str) -> None:
        """Saves the decoder, see `save_decoder`."""
        save_decoder(self, path)


class LoadedDecoder:
    """A decoder from a SavedModel, with the methods of a `TFGraphRecordDecoder`.

    Args:
      loaded_module: the module loaded by TensorFlow.
    """

    def __init__(self, loaded_module: Any) -> None:
        self._decode = loaded_module.decode_fun
        self._record_index_tensor_name = next(
            (
                signature.removeprefix(_RECORD_INDEX_PREFIX)
                for signature in getattr(loaded_module, "signatures", ())
                if signature.startswith(_RECORD_INDEX_PREFIX)
            ),
            None,
        )

    def decode_record(self, record: Any) -> dict[str, TensorAlike]:
        """Returns the tensors of a batch of records, which may be a list of `bytes`."""
        with ExtraImport():
            import tensorflow as tf

        tensors: dict[str, TensorAlike] = self._decode(tf.convert_to_tensor(record, tf.string))
        return tensors

    def output_type_specs(self) -> dict[str, tf.TypeSpec]:
        """Returns the type specification of each tensor."""
        return dict(self._decode.structured_outputs)

    @property
    def record_index_tensor_name(self) -> str | None:
        return self._record_index_tensor_name


def save_decoder(decoder: TFGraphRecordDecoder, path: str | os.PathLike[str]) -> None:
    """Saves a decoder as a SavedModel.

    Args:
      decoder: the decoder to save.
      path: a folder.

    Raises:
      SchemaError: the record index tensor is not one of the decoder's tensors.
      ValueError: `decoder` is not a decoder, or `path` not a path.
    """
    check_instance("decoder", decoder, TFGraphRecordDecoder)
    check_path("path", path)
    with ExtraImport():
        import tensorflow as tf

    module = tf.Module()
    module.decode_fun = _concrete_function(decoder)
    signatures = {}
    name = decoder.record_index_tensor_name
    if name is not None:
        known = list(decoder.output_type_specs())
        if name not in known:
            raise SchemaError(
                f"Expected record_index_tensor_name to be one of {known}, found {name!r}"
            )
        # Stored in the name of a signature, it can be read without running anything.
        constant = tf.function(lambda: name, input_signature=[]).get_concrete_function()
        signatures[_RECORD_INDEX_PREFIX + name] = constant
    tf.saved_model.save(module, os.fspath(path), signatures=signatures)


def load_decoder(path: str | os.PathLike[str]) -> LoadedDecoder:
    """Returns the decoder that `save_decoder` has saved.

    Raises:
      SchemaError: it is another SavedModel.
      OSError: there is none.
      ValueError: `path` is not a path.
    """
    check_path("path", path)
    with ExtraImport():
        import tensorflow as tf

    module = tf.saved_model.load(os.fspath(path))
    if not hasattr(module, "decode_fun"):
        raise SchemaError(
            "Expected a SavedModel of a TFGraphRecordDecoder, found another one",
            Location(os.fspath(path)),
        )
    return LoadedDecoder(module)


def _concrete_function(decoder: TFGraphRecordDecoder) -> Any:
    with ExtraImport():
        import tensorflow as tf

    signature = [tf.TensorSpec([None], tf.string)]
    return tf.function(
        decoder.decode_record, input_signature=signature, autograph=False
    ).get_concrete_function()
