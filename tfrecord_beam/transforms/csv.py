"""The transforms behind the TFXIO classes for CSV: files to blocks of lines to record batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from tfrecord_beam.options import check_int
from tfrecord_beam.records.csv import CsvDecoder
from tfrecord_beam.records.csv_values import ColumnType
from tfrecord_beam.records.lines import LineBlock, LineOptions, join_lines, read_lines
from tfrecord_beam.transforms import (
    coders as coders,  # registers them
    metrics,
)
from tfrecord_beam.transforms.collect import Collect
from tfrecord_beam.transforms.filesystem import BeamFileSystem
from tfrecord_beam.transforms.source import KeyedRange, SplitPatterns, SpreadRanges
from tfrecord_beam.transforms.workers import LibraryDoFn


class ReadLineBlocks(beam.PTransform):
    """Reads text files as blocks of lines -> PCollection[LineBlock].

    Files are split into byte ranges, which are distributed over the workers. A range is not split
    further: reading it takes less than a second.

    Args:
      patterns: result of `normalize_patterns`.
      options: how lines are read.

    Raises:
      NoMatchError: a pattern matches no file.
      CorruptRecordError: in the pipeline, a compressed file is truncated or damaged.
    """

    def __init__(self, patterns: tuple[str, ...], options: LineOptions) -> None:
        super().__init__()
        BeamFileSystem().check_match(patterns)
        self._patterns = patterns
        self._options = options

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection[LineBlock]:
        split = SplitPatterns(self._patterns, range_bytes=None, compression="auto")
        return (
            pipeline
            | "Impulse" >> beam.Impulse()
            | "Split" >> beam.ParDo(split).with_output_types(KeyedRange)
            | "Reshuffle" >> SpreadRanges()  # type: ignore[no-untyped-call]  # of Beam
            | "ReadLines" >> beam.ParDo(_ReadLines(self._options)).with_output_types(LineBlock)
        )


class _ReadLines(LibraryDoFn):
    def __init__(self, options: LineOptions) -> None:
        self._options = options
        self._timer = metrics.Timer("read_msec")

    def process(self, element: KeyedRange) -> Iterator[LineBlock]:
        _, file_range = element
        if file_range.start == 0:
            metrics.count_file(file_range.path)
        blocks = read_lines(file_range, BeamFileSystem().open, self._options)
        for block in self._timer.measure(blocks):
            metrics.count("blocks")
            metrics.count("records", block.num_lines)
            metrics.count("bytes", int(block.lengths.sum()))
            yield block


@beam.typehints.with_input_types(bytes)
@beam.typehints.with_output_types(LineBlock)
class BatchLines(beam.PTransform):
    """Batches single lines into blocks: PCollection[bytes] -> PCollection[LineBlock].

    Args:
      batch_size: lines in a block; the last one of a bundle may have fewer. None: as many as fit
        into 8 MiB.
    """

    def __init__(self, batch_size: int | None = None) -> None:
        super().__init__()
        self._batch = Collect(batch_size)

    def expand(self, lines: beam.PCollection[bytes]) -> beam.PCollection[LineBlock]:
        join = beam.Map(join_lines).with_output_types(LineBlock)
        return lines | "Batch" >> self._batch | "Join" >> join


class DecodeLineBlocks(beam.PTransform):
    """Decodes blocks of lines: PCollection[LineBlock] -> PCollection[pa.RecordBatch].

    Args:
      decoder: the decoder.
      types: the type of each column; None: inferred from all lines of a window.
      batch_size: rows of a batch; the last of a block may have fewer. None: one batch per block.
      reread: a source that reads the blocks a second time to infer the types, so that the runner
        need not keep them. None: the runner keeps them.

    Raises:
      DecodeError: in the pipeline, a line is invalid.
    """

    def __init__(
        self,
        decoder: CsvDecoder,
        types: Sequence[ColumnType] | None,
        *,
        batch_size: int | None = None,
        reread: ReadLineBlocks | None = None,
    ) -> None:
        super().__init__()
        check_int("batch_size", batch_size, least=1, optional=True)
        self._decoder = decoder
        self._types = types
        self._batch_size = batch_size
        self._reread = reread

    def expand(self, blocks: beam.PCollection[LineBlock]) -> beam.PCollection[pa.RecordBatch]:
        types: Any = self._types
        if types is None:
            again = blocks if self._reread is None else blocks.pipeline | "Reread" >> self._reread
            # A view, because only a view has a default in windows other than the global one.
            infer = beam.CombineGlobally(_InferTypes(self._decoder)).as_singleton_view()
            types = again | "InferTypes" >> infer
        decode = _DecodeLines(self._decoder, self._batch_size)
        return blocks | "Decode" >> beam.ParDo(decode, types).with_output_types(pa.RecordBatch)


class _DecodeLines(LibraryDoFn):
    def __init__(self, decoder: CsvDecoder, batch_size: int | None) -> None:
        self._decoder = decoder
        self._batch_size = batch_size
        self._timer = metrics.Timer("decode_msec")

    def process(self, element: LineBlock, types: Sequence[ColumnType]) -> Iterator[pa.RecordBatch]:
        batches = self._decoder.iter_batches(element, types, self._batch_size)
        for batch in self._timer.measure(batches):
            metrics.count("batches")
            yield batch


class _InferTypes(beam.CombineFn):
    """Finds for each column the type that fits all its cells."""

    def __init__(self, decoder: CsvDecoder) -> None:
        self._decoder = decoder

    def create_accumulator(self) -> tuple[ColumnType, ...]:
        return self._decoder.unknown_types()

    def add_input(
        self, mutable_accumulator: tuple[ColumnType, ...], element: LineBlock
    ) -> tuple[ColumnType, ...]:
        return self._decoder.infer(element, mutable_accumulator)

    def merge_accumulators(self, accumulators: Any) -> tuple[ColumnType, ...]:
        return tuple(map(max, zip(*accumulators, strict=True)))

    def extract_output(self, accumulator: tuple[ColumnType, ...]) -> tuple[ColumnType, ...]:
        return accumulator
