"""The steps from lines of CSV to record batches, under the names that TFXIO users know.

`CsvTFXIO` does the same with whole blocks of lines, which is much faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.errors import DecodeError
from tfrecord_beam.options import count_of
from tfrecord_beam.records.csv import (
    CsvDecoder,
    CsvFormat,
    check_delimiter,
    csv_arrow_schema,
    types_of_schema,
)
from tfrecord_beam.records.csv_cells import collect_rows, split_line
from tfrecord_beam.records.csv_values import ColumnType as ColumnType, infer_cell
from tfrecord_beam.records.lines import join_lines
from tfrecord_beam.schema.arrow import arrow_schema, check_raw_record_column
from tfrecord_beam.schema.names import as_names
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema
from tfrecord_beam.transforms.csv import BatchLines, DecodeLineBlocks
from tfrecord_beam.transforms.workers import LibraryDoFn

PARSE_CSV_LINE_YIELDS_RAW_RECORDS = True
"""`ParseCSVLine` also returns the line itself."""


class ColumnInfo(NamedTuple):
    """Name and type of a column."""

    name: str
    type: ColumnType


@beam.typehints.with_input_types(str)
@beam.typehints.with_output_types(pa.RecordBatch)
class CSVToRecordBatch(beam.PTransform):
    """Decodes lines of CSV: PCollection[str] -> PCollection[pa.RecordBatch].

    Args:
      column_names: the name of each cell of a line.
      desired_batch_size: lines of a batch; the last one of a bundle may have fewer. None: an
        efficient number.
      delimiter: as for `CsvTFXIO`, as are the other arguments.

    Raises:
      ValueError: as for `CsvTFXIO`, as is DecodeError in the pipeline.
    """

    def __init__(
        self,
        column_names: Sequence[str],
        desired_batch_size: int | None,
        delimiter: str = ",",
        skip_blank_lines: bool = True,
        schema: SchemaSource | None = None,
        multivalent_columns: Iterable[str] | None = None,
        secondary_delimiter: str | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__()
        csv_format = CsvFormat(
            column_names,
            delimiter,
            skip_blank_lines,
            multivalent_columns,
            secondary_delimiter,
            raw_record_column_name,
        )
        types = (
            None
            if schema is None
            else types_of_schema(load_schema(schema), csv_format.column_names)
        )
        self._batch = BatchLines(desired_batch_size)
        self._decode = DecodeLineBlocks(
            CsvDecoder(csv_format), types, batch_size=desired_batch_size
        )

    def expand(self, lines: beam.PCollection[str]) -> beam.PCollection[pa.RecordBatch]:
        encode = beam.Map(str.encode).with_output_types(bytes)
        return lines | "Encode" >> encode | self._batch | self._decode


@beam.typehints.with_input_types(str)
@beam.typehints.with_output_types(tuple[list[bytes], str])
class ParseCSVLine(LibraryDoFn):
    """Splits a line into its cells and returns both: (cells, line).

    Args:
      delimiter: the character between two cells.

    Raises:
      ValueError: it is not one character, or is a quote or line end.
      DecodeError: in the pipeline, a quote is not closed, or a line end is not in quotes.
    """

    def __init__(self, delimiter: str) -> None:
        check_delimiter("delimiter", delimiter)
        self._delimiter = delimiter.encode()

    def process(self, csv_line: str) -> Iterator[tuple[list[bytes], str]]:
        yield split_line(csv_line.encode(), self._delimiter), csv_line


@beam.typehints.with_input_types(list[bytes])
@beam.typehints.with_output_types(list[ColumnInfo])
class ColumnTypeInferrer(beam.CombineFn):
    """Finds for each column the type that fits all its cells, in the order of the columns.

    Args:
      column_names: the name of each cell.
      skip_blank_lines: whether lines without cells are ignored; else they are empty cells.
      multivalent_columns: names of the columns whose cells are lists of values.
      secondary_delimiter: the character between two such values.

    Raises:
      ValueError: as for `CsvTFXIO`, as is DecodeError in the pipeline.
    """

    def __init__(
        self,
        column_names: Sequence[str],
        skip_blank_lines: bool,
        multivalent_columns: Iterable[str] | None = None,
        secondary_delimiter: str | None = None,
    ) -> None:
        self._format = CsvFormat(
            column_names,
            skip_blank_lines=skip_blank_lines,
            multivalent_columns=multivalent_columns,
            secondary_delimiter=secondary_delimiter,
        )

    def create_accumulator(self) -> dict[str, ColumnType]:
        return {}

    def add_input(
        self, accumulator: dict[str, ColumnType], cells: Sequence[bytes]
    ) -> dict[str, ColumnType]:
        names = self._format.column_names
        if not cells:
            cells = [] if self._format.skip_blank_lines else [b""] * len(names)
        elif len(cells) != len(names):
            expected = count_of(len(names), "cell")
            raise DecodeError(f"Expected a line of {expected}, found {len(cells)}")
        return _merge(
            accumulator,
            {name: self._infer(name, cell) for name, cell in zip(names, cells, strict=False)},
        )

    def _infer(self, name: str, cell: bytes) -> ColumnType:
        delimiter = self._format.secondary_delimiter
        if delimiter is None or name not in (self._format.multivalent_columns or ()):
            return infer_cell(cell)
        values = split_line(cell, delimiter.encode())
        return max(map(infer_cell, values), default=ColumnType.UNKNOWN)

    def merge_accumulators(
        self, accumulators: Iterable[dict[str, ColumnType]]
    ) -> dict[str, ColumnType]:
        merged: dict[str, ColumnType] = {}
        for accumulator in accumulators:
            merged = _merge(merged, accumulator)
        return merged

    def extract_output(self, accumulator: dict[str, ColumnType]) -> list[ColumnInfo]:
        return [
            ColumnInfo(name, accumulator.get(name, ColumnType.UNKNOWN))
            for name in self._format.column_names
        ]


def _merge(types: dict[str, ColumnType], others: dict[str, ColumnType]) -> dict[str, ColumnType]:
    return types | {
        name: max(other, types.get(name, ColumnType.UNKNOWN)) for name, other in others.items()
    }


@beam.typehints.with_input_types(list[tuple[list[bytes], str]], list[ColumnInfo])
@beam.typehints.with_output_types(pa.RecordBatch)
class BatchedCSVRowsToRecordBatch(LibraryDoFn):
    """Makes a record batch from a list of (cells, line), the results of `ParseCSVLine`.

    Args:
      skip_blank_lines: skip lines without cells; False: each is a row of nulls.
      multivalent_columns: names of the columns whose cells are lists of values.
      secondary_delimiter: the character between two such values.
      raw_record_column_name: name of a last column with the lines, or None.

    Raises:
      DecodeError: in the pipeline, a line is invalid.
    """

    def __init__(
        self,
        skip_blank_lines: bool,
        multivalent_columns: Iterable[str] | None = None,
        secondary_delimiter: str | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        self._skip_blank_lines = skip_blank_lines
        self._multivalent_columns = multivalent_columns
        self._secondary_delimiter = secondary_delimiter
        self._raw_record_column_name = raw_record_column_name

    def process(
        self, batch_of_tuple: Sequence[tuple[Sequence[bytes], str]], column_infos: list[ColumnInfo]
    ) -> Iterator[pa.RecordBatch]:
        csv_format = CsvFormat(
            [info.name for info in column_infos],
            skip_blank_lines=self._skip_blank_lines,
            multivalent_columns=self._multivalent_columns,
            secondary_delimiter=self._secondary_delimiter,
            raw_record_column_name=self._raw_record_column_name,
        )
        block = join_lines([line.encode() for _, line in batch_of_tuple])
        cells = collect_rows(
            [row for row, _ in batch_of_tuple],
            block,
            num_columns=len(column_infos),
            wanted=[i for i, info in enumerate(column_infos) if info.type != ColumnType.IGNORE],
        )
        yield CsvDecoder(csv_format).convert(block, cells, [info.type for info in column_infos])


def GetArrowSchema(
    column_names: Sequence[str],
    schema: SchemaSource,
    raw_record_column_name: str | None = None,
) -> pa.Schema:
    """Returns the Arrow schema of the batches of lines of CSV.

    Args:
      column_names: the name of each cell of a line.
      schema: TFMD schema of the wanted columns.
      raw_record_column_name: name of a last column with the lines, or None.

    Raises:
      SchemaError: a feature is not a column, or is not INT, FLOAT or BYTES; the raw-record column
        has the name of another column.
    """
    names = as_names(column_names, "column_names")
    check_raw_record_column(raw_record_column_name, names)
    found = csv_arrow_schema(names, types_of_schema(load_schema(schema), names))
    return pa.schema([*found, *arrow_schema((), raw_record_column_name)])
