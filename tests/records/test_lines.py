"""Text files as blocks of lines: what a line is, and ranges that have each line once."""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from tfrecord_beam.errors import CorruptRecordError, Location
from tfrecord_beam.records.lines import LineBlock, LineOptions, join_lines, read_lines
from tfrecord_beam.records.ranges import FileRange, split_file

TEXTS = st.text(st.sampled_from("ab\n\r"), max_size=40).map(str.encode)


def expected_lines(text: bytes) -> list[bytes]:
    """The lines by the rule alone."""
    lines = text.removeprefix(codecs.BOM_UTF8).split(b"\n")
    ended, last = lines[:-1], lines[-1:]
    return [line.removesuffix(b"\r") for line in ended] + [line for line in last if line]


def read(
    content: bytes, cuts: Sequence[int] = (), *, name: str = "a.txt", **options: Any
) -> list[LineBlock]:
    """Returns the blocks of all ranges between the cuts."""
    bounds = [0, *sorted(cuts), max(len(content), 1)]
    return [
        block
        for start, stop in itertools.pairwise(bounds)
        if start < stop
        for block in read_lines(
            FileRange(name, start, stop, len(content)),
            lambda _: io.BytesIO(content),
            LineOptions(**options),
        )
    ]


def lines_of(blocks: Sequence[LineBlock]) -> list[bytes]:
    return [line for block in blocks for line in block.lines()]


@given(
    TEXTS,
    st.lists(st.integers(1, 60), max_size=4),
    st.booleans(),
    st.integers(1, 8),
    st.none() | st.integers(1, 3),
    st.integers(0, 3),
)
@example(b"a\n\nb", [1, 2, 3], True, 1, 1, 0)
def test_ranges_have_each_line_once(
    text: bytes, cuts: list[int], mark: bool, block_bytes: int, batch_size: int | None, header: int
) -> None:
    content = codecs.BOM_UTF8 * mark + text
    options: dict[str, Any] = {
        "block_bytes": block_bytes,
        "batch_size": batch_size,
        "skip_header_lines": header,
        "count_blank_lines": True,
    }
    blocks = read(content, cuts, **options)
    expected = expected_lines(content)[header:]
    assert lines_of(blocks) == expected
    for block in blocks:
        for index in range(block.num_lines):
            place = block.location(index)
            assert place.offset is not None
            assert content[place.offset :].startswith(block.line(index))
            if place.line is not None:
                assert expected_lines(content)[place.line - 1] == block.line(index)
    assert all(block.first_line is not None for block in read(content, **options))


@given(TEXTS, st.integers(1, 4), st.integers(1, 8), st.booleans())
def test_blocks_hold_whole_batches(
    text: bytes, batch_size: int, block_bytes: int, count_blank_lines: bool
) -> None:
    blocks = read(
        text, batch_size=batch_size, block_bytes=block_bytes, count_blank_lines=count_blank_lines
    )
    for block in blocks[:-1]:
        counted = [line for line in block.lines() if line or count_blank_lines]
        assert len(counted) % batch_size == 0
        assert counted


def test_lines_of_a_whole_file() -> None:
    [block] = read(b"\xef\xbb\xbfa,b\r\nc\n\n\r\nd\re\r\r\nx")
    assert list(block.lines()) == [b"a,b", b"c", b"", b"", b"d\re\r", b"x"]
    assert block.location(1, "age") == Location("a.txt", 8, line=2, feature="age")


def test_empty_files_have_no_line() -> None:
    for content in (b"", codecs.BOM_UTF8):
        assert read(content) == []
    assert lines_of(read(b"\n")) == [b""]
    assert read(b"a\nb\n", skip_header_lines=5) == []


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv"])
def test_compressed_file_is_read_by_the_first_range(name: str) -> None:
    content = gzip.compress(b"a\nb\nc", mtime=0)
    blocks = read(content, [5, 9], name=name)
    assert lines_of(blocks) == [b"a", b"b", b"c"]
    with pytest.raises(CorruptRecordError, match=r"^Expected a whole gzip stream.* - at a.csv"):
        read(content[:-4], name=name)


@pytest.mark.parametrize("told", [0, 1, 5])
def test_last_range_goes_to_the_end_where_a_store_tells_less(told: int) -> None:
    [whole] = split_file("a.txt", told, range_bytes=100)
    blocks = list(read_lines(whole, lambda _: io.BytesIO(b"a\nb\nc\nd\n"), LineOptions()))
    assert lines_of(blocks) == [b"a", b"b", b"c", b"d"]


def test_file_is_closed() -> None:
    file = io.BytesIO(b"a\nb\n")
    blocks = read_lines(FileRange("a.txt"), lambda _: file)
    next(blocks)
    assert not file.closed
    blocks.close()  # type: ignore[attr-defined]
    assert file.closed


def test_block_can_be_pickled() -> None:
    [block] = read(b"a\nbc\n")
    copy = pickle.loads(pickle.dumps(block))
    assert list(copy.lines()) == [b"a", b"bc"]
    assert copy.location(1) == block.location(1)


def test_joined_lines_come_from_no_file() -> None:
    block = join_lines([b"a", b"x\ny", b""])
    assert list(block.lines()) == [b"a", b"x\ny", b""]
    assert block.location(2) == Location(record=2)
    assert join_lines([]).num_lines == 0


@pytest.mark.parametrize("value", [-1, None, 1.5])
def test_header_lines_are_a_number(value: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^Expected skip_header_lines to be an int of at least 0, found"
    ):
        LineOptions(skip_header_lines=value)
