"""Tests of tfrecord_beam.report.summary: parts in any order are the whole."""

from __future__ import annotations

import dataclasses
import pickle
import random
from collections.abc import Iterable

import numpy as np
from hypothesis import given, strategies as st

from tests.frames import framed
from tests.report.images import GIF, make_png
from tests.schema.schemas import parse_schema
from tests.wire import NO_KIND, bytes_list, entry, example, floats, int64
from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.inference import RecordObserver
from tfrecord_beam.report.files import FileSummary
from tfrecord_beam.report.page import render_page
from tfrecord_beam.report.summary import DatasetSummary, Summarizer
from tfrecord_beam.schema.validation import SchemaValidator

SCHEMA = parse_schema(
    """
    feature { name: "x" type: INT presence { min_fraction: 1 min_count: 1 } }
    feature { name: "y" type: BYTES }
    """
).SerializeToString()

FEATURES = st.one_of(
    st.just(NO_KIND),
    st.builds(lambda values: int64(*values), st.lists(st.integers(-300, 300), max_size=3)),
    st.builds(lambda values: floats(*values), st.lists(st.floats(width=32), max_size=3)),
    st.builds(
        lambda values: bytes_list(*values),
        st.lists(st.sampled_from([b"", b"a", b"\xff", b"x" * 200, make_png(), GIF]), max_size=3),
    ),
)
RECORDS = st.one_of(
    st.builds(
        lambda pairs: example(*(entry(name, feature) for name, feature in pairs.items())),
        st.dictionaries(st.sampled_from(["x", "y", "z"]), FEATURES),
    ),
    st.just(b"\xff"),
)


def make_block(file: str, records: Iterable[bytes], position: int = 0) -> RecordBlock:
    data = memoryview(framed(*records))
    scan = kernel.scan(data)
    offsets, lengths = (np.frombuffer(each, np.int64) for each in (scan.offsets, scan.lengths))
    return RecordBlock(file, position, data, offsets, lengths)


def make_page(summary: DatasetSummary) -> str:
    return render_page(summary, SchemaValidator(SCHEMA).anomalies(summary.findings))


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.lists(RECORDS, max_size=8)), max_size=6),
    st.randoms(use_true_random=False),
)
def test_parts_are_the_whole(pieces: list[tuple[str, list[bytes]]], chance: random.Random) -> None:
    summarizer = pickle.loads(pickle.dumps(Summarizer(RecordObserver("Example"), SCHEMA)))
    blocks, ends = [], {"a": 0, "b": 0}
    for file, records in pieces:
        blocks.append(make_block(file, records, ends[file]))
        ends[file] += len(blocks[-1].data)
    whole = DatasetSummary()
    for block in blocks:
        summarizer.add_block(whole, block)
    for file, size in ends.items():
        whole.add_file(file, FileSummary(size, "none"))

    parts = [DatasetSummary() for _ in ends]
    for part, (file, size) in zip(parts, ends.items()):
        part.add_file(file, FileSummary(size, "none"))
    for block in blocks:
        cut = chance.randint(0, block.num_records)
        first = dataclasses.replace(block, offsets=block.offsets[:cut], lengths=block.lengths[:cut])
        for piece in (first, block.after(cut)):
            parts.append(DatasetSummary())
            summarizer.add_block(parts[-1], piece)
    while len(parts) > 1:  # a tree of any shape
        left, right = (parts.pop(chance.randrange(len(parts))) for _ in range(2))
        left.merge(pickle.loads(pickle.dumps(right)))
        parts.append(left)
    assert make_page(parts[0]) == make_page(whole)


def test_kinds_that_differ() -> None:
    summary = DatasetSummary()
    records = [
        example(entry("x", int64(1))),
        example(entry("x", floats(0.5, 1.5))),
        example(entry("x", bytes_list(b"a"))),
        example(entry("x", int64(3))),
    ]
    Summarizer(RecordObserver("Example")).add_block(summary, make_block("f", records))
    feature = summary.features["x",]
    assert (feature.ints.mean, feature.floats.mean, feature.strings.frequencies) == (
        2,
        1,
        {b"a": 1},
    )
    assert {kind: place.offset for kind, place in summary.feature(("x",)).kinds.items()} == {
        Kind.INT64: 0,
        Kind.FLOAT: len(framed(records[0])),
        Kind.BYTES: len(framed(*records[:2])),
    }
    assert [row.cells["x",] for row in summary.rows] == ["1", "[0.5, 1.5]", "a", "3"]


def test_corrupt_places_are_counted_and_the_first_kept() -> None:
    summary = DatasetSummary()
    for number in random.Random(1).sample(range(1000), 1000):
        summary.add_corrupt(CorruptRecord("f", number, 2, None, "why"))
    assert (summary.corrupt.count, summary.corrupt.num_bytes) == (1000, 2000)
    assert [place.offset for place in summary.corrupt.first] == list(range(100))
    assert summary.files["f"].corrupt == 1000


def test_what_cannot_be_decoded() -> None:
    summary = DatasetSummary()
    Summarizer(RecordObserver("Example")).add_block(summary, make_block("f", [b"\xff", b""]))
    [place] = summary.corrupt.first
    assert (place.file, place.offset, place.length) == ("f", 0, 1)
    assert place.reason.startswith("Expected a serialized tf.train.Example, found")
    assert summary.statistics.rows == 1
    assert summary.record_lengths.count == summary.files["f"].records == 2
