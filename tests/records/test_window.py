"""Tests of tfrecord_beam.records.window."""

from __future__ import annotations

import gzip
import io
import random

import pytest

from tests.frames import framed, masked_crc32c
from tfrecord_beam.records.window import Window

DATA = random.Random(5).randbytes(300_000)


def window_of(data: bytes, **options: object) -> Window:
    arguments: dict[str, object] = {"codec": "none", "start": 0, "chunk_bytes": 1000, "size": None}
    return Window(io.BytesIO(data), "a", **(arguments | options))  # type: ignore[arg-type]


def read_all(window: Window, steps: random.Random) -> bytes:
    """Returns the content, read by windows that advance and grow by chance."""
    read = b""
    while not window.ended or window.left:
        advance = steps.randint(0, window.left)
        read += bytes(window.data[window.begin :][:advance])
        window.begin += advance
        assert bytes(window.data) == DATA[window.position :][: len(window.data)]
        if not window.ended:
            window.fill(steps.choice([0, 1, 500, 3000]))
    return read


@pytest.mark.parametrize("codec", ["none", "gzip", "auto"])
@pytest.mark.parametrize("seed", range(5))
def test_content_comes_whole(codec: str, seed: int) -> None:
    data = gzip.compress(DATA, 1) if codec == "gzip" else DATA
    window = window_of(data, codec=codec, chunk_bytes=random.Random(seed).randint(1, 50_000))
    assert read_all(window, random.Random(seed)) == DATA
    assert window.offset == len(DATA)
    assert window.seekable == (codec != "gzip")
    assert window.consumed_bytes == len(data)


@pytest.mark.parametrize("start", [1, 7000, 299_999, 300_000])
def test_content_from_an_offset_on(start: int) -> None:
    window = window_of(DATA, start=start)
    assert read_all(window, random.Random(1)) == DATA[start:]


def test_one_fill_at_most_doubles_what_is_kept() -> None:
    window = window_of(DATA)
    sizes = []
    while window.left < 100_000:
        window.fill(1 << 40)
        sizes.append(len(window.data))
    assert sizes == [1000 * 2**i for i in range(8)]


def test_every_fill_brings_something_in() -> None:
    window = window_of(DATA, chunk_bytes=1)
    for size in range(1, 50):
        window.fill()
        assert window.left >= size


@pytest.mark.parametrize(("size", "beyond"), [(300_000, True), (400_000, True), (200_000, False)])
def test_end_is_known_only_where_the_store_tells_the_truth(size: int, beyond: bool) -> None:
    window = window_of(DATA, size=size)
    window.fill()
    assert not window.is_beyond_end(size - 10)
    assert window.is_beyond_end(size + 1) == beyond
    assert read_all(window, random.Random(1)) == DATA
    assert not window_of(DATA).is_beyond_end(1 << 40)
    assert not window_of(gzip.compress(DATA), codec="gzip", size=100).is_beyond_end(1 << 40)


def test_frame_is_checked_without_keeping_it() -> None:
    payload = DATA[:50_000]
    window = window_of(framed(b"before", payload))
    window.fill()
    window.begin = 22
    expected = masked_crc32c(payload)
    assert window.check_frame(16 + len(payload)) == (expected, expected)
    assert len(window.data) == 1000
    stored, computed = window.check_frame(16 + len(payload) - 1)
    assert stored != computed
    assert read_all_after(window) == framed(b"before", payload)[22:]


def read_all_after(window: Window) -> bytes:
    """Returns what is left of the content."""
    while not window.ended:
        window.fill(1 << 20)
    return bytes(window.data[window.begin :])


def test_limit_of_a_search() -> None:
    window = window_of(DATA, size=len(DATA), start=100)
    window.fill()
    assert window.search_limit(5) == len(DATA) - 100
    unknown = window_of(DATA)
    unknown.fill()
    assert unknown.search_limit(5) == 1005
    wrong = window_of(DATA, size=10)
    wrong.fill()
    assert wrong.search_limit(5) == 1005
    read_all_after(wrong)
    assert wrong.search_limit(5) == len(wrong.data)


def test_failure_ends_the_content() -> None:
    window = window_of(gzip.compress(DATA)[:-4], codec="gzip")
    while not window.ended:
        window.fill(1 << 20)
    assert bytes(window.data) == DATA
    assert window.failure is not None
    assert window.failure.file == "a"
