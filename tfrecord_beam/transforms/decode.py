"""The transforms that decode records into Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.decode import OnCorrupt, RecordDecoder
from tfrecord_beam.records.lost_columns import find_lost
from tfrecord_beam.records.partition_columns import PartitionColumns, choose_decoder
from tfrecord_beam.schema.arrow import RecordType, decode_plan, plan_names
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.transforms import (
    coders as coders,  # registers them
    metrics,
)
from tfrecord_beam.transforms.collect import Collect
from tfrecord_beam.transforms.corrupt import (
    CORRUPT,
    ErrorHandler,
    check_error_handler,
    drain_corrupt,
    handle_corrupt,
)
from tfrecord_beam.transforms.display import show_options
from tfrecord_beam.transforms.filesystem import fetch_schema
from tfrecord_beam.transforms.lost_columns import WarnOfLostColumns, warn_of_lost_columns
from tfrecord_beam.transforms.workers import LibraryDoFn

_LOST = "lost"

_Decode = Callable[[Any, OnCorrupt | None], Iterator[pa.RecordBatch]]


class _Decoding(beam.PTransform):
    """The common part of the transforms that decode."""

    def __init__(
        self,
        schema: SchemaSource | None = None,
        *,
        columns: Sequence[str] | None = None,
        raw_record_column_name: str | None = None,
        record_type: RecordType = "Example",
        error_handler: ErrorHandler | None = None,
        max_corrupt_records: int | None = None,
    ) -> None:
        super().__init__()
        check_error_handler(error_handler, max_corrupt_records)
        self._plan = decode_plan(
            fetch_schema(schema),
            columns=columns,
            raw_record_column=raw_record_column_name,
            record_type=record_type,
        )
        self._error_handler = error_handler
        self._max_corrupt_records = max_corrupt_records
        self._shown = show_options(
            columns=plan_names(self._plan),
            raw_record_column_name=raw_record_column_name,
            record_type=record_type,
            error_handler=error_handler,
            max_corrupt_records=max_corrupt_records,
        )

    def display_data(self) -> dict[str, object]:
        return self._shown

    def _decode(
        self,
        elements: beam.PCollection[Any],
        function: _Decode,
        warn_of_lost: WarnOfLostColumns | None = None,
    ) -> beam.PCollection[pa.RecordBatch]:
        collect = self._error_handler is not None
        batches, corrupt = decode(
            elements, function, collect_corrupt=collect, warn_of_lost=warn_of_lost
        )
        handle_corrupt(corrupt, self._error_handler, self._max_corrupt_records)
        return batches


@beam.typehints.with_input_types(RecordBlock)
class DecodeRecordBlocks(_Decoding):
    """Decodes blocks: PCollection[RecordBlock] -> PCollection[pa.RecordBatch], one batch per block.

    After `ReadRecordBlocks` it is equivalent to `BeamSource`, with room for a step in between.

    Example::

      blocks = pipeline | ReadRecordBlocks("data/*.tfrecord")
      batches = blocks | DecodeRecordBlocks("schema.pbtxt")

    Args:
      schema: as for `BeamSource`, as are the options not listed here.
      error_handler: Beam error handler that receives a `CorruptRecord` for each record that cannot
        be decoded. None: such a record stops the pipeline.

    Raises:
      SchemaError: as for `BeamSource`, as is DecodeError in the pipeline.
    """

    def __init__(
        self,
        schema: SchemaSource | None = None,
        *,
        columns: Sequence[str] | None = None,
        raw_record_column_name: str | None = None,
        record_type: RecordType = "Example",
        partition_columns: PartitionColumns | None = None,
        error_handler: ErrorHandler | None = None,
        max_corrupt_records: int | None = None,
    ) -> None:
        super().__init__(
            schema,
            columns=columns,
            raw_record_column_name=raw_record_column_name,
            record_type=record_type,
            error_handler=error_handler,
            max_corrupt_records=max_corrupt_records,
        )
        self._decoder = choose_decoder(
            self._plan, record_type, partition_columns, only_planned=columns is not None
        )
        self._warn_of_lost = warn_of_lost_columns(
            schema, columns, self._plan, record_type, partition_columns
        )
        self._partition_columns = partition_columns

    def display_data(self) -> dict[str, object]:
        shown = show_options(partition_columns=self._partition_columns)
        return {**super().display_data(), **shown}

    def expand(self, blocks: beam.PCollection[RecordBlock]) -> beam.PCollection[pa.RecordBatch]:
        return self._decode(blocks, self._decoder.iter_block, self._warn_of_lost)


@beam.typehints.with_input_types(bytes)
class RawRecordToRecordBatch(_Decoding):
    """Decodes single records: PCollection[bytes] -> PCollection[pa.RecordBatch].

    A batch holds records of one window and gets the earliest of their timestamps; in the global
    window of a bounded input it gets the end of that window. So assign windows before this
    transform if rows with different times must not share a batch. In session windows batches have
    one row, because each record has its own window until a grouping merges them; fixed windows do
    not have this problem.

    Example::

      batches = records | RawRecordToRecordBatch("schema.pbtxt", batch_size=1000)

    Args:
      schema: as for `BeamSource`, as are the options not listed here.
      batch_size: rows of each batch; the last of a bundle may have fewer, as may all batches if
        records of many windows alternate. None: as many as fit into 8 MiB.
      error_handler: as for `DecodeRecordBlocks`. The places of the records in files are unknown.

    Raises:
      SchemaError: as for `BeamSource`, as is DecodeError in the pipeline.
      ValueError: `batch_size` is below 1.
    """

    def __init__(
        self,
        schema: SchemaSource | None = None,
        *,
        columns: Sequence[str] | None = None,
        batch_size: int | None = None,
        raw_record_column_name: str | None = None,
        record_type: RecordType = "Example",
        error_handler: ErrorHandler | None = None,
        max_corrupt_records: int | None = None,
    ) -> None:
        super().__init__(
            schema,
            columns=columns,
            raw_record_column_name=raw_record_column_name,
            record_type=record_type,
            error_handler=error_handler,
            max_corrupt_records=max_corrupt_records,
        )
        self._decoder = RecordDecoder(self._plan, record_type)
        self._batch = Collect(batch_size)
        self._batch_size = batch_size

    def expand(self, records: beam.PCollection[bytes]) -> beam.PCollection[pa.RecordBatch]:
        return self._decode(records | "Batch" >> self._batch, self._decoder.iter_records)

    def display_data(self) -> dict[str, object]:
        return {**super().display_data(), **show_options(batch_size=self._batch_size)}


def decode(
    elements: beam.PCollection[Any],
    function: _Decode,
    *,
    collect_corrupt: bool,
    with_filename: bool = False,
    warn_of_lost: WarnOfLostColumns | None = None,
) -> tuple[beam.PCollection[Any], list[Any]]:
    """Returns the batches of blocks or lists of records, and the PCollections of corrupt records.

    Args:
      elements: the arguments of `function`.
      function: a method of a `RecordDecoder`.
      collect_corrupt: collect records that cannot be decoded instead of raising.
      with_filename: return (path, batch) pairs; only for blocks.
      warn_of_lost: warns about columns that no record has; only for blocks. None: no warning, as in
        unbounded pipelines, which never know that there are no more records.
    """
    if not elements.is_bounded:
        warn_of_lost = None
    watched = warn_of_lost.columns if warn_of_lost else ()
    of_schema = warn_of_lost is not None and warn_of_lost.of_schema
    do_fn = _DecodeFn(function, collect_corrupt, with_filename, watched, of_schema=of_schema)
    outputs = elements | "Decode" >> beam.ParDo(do_fn).with_outputs(CORRUPT, _LOST, main="batches")
    if warn_of_lost:
        _ = outputs[_LOST] | "WarnOfLostColumns" >> warn_of_lost
    batches = outputs.batches
    batches.element_type = pa.RecordBatch
    if with_filename:
        batches.element_type = beam.typehints.KV[str, pa.RecordBatch]
    return batches, [outputs[CORRUPT]] if collect_corrupt else []


class _DecodeFn(LibraryDoFn):
    def __init__(
        self,
        function: _Decode,
        collect_corrupt: bool,
        with_filename: bool,
        watched: Sequence[str],
        *,
        of_schema: bool,
    ) -> None:
        self._function = function
        self._timer = metrics.Timer("decode_msec")
        self._collect_corrupt = collect_corrupt
        self._with_filename = with_filename
        self._watched = watched
        self._of_schema = of_schema

    def process(self, element: Any) -> Iterator[Any]:
        corrupt: list[CorruptRecord] = []
        lost = list(self._watched)
        has_rows = False
        on_corrupt = corrupt.append if self._collect_corrupt else None
        for batch in self._timer.measure(self._function(element, on_corrupt)):
            yield from drain_corrupt(corrupt)
            if batch.num_rows:
                metrics.count("batches")
                metrics.count_kernel()
                lost = find_lost(lost, batch, of_schema=self._of_schema) if lost else lost
                has_rows = True
                yield (element.file, batch) if self._with_filename else batch
        if self._watched and has_rows:
            yield beam.pvalue.TaggedOutput(_LOST, (None, (element.file, frozenset(lost))))
