"""Writes Arrow data to TFRecord files without Beam: for a notebook, a script or a test."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent import futures
from typing import Any

import pyarrow as pa

from tfrecord_beam.errors import EncodeError, WriteError
from tfrecord_beam.records.index import index_path
from tfrecord_beam.records.paths import DirectFileSystem
from tfrecord_beam.records.writing.batches import EncodedRows
from tfrecord_beam.records.writing.bundle import BundleResult, BundleWriter, check_results
from tfrecord_beam.records.writing.encoding import RowEncoding, make_encoding
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem, OutputFileSystem
from tfrecord_beam.records.writing.inputs import open_rows
from tfrecord_beam.records.writing.options import Mode, WriteOptions
from tfrecord_beam.records.writing.plan import WrittenFile, name_files, plan_cleanup
from tfrecord_beam.records.writing.publish import (
    finish,
    publish_file,
    publish_index,
    with_files_in_place,
)
from tfrecord_beam.records.writing.shards import merge, plan_merges
from tfrecord_beam.records.writing.start import StartedWrite, explain_removed_files, start_write
from tfrecord_beam.schema.encoding import NullValues
from tfrecord_beam.schema.features import EncodedType
from tfrecord_beam.schema.tfmd import SchemaSource

_WORTH_A_THREAD = 1 << 20
"""Bytes of records from which on another thread writes them: to hand over takes some 30 us."""


def write_table(
    data: Any,
    path: str | os.PathLike[str],
    schema: SchemaSource | None = None,
    *,
    record_type: EncodedType = "Example",
    file_name_suffix: str = ".tfrecord",
    num_shards: int | None = None,
    shard_name_template: str | None = None,
    max_records_per_shard: int | None = None,
    max_bytes_per_shard: int | None = None,
    compression: str | None = None,
    compression_level: int | None = None,
    mode: Mode = "error",
    partition_by: Sequence[str] | None = None,
    keep_partition_columns: bool = False,
    shuffle: bool = False,
    seed: int | None = None,
    write_success: bool = False,
    write_index: bool = False,
    null_as_absent: bool = False,
    null_values: NullValues = "error",
    feature_list_columns: Sequence[str] | None = None,
) -> list[WrittenFile]:
    """Writes Arrow data to TFRecord files, completely or not at all, and returns the files.

    Rows keep their order unless `shuffle` is set. Options, errors and the guarantees of each mode
    are those of `tfrecord_beam.WriteToTFRecord`.

    Example::

      write_table({"age": np.array([42, 43])}, "people.tfrecord")
      write_table(table, "out/people", "schema.pbtxt", num_shards=4, compression="gzip")

    Args:
      data: a pyarrow `Table`, `RecordBatch` or `RecordBatchReader`, whatever else offers Arrow data
        (data frames of pandas and Polars), a data set of Hugging Face, a dict of numpy arrays by
        column, or an iterable of batches, taken as they are written; see
        `tfrecord_beam.records.writing.inputs`.
      path: of the file to write, exactly. With any of `num_shards`, `max_records_per_shard`,
        `max_bytes_per_shard` and `partition_by`, or with a slash at its end, it is the prefix of
        all files, as it is of `WriteToTFRecord`: those of ``a.tfrecord`` are called
        ``a-00000-of-00002.tfrecord``.
      schema: the features that the rows must have, and no others. None: any.
      record_type: what rows become: "Example", "SequenceExample", or "ByteArray".
      file_name_suffix: how names end, where `path` is a prefix.
      num_shards: number of files. Of data that have a length each shard has the next rows, in their
        order; of others, slices of every batch.
      shard_name_template: as for `WriteToTFRecord`, where `path` is a prefix.
      max_records_per_shard: most records of a file, instead of `num_shards`.
      max_bytes_per_shard: most bytes of a file before compression.
      compression: None, or gzip, zlib, bz2, zstd, lz4 or snappy.
      compression_level: how hard the codec tries; None: its default.
      mode: what becomes of files that are there: "error", "append", "overwrite", "ignore" or
        "overwrite_partitions".
      partition_by: names of columns, whose values become folders ``name=value``.
      keep_partition_columns: whether these are in the records as well.
      shuffle: put records into shards, and in each into an order, by a hash of them and the seed.
      seed: of the shuffle; None: another one each time.
      write_success: write an empty file ``_SUCCESS`` after the others, as Hadoop does.
      write_index: write beside each file where its records begin, so that reading splits it without
        a search. Compressed files have no use for that.
      null_as_absent: omit the features of null rows; by default they are written without a kind.
      null_values: how to handle a null in a list: "error", "drop" or "fill".
      feature_list_columns: which columns are feature lists; None: those of nested lists.

    Raises:
      ValueError: as for `WriteToTFRecord`, as are the other errors.
    """
    several = (num_shards, max_records_per_shard, max_bytes_per_shard, partition_by)
    options = WriteOptions(
        path,
        file_name_suffix=file_name_suffix,
        num_shards=num_shards,
        shard_name_template=shard_name_template,
        max_records_per_shard=max_records_per_shard,
        max_bytes_per_shard=max_bytes_per_shard,
        compression=compression,
        compression_level=compression_level,
        mode=mode,
        partition_by=partition_by,
        keep_partition_columns=keep_partition_columns,
        shuffle=shuffle,
        seed=seed,
        write_success=write_success,
        write_index=write_index,
        is_exact=several == (None,) * 4 and not str(path).endswith("/"),
    )
    options.codec.warn_if_foreign()
    encoding = make_encoding(
        options,
        schema,
        record_type=record_type,
        null_as_absent=null_as_absent,
        null_values=null_values,
        feature_list_columns=feature_list_columns,
    )
    rows = open_rows(data)
    return write_batches(
        rows.batches, options, encoding, DirectOutputFileSystem(), num_rows=rows.num_rows
    )


def write_batches(
    batches: Iterable[pa.RecordBatch],
    options: WriteOptions,
    encoding: RowEncoding,
    file_system: OutputFileSystem,
    *,
    num_rows: int | None = None,
) -> list[WrittenFile]:
    """Writes batches in one process; what `write_table` does.

    Args:
      batches: the rows.
      options: where they go.
      encoding: what makes records of them.
      file_system: where files are written.
      num_rows: how many rows there are, if that is known.
    """
    write = start_write(options, file_system)
    if write.is_skipped:
        return []
    written: list[WrittenFile] = []
    try:
        with explain_removed_files(options, write, file_system):
            result = _write_bundle(batches, options, encoding, file_system, write, num_rows)
            files = result.files + [
                file
                for pieces in plan_merges([result.segments])
                for file in merge(pieces, options, write, file_system, DirectFileSystem().open)
            ]
            check_results([result], files)
            publications = name_files(files, options, write)
            cleanup = plan_cleanup(publications, options, write, file_system)
            for publication in publications:
                written.append(publish_file(publication, options, write, file_system))
                publish_index(publication, file_system)
        finish(written, cleanup, options, file_system)
    except BaseException as error:
        with contextlib.suppress(WriteError):  # the first error is the one to report
            file_system.remove_folder(options.names.temporary_folder(write.id))
        if options.replaces and isinstance(error, WriteError):
            raise with_files_in_place(error, options, file_system) from error.__cause__
        if not options.replaces:  # what is gone then was not there before
            with contextlib.suppress(WriteError):
                for file in written:
                    file_system.delete([index_path(file.path), file.path])
        raise
    return written


def _write_bundle(
    batches: Iterable[pa.RecordBatch],
    options: WriteOptions,
    encoding: RowEncoding,
    file_system: OutputFileSystem,
    write: StartedWrite,
    num_rows: int | None,
) -> BundleResult:
    writer = BundleWriter(options, encoding, file_system, write, num_rows=num_rows)
    try:
        _add_behind(_encode(batches, writer), writer)
        return writer.close()
    except BaseException:
        writer.discard()
        raise


def _encode(batches: Iterable[pa.RecordBatch], writer: BundleWriter) -> Iterator[EncodedRows]:
    """Yields the records of batches. An error has the number of the row in all of them."""
    num_rows = 0
    for batch in batches:
        try:
            yield writer.encode(batch)
        except EncodeError as error:
            if error.record is None:
                raise
            raise error.located(record=num_rows + error.record) from error.__cause__
        num_rows += batch.num_rows


def _add_behind(encoded: Iterable[EncodedRows], writer: BundleWriter) -> None:
    """Adds the records of each batch, most of the time while the next one is encoded."""
    with futures.ThreadPoolExecutor(1) as pool:
        adding: futures.Future[None] | None = None
        for rows in encoded:
            if adding is not None:
                adding.result()
                adding = None
            if sum(frames.num_bytes for _, frames in rows) < _WORTH_A_THREAD:
                writer.add(rows)
            else:
                adding = pool.submit(writer.add, rows)
        if adding is not None:
            adding.result()
