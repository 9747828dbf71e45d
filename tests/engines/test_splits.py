"""Prism splits a range while it is read: each record comes once all the same."""

from __future__ import annotations

import collections
import gzip
import itertools
import pathlib
import random
import threading

import apache_beam as beam

from tests.engines.engine import Collect, Engine, collected
from tfrecord_beam import ReadRecordBlocks, kernel
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.transforms.read import CheckCoverage
from tfrecord_beam.transforms.source import COVERED, ReadRange, with_key

RECORDS = [b"%06d" % number * (number % 20) for number in range(1000)]

BUNDLES = 3
"""How many bundles have to read one file at the same time."""

PATIENCE_SECONDS = 120

# By file, in each worker. Its threads work on bundles, one on each.
_blocks_seen: dict[str, itertools.count[int]] = collections.defaultdict(itertools.count)
_meetings: dict[str, threading.Barrier] = collections.defaultdict(
    lambda: threading.Barrier(BUNDLES, timeout=PATIENCE_SECONDS)
)
_covered: dict[str, threading.Event] = collections.defaultdict(threading.Event)


def meet_others(block: RecordBlock) -> tuple[int, list[bytes]]:
    """Holds the first blocks of a file until there are some: each holds a bundle.

    The file is one range, so a second block can only come when a part of the range was split off
    from under the first and is read in a bundle of its own, a third after another split.
    """
    if next(_blocks_seen[block.file]) < BUNDLES:
        _meetings[block.file].wait()
    return block.offset_of(0), list(block.records())


def test_splits_of_a_plain_file(prism_engine: Engine, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "plain.tfrecord"
    file.write_bytes(kernel.frame(RECORDS))
    source = ReadRecordBlocks(file, batch_size=10)
    prism_engine.run(
        lambda pipeline: pipeline | source | beam.Map(meet_others) | Collect(tmp_path / "blocks")
    )
    blocks = sorted(collected(tmp_path / "blocks"))
    assert [record for _, records in blocks for record in records] == RECORDS


def hold_until_covered(block: RecordBlock) -> list[bytes]:
    """Holds the block until some range of its file was read to its end: by another bundle."""
    assert _covered[block.file].wait(PATIENCE_SECONDS)
    return list(block.records())


def note_covered(file: str, covered: tuple[bool, int, int, int | None]) -> str:
    _covered[file].set()
    return file


def test_splits_of_a_compressed_file(prism_engine: Engine, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "compressed.tfrecord.gz"
    # Larger than the pieces in which it is read: what was read is not split off any more.
    records = [random.Random(number).randbytes(1 << 18) for number in range(12)]
    file.write_bytes(gzip.compress(kernel.frame(records), compresslevel=1))
    size = file.stat().st_size

    def build(pipeline: beam.Pipeline) -> None:
        outputs = (
            pipeline
            | beam.Create([with_key(FileRange(str(file), 0, size, size))])
            | beam.ParDo(
                ReadRange(ReadOptions(batch_bytes=1 << 18), collect_corrupt=False)
            ).with_outputs(COVERED, main="blocks")
        )
        outputs.blocks.element_type = RecordBlock
        _ = outputs.blocks | beam.FlatMap(hold_until_covered) | Collect(tmp_path / "records")
        _ = outputs[COVERED] | CheckCoverage()
        _ = outputs[COVERED] | beam.MapTuple(note_covered) | Collect(tmp_path / "ranges")

    prism_engine.run(build)
    assert sorted(collected(tmp_path / "records")) == sorted(records)
    assert len(collected(tmp_path / "ranges")) > 1
