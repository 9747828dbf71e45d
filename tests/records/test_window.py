"""Tests of tfrecord_beam.records.window."""

from __future__ import annotations

import gzip
import io
import os
import random

import pytest

from tests.frames import framed, masked_crc32c
from tfrecord_beam.records.window import Window

DATA = random.Random(5).randbytes(300_000)


def window_of(data: bytes, **options: object) -> Window:
    arguments: dict[str, object] = {"codec": "none", "start": 0, "chunk_bytes": 1000}
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


class StoredFile(io.BytesIO):
    """A file whose store tells another size than what can be read, or one that is being written.

    Args:
      data: what can be read.
      told: the size that the store tells; grows with `add`.
    """

    def __init__(self, data: bytes, told: int) -> None:
        super().__init__(data)
        self.told = told

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return super().seek(self.told + offset if whence == os.SEEK_END else offset)

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads; whoever asks at the end finds that some more was written at this moment."""
        if self.told == self.tell() == len(self.getvalue()):
            self.add(10_000)
        return super().read(size)

    def add(self, size: int) -> None:
        """Writes on."""
        here = self.tell()
        self.write(bytes(size))
        self.told += size
        super().seek(here)


def window_of_file(file: io.BytesIO) -> Window:
    return Window(file, "a", codec="none", start=0, chunk_bytes=1000)


def test_content_ends_where_the_file_ended_when_it_was_opened() -> None:
    file = StoredFile(DATA, len(DATA))
    window = window_of_file(file)
    assert file.told == len(DATA) + 10_000
    assert window.end == len(DATA)
    read = 0
    while not window.ended:
        file.add(5000)  # more than is read meanwhile
        window.fill()
        read += window.left
        window.begin = len(window.data)
    assert read == len(DATA)
    assert window.is_beyond_end(1)


@pytest.mark.parametrize("told", [0, 1, 200_000])
def test_content_beyond_the_size_that_the_store_tells_is_read(told: int) -> None:
    window = window_of_file(StoredFile(DATA, told))
    assert window.end is None
    assert not window.is_beyond_end(1 << 40)
    assert read_all(window, random.Random(1)) == DATA


def test_content_shorter_than_the_size_that_the_store_tells_is_read() -> None:
    window = window_of_file(StoredFile(DATA, 400_000))
    assert read_all(window, random.Random(1)) == DATA


def test_end_of_compressed_content_is_found_by_reading() -> None:
    window = window_of(gzip.compress(DATA), codec="gzip")
    assert window.end is None
    assert not window.is_beyond_end(1 << 40)


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_skipping_forward(codec: str) -> None:
    data = gzip.compress(DATA, 1) if codec == "gzip" else DATA
    for offset in (0, 10, 999, 1000, 5000, 299_999, 300_000):
        window = window_of(data, codec=codec)
        window.fill()
        window.skip_to(offset)
        assert window.offset == offset
        assert read_all_after(window) == DATA[offset:]
    window.skip_to(1 << 40)
    assert window.offset == len(DATA)


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_coming_back(codec: str) -> None:
    window = window_of(gzip.compress(DATA, 1) if codec == "gzip" else DATA, codec=codec)
    window.require(2500)
    window.begin = 2000
    window.anchor = 2000
    while not window.ended:
        window.begin = len(window.data)
        window.fill()
    window.move_to(window.anchor)
    assert read_all_after(window) == DATA[2000:]


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
    window = window_of(DATA, start=100)
    window.fill()
    assert window.search_limit(5) == len(DATA) - 100
    unknown = window_of_file(StoredFile(DATA, 10))
    unknown.fill()
    assert unknown.search_limit(5) == 1005
    read_all_after(unknown)
    assert unknown.search_limit(5) == len(unknown.data)


def test_failure_ends_the_content() -> None:
    window = window_of(gzip.compress(DATA)[:-4], codec="gzip")
    while not window.ended:
        window.fill(1 << 20)
    assert bytes(window.data) == DATA
    assert window.failure is not None
    assert window.failure.file == "a"
