"""The common interface of the TFXIO classes, and projection."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions, TensorFlowDatasetOptions
from tfrecord_beam.tfxio.tensor_adapter import TensorAdapter, TensorAdapterConfig

if TYPE_CHECKING:
    import tensorflow as tf


class TFXIO(abc.ABC):
    """Data that can be read as Arrow record batches and tensors, whatever their storage format."""

    @abc.abstractmethod
    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is a PCollection of `pa.RecordBatch`.

        Args:
          batch_size: rows of a batch; the last one of each bundle may have fewer. None: an
            efficient number.
        """

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        """Yields record batches, read without Beam.

        Raises:
          ValueError: an option is out of range.
          FileNotFoundError: a pattern matches no file.
          NotImplementedError: this class cannot do that.
        """
        raise NotImplementedError(f"{type(self).__name__} reads record batches only with Beam")

    def TensorFlowDataset(self, options: TensorFlowDatasetOptions) -> tf.data.Dataset:
        """Returns the tensors as a `tf.data.Dataset` whose elements are batches.

        Raises:
          NotImplementedError: this class cannot do that.
        """
        raise NotImplementedError(f"{type(self).__name__} gives no tf.data.Dataset")

    @abc.abstractmethod
    def ArrowSchema(self) -> pa.Schema:
        """Returns the schema of every batch.

        Raises:
          ValueError: it is not known, because there is no TFMD schema.
        """

    @abc.abstractmethod
    def TensorRepresentations(self) -> TensorRepresentations:
        """Returns for each tensor how it is made from columns.

        Raises:
          ValueError: it is not known, because there is no TFMD schema.
        """

    def TensorAdapterConfig(self) -> TensorAdapterConfig:
        """Returns the configuration of a `TensorAdapter` for the batches.

        Raises:
          ValueError: it is not known, because there is no TFMD schema.
        """
        return TensorAdapterConfig(self.ArrowSchema(), self.TensorRepresentations())

    def TensorAdapter(self) -> TensorAdapter:
        """Returns an adapter that makes TensorFlow tensors from the batches.

        Raises:
          ValueError: there is no TFMD schema, or a tensor cannot be made according to it.
        """
        return TensorAdapter(self.TensorAdapterConfig())

    def Project(self, tensor_names: Sequence[str]) -> TFXIO:
        """Returns the same data with only some tensors; only their columns are decoded.

        Args:
          tensor_names: keys of `TensorRepresentations`.

        Raises:
          ValueError: a tensor does not exist, or there is no TFMD schema.
        """
        return _ProjectedTFXIO(self, self._ProjectImpl(tensor_names))

    @abc.abstractmethod
    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        """Returns an object of the same kind that has only these tensors."""


class _ProjectedTFXIO(TFXIO):
    """A projection of the data, with a reference to the unprojected data.

    Args:
      origin: the data before any projection.
      projected: the data as they are read.
    """

    def __init__(self, origin: TFXIO, projected: TFXIO) -> None:
        self._origin = origin
        self._projected = projected

    @property
    def origin(self) -> TFXIO:
        return self._origin

    @property
    def projected(self) -> TFXIO:
        return self._projected

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        return self._projected.BeamSource(batch_size)

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        return self._projected.RecordBatches(options)

    def TensorFlowDataset(self, options: TensorFlowDatasetOptions) -> tf.data.Dataset:
        return self._projected.TensorFlowDataset(options)

    def ArrowSchema(self) -> pa.Schema:
        return self._projected.ArrowSchema()

    def TensorRepresentations(self) -> TensorRepresentations:
        return self._projected.TensorRepresentations()

    def TensorAdapterConfig(self) -> TensorAdapterConfig:
        """Returns the config of the projected tensors, with the type specs of all of them."""
        return TensorAdapterConfig(
            self.ArrowSchema(),
            self.TensorRepresentations(),
            self._origin.TensorAdapter().TypeSpecs(),
        )

    def __getattr__(self, name: str) -> Any:
        """Finds further methods of the projected class, such as `RawRecordBeamSource`."""
        if name.startswith("_"):  # also while this object is being unpickled
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._projected, name)

    def Project(self, tensor_names: Sequence[str]) -> TFXIO:
        return _ProjectedTFXIO(self._origin, self._ProjectImpl(tensor_names))

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        return self._projected._ProjectImpl(tensor_names)
