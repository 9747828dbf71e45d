"""The transform that writes TFRecord files: wiring only.

Elements -> what bundles wrote -> [merged files] -> files in place. The totals of all bundles meet
in one worker, as a side input of a step that runs once; the work on each file is distributed by a
grouping. Both make their input final before the next step begins: a step that is retried sees the
same input again.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton
from apache_beam.transforms.core import Windowing
from apache_beam.transforms.trigger import AccumulationMode
from apache_beam.transforms.window import GlobalWindows

from tfrecord_beam.records.writing.encoding import make_encoding
from tfrecord_beam.records.writing.options import Locality, Mode, WriteOptions
from tfrecord_beam.records.writing.plan import WrittenFile
from tfrecord_beam.records.writing.start import check_mode
from tfrecord_beam.schema.encoding import NullValues
from tfrecord_beam.schema.features import EncodedType
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.transforms import coders as coders  # registers them
from tfrecord_beam.transforms.collect import Collect
from tfrecord_beam.transforms.corrupt import ErrorHandler, check_error_handler
from tfrecord_beam.transforms.display import show_options
from tfrecord_beam.transforms.filesystem import BeamOutputFileSystem, check_name, fetch_schema
from tfrecord_beam.transforms.refused import SetAsideRefused
from tfrecord_beam.transforms.workers import Apply
from tfrecord_beam.transforms.write_steps import (
    CLEANUP,
    SPILLS,
    MergeWindow,
    PublishPane,
    WriteBundles,
    WriteLocally,
    WriteSteps,
    WriteWindows,
)


class WriteToTFRecord(beam.PTransform):
    """Writes records to TFRecord files, whole or not at all -> PCollection[WrittenFile].

    Elements are `pa.RecordBatch`es, rows (mappings, NamedTuples, dataclasses, Beam's ``Row``s), or
    records (`bytes`, or protobuf messages of any type). The output has each file with its number of
    records and its size, once all of them are in place: a step behind it may read them.

    Files are first written under temporary names, in a hidden folder ``.<name>-temp-<id>`` beside
    their places, which readers skip. Once all of them are complete, and together hold as many
    records as came in, they are renamed. A rename that fails is retried, and one that was done
    already is recognized. So a bundle that the engine runs twice, even in two places at once, adds
    nothing, and neither does a worker that dies. The exception is a machine that loses its power:
    files are not synced to disk (no fsync).

    What is left of a write that never finishes:

    ================================  ============================================================
    It stopped                        Left
    ================================  ============================================================
    before the files were renamed     the hidden folder
    while they were renamed           the same, and some of the files, each of them complete
    at any time, of unbounded input   the same, if records were waiting; the files of all earlier
                                      panes, and perhaps some of those of the last one
    ================================  ============================================================

    The next write of the same prefix in the mode ``error`` or ``overwrite``, or ``ignore`` if it
    writes, removes hidden folders when it ends. ``append`` and ``overwrite_partitions`` leave them,
    since they may belong to writes that still run; so do those of unbounded inputs. Where only
    these are used, delete such folders while no write of the prefix runs: they hold no file that
    has its own name. Files in place stay until a write in the mode ``overwrite`` replaces them; of
    an ``append`` that was cut off all have the same id in their names as its hidden folder, and the
    next ``append`` warns of them.

    A write of an unbounded input deletes temporary files as it goes, and on local disks the folder
    with them whenever nothing waits. What stays until the folder is removed are those of bundles
    that the engine repeated, and of records that came too late for their window and so are dropped
    by Beam: none if a bundle has no more than 16 KiB of them, since then none is made.

    Example::

      batches | WriteToTFRecord("out/people", num_shards=4, compression="gzip", mode="overwrite")

    A write owns the files of its prefix, template and suffix, whatever their numbers, codec and
    window. With `partition_by`, or with the base name ``part`` (that of a prefix that is a folder),
    it also owns such files in folders ``name=value``; with ``part`` also those that Spark names so.
    It never touches others. Modes, where there are such files:

    ========================  ====================================================================
    ``error``                 a WriteError, when the pipeline is built and when it runs
    ``append``                the new ones stand beside them: an id is part of their names
    ``overwrite``             they are removed, after the new ones are in place
    ``overwrite_partitions``  the same, but only in the partitions for which there are records
    ``ignore``                nothing is written, and the output is empty
    ========================  ====================================================================

    Only in the mode ``append`` can several writes of one prefix run at the same time. In ``error``
    and ``ignore`` one of them fails rather than replace a file of the other; in the others they may
    leave some files of each.

    An unbounded input has files for each window and pane, whose names have these before the
    template: ``<prefix>-<start>-<end>-<pane>-SSSSS-of-NNNNN``. They hold the records that arrived
    since the previous pane, even if the input accumulates panes: no record is written twice. One
    worker writes all files of a pane. A bounded input that has windows has files for each of them,
    with the pane 0. Unbounded inputs need `num_shards`, and so do session windows.

    Args:
      file_path_prefix: prefix of the paths of the files. If it ends with a slash it is a folder, in
        which files are called ``part``. If it ends with the suffix of the files, the suffix is not
        repeated: ``a.tfrecord`` means ``a``. Missing folders are created.
      schema: a TFMD `Schema`, a serialized one, or the path of its file: each batch must have
        exactly its features, with their kinds. None: any features.
      record_type: what rows become: "Example" or "SequenceExample". "ByteArray": the values of the
        only column are the records. Elements that are records are written unchanged.
      file_name_suffix: suffix of the names. The codec's suffix (.gz, .deflate, .bz2, .zst, .lz4,
        .snappy) is appended unless it ends with it.
      num_shards: number of files, for each partition and window; some may be empty. None: as many
        as the engine makes bundles, or one for each partition.
      shard_name_template: a run of S is replaced by the number of a shard, from 0, and a run of N
        by the number of shards. None: "-SSSSS-of-NNNNN". "" is allowed with one shard.
      max_records_per_shard: maximum number of records in a file, instead of `num_shards`.
      max_bytes_per_shard: maximum size of a file before compression, including 16 bytes per record;
        a larger record gets its own file.
      compression: None, or gzip, zlib, bz2, zstd, lz4 or snappy. TensorFlow reads the first two.
      compression_level: how hard the codec tries; None: its default.
      mode: see above.
      partition_by: names of columns: for each of their values there is a folder ``name=value``,
        nested in this order. See `tfrecord_beam.records.writing.partitions`.
      keep_partition_columns: whether these columns are also written to the records. If so, they
        must be in the schema; otherwise they may be.
      write_locality: "distributed", or "local": each worker writes its data to its own files, which
        get their names at the end of each bundle, and `WrittenFile.host` names the worker. A bundle
        that is retried leaves its files twice, but outputs them once.
      shuffle: assign records to shards, and order them within a shard, by a hash of their bytes and
        the seed: the files do not depend on bundles. A shard is held in memory. Needs
        `num_shards`.
      seed: of the shuffle; None: another one each time.
      ordered: elements are pairs of a key and one of the above; they are written to one file, in
        the order of the keys, which are sorted by way of files: memory does not grow with them.
      write_success: write an empty file ``_SUCCESS`` after the others, as Hadoop does.
      write_index: write beside each file where its records begin, so that reading splits it without
        a search. Compressed files have no use for that.
      null_as_absent: leave out the features of null rows; by default they are there, of no kind.
      null_values: what becomes of a null in a list: "error", "drop" or "fill" (with 0 or no bytes).
      feature_list_columns: which columns are feature lists of SequenceExamples. None: those of
        nested lists.
      error_handler: Beam's error handler, which gets each row that does not fit the schema, with
        the error, in the form of Beam's `with_exception_handling`. None: such a row stops the
        pipeline. Needs `schema`; rows are encoded twice.

    Raises:
      ValueError: an option is unknown, out of range, or does not go with another; the prefix has
        characters of a pattern; the suffix is that of another codec.
      SchemaError: the schema cannot be used; in the pipeline, a batch does not fit it, or two
        batches have a feature of different kinds. Also a ValueError.
      EncodeError: in the pipeline, a record cannot hold a value. Also a ValueError.
      WriteError: files are there already; in the pipeline, they cannot be written. Also an OSError.
    """

    def __init__(
        self,
        file_path_prefix: str | os.PathLike[str],
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
        write_locality: Locality = "distributed",
        shuffle: bool = False,
        seed: int | None = None,
        ordered: bool = False,
        write_success: bool = False,
        write_index: bool = False,
        null_as_absent: bool = False,
        null_values: NullValues = "error",
        feature_list_columns: Sequence[str] | None = None,
        error_handler: ErrorHandler | None = None,
    ) -> None:
        super().__init__()
        check_error_handler(error_handler, None)
        if error_handler is not None and (schema is None or ordered):
            raise ValueError(
                "Expected a schema, and no ordered=True, with error_handler: only a schema says "
                "which rows are wrong"
            )
        self._error_handler = error_handler
        self._options = WriteOptions(
            file_path_prefix,
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
            write_locality=write_locality,
            shuffle=shuffle,
            seed=seed,
            ordered=ordered,
            write_success=write_success,
            write_index=write_index,
        )
        check_name(os.fspath(self._options.file_path_prefix))
        self._options.codec.warn_if_foreign()
        self._encoding = make_encoding(
            self._options,
            fetch_schema(schema),
            record_type=record_type,
            null_as_absent=null_as_absent,
            null_values=null_values,
            feature_list_columns=feature_list_columns,
        )
        self._shown_encoding = show_options(
            record_type=record_type,
            null_as_absent=null_as_absent or None,
            null_values=null_values,
            feature_list_columns=feature_list_columns,
            error_handler=error_handler,
        )
        check_mode(self._options, BeamOutputFileSystem())

    def display_data(self) -> dict[str, object]:
        """Shows what is written and how, of the other options those that are not the default."""
        options = {
            field.name: value
            for field in dataclasses.fields(self._options)
            if (value := getattr(self._options, field.name)) != field.default
        }
        return {**show_options(**options), **self._shown_encoding}

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[WrittenFile]:
        self._check_input(elements)
        steps = WriteSteps(self._options, self._encoding)
        once = elements.pipeline | "Impulse" >> beam.Impulse()
        write = AsSingleton(once | "Start" >> beam.ParDo(Apply(steps.start), elements.is_bounded))
        if elements.element_type != pa.RecordBatch:
            elements = elements | "Collect" >> Collect()
        if self._error_handler is not None:
            elements = elements | "SetAside" >> SetAsideRefused(
                self._error_handler, self._options, self._encoding
            )
        if self._options.write_locality == "local":
            written = elements | "WriteFiles" >> beam.ParDo(WriteLocally(steps), write)
        elif elements.is_bounded:
            written = self._write_bounded(elements, once, write, steps)
        else:
            written = self._write_panes(elements, write, steps)
        written.element_type = WrittenFile
        return written

    def _write_bounded(
        self,
        elements: beam.PCollection[Any],
        once: beam.PCollection[bytes],
        write: AsSingleton,
        steps: WriteSteps,
    ) -> beam.PCollection[WrittenFile]:
        window_fn = elements.windowing.windowfn
        is_windowed = not isinstance(window_fn, GlobalWindows)
        if window_fn.is_merging():
            grouped = self._group_by_window(elements, write, steps)
            results = grouped | "MergeWindow" >> beam.ParDo(MergeWindow(steps), write)
        else:
            results = elements | "WriteBundles" >> beam.ParDo(WriteBundles(steps), write)
        if not elements.windowing.is_default():
            results |= "Rewindow" >> beam.WindowInto(GlobalWindows())
        merged: Any = ()
        if not self._options.is_direct:
            merged = AsList(
                results
                | "ListSegments" >> beam.ParDo(Apply(steps.list_segments))
                | "GroupByFile" >> beam.GroupByKey()
                | "Merge" >> beam.ParDo(Apply(steps.merge), write)
            )
        totals = results | "Totals" >> beam.ParDo(Apply(steps.drop_segments))
        planned = once | "PlanFiles" >> beam.ParDo(
            Apply(steps.plan_files), AsList(totals), merged, write, is_windowed
        ).with_outputs(CLEANUP, main="publications")
        in_place = (
            planned.publications
            | "SpreadFiles" >> beam.GroupByKey()
            | "Publish" >> beam.ParDo(Apply(steps.publish), write)
        )
        return once | "Finish" >> beam.ParDo(
            Apply(steps.finish), AsList(in_place), AsSingleton(planned[CLEANUP], default_value=None)
        )

    def _write_panes(
        self, elements: beam.PCollection[Any], write: AsSingleton, steps: WriteSteps
    ) -> beam.PCollection[WrittenFile]:
        publish = beam.ParDo(PublishPane(steps), write).with_outputs(SPILLS, main="written")
        published = self._group_by_window(elements, write, steps) | "PublishPane" >> publish
        _ = (
            published[SPILLS]
            # In its own window, what a late pane was made from could be dropped as too late.
            | "InOneWindow" >> beam.WindowInto(GlobalWindows())
            # The published files are settled before the files they were made from are deleted.
            | "Settle" >> beam.Reshuffle()
            | "CleanUp" >> beam.Map(steps.clean_up, write)
        )
        return published.written

    def _group_by_window(
        self, elements: beam.PCollection[Any], write: AsSingleton, steps: WriteSteps
    ) -> beam.PCollection[Any]:
        """Returns what bundles wrote for each window and pane, once windows have merged."""
        to_windows = _WriteToGroup(WriteWindows(steps), write)  # type: ignore[no-untyped-call]  # of Beam
        return elements | "WriteBundles" >> to_windows | "GroupByWindow" >> beam.GroupByKey()

    def _check_input(self, elements: beam.PCollection[Any]) -> None:
        is_local = self._options.write_locality == "local"
        if not elements.is_bounded and self._options.is_direct and not is_local:
            raise ValueError("Expected num_shards for an unbounded input, found None")
        if elements.windowing.windowfn.is_merging() and self._options.is_direct:
            raise ValueError("Expected num_shards for windows that merge (sessions), found None")
        if not elements.is_bounded and self._options.mode not in ("error", "append"):
            raise ValueError(
                "Expected mode='error' or 'append' for an unbounded input, whose writing never "
                f"ends, found {self._options.mode!r}"
            )


class _WriteToGroup(beam.ParDo):
    """The step before the grouping: a pane holds only what no earlier one of its window held."""

    def get_windowing(self, inputs: Sequence[beam.PCollection[Any]]) -> Windowing:
        given = inputs[0].windowing
        return Windowing(
            given.windowfn,
            given.triggerfn,
            AccumulationMode.DISCARDING,
            given.timestamp_combiner,
            given.allowed_lateness.micros / 1_000_000,
        )
