"""Tests of tfrecord_beam.records.index: exact splits, and indexes that are not believed."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.frames import framed
from tests.records.reading import ODD_FILES, frame_starts
from tfrecord_beam.errors import CorruptRecordError, CoverageError
from tfrecord_beam.records import index as index_module
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.coverage import check_coverage
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.index import FileIndex, IndexBuilder, index_path, read_index
from tfrecord_beam.records.paths import DirectFileSystem, FileEntry, match_files
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.records.reader import RecordReader
from tfrecord_beam.records.shares import read_piece, share_files
from tfrecord_beam.records.writing.index import write_index

INNER = framed(*[b"inner %d" % number for number in range(40)])
NESTED = [b"before", INNER, b"between", INNER * 3, INNER[:-1], b"after"]
FILES = [*ODD_FILES.values(), NESTED, [bytes(n) for n in (10, 70_000, 3, 200_000, 0, 10)]]


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Indexes of small files with more than one offset."""
    monkeypatch.setattr(index_module, "_STEP_BYTES", 1000)
    yield


def write(path: Path, records: list[bytes], *, indexed: bool = True) -> str:
    path.write_bytes(framed(*records))
    if indexed:
        write_index(str(path))
    return str(path)


def read(path: str, cuts: list[int]) -> list[bytes]:
    """Returns the records of all ranges, which tile the file, or this is an error."""
    size = Path(path).stat().st_size
    bounds = [0, *sorted({cut for cut in cuts if 0 < cut < size}), size]
    records: list[bytes] = []
    covered = []
    for start, stop in itertools.pairwise(bounds):
        files = DirectFileSystem()
        reader = RecordReader(
            FileRange(path, start, stop, size),
            files.open,
            read_index=lambda path: read_index(DirectFileSystem(), path),
        )
        for part in reader:
            assert isinstance(part, RecordBlock)
            records += part.records()
        covered.append(reader.covered())
    check_coverage(path, covered)
    return records


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("records", FILES, ids=lambda records: f"{len(records)} records")
def test_every_split_is_exact(tmp_path: Path, records: list[bytes]) -> None:
    path = write(tmp_path / "a", records)
    size = Path(path).stat().st_size
    starts = frame_starts(records)
    near = {start + shift for start in starts for shift in (-1, 0, 1, 12)}
    for cut in sorted(near | set(range(0, size, max(size // 200, 1)))):
        assert read(path, [cut]) == records
    assert read(path, [*range(0, size, max(size // 20, 1))]) == records


def test_without_the_index_the_same_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a", NESTED, indexed=False)
    failed = 0
    for cut in range(30, Path(path).stat().st_size, 100):
        try:
            assert read(path, [cut]) == NESTED
        except (CorruptRecordError, CoverageError) as error:
            assert "TFRecord data" in str(error)
            failed += 1
    assert failed > 10


def test_shares_use_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a", NESTED * 20)
    shares = share_files(match_files([str(tmp_path)], DirectFileSystem()), 5)
    assert sum(map(len, shares)) > 5
    found = [
        record
        for share in shares
        for piece in share
        for block in read_piece(piece)
        for record in block.records()
    ]
    assert sorted(found) == sorted(NESTED * 20)
    Path(index_path(path)).unlink()
    with pytest.raises((CorruptRecordError, CoverageError)):
        for piece in [piece for share in shares for piece in share]:
            list(read_piece(piece))


def test_neither_folder_nor_wildcard_means_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [b"x"])
    assert Path(index_path(path)).name == ".a.index"
    for pattern in (f"{tmp_path}", f"{tmp_path}/*", f"{tmp_path}/**"):
        assert [file.path for file in match_files([pattern], DirectFileSystem())] == [path]


def test_content(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [bytes(600_000)] * 5)
    content = json.loads(Path(index_path(path)).read_bytes())
    size = 600_016
    assert content == {
        "format": "tfrecord_beam.index.1",
        "file_bytes": 5 * size,
        "offsets": [0, 2 * size, 4 * size],
    }


@given(
    sizes=st.lists(st.integers(16, 4000), min_size=20, max_size=60),
    cuts=st.lists(st.integers(0, 20), max_size=5).map(sorted),
)
def test_offsets_do_not_depend_on_the_pieces(sizes: list[int], cuts: list[int]) -> None:
    bounds = np.cumsum([0, *sizes])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "_STEP_BYTES", 1000)
        whole, pieces = IndexBuilder(), IndexBuilder()
        whole.add(bounds)
        for start, stop in itertools.pairwise([0, *cuts, len(sizes)]):
            pieces.add(bounds[start : stop + 1] + 7)
    index = whole.build()
    assert pieces.build() == index
    assert index.file_bytes == sum(sizes)
    steps: dict[int, int] = {}
    for begin in bounds[:-1].tolist():
        steps.setdefault(begin // 1000, begin)
    assert list(index.offsets) == list(steps.values())
    assert FileIndex.parse(index.dump()) == index


def test_old_index_is_replaced(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [b"x"], indexed=False)
    side_car = Path(index_path(path))
    side_car.write_bytes(b"old")
    assert write_index(path) == FileIndex(17, [0])
    assert FileIndex.parse(side_car.read_bytes()) == FileIndex(17, [0])
    assert sorted(tmp_path.iterdir()) == [side_car, Path(path)]


def test_index_of_a_file_of_many_blocks(tmp_path: Path) -> None:
    records = [random.Random(n).randbytes(n * 1000) for n in range(200)]
    builder = IndexBuilder()
    builder.add(FramedRecords.from_records(records).offsets)
    assert write_index(write(tmp_path / "a", records, indexed=False)) == builder.build()


def test_empty_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a", [])
    assert read_index(DirectFileSystem(), path) == FileIndex(0, [])
    assert write_index(path) == FileIndex(0, [])
    assert read(path, []) == []


def dump(**content: object) -> bytes:
    return json.dumps({"format": "tfrecord_beam.index.1", "file_bytes": 5, **content}).encode()


@pytest.mark.parametrize(
    "stale",
    [
        FileIndex(16, [0]).dump(),
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b"\xff\xfe",
        dump(),
        dump(offsets="0"),
        dump(offsets=[1.5]),
        dump(offsets=[9, 0]),
        dump(offsets=[9]),
        dump(offsets=[0], file_bytes=None),
        dump(offsets=[0], format="another"),
    ],
)
def test_index_of_another_file_is_not_believed(tmp_path: Path, stale: bytes) -> None:
    records = [b"%d " % n * 40 for n in range(200)]
    path = write(tmp_path / "a", records, indexed=False)
    size = Path(path).stat().st_size
    Path(index_path(path)).write_bytes(stale)
    check_stale(path, [size // 3, size // 2], records)


def test_index_of_another_file_of_the_same_size(tmp_path: Path) -> None:
    records = [b"%d " % n * 40 for n in range(200)]
    path = write(tmp_path / "a", records, indexed=False)
    size = Path(path).stat().st_size
    Path(index_path(path)).write_bytes(FileIndex(size, [0, *range(1000, size, 1001)]).dump())
    check_stale(path, [size // 3, size // 2], records)


def check_stale(path: str, cuts: list[int], records: list[bytes]) -> None:
    with pytest.warns(
        RuntimeWarning, match=r"^The index of .*/a does not fit .*rebuild it"
    ) as found:
        assert read(path, cuts) == records
    assert {each.filename for each in found} == {__file__}
    write_index(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(path, cuts) == records


def test_index_that_points_into_records_is_noticed(tmp_path: Path) -> None:
    """The one case that looks right: an offset at which a record of a record begins."""
    path = write(tmp_path / "a", NESTED, indexed=False)
    size = Path(path).stat().st_size
    inside = frame_starts(NESTED)[1] + 12
    Path(index_path(path)).write_bytes(FileIndex(size, [0, inside]).dump())
    with pytest.raises((CoverageError, CorruptRecordError)):
        read(path, [inside + 100])


def test_damage_is_found_with_an_index_too(tmp_path: Path) -> None:
    records = [b"%d " % n * 40 for n in range(200)]
    path = write(tmp_path / "a", records)
    data = bytearray(Path(path).read_bytes())
    damaged = frame_starts(records)[100]
    data[damaged + 20] ^= 1
    Path(path).write_bytes(data)
    for cut in range(damaged - 500, damaged + 500, 50):
        with (
            warnings.catch_warnings(),
            pytest.raises(CorruptRecordError, match=f"a:{damaged}"),
        ):
            warnings.simplefilter("ignore")
            read(path, [cut])


def test_compressed_file_gets_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(framed(b"x")))
    with pytest.raises(ValueError, match=r"^Expected a plain file, found one .* gzip - at .*/a \("):
        write_index(f"{tmp_path}/a")
    assert len(list(tmp_path.iterdir())) == 1


def test_file_without_an_index() -> None:
    class Nothing(DirectFileSystem):
        def get_file(self, path: str) -> FileEntry | None:
            assert path == "folder/.a.index"
            return None

    assert read_index(Nothing(), "folder/a") is None
