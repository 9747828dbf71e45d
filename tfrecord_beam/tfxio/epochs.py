"""Record batches of several epochs of TFRecord files, read without Beam."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from tfrecord_beam.records.batch_stream import (
    rebatch,
    repeat_batches,
    shuffle_rows,
    shuffled_read_options,
)
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.parallel import interleave_ahead, map_ahead
from tfrecord_beam.records.paths import DirectFileSystem, match_files
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions, TensorFlowDatasetOptions

ReadFiles = Callable[[list[str], ReadOptions], Iterator[pa.RecordBatch]]
"""Reads the records of files, best in batches of the size that the options say."""


def read_epochs(
    patterns: Sequence[str],
    read_files: ReadFiles,
    options: RecordBatchesOptions | TensorFlowDatasetOptions,
) -> Iterator[pa.RecordBatch]:
    """Yields batches according to the options, with files in a different order in each epoch.

    Raises:
      FileNotFoundError: a pattern matches no file.
    """
    files = [file.path for file in match_files(patterns, DirectFileSystem())]

    def read(order: np.random.Generator | None, size: ReadOptions) -> Iterator[pa.RecordBatch]:
        chosen = files if order is None else [files[i] for i in order.permutation(len(files))]
        return read_files(chosen, size)

    return repeat_epochs(read, options)


def repeat_epochs(
    read: Callable[[np.random.Generator | None, ReadOptions], Iterator[pa.RecordBatch]],
    options: RecordBatchesOptions | TensorFlowDatasetOptions,
) -> Iterator[pa.RecordBatch]:
    """Yields batches according to the options.

    Args:
      read: reads all rows once, best in batches of the size that its `ReadOptions` say; given the
        source of the random order, or None where rows come in theirs.
      options: how often, in which order and in which batches they come.
    """
    generator = np.random.default_rng(options.shuffle_seed)

    def read_epoch() -> Iterator[pa.RecordBatch]:
        if not options.shuffle:
            return read(None, ReadOptions(batch_size=options.batch_size))
        buffer_rows = options.shuffle_buffer_size
        batches = read(generator, shuffled_read_options(buffer_rows))
        return shuffle_rows(batches, buffer_rows=buffer_rows, generator=generator)

    return rebatch(
        repeat_batches(read_epoch, options.num_epochs),
        options.batch_size,
        drop_remainder=options.drop_final_batch or options.num_epochs is None,
    )


def read_files_in_threads(
    decode: Callable[[RecordBlock], Sequence[pa.RecordBatch]], options: TensorFlowDatasetOptions
) -> ReadFiles:
    """Returns what reads and decodes files in as many threads as the options ask for."""

    def read(files: list[str], read_options: ReadOptions) -> Iterator[pa.RecordBatch]:
        sources = (iter_blocks(file, read_options) for file in files)
        parsers = _threads(options.parser_num_threads)
        in_order = not options.sloppy_ordering
        with (
            interleave_ahead(sources, _threads(options.reader_num_threads)) as blocks,
            map_ahead(decode, blocks, parsers, in_order=in_order) as decoded,
        ):
            for batches in decoded:
                yield from batches

    return read


def _threads(number: int) -> int:
    """Returns the number of threads for an option; even a single one works ahead."""
    return 1 if number == -1 else number
