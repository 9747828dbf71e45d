"""Project: record batches with some of their columns."""

from __future__ import annotations

from collections.abc import Sequence

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.schema.arrow import project_batch
from tfrecord_beam.schema.names import as_names, check_distinct
from tfrecord_beam.transforms.display import show_options


@beam.typehints.with_input_types(pa.RecordBatch)
class Project(beam.PTransform):
    """Selects columns of each batch, without a copy: PCollection[pa.RecordBatch] -> the same.

    If the batches come from a source of this library, pass `columns=` to the source instead: then
    the other columns are not even decoded.

    Example::

      batches | Project(["age", "label"])

    Args:
      columns: names of the columns to keep, in output order.

    Raises:
      SchemaError: a name is listed twice, or, in the pipeline, a batch does not have a column.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__()
        self._columns = as_names(columns, "columns")
        check_distinct(self._columns, "columns")

    def expand(self, batches: beam.PCollection[pa.RecordBatch]) -> beam.PCollection[pa.RecordBatch]:
        return batches | "Select" >> beam.Map(
            project_batch, columns=self._columns
        ).with_output_types(pa.RecordBatch)

    def display_data(self) -> dict[str, object]:
        return show_options(columns=self._columns)
