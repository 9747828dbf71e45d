"""TFXIO for Parquet files."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.options import check_int
from tfrecord_beam.records.convert.parquet_file import read_schema, split_row_groups
from tfrecord_beam.records.parquet import list_schema, read_row_groups
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FilePattern,
    match_files,
    normalize_patterns,
)
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.schema.arrow import arrow_schema
from tfrecord_beam.schema.names import as_names, check_distinct, check_known
from tfrecord_beam.schema.tfmd import SchemaSource, schema_columns
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions, check_options
from tfrecord_beam.tfxio.epochs import read_epochs
from tfrecord_beam.tfxio.record_based_tfxio import Chain
from tfrecord_beam.tfxio.schema_based_tfxio import SchemaBasedTFXIO
from tfrecord_beam.tfxio.telemetry import ProfileRecordBatches
from tfrecord_beam.transforms.filesystem import BeamFileSystem
from tfrecord_beam.transforms.parquet import ReadParquet

_BATCH_ROWS = 1000


class ParquetTFXIO(SchemaBasedTFXIO):
    """Reads Parquet files.

    Only the wanted columns are read. As in all sources, they become lists of `int64`, `float32` or
    bytes; a single value is a list of one, and null stays null. Types are converted as for writing,
    see `tfrecord_beam.schema.encoding`: dates and times become integers, decimals are rounded to
    `float32`. A FLOAT feature may be a column of integers. A value that does not fit its type is an
    error with its file, row and column.

    Example::

      tfxio = ParquetTFXIO("data/*.parquet", column_names=["name", "age"])
      batches = pipeline | tfxio.BeamSource()

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      column_names: names of the columns to read, in output order; None: all.
      min_bundle_size: minimum size in bytes of the row groups that one worker reads at a time.
      schema: TFMD schema of the columns: a `Schema`, a serialized one or the path of its file.
        None: the columns are those of the first file.
      validate: not used.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.

    Raises:
      ValueError: there is no file pattern; a feature of the schema is not among `column_names`, or
        is not INT, FLOAT or BYTES.
    """

    def __init__(
        self,
        file_pattern: FilePattern,
        *,
        column_names: Sequence[str] | None = None,
        min_bundle_size: int = 0,
        schema: SchemaSource | None = None,
        validate: bool = True,
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        super().__init__(schema, telemetry_descriptors, "parquet", "parquet")
        check_int("min_bundle_size", min_bundle_size, least=0)
        self._file_pattern = normalize_patterns(file_pattern)
        self._min_bundle_size = min_bundle_size
        self._column_names = (
            None if column_names is None else as_names(column_names, "column_names")
        )
        check_distinct(self._column_names or (), "column_names")
        if self._schema is not None:
            self._ArrowSchemaNoRawRecordColumn()  # raises if the schema cannot be used

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is a PCollection of `pa.RecordBatch`.

        Args:
          batch_size: rows of each batch; the last one of some row groups may have fewer. None: as
            many as fit into about 8 MiB, at most 65,536.
        """
        return Chain(
            "BeamSource",
            "ReadParquet" >> self._read(batch_size),
            "CollectRecordBatchTelemetry" >> ProfileRecordBatches(*self._source_names),
        )

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        check_options(options)
        schema = self.ArrowSchema()
        open_file = DirectFileSystem().open

        def read_files(files: list[str], size: ReadOptions) -> Iterator[pa.RecordBatch]:
            for file in files:
                for groups in split_row_groups(file, open_file, min_bytes=0):
                    yield from read_row_groups(groups, open_file, schema)

        return read_epochs(self._file_pattern, read_files, options)

    def _read(self, batch_size: int | None) -> ReadParquet:
        return ReadParquet(
            self._file_pattern,
            self.ArrowSchema(),
            batch_size=batch_size,
            min_bundle_bytes=self._min_bundle_size,
        )

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        if self._schema is None:
            return list_schema(self._first_schema())
        columns = {column.name: column for column in schema_columns(self._schema)}
        names = columns if self._column_names is None else self._column_names
        check_known(columns, names, "features of the schema")
        return arrow_schema(columns[name] for name in names if name in columns)

    def _first_schema(self) -> pa.Schema:
        """Returns the schema of the wanted columns in the first file."""
        file_system = BeamFileSystem()
        first = match_files(self._file_pattern[:1], file_system)[0].path
        schema = read_schema(first, file_system.open)
        if self._column_names is None:
            return schema
        check_known(self._column_names, schema.names, f"columns of {first}")
        return pa.schema([schema.field(name) for name in self._column_names])

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return Chain(
            "ReadRows",
            self._read(None),
            "Pickle" >> beam.FlatMap(_pickle_rows).with_output_types(bytes),
        )

    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        check_int("batch_size", batch_size, least=1, optional=True)
        rows = batch_size or _BATCH_ROWS
        return Chain(
            "RowsToRecordBatch",
            beam.BatchElements(min_batch_size=rows, max_batch_size=rows),
            beam.Map(_unpickle_rows, self.ArrowSchema()).with_output_types(pa.RecordBatch),
        )


def _pickle_rows(batch: pa.RecordBatch) -> Iterator[bytes]:
    return map(pickle.dumps, batch.to_pylist())


def _unpickle_rows(rows: Iterable[bytes], schema: pa.Schema) -> pa.RecordBatch:
    # As structs, which keep the number of rows even if there are no columns.
    structs = pa.array(map(pickle.loads, rows), pa.struct(list(schema)))
    return pa.RecordBatch.from_struct_array(structs)
