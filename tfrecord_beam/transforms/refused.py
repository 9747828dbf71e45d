"""Sends rows that cannot be written to Beam's error handler, and counts them."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import TaggedOutput

from tfrecord_beam.records.writing.encoding import RowEncoding
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.refused import RefusedRow, sort_out
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.corrupt import ErrorHandler
from tfrecord_beam.transforms.workers import LibraryDoFn

_REFUSED = "refused"


class SetAsideRefused(beam.PTransform):
    """Passes on the rows of batches and lists that can be written.

    Args:
      error_handler: receives the other rows in the form that Beam's own transforms use for failed
        elements: (row, (class of the error, its text, lines of the traceback)).
      options: of the write.
      encoding: how rows become records, by a schema.
    """

    def __init__(
        self, error_handler: ErrorHandler, options: WriteOptions, encoding: RowEncoding
    ) -> None:
        super().__init__()
        self._error_handler = error_handler
        self._sort_out = _SortOut(options, encoding)

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Any]:
        outputs = elements | "SortOut" >> beam.ParDo(self._sort_out).with_outputs(
            _REFUSED, main="rows"
        )
        self._error_handler.add_error_pcollection(outputs[_REFUSED])
        return outputs.rows


class _SortOut(LibraryDoFn):
    def __init__(self, options: WriteOptions, encoding: RowEncoding) -> None:
        self._options = options
        self._encoding = encoding

    def process(self, rows: pa.RecordBatch | Sequence[Any]) -> Iterator[Any]:
        for part in sort_out(rows, self._options, self._encoding):
            if isinstance(part, RefusedRow):
                metrics.count("refused_rows")
                error = part.error
                lines = traceback.format_exception(error)
                part = TaggedOutput(_REFUSED, (part.row, (type(error), str(error), lines)))
            yield part
