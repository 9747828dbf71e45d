"""What the records of blocks show of their features, also where these have different kinds.

A batch has one kind for a feature. Records that differ from those before them are decoded again, in
a batch of their own; that costs nothing where all agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tfrecord_beam.errors import Location
from tfrecord_beam.kernel.faults import decode_error
from tfrecord_beam.kernel.plan import (
    SEQUENCE_COLUMN,
    Column,
    DecodeFailure,
    DecodeFault,
    Kind,
    RecordType,
    SequenceDecodePlan,
)
from tfrecord_beam.kernel.reference.protos import ExampleList, SequenceExample
from tfrecord_beam.records.block import Int64Array, RecordBlock
from tfrecord_beam.records.decode import (
    MAX_CELLS,
    OnCorrupt,
    locate_in_block,
    make_decoder,
    report_corrupt,
)
from tfrecord_beam.schema.arrow import decode_plan
from tfrecord_beam.schema.inference import find_conflicts
from tfrecord_beam.schema.statistics import DatasetStatistics, InferenceOptions

if TYPE_CHECKING:
    from tfrecord_beam.records.decode import BlockDecoder


def observe_blocks(
    blocks: Iterable[RecordBlock],
    observer: RecordObserver,
    options: InferenceOptions,
    on_corrupt: OnCorrupt | None,
) -> DatasetStatistics:
    """Returns the statistics of all records of blocks.

    Raises:
      SchemaError: a feature has different kinds, and they are errors; at the first one.
      DecodeError: see `RecordObserver.observe`.
    """
    statistics = DatasetStatistics(options)
    for block in blocks:
        observer.observe(block, statistics, on_corrupt)
        if options.on_conflict == "error":
            for conflict in find_conflicts(statistics):
                raise conflict
    return statistics


class RecordObserver:
    """Takes records into statistics, whatever kinds their features have. Picklable.

    Args:
      record_type: what the records are.
      columns: names of the features to look at, as `decode_plan` takes them; None: all.
    """

    def __init__(self, record_type: RecordType, columns: Sequence[str] | None = None) -> None:
        self._record_type: RecordType = record_type
        self._columns = columns if columns is None else tuple(columns)
        self._plan = decode_plan(None, columns=self._columns, record_type=record_type)
        self._decoder = make_decoder(self._plan, record_type)

    def __reduce__(self) -> tuple[type[RecordObserver], tuple[RecordType, Sequence[str] | None]]:
        return RecordObserver, (self._record_type, self._columns)

    def observe(
        self,
        block: RecordBlock,
        statistics: DatasetStatistics,
        on_corrupt: OnCorrupt | None = None,
    ) -> None:
        """Takes the records of a block into statistics.

        Args:
          block: the records.
          statistics: where to.
          on_corrupt: called with each record that cannot be decoded; None: raise.

        Raises:
          DecodeError: a record that cannot be decoded, with its file and offset.
        """
        left = np.arange(block.num_records)
        while len(left):
            batch, failures = _decode(self._decoder, block, left)
            looked_at = batch.num_rows + len(failures)
            failed = [failure.record for failure in failures]
            _add(statistics, batch, block, np.delete(left[:looked_at], failed))
            others = [each.record for each in failures if each.fault == DecodeFault.KIND_MISMATCH]
            for failure in failures:
                if failure.fault != DecodeFault.KIND_MISMATCH:
                    self._report(failure, block, int(left[failure.record]), on_corrupt)
            if not batch.num_rows:  # nothing that the others could differ from but themselves
                for index in left[others]:
                    self._observe_mixed(block, int(index), statistics)
                others = []
            left = np.concatenate((left[others], left[looked_at:]))

    def _report(
        self, failure: DecodeFailure, block: RecordBlock, index: int, on_corrupt: OnCorrupt | None
    ) -> None:
        error = decode_error(failure._replace(record=index), self._record_type)
        located = locate_in_block(error, block)
        if on_corrupt is None:
            raise located
        report_corrupt(located, block.payload(index), on_corrupt)

    def _observe_mixed(self, block: RecordBlock, index: int, statistics: DatasetStatistics) -> None:
        """Takes in a record in which a feature has different kinds from step to step."""
        names = self._step_names(block.payload(index))
        while True:
            steps = tuple(map(Column, names))
            plan = SequenceDecodePlan(self._plan.columns, steps)
            decoder = make_decoder(plan, self._record_type)
            batch, failures = _decode(decoder, block, np.array([index]))
            if not failures:
                break
            [failure] = failures
            name = (failure.feature or b"").decode()
            feature = statistics.feature((SEQUENCE_COLUMN, name))
            for kind in (failure.expected, failure.found):
                feature.add_kind(Kind(kind), _place(block, index))
            names.remove(name)
        _add(statistics, batch, block, np.array([index]))

    def _step_names(self, payload: memoryview) -> list[str]:
        if isinstance(self._plan, SequenceDecodePlan) and self._plan.sequence_columns is not None:
            return [column.name for column in self._plan.sequence_columns]
        if self._record_type == "SequenceExample":
            return list(SequenceExample.FromString(payload).feature_lists.feature_list)
        examples = ExampleList.FromString(payload).examples
        return list({name for example in examples for name in example.features.feature})


def _decode(
    decoder: BlockDecoder, block: RecordBlock, indices: Int64Array
) -> tuple[pa.RecordBatch, list[DecodeFailure]]:
    """Returns the batch of some records of a block, and what of them could not be decoded."""
    exportable, failures = decoder.decode(
        block.data,
        block.offsets[indices],
        block.lengths[indices],
        collect_failures=True,
        max_cells=MAX_CELLS,
    )
    return pa.record_batch(exportable), failures


def _add(
    statistics: DatasetStatistics, batch: pa.RecordBatch, block: RecordBlock, indices: Int64Array
) -> None:
    statistics.add(batch, lambda row: _place(block, int(indices[row])))


def _place(block: RecordBlock, index: int) -> Location:
    first = block.first_record
    return Location(block.file, block.offset_of(index), None if first is None else first + index)
