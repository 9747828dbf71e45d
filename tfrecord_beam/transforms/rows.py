"""The transforms between record batches and Beam rows with a Beam schema.

Beam's SQL, YAML, data frames and cross-language transforms need such rows. Each row is a Python
object, so they cost much more than batches: use them only where needed.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence
from typing import Any, Optional

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.typehints.row_type import RowTypeConstraint

from tfrecord_beam.errors import EncodeError, Location, SchemaError
from tfrecord_beam.options import describe
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.scalars import ColumnChoice, ColumnForms, choose_forms
from tfrecord_beam.records.writing.elements import RowTypes, convert_elements, row_types
from tfrecord_beam.schema.arrow import decode_plan, plan_schema
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.transforms import coders as coders  # registers them
from tfrecord_beam.transforms.collect import Collect
from tfrecord_beam.transforms.display import show_options
from tfrecord_beam.transforms.filesystem import fetch_schema
from tfrecord_beam.transforms.workers import LibraryDoFn

_ROW_TYPES: dict[pa.DataType, type] = {
    pa.int64(): np.int64,
    pa.float32(): np.float32,
    pa.large_binary(): bytes,
    pa.large_string(): str,
}


def _row_type(schema: pa.Schema) -> RowTypeConstraint:
    """Returns the type of Beam rows with these columns; all fields are optional.

    Raises:
      SchemaError: Beam has no rows with fields of these names.
    """
    for name in schema.names:
        # Beam makes a named tuple of the fields.
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            raise SchemaError(
                "Expected names that fields of Beam rows can have, which are identifiers of Python "
                f"without an underscore at the start, found {name!r}",
                hint="select other columns, or rename the feature in the data and the schema",
            )
    return RowTypeConstraint.from_fields(
        [(field.name, _value_type(field.type)) for field in schema]
    )


def _value_type(column: pa.DataType) -> Any:
    is_list = pa.types.is_large_list(column)
    value: Any = _ROW_TYPES[column.value_type if is_list else column]
    return Optional[Sequence[value] if is_list else value]  # noqa: UP045  # as old Beams know it


@beam.typehints.with_input_types(pa.RecordBatch)
class ToRows(beam.PTransform):
    """Converts batches to Beam rows: PCollection[pa.RecordBatch] -> PCollection[Row].

    The rows have a Beam schema, which Beam YAML, data frames and cross-language transforms require.
    A feature is a sequence of int64, float or bytes, or None if it is missing.

    With `scalars` and `strings`, Beam's `to_dataframe` accepts the rows; `FromRows` accepts the
    output of its `to_pcollection`. A DoFn whose `process_batch` takes `pa.Table` gets them as
    tables again (without ``from __future__ import annotations``, which Beam does not resolve).
    `SqlTransform` also accepts rows with a schema, through a Java service; this was not tested.

    Example::

      rows = batches | ToRows("schema.pbtxt", scalars=True, strings=True)
      ages = rows | beam.Map(lambda row: row.age)

    Args:
      schema: as for `BeamSource`. All its features are fields of the rows, unless `columns` selects
        some; other columns of the batches are ignored.
      columns: names of the columns to convert, in output order; None: all.
      scalars: True: scalars instead of sequences for features that have at most one value according
        to the schema; or their names.
      strings: True: str instead of bytes for features that are text according to the schema; or
        their names.

    Raises:
      SchemaError: the schema cannot be used, or a name is not in it, or is not one that a field of
        a Beam row can have, such as ``capital-gain``; in the pipeline, a batch has other columns.
      DecodeError: in the pipeline, a row has several values for a scalar, or text that is not
        UTF-8.
    """

    def __init__(
        self,
        schema: SchemaSource,
        *,
        columns: Sequence[str] | None = None,
        scalars: ColumnChoice = False,
        strings: ColumnChoice = False,
    ) -> None:
        super().__init__()
        fetched = fetch_schema(schema)
        planned = plan_schema(decode_plan(fetched, columns=columns))
        if planned is None:
            raise SchemaError("Expected a schema, which gives the fields of the rows, found none")
        self._forms = choose_forms(fetched, scalars, strings)
        self._scalars, self._strings = scalars, strings
        self._planned = planned
        self._row_type = _row_type(self._forms.convert_schema(planned))

    def expand(self, batches: beam.PCollection[pa.RecordBatch]) -> beam.PCollection[beam.Row]:
        make = beam.ParDo(_MakeRows(self._planned, self._forms))
        return batches | "Rows" >> make.with_output_types(self._row_type)

    def display_data(self) -> dict[str, object]:
        return show_options(
            columns=self._planned.names, scalars=self._scalars, strings=self._strings
        )


class _MakeRows(LibraryDoFn):
    def __init__(self, planned: pa.Schema, forms: ColumnForms) -> None:
        self._planned = planned
        self._forms = forms

    def process(self, batch: pa.RecordBatch) -> Iterator[beam.Row]:
        batch = self._forms.convert(_select(batch, self._planned), Location())
        for values in batch.to_pylist():
            row = beam.Row()
            vars(row).update(values)  # as Row(**values) does, which takes no field `self`
            yield row


def _select(batch: pa.RecordBatch, planned: pa.Schema) -> pa.RecordBatch:
    """Returns the columns of a batch that are planned.

    Raises:
      SchemaError: one of them is missing, or of another type.
    """
    for field in planned:
        index = batch.schema.get_field_index(field.name)
        found = batch.schema.types[index] if index >= 0 else "none"
        if found != field.type:
            raise SchemaError(
                f"Expected {field.type} for feature {field.name!r}, found {found}",
                Location(feature=field.name),
            )
    return batch.select(planned.names)


class FromRows(beam.PTransform):
    """Converts rows to batches: PCollection of rows -> PCollection[pa.RecordBatch].

    Rows are Beam rows, mappings, NamedTuples or dataclasses, of values or sequences of them.
    Batches have about a thousand rows, in the form that `BeamSource` would read after
    `WriteToTFRecord` had written the rows: each feature is a list. (`WriteToTFRecord` itself
    accepts rows directly.) Windows and timestamps of batches are as for `RawRecordToRecordBatch`.

    Example::

      batches = rows | FromRows("schema.pbtxt")

    Args:
      schema: as for `BeamSource`: rows may have only its features, and each batch has all of them
        as columns, even if no row has a value. None: the columns are those found in the rows.

    Raises:
      SchemaError: the schema cannot be used; in the pipeline, rows do not fit it.
      EncodeError: in the pipeline, an element is not a row, or no feature can hold a value.
    """

    def __init__(self, schema: SchemaSource | None = None) -> None:
        super().__init__()
        schema = fetch_schema(schema)
        self._make = _MakeBatch(
            row_types(schema),
            RecordEncoder(schema, match_schema=True),
            RecordDecoder(decode_plan(schema)),
        )

    def expand(self, rows: beam.PCollection[Any]) -> beam.PCollection[pa.RecordBatch]:
        make = beam.ParDo(self._make).with_output_types(pa.RecordBatch)
        return rows | "Collect" >> Collect() | "Batches" >> make


class _MakeBatch(LibraryDoFn):
    def __init__(self, types: RowTypes, encoder: RecordEncoder, decoder: RecordDecoder) -> None:
        self._types = types
        self._encoder = encoder
        self._decoder = decoder

    def process(self, rows: Sequence[Any]) -> Iterator[pa.RecordBatch]:
        batch = convert_elements(rows, self._types)
        if not isinstance(batch, pa.RecordBatch):
            raise EncodeError(f"Expected rows, found {describe(rows[0])}")
        # Encoding to records and back is fast, and sure to give what a feature can hold.
        yield self._decoder.decode_records(self._encoder.encode_records(batch))
