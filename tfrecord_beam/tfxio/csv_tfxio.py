"""TFXIO for lines of CSV. A line is a record: a cell cannot hold a line end, quoted or not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.records.csv import CsvDecoder, CsvFormat, csv_arrow_schema, types_of_schema
from tfrecord_beam.records.csv_values import ColumnType
from tfrecord_beam.records.lines import LineBlock, LineOptions, read_lines
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FilePattern,
    match_files,
    normalize_patterns,
)
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions, check_options
from tfrecord_beam.tfxio.epochs import read_epochs
from tfrecord_beam.tfxio.record_based_tfxio import Chain, PassOn
from tfrecord_beam.tfxio.schema_based_tfxio import SchemaBasedTFXIO
from tfrecord_beam.transforms.csv import BatchLines, DecodeLineBlocks, ReadLineBlocks


class _CsvBase(SchemaBasedTFXIO):
    """The common part of the classes for lines of CSV, whatever their source."""

    def __init__(
        self,
        csv_format: CsvFormat,
        schema: SchemaSource | None,
        telemetry_descriptors: Sequence[str] | None,
        physical_format: str,
    ) -> None:
        super().__init__(
            schema,
            telemetry_descriptors,
            "csv",
            physical_format,
            csv_format.raw_record_column_name,
        )
        self._format = csv_format
        self._find_types()  # raises if the schema cannot be used

    def SupportAttachingRawRecords(self) -> bool:
        return True

    def _find_types(self) -> tuple[ColumnType, ...] | None:
        """Returns the type of each column, None if it must be inferred from the cells."""
        if self._schema is None:
            return None
        return types_of_schema(self._schema, self._format.column_names)

    def _ArrowSchemaNoRawRecordColumn(self) -> pa.Schema:
        names = self._format.column_names
        return csv_arrow_schema(names, types_of_schema(self.schema, names))

    def _RawRecordToRecordBatchInternal(
        self, batch_size: int | None = None
    ) -> beam.PTransform[Any, Any]:
        return Chain(
            "LinesToRecordBatch",
            BatchLines(batch_size),
            DecodeLineBlocks(CsvDecoder(self._format), self._find_types(), batch_size=batch_size),
        )


class CsvTFXIO(_CsvBase):
    """Reads CSV files.

    A line is a record, so files can be split. Lines end with LF or CR LF. A cell may be enclosed in
    double quotes, with ``""`` for a quote inside. An empty cell is null; numbers have the formats
    of Python's `int` and `float`. Batches have the columns in the order of `column_names`.
    Compressed files are recognized by content, and by suffix.

    Example::

      tfxio = CsvTFXIO("data/*.csv", ["name", "age"], schema="schema.pbtxt", skip_header_lines=1)
      batches = pipeline | tfxio.BeamSource()

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      column_names: the name of each cell of a line.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.
      validate: not used.
      delimiter: the character between two cells.
      skip_blank_lines: skip blank lines; False: each is a row of nulls.
      multivalent_columns: names of the columns whose cells are lists of values, or one name.
      secondary_delimiter: the character between two such values.
      schema: TFMD schema of the wanted columns: a `Schema`, a serialized one or the path of its
        file. None: all columns, each with the type that fits all its cells; the files are then read
        twice.
      raw_record_column_name: name of a last column with the lines themselves, or None.
      skip_header_lines: number of lines to skip at the start of each file.

    Raises:
      ValueError: a feature of the schema is not among the columns, or is not INT, FLOAT or BYTES;
        the raw-record column has the name of another column; an option cannot be used.
      DecodeError: in the pipeline, a line has the wrong number of cells, a cell is not a number
        where one is required, or a quote is not closed. It gives the file, line and column.
    """

    def __init__(
        self,
        file_pattern: FilePattern,
        column_names: Sequence[str],
        telemetry_descriptors: Sequence[str] | None = None,
        validate: bool = True,
        delimiter: str = ",",
        skip_blank_lines: bool = True,
        multivalent_columns: Iterable[str] | None = None,
        secondary_delimiter: str | None = None,
        schema: SchemaSource | None = None,
        raw_record_column_name: str | None = None,
        skip_header_lines: int = 0,
    ) -> None:
        csv_format = CsvFormat(
            column_names,
            delimiter,
            skip_blank_lines,
            multivalent_columns,
            secondary_delimiter,
            raw_record_column_name,
        )
        super().__init__(csv_format, schema, telemetry_descriptors, "text")
        self._file_pattern = normalize_patterns(file_pattern)
        self._line_options = LineOptions(skip_header_lines, count_blank_lines=not skip_blank_lines)

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform[Any, Any]:
        """Returns a transform whose output is a PCollection of `pa.RecordBatch`.

        It decodes whole blocks of lines, which is much faster than over single lines.

        Args:
          batch_size: rows of a batch; the last one of each byte range of a file may have fewer.
            None: an efficient number.
        """
        types = self._find_types()
        reread = None if types else ReadLineBlocks(self._file_pattern, self._line_options)
        decode = DecodeLineBlocks(
            CsvDecoder(self._format), types, batch_size=batch_size, reread=reread
        )
        options = dataclasses.replace(self._line_options, batch_size=batch_size)
        read = ReadLineBlocks(self._file_pattern, options)
        return self._block_source(read, decode, batch_size, "LineBlocks")

    def RecordBatches(self, options: RecordBatchesOptions) -> Iterator[pa.RecordBatch]:
        check_options(options)
        decoder = CsvDecoder(self._format)
        types = self._find_types() or self._infer_types(decoder)

        def read_files(files: list[str], size: ReadOptions) -> Iterator[pa.RecordBatch]:
            lines = dataclasses.replace(self._line_options, batch_size=size.batch_size)
            for block in _iter_lines(files, lines):
                yield from decoder.iter_batches(block, types, size.batch_size)

        return read_epochs(self._file_pattern, read_files, options)

    def _infer_types(self, decoder: CsvDecoder) -> tuple[ColumnType, ...]:
        files = [file.path for file in match_files(self._file_pattern, DirectFileSystem())]
        types = decoder.unknown_types()
        for block in _iter_lines(files, self._line_options):
            types = decoder.infer(block, types)
        return types

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return Chain(
            "ReadLines",
            ReadLineBlocks(self._file_pattern, self._line_options),
            "Lines" >> beam.FlatMap(LineBlock.lines).with_output_types(bytes),
        )


def _iter_lines(files: Iterable[str], options: LineOptions) -> Iterator[LineBlock]:
    for file in files:
        yield from read_lines(FileRange(file), DirectFileSystem().open, options)


class BeamRecordCsvTFXIO(_CsvBase):
    """Makes batches of a PCollection of `bytes`, each of which is a line of CSV.

    `BeamSource` and `RawRecordBeamSource` are applied to that PCollection. Lines and columns are
    as for `CsvTFXIO`, but a cell in quotes may contain a line end, and without a schema columns
    have the types that fit all cells of a window. Windows and timestamps of batches are as for
    `RawRecordToRecordBatch`.

    Example::

      batches = lines | BeamRecordCsvTFXIO("text", ["name", "age"]).BeamSource()

    Args:
      physical_format: where the lines come from, such as ``text``, for the metrics' names.
      column_names: as for `CsvTFXIO`, as are the other arguments.

    Raises:
      ValueError: as for `CsvTFXIO`, as is DecodeError in the pipeline.
    """

    def __init__(
        self,
        physical_format: str,
        column_names: Sequence[str],
        delimiter: str = ",",
        skip_blank_lines: bool = True,
        multivalent_columns: Iterable[str] | None = None,
        secondary_delimiter: str | None = None,
        schema: SchemaSource | None = None,
        raw_record_column_name: str | None = None,
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        csv_format = CsvFormat(
            column_names,
            delimiter,
            skip_blank_lines,
            multivalent_columns,
            secondary_delimiter,
            raw_record_column_name,
        )
        super().__init__(csv_format, schema, telemetry_descriptors, physical_format)

    def _RawRecordBeamSourceInternal(self) -> beam.PTransform[Any, Any]:
        return PassOn()
