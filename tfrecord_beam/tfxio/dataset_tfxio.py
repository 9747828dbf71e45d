"""TFXIO for a `tf.data.Dataset`. TensorFlow is imported on use, and not needed by workers."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.options import check_instance, check_int, check_path, count_of
from tfrecord_beam.records.batch_stream import rebatch
from tfrecord_beam.schema.names import as_names, check_distinct
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions, check_options
from tfrecord_beam.tfxio.epochs import repeat_epochs
from tfrecord_beam.tfxio.tensor_adapter import TensorAdapterConfig
from tfrecord_beam.tfxio.tensor_to_arrow import TensorsToRecordBatchConverter
from tfrecord_beam.tfxio.tfxio import TFXIO
from tfrecord_beam.transforms import coders as coders  # registers them

if TYPE_CHECKING:
    import tensorflow as tf


class DatasetTFXIOOptions(NamedTuple):
    """Options of `DatasetTFXIO`.

    Attributes:
      working_dir: folder or URL that workers can read, where the data are stored permanently; None:
        a new temporary folder on this machine.
      feature_names: names of the tensors in the order of `tf.nest.flatten`; None: the keys of
        dicts, joined by ``_`` if nested, and ``feature0``, ``feature1``, ... for the elements of
        tuples.
      num_shards: number of files in which the data are stored; None: one.
    """

    working_dir: str | None = None
    feature_names: Sequence[str] | None = None
    num_shards: int | None = None


class DatasetTFXIO(TFXIO):
    """Reads a `tf.data.Dataset` as record batches.

    Example::

      tfxio = DatasetTFXIO(dataset.batch(1000))
      batches = pipeline | tfxio.BeamSource()

    Args:
      dataset: finite and batched. Integers and bools become `int64`, floating-point numbers
        `float32`, strings are unchanged.
      options: names of the tensors, and where the data are stored for the workers.

    Raises:
      ValueError: an element has another type or no batch dimension, or the number of names is
        wrong, or names are not distinct.
    """

    def __init__(
        self, dataset: tf.data.Dataset, options: DatasetTFXIOOptions = DatasetTFXIOOptions()
    ) -> None:
        with ExtraImport():
            import tensorflow as tf

        check_instance("dataset", dataset, tf.data.Dataset)
        check_instance("options", options, DatasetTFXIOOptions)
        check_int("num_shards", options.num_shards, least=1, optional=True)
        if options.working_dir is not None:
            check_path("working_dir", options.working_dir)
        self._dataset = dataset
        self._options = options
        specs = self._by_name(dataset.element_spec)
        self._type_specs = {name: _column_spec(name, spec) for name, spec in specs.items()}
        self._converter = TensorsToRecordBatchConverter(self._type_specs)

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is a PCollection of `pa.RecordBatch`.

        The data set is iterated immediately and stored as Arrow files in a new folder inside the
        working folder, from which workers read it.

        Args:
          batch_size: rows of a batch; the last one may have fewer. None: those of the data set.
        """
        check_int("batch_size", batch_size, least=1, optional=True)
        return _ReadArrowFiles(self._write_files(batch_size))

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        """Yields record batches, without Beam; each epoch iterates the data set again.

        Raises:
          ValueError: an option is out of range.
        """
        check_options(options)
        return repeat_epochs(lambda order, size: self._batches(), options)

    def ArrowSchema(self) -> pa.Schema:
        return self._converter.arrow_schema()

    def TensorRepresentations(self) -> TensorRepresentations:
        return self._converter.tensor_representations()

    def TensorAdapterConfig(self) -> TensorAdapterConfig:
        return TensorAdapterConfig(
            self.ArrowSchema(), self.TensorRepresentations(), self._type_specs
        )

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        raise NotImplementedError(
            "DatasetTFXIO cannot leave tensors out; let the data set do it with map()"
        )

    def _by_name(self, structure: Any) -> dict[str, Any]:
        """Returns the tensors, or their specifications, of an element by their names."""
        named = list(_flatten(structure, "", itertools.count()))
        names = [name for name, _ in named]
        if self._options.feature_names is not None:
            names = [*as_names(self._options.feature_names, "feature_names")]
        check_distinct(names, "feature names")
        if len(names) != len(named):
            tensors, found = count_of(len(named), "tensor"), count_of(len(names), "name")
            raise SchemaError(f"Expected feature_names for {tensors}, found {found}")
        return {name: leaf for name, (_, leaf) in zip(names, named, strict=True)}

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for element in self._dataset:
            tensors = self._by_name(element)
            yield self._converter.convert(
                {
                    name: _cast(name, tensor, self._type_specs[name].dtype)
                    for name, tensor in tensors.items()
                }
            )

    def _write_files(self, batch_size: int | None) -> list[str]:
        batches = self._batches()
        if batch_size is not None:
            batches = rebatch(batches, batch_size, drop_remainder=False)
        working_dir = self._options.working_dir
        working_dir = tempfile.mkdtemp() if working_dir is None else os.fspath(working_dir)
        folder = FileSystems.join(working_dir, f"dataset-{uuid.uuid4().hex}")
        FileSystems.mkdirs(folder)
        num_shards = self._options.num_shards or 1
        paths = [FileSystems.join(folder, f"{shard:05}.arrow") for shard in range(num_shards)]
        with contextlib.ExitStack() as stack:
            writers = []
            for path in paths:
                file = stack.enter_context(FileSystems.create(path))
                writer = pa.ipc.new_stream(file, self.ArrowSchema())
                writers.append(stack.enter_context(writer))
            for writer, batch in zip(itertools.cycle(writers), batches, strict=False):
                writer.write_batch(batch)
        return paths


