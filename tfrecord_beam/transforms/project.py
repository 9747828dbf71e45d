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
    """Keeps some columns of each batch: PCollection[pa.RecordBatch] -> the same. Copies nothing.

    Where the batches come from a source of this library, give it `columns=` instead: then the
    others are not even decoded.

    Example::

      batches | Project(["age", "label"])

    Args:
      columns: names of the columns to keep, in the order wanted.

    Raises:
      SchemaError: a name comes twice, or, in the pipeline, a batch has no such column.
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
