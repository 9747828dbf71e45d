"""Decodes lines of CSV to Arrow record batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.options import check_bool, describe
from tfrecord_beam.records.batch_stream import rebatch
from tfrecord_beam.records.csv_cells import Cells, keep_blank_lines, parse_cells
from tfrecord_beam.records.csv_values import (
    ARROW_TYPES,
    ColumnType,
    Locate,
    convert_cells,
    convert_lists,
    infer_type,
    split_cells,
)
from tfrecord_beam.records.lines import LineBlock
from tfrecord_beam.schema.arrow import check_raw_record_column
from tfrecord_beam.schema.names import as_names, check_distinct, check_known
from tfrecord_beam.schema.tfmd import schema_columns

_TYPES = {
    Kind.INT64: ColumnType.INT,
    Kind.FLOAT: ColumnType.FLOAT,
    Kind.BYTES: ColumnType.STRING,
}


@dataclasses.dataclass(frozen=True)
class CsvFormat:
    """How lines of CSV are read.

    Attributes:
      column_names: the name of each cell of a line.
      delimiter: the character between two cells.
      skip_blank_lines: skip blank lines; False: each is a row of nulls.
      multivalent_columns: names of the columns whose cells are lists of values, or one name.
      secondary_delimiter: the character between two such values.
      raw_record_column_name: name of a last column with the lines themselves, or None.

    Raises:
      ValueError: duplicate column names, an invalid delimiter, a multivalent column that does not
        exist or has no delimiter, or a raw-record column with the name of another column.
    """

    column_names: Sequence[str]
    delimiter: str = ","
    skip_blank_lines: bool = True
    multivalent_columns: Iterable[str] | None = None
    secondary_delimiter: str | None = None
    raw_record_column_name: str | None = None

    def __post_init__(self) -> None:
        names = as_names(self.column_names, "column_names")
        check_distinct(names, "column_names")
        check_raw_record_column(self.raw_record_column_name, names)
        lists = () if self.multivalent_columns is None else self.multivalent_columns
        lists = as_names([lists] if isinstance(lists, str) else lists, "multivalent_columns")
        check_known(lists, names, "multivalent_columns")
        check_delimiter("delimiter", self.delimiter)
        check_bool("skip_blank_lines", self.skip_blank_lines)
        if lists:
            check_delimiter("secondary_delimiter", self.secondary_delimiter)
        object.__setattr__(self, "column_names", names)
        object.__setattr__(self, "multivalent_columns", lists)


def check_delimiter(name: str, value: object) -> None:
    """Raises ValueError unless the option `name` is a character that can separate cells."""
    if not isinstance(value, str) or len(value) != 1 or value in '"\r\n':
        raise ValueError(
            f"Expected {name} to be one character that is no quote and no line end, "
            f"found {describe(value)}"
        )


def types_of_schema(
    schema: schema_pb2.Schema, column_names: Sequence[str]
) -> tuple[ColumnType, ...]:
    """Returns the type of each column by a TFMD schema; IGNORE for those that are not in it.

    Raises:
      SchemaError: a feature is not a column, or is not INT, FLOAT or BYTES.
    """
    types = {column.name: _TYPES[column.kind] for column in schema_columns(schema) if column.kind}
    check_known(types, column_names, "features of the schema")
    return tuple(types.get(name, ColumnType.IGNORE) for name in column_names)


def csv_arrow_schema(column_names: Sequence[str], types: Sequence[ColumnType]) -> pa.Schema:
    """Returns the Arrow schema of the columns that are not ignored, in the order of the lines."""
    return pa.schema(
        [
            (name, ARROW_TYPES[t])
            for name, t in zip(column_names, types, strict=True)
            if t != ColumnType.IGNORE
        ]
    )


class CsvDecoder:
    """Decodes blocks of lines to record batches; each line is one row.

    Example:
      >>> from tfrecord_beam.records.lines import join_lines
      >>> block = join_lines([b"1,x", b",y"])
      >>> decoder = CsvDecoder(CsvFormat(["id", "name"]))
      >>> decoder.decode(block, decoder.infer(block)).to_pydict()
      {'id': [[1], None], 'name': [[b'x'], [b'y']]}

    Args:
      csv_format: how lines are read.
    """

    def __init__(self, csv_format: CsvFormat) -> None:
        self._format = csv_format

    def unknown_types(self) -> tuple[ColumnType, ...]:
        """Returns the types of the columns before any cell has been seen."""
        return (ColumnType.UNKNOWN,) * len(self._format.column_names)

    def infer(
        self, block: LineBlock, known: Sequence[ColumnType] | None = None
    ) -> tuple[ColumnType, ...]:
        """Returns the type of each column: the larger one of that of the block and the known one.

        Args:
          block: the lines.
          known: the types found in other blocks.

        Raises:
          DecodeError: the number of cells in a line is not that of columns, or a line has a quote
            that is not closed, or a carriage return inside.
        """
        types = list(known or self.unknown_types())
        not_yet_known = [i for i, known_type in enumerate(types) if known_type < ColumnType.STRING]
        cells = self._parse(block, not_yet_known)
        for number, column in zip(not_yet_known, cells.columns, strict=True):
            if self._is_multivalent(number):
                locate = self._locate(block, cells, number)
                column = self._split(column, locate).flatten()
            types[number] = infer_type(column, types[number])
        return tuple(types)

    def decode(self, block: LineBlock, types: Sequence[ColumnType]) -> pa.RecordBatch:
        """Returns the batch of the lines: `large_list` columns, null where a cell is empty.

        Args:
          block: the lines.
          types: of each column.

        Raises:
          DecodeError: as for `infer`, and if a value does not have its column's type.
        """
        wanted = _wanted(types)
        return self.convert(block, self._parse(block, wanted), types)

    def convert(
        self, block: LineBlock, cells: Cells, types: Sequence[ColumnType]
    ) -> pa.RecordBatch:
        """Returns the batch of the lines, whose wanted cells are known already.

        Args:
          block: the lines.
          cells: of the columns that are not ignored.
          types: of each column.

        Raises:
          DecodeError: a value does not have its column's type, or a list of values is malformed.
        """
        wanted = _wanted(types)
        if not self._format.skip_blank_lines:
            cells = keep_blank_lines(cells, block.num_lines)
        columns = []
        for number, column in zip(wanted, cells.columns, strict=True):
            locate = self._locate(block, cells, number)
            if self._is_multivalent(number):
                columns.append(convert_lists(self._split(column, locate), types[number], locate))
            else:
                columns.append(convert_cells(column, types[number], locate))
        names = [self._format.column_names[number] for number in wanted]
        if self._format.raw_record_column_name is not None:
            raw = pa.array([block.line(line) for line in cells.lines.tolist()], pa.large_binary())
            columns.append(convert_cells(raw, ColumnType.STRING, block.location))
            names.append(self._format.raw_record_column_name)
        # The column of nulls keeps the number of rows if there is no other column.
        batch = pa.RecordBatch.from_arrays([*columns, pa.nulls(len(cells.lines))], [*names, ""])
        return batch.select(range(len(columns)))

    def iter_batches(
        self, block: LineBlock, types: Sequence[ColumnType], batch_size: int | None
    ) -> Iterator[pa.RecordBatch]:
        """Yields `decode`'s batch, cut to `batch_size` rows each; the last one may have fewer."""
        batch = self.decode(block, types)
        if batch_size is not None:
            yield from rebatch([batch], batch_size, drop_remainder=False)
        elif batch.num_rows:
            yield batch

    def _parse(self, block: LineBlock, wanted: Sequence[int]) -> Cells:
        return parse_cells(
            block,
            num_columns=len(self._format.column_names),
            wanted=wanted,
            delimiter=self._format.delimiter,
        )

    def _is_multivalent(self, number: int) -> bool:
        return self._format.column_names[number] in (self._format.multivalent_columns or ())

    def _split(self, cells: pa.Array, locate: Locate) -> pa.Array:
        return split_cells(cells, self._format.secondary_delimiter or "", locate)

    def _locate(self, block: LineBlock, cells: Cells, number: int) -> Locate:
        name = self._format.column_names[number]
        return lambda row: block.location(int(cells.lines[row]), name)


def _wanted(types: Sequence[ColumnType]) -> list[int]:
    return [number for number, column_type in enumerate(types) if column_type != ColumnType.IGNORE]