def _flatten(structure: Any, prefix: str, numbers: Iterator[int]) -> Iterator[tuple[str, Any]]:
    """Yields the elements of a structure with their names, in the order of `tf.nest.flatten`."""
    if hasattr(structure, "_asdict"):
        parts: list[tuple[str | None, Any]] = [*structure._asdict().items()]
    elif isinstance(structure, Mapping):
        parts = sorted(structure.items())
    elif isinstance(structure, tuple):
        parts = [(None, part) for part in structure]
    else:
        yield prefix or f"feature{next(numbers)}", structure
        return
    for name, part in parts:
        if name is None and not isinstance(part, (Mapping, tuple)):
            name = f"feature{next(numbers)}"
        path = [each for each in (prefix, name) if each]
        yield from _flatten(part, "_".join(path), numbers)


def _column_spec(name: str, spec: Any) -> Any:
    """Returns the specification with the type after conversion, for batches of any size."""
    with ExtraImport():
        import tensorflow as tf

    if not isinstance(spec, (tf.TensorSpec, tf.SparseTensorSpec, tf.RaggedTensorSpec)):
        raise SchemaError(f"Expected tensors in the data set, found {spec} for {name!r}")
    dtype = _canonical_type(name, spec.dtype)
    shape = spec.shape
    if shape.rank:
        shape = tf.TensorShape([None]).concatenate(shape[1:])
    if shape.rank == 2 and isinstance(spec, tf.SparseTensorSpec):
        shape = tf.TensorShape([None, None])  # a column of lists does not keep the width
    if isinstance(spec, tf.RaggedTensorSpec):
        return tf.RaggedTensorSpec(shape, dtype, spec.ragged_rank, spec.row_splits_dtype)
    return type(spec)(shape, dtype)


def _canonical_type(name: str, dtype: tf.DType) -> tf.DType:
    with ExtraImport():
        import tensorflow as tf

    if dtype.is_floating:
        return tf.float32
    if (dtype.is_integer or dtype.is_bool) and dtype != tf.uint64:
        return tf.int64
    if dtype == tf.string:
        return tf.string
    raise SchemaError(
        f"Expected integers, floating-point numbers or strings for tensor {name!r}, "
        f"found {dtype.name}"
    )


def _cast(name: str, tensor: Any, dtype: tf.DType) -> Any:
    """Returns the tensor cast to another type, after checking that no value became infinite."""
    with ExtraImport():
        import tensorflow as tf

    cast = tf.cast(tensor, dtype)
    if tensor.dtype == tf.float64:
        values, narrow = _flat_values(tensor), _flat_values(cast)
        overflows = tf.math.is_inf(narrow) & tf.math.is_finite(values)
        if tf.reduce_any(overflows):
            found = tf.boolean_mask(values, overflows)[0].numpy()
            raise SchemaError(
                f"Expected numbers in the range of float32 in tensor {name!r}, found {found}"
            )
    return cast


def _flat_values(tensor: Any) -> Any:
    """Returns the values of a dense, sparse or ragged tensor as a dense one."""
    return getattr(tensor, "flat_values", getattr(tensor, "values", tensor))


class _ReadArrowFiles(beam.PTransform):
    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__("BeamSource")
        self._paths = paths

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection[pa.RecordBatch]:
        read: Callable[[str], Iterator[pa.RecordBatch]] = _read_arrow_file
        return (
            pipeline
            | "Files" >> beam.Create(self._paths)
            | "Read" >> beam.FlatMap(read).with_output_types(pa.RecordBatch)
        )


def _read_arrow_file(path: str) -> Iterator[pa.RecordBatch]:
    with FileSystems.open(path) as file, pa.ipc.open_stream(file) as reader:
        yield from reader
