"""Shares of files hold each record once, or reading them fails."""

from __future__ import annotations

import collections
import gzip
import pathlib
import random
from collections.abc import Mapping, Sequence

import pytest

from tests.frames import framed
from tests.records.reading import ODD_FILES
from tfrecord_beam.errors import CorruptRecordError, CoverageError, TFRecordBeamError
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.paths import DirectFileSystem, FileEntry, match_files
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.shares import read_piece, share_files

NUM_SHARES = [1, 2, 3, 8, 50]
LARGE = [bytes(n) for n in (10, 70_000, 3, 200_000, 0, 10)]
"""Records among which are some that are longer than a range."""


def write(folder: pathlib.Path, files: Mapping[str, bytes]) -> str:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return str(folder / "*")


def read_shares(
    pattern: str, num_shares: int, options: ReadOptions = ReadOptions()
) -> list[list[bytes]]:
    """Returns the records of each share."""
    files = match_files([pattern], DirectFileSystem())
    return [
        [
            bytes(record)
            for piece in share
            for block in read_piece(piece, options)
            for record in block.records()
        ]
        for share in share_files(files, num_shares)
    ]


def errors_of(pattern: str, num_shares: int) -> list[TFRecordBeamError]:
    """Returns the errors of the pieces, each of which is read whatever becomes of the others."""
    errors: list[TFRecordBeamError] = []
    for share in share_files(match_files([pattern], DirectFileSystem()), num_shares):
        for piece in share:
            try:
                collections.deque(read_piece(piece), maxlen=0)
            except (CorruptRecordError, CoverageError) as error:
                errors.append(error)
    return errors


def numbered(count: int, source: random.Random) -> list[bytes]:
    return [b"%d " % i * source.randrange(1, 40) for i in range(count)]


def all_of(shares: Sequence[Sequence[bytes]]) -> list[bytes]:
    return sorted(record for share in shares for record in share)


@pytest.mark.parametrize("num_shares", NUM_SHARES)
def test_each_record_is_in_one_share(tmp_path: pathlib.Path, num_shares: int) -> None:
    records = numbered(900, random.Random(0))
    pattern = write(
        tmp_path,
        {
            "a": framed(*records[:400]),
            "b.gz": gzip.compress(framed(*records[400:500])),
            "c": b"",
            "d": gzip.compress(framed(*records[500:550])),  # only its content tells
            "e": framed(*records[550:551]),
            "f": framed(*records[551:]),
        },
    )
    shares = read_shares(pattern, num_shares)
    assert len(shares) == num_shares
    assert all_of(shares) == sorted(records)
    if num_shares == 1:
        assert shares == [records]


@pytest.mark.parametrize("num_shares", NUM_SHARES)
@pytest.mark.parametrize("validate_crc", [True, False])
@pytest.mark.parametrize("records", [*ODD_FILES.values(), LARGE], ids=[*ODD_FILES, "large"])
def test_odd_files_are_whole_or_refused(
    tmp_path: pathlib.Path, records: list[bytes], num_shares: int, validate_crc: bool
) -> None:
    pattern = write(tmp_path, {"a": framed(*records)})
    try:
        found = all_of(read_shares(pattern, num_shares, ReadOptions(validate_crc=validate_crc)))
    except (CorruptRecordError, CoverageError):
        assert num_shares > 1
        assert any(framed(b"")[:8] in record for record in records)
    else:
        assert found == sorted(records)


@pytest.mark.parametrize("seed", range(20))
def test_a_search_that_is_fooled_does_not_pass(tmp_path: pathlib.Path, seed: int) -> None:
    """Records that hold whole TFRecord files: a range that begins inside one finds its records."""
    source = random.Random(seed)
    inner = framed(*[b"inner %d" % i for i in range(30)])
    records = [
        source.randbytes(100) + inner if source.random() < 0.5 else source.randbytes(50)
        for _ in range(40)
    ]
    pattern = write(tmp_path, {"a": framed(*records)})
    assert any(isinstance(error, CoverageError) for error in errors_of(pattern, 4))
    assert read_shares(pattern, 1) == [records]


def test_what_is_said_of_it(tmp_path: pathlib.Path) -> None:
    records = [framed(*[b"inner"] * 100)] * 3
    pattern = write(tmp_path, {"a": framed(*records)})
    error = next(e for e in errors_of(pattern, 2) if isinstance(e, CoverageError))
    size = len(framed(records[0]))
    assert (error.file, error.offset) == (str(tmp_path / "a"), size)
    start = 3 * size // 32
    first = 12 + (start - 12 + 20) // 21 * 21  # the first inner record from there on
    assert str(error) == (
        f"Expected no record in the range that begins at {start}, found the first record at "
        f"{first} - at {tmp_path}/a:{size} (the records may hold TFRecord data themselves, or have "
        "wrong CRCs: read the file with one worker, or make its index (tfrecord-beam index))"
    )


def test_a_wrong_crc_where_ranges_meet_is_not_passed_over(tmp_path: pathlib.Path) -> None:
    """Readers that compute no CRC read a damaged record, but no search finds it."""
    data = bytearray(framed(*[b"0123456789abcdef"] * 32))
    for frame in range(32):
        data[frame * 32 + 12] ^= 1
    pattern = write(tmp_path, {"a": bytes(data)})
    with pytest.raises(CoverageError):
        read_shares(pattern, 2, ReadOptions(validate_crc=False))
    with pytest.raises(CorruptRecordError, match=r"/a:0, record 0$"):
        read_shares(pattern, 2)


@pytest.mark.parametrize("num_shares", NUM_SHARES)
def test_what_is_corrupt_is_told_once(tmp_path: pathlib.Path, num_shares: int) -> None:
    records = numbered(300, random.Random(1))
    data = bytearray(framed(*records))
    wrong = len(framed(*records[:150])) + 12
    data[wrong] ^= 1
    pattern = write(tmp_path, {"a": bytes(data)})
    aside: list[CorruptRecord] = []
    found = [
        bytes(record)
        for share in share_files(match_files([pattern], DirectFileSystem()), num_shares)
        for piece in share
        for block in read_piece(piece, on_corrupt=aside.append)
        for record in block.records()
    ]
    assert sorted(found) == sorted(records[:150] + records[151:])
    assert [(each.file, each.offset) for each in aside] == [(str(tmp_path / "a"), wrong - 12)]


@pytest.mark.parametrize("sizes", [(1_000_000,), (10, 999_000, 3), (5000,) * 90, (10**12, 1)])
@pytest.mark.parametrize("num_shares", [2, 7, 16])
def test_shares_are_nearly_equal(
    tmp_path: pathlib.Path, sizes: tuple[int, ...], num_shares: int
) -> None:
    files = [FileEntry(str(i), size) for i, size in enumerate(sizes)]
    shares = share_files(files, num_shares)
    loads = [
        sum((r.stop or 0) - r.start for r in (p.ranges[p.position] for p in share))
        for share in shares
    ]
    assert sum(loads) == sum(sizes)
    assert max(loads) < 1.1 * sum(sizes) / num_shares
    assert min(loads) > 0.9 * sum(sizes) / num_shares


def test_shares_are_the_same_each_time() -> None:
    files = [FileEntry("a", 1000), FileEntry("b.gz", 700), FileEntry("c", 0)]
    assert share_files(files, 3) == share_files(files, 3)
