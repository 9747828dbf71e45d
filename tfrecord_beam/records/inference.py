"""Infers schemas from records, whose features may have different kinds.

A batch has one kind for each feature. Records that differ from earlier ones are decoded again, in a
separate batch; this costs nothing if all agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

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
from tfrecord_beam.options import check_choice
from tfrecord_beam.records.block import Int64Array, RecordBlock
from tfrecord_beam.records.corruption import ignore_corrupt
from tfrecord_beam.records.decode import (
    MAX_CELLS,
    OnCorrupt,
    locate_in_block,
    make_decoder,
    report_corrupt,
)
from tfrecord_beam.records.files import DIRECT, OnProgress, iter_blocks, limit_corrupt
from tfrecord_beam.records.hive import parse_path
from tfrecord_beam.records.partition_columns import PartitionColumns, add_partition_columns
from tfrecord_beam.records.paths import FilePattern, FileSystem, match_files, normalize_patterns
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.schema.arrow import decode_plan
from tfrecord_beam.schema.building import Path
from tfrecord_beam.schema.inference import find_conflicts, make_schema
from tfrecord_beam.schema.statistics import (
    DatasetStatistics,
    FeatureStatistics,
    InferenceOptions,
    OnConflict,
    PlaceOf,
)
from tfrecord_beam.schema.tfmd import SchemaSource

if TYPE_CHECKING:
    from tfrecord_beam.records.decode import BlockDecoder


class Statistics(Protocol):
    """The statistics to which records are added: `DatasetStatistics`, or an extension of it."""

    def add(self, batch: pa.RecordBatch, place_of: PlaceOf, /) -> None:
        """Adds the rows of a batch; `place_of` returns the place of the record of a row."""

    def feature(self, path: Path, /) -> FeatureStatistics:
        """Returns the statistics of a feature."""


def infer_schema(
    path: FilePattern,
    *,
    record_type: RecordType = "Example",
    compression: str | None = "auto",
    validate_crc: bool = True,
    infer_shape: bool = False,
    int_domains: bool = False,
    string_domains: int = 0,
    content_domains: bool = False,
    on_conflict: OnConflict = "error",
    partition_columns: PartitionColumns | None = None,
    error_handler: OnCorrupt | None = None,
    max_corrupt_records: int | None = None,
    progress: OnProgress | None = None,
) -> schema_pb2.Schema:
    """Returns the TFMD schema of all records in TFRecord files.

    Presence, value counts and shapes follow the rules of TensorFlow Data Validation, see
    `tfrecord_beam.schema.inference`. Features are in byte order of their names.

    Example::

      schema = infer_schema("data/*.tfrecord", infer_shape=True, string_domains=100)

    Args:
      path: path, pattern or folder, or several; all records of all files are read.
      record_type: type of the records: "Example", "SequenceExample" or "ExampleListWithContext"; or
        "ByteArray", for which the schema has only the feature "byteArray".
      compression: as for `iter_batches`.
      validate_crc: as for `iter_batches`.
      infer_shape: set a shape for features that have the same number of values in all records.
      int_domains: set the range of values of INT features.
      string_domains: list the values of BYTES features that have at most this many distinct
        values, all of them UTF-8; 0: of none.
      content_domains: distinguish images, language and UTF-8 from other bytes, by all values.
      on_conflict: for a feature that has different kinds in different records: "error", or "drop"
        to omit it, with a warning and a comment in the schema.
      partition_columns: "hive": each folder ``name=value`` on a file's path is a BYTES feature; see
        `tfrecord_beam.records.partition_columns`.
      error_handler: as for `iter_batches`.
      max_corrupt_records: raise if there are more of them. None: no limit.
      progress: called from time to time with the bytes read and the total bytes.

    Raises:
      SchemaError: a feature has different kinds; the text names both, and the first place of each.
      DecodeError: a record is not a message of `record_type`.
      ValueError: as for `iter_batches`, as are the other errors.
    """
    inference = InferenceOptions(
        infer_shape, int_domains, string_domains, content_domains, on_conflict
    )
    observer = RecordObserver(record_type, partition_columns=partition_columns)
    options = ReadOptions(compression, validate_crc)
    on_corrupt = limit_corrupt(error_handler, max_corrupt_records)
    blocks = iter_blocks(path, options, on_corrupt=on_corrupt, progress=progress)
    return make_schema(observe_blocks(blocks, observer, inference, on_corrupt))


def is_inferred(schema: SchemaSource | None) -> bool:
    """Returns whether the `schema` argument of a reader requests that the schema be inferred."""
    return isinstance(schema, str) and schema == "infer"


def infer_for_reading(
    path: FilePattern,
    options: ReadOptions,
    *,
    columns: Sequence[str] | None,
    record_type: RecordType,
    with_partitions: bool,
    skip_corrupt: bool,
    find_text: bool = False,
    file_system: FileSystem = DIRECT,
) -> schema_pb2.Schema:
    """Returns the schema of all records of files that are about to be read.

    Args:
      path: path, pattern or folder, or several.
      options: how to read.
      columns: names of the wanted columns; others are ignored, whatever they hold. None: all.
      record_type: type of the records.
      with_partitions: whether wanted columns may be in the paths of the files: those are BYTES.
      skip_corrupt: skip corrupt parts, which the reader will report; else raise.
      find_text: distinguish text from other bytes.
      file_system: where the files are.
    """
    on_corrupt = ignore_corrupt if skip_corrupt else None
    blocks = iter_blocks(path, options, on_corrupt=on_corrupt, file_system=file_system)
    observer = RecordObserver(record_type, columns)
    inference = InferenceOptions(content_domains=find_text)
    statistics = observe_blocks(blocks, observer, inference, on_corrupt)
    if columns is not None:  # a name that no record has may be misspelt
        features = statistics.features
        statistics.features = {key: each for key, each in features.items() if each.present}
        in_paths = _names_in_paths(path, file_system) if with_partitions else set()
        for name in in_paths.intersection(columns):
            statistics.feature((name,)).kinds.setdefault(Kind.BYTES, Location())
    return make_schema(statistics)


def _names_in_paths(path: FilePattern, file_system: FileSystem) -> set[str]:
    files = match_files(normalize_patterns(path), file_system)
    return {name for file in files for name in parse_path(file.path)}


def observe_blocks(
    blocks: Iterable[RecordBlock],
    observer: RecordObserver,
    options: InferenceOptions,
    on_corrupt: OnCorrupt | None,
) -> DatasetStatistics:
    """Returns the statistics of all records of blocks.

    Raises:
      SchemaError: a feature has different kinds, and `on_conflict` is "error".
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
    """Adds records to statistics, whatever kinds their features have. Picklable.

    Args:
      record_type: type of the records.
      columns: names of the features to observe, in the form for `decode_plan`; None: all.
      partition_columns: "hive": folders on the files' paths are features, too.
    """

    def __init__(
        self,
        record_type: RecordType,
        columns: Sequence[str] | None = None,
        partition_columns: PartitionColumns | None = None,
    ) -> None:
        if partition_columns is not None:
            check_choice("partition_columns", partition_columns, PartitionColumns)
        self._partition_columns = partition_columns
        self._record_type: RecordType = record_type
        self._columns = columns if columns is None else tuple(columns)
        self._plan = decode_plan(None, columns=self._columns, record_type=record_type)
        self._decoder = make_decoder(self._plan, record_type)

    def __reduce__(
        self,
    ) -> tuple[
        type[RecordObserver], tuple[RecordType, Sequence[str] | None, PartitionColumns | None]
    ]:
        return RecordObserver, (self._record_type, self._columns, self._partition_columns)

    def observe(
        self,
        block: RecordBlock,
        statistics: Statistics,
        on_corrupt: OnCorrupt | None = None,
    ) -> None:
        """Adds the records of a block to statistics.

        Args:
          block: the records.
          statistics: to which they are added.
          on_corrupt: called with each record that cannot be decoded; None: raise.

        Raises:
          DecodeError: a record that cannot be decoded, with its file and offset.
        """
        left = np.arange(block.num_records)
        while len(left):
            batch, failures = _decode(self._decoder, block, left)
            looked_at = batch.num_rows + len(failures)
            failed = [failure.record for failure in failures]
            self._add(statistics, batch, block, np.delete(left[:looked_at], failed))
            others = [each.record for each in failures if each.fault == DecodeFault.KIND_MISMATCH]
            for failure in failures:
                if failure.fault != DecodeFault.KIND_MISMATCH:
                    self._report(failure, block, int(left[failure.record]), on_corrupt)
            if not batch.num_rows:  # the failed records conflict only within themselves
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

    def _observe_mixed(self, block: RecordBlock, index: int, statistics: Statistics) -> None:
        """Adds a record in which a feature has different kinds in different steps."""
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
                feature.add_kind(Kind(kind), block.place_of(index))
            names.remove(name)
        self._add(statistics, batch, block, np.array([index]))

    def _add(
        self,
        statistics: Statistics,
        batch: pa.RecordBatch,
        block: RecordBlock,
        indices: Int64Array,
    ) -> None:
        if self._partition_columns is not None:
            batch = add_partition_columns(batch, block.file)
        statistics.add(batch, lambda row: block.place_of(int(indices[row])))

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
    """Returns the batch of some records of a block, and the failures among them."""
    exportable, failures = decoder.decode(
        block.data,
        block.offsets[indices],
        block.lengths[indices],
        collect_failures=True,
        max_cells=MAX_CELLS,
    )
    return pa.record_batch(exportable), failures
