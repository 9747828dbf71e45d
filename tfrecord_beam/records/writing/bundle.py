"""Writes the records of one bundle to temporary files: a worker's part of a write, without Beam."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from tfrecord_beam.errors import EncodeError, Location, SchemaError, WriteError
from tfrecord_beam.options import count_of, describe
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.hive import Partition
from tfrecord_beam.records.writing.batches import BatchEncoder, EncodedRows, encode_rows
from tfrecord_beam.records.writing.elements import convert_elements
from tfrecord_beam.records.writing.encoding import RowEncoding
from tfrecord_beam.records.writing.file_system import OutputFileSystem
from tfrecord_beam.records.writing.options import WriteOptions
from tfrecord_beam.records.writing.routing import cut, cut_at, hash_records, scatter
from tfrecord_beam.records.writing.segments import Destination, Segments
from tfrecord_beam.records.writing.shards import ShardFile, ShardWriter, make_temporary_path
from tfrecord_beam.records.writing.spill import SpillWriter
from tfrecord_beam.records.writing.start import StartedWrite
from tfrecord_beam.schema.features import FeatureKinds, merge_kinds


@dataclasses.dataclass(frozen=True)
class BundleResult:
    """The output of a bundle.

    Attributes:
      num_records: how many it was given.
      kinds: the kind of each feature that its batches showed.
      files: whole files, if the options let a bundle make them.
      segments: else where the records of each destination are.
    """

    num_records: int
    kinds: FeatureKinds
    files: list[ShardFile]
    segments: Segments


def check_results(results: Sequence[BundleResult], files: Iterable[ShardFile]) -> None:
    """Raises an error unless the files hold as many records as the bundles received.

    Raises:
      SchemaError: a feature has one kind in some bundles and another in others.
      WriteError: records are missing, or there are too many.
    """
    merge_kinds(result.kinds for result in results)
    taken = sum(result.num_records for result in results)
    held = sum(file.num_records for file in files)
    if taken != held:
        raise WriteError(
            f"Expected {count_of(taken, 'record')} in all files together, found {held}"
        )


def join_results(results: Sequence[BundleResult], files: list[ShardFile]) -> BundleResult:
    """Returns what several bundles have written as one result, once it is in whole files.

    Raises:
      SchemaError: as `check_results`, as is WriteError.
    """
    check_results(results, files)
    num_records = sum(result.num_records for result in results)
    return BundleResult(num_records, merge_kinds(result.kinds for result in results), files, {})


class BundleWriter:
    """Takes in the elements of one bundle, and puts their records into temporary files.

    Args:
      options: where they go.
      encoding: what makes records of rows.
      file_system: where files are written.
      write: the write.
      num_rows: rows of all batches together, if that is known: with a number of shards each then
        has the next rows, in their order. None: batches are cut in slices, one a shard.
      small_bytes: as for `SpillWriter`.
    """

    def __init__(
        self,
        options: WriteOptions,
        encoding: RowEncoding,
        file_system: OutputFileSystem,
        write: StartedWrite,
        *,
        num_rows: int | None = None,
        small_bytes: int = 0,
    ) -> None:
        self.folder = options.names.temporary_folder(write.id)
        self._options = options
        self._encoding = encoding
        self._batches = BatchEncoder(encoding.encoder)
        self._file_system = file_system
        self._write = write
        self._num_rows = num_rows
        self._direct: dict[str, ShardWriter] = {}
        self._spill = SpillWriter(
            file_system,
            make_temporary_path(self.folder),
            ordered=options.ordered,
            small_bytes=small_bytes,
        )
        self._num_records = 0
        self._first_shard: int | None = None

    def write(self, element: pa.RecordBatch | Sequence[Any], window: str = "") -> None:
        """Adds records.

        Args:
          element: a batch, or a list of what else an element of a collection may be; with
            `options.ordered` a list of pairs of a key and an element, also of batches.
          window: the part of file names that gives their window.

        Raises:
          SchemaError: as `RecordEncoder.encode_frames`, `partition_rows` and `convert_elements`, as
            is EncodeError; also if a column has another kind than in an earlier batch.
          WriteError: a file cannot be written.
        """
        if isinstance(element, pa.RecordBatch):
            self.add(self.encode(element), window)
        elif self._options.ordered:
            self._write_pairs(element, window)
        else:
            converted = convert_elements(element, self._encoding.types)
            if isinstance(converted, pa.RecordBatch):
                self.add(self.encode(converted), window)
            else:
                self._write_records(converted, window)

    @property
    def num_records(self) -> int:
        """How many records it has taken in."""
        return self._num_records

    @property
    def encode_seconds(self) -> float:
        """How long it took to make records of rows."""
        return self._batches.seconds

    def close(self) -> BundleResult:
        """Ends all files and returns what is where. If that fails all are discarded."""
        try:
            segments = self._spill.close()
            files = [file for writer in self._direct.values() for file in writer.close()]
        except BaseException:
            self.discard()
            raise
        return BundleResult(self._num_records, self._batches.kinds, files, segments)

    def discard(self) -> None:
        """Deletes what has been written: none of it will be used."""
        self._spill.discard()
        for writer in self._direct.values():
            writer.discard()
        self._file_system.remove_empty_folder(self.folder)

    def encode(self, batch: pa.RecordBatch) -> EncodedRows:
        """Returns the records of a batch, for `add`, with the errors of `write`.

        A thread may encode a batch while another one adds those before.
        """
        return encode_rows(batch, self._batches, self._options, self._encoding)

    def add(self, rows: EncodedRows, window: str = "") -> None:
        """Adds records that `encode` has made, with the errors of `write`."""
        for partition, frames in rows:
            self._add(window, partition, frames)

    def _write_records(self, records: list[bytes], window: str) -> None:
        if self._options.partition_by is not None:
            raise SchemaError(
                f"Expected rows with the columns {list(self._options.partition_by)}, found records "
                "as bytes",
                hint="decode them first, or write them without partition_by",
            )
        self._add(window, (), FramedRecords.from_records(records))

    def _write_pairs(self, pairs: Sequence[Any], window: str) -> None:
        for index, pair in enumerate(pairs):
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise EncodeError(
                    "Expected pairs of a key and an element with ordered=True, "
                    f"found {describe(pair)}",
                    Location(record=index),
                )
        by_class = itertools.groupby(pairs, lambda pair: isinstance(pair[1], pa.RecordBatch))
        for is_batch, group in by_class:
            keys, elements = zip(*group, strict=True)
            if is_batch:
                for key, batch in zip(keys, elements, strict=True):
                    self._add(window, (), self._batches.encode(batch), key)
            else:
                frames = self._encode_elements(elements)
                for index, key in enumerate(keys):
                    self._add(window, (), frames.slice(index, index + 1), key)

    def _encode_elements(self, elements: Sequence[Any]) -> FramedRecords:
        converted = convert_elements(elements, self._encoding.types)
        if isinstance(converted, pa.RecordBatch):
            return self._batches.encode(converted)
        return FramedRecords.from_records(converted)

    def _add(
        self, window: str, partition: Partition, frames: FramedRecords, key: Any = None
    ) -> None:
        if self._options.is_direct:
            if window not in self._direct:
                self._direct[window] = ShardWriter(
                    self._options, self._file_system, self.folder, Destination(window)
                )
            self._direct[window].write(frames)
        else:
            for shard, part in self._split(frames):
                self._spill.add(Destination(window, partition, shard), part, key)
        self._num_records += frames.num_records

    def _split(self, frames: FramedRecords) -> Iterable[tuple[int, FramedRecords]]:
        num_shards = self._options.num_shards or 1
        if num_shards == 1:
            return [(0, frames)]
        if self._options.shuffle:
            return scatter(frames, num_shards, self._write.seed)
        if self._num_rows is not None and self._options.partition_by is None:
            return cut_at(frames, num_shards, self._num_records, self._num_rows)
        if self._first_shard is None:  # Not 0: many a bundle may have one batch of one row.
            self._first_shard = int(hash_records(frames.slice(0, 1), seed=0).sum() % num_shards)
        self._first_shard += 1
        return cut(frames, num_shards, self._first_shard)
