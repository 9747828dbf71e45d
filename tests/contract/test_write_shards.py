"""How many files a write makes, and what is in each."""

from __future__ import annotations

import itertools
import pathlib
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from tests.contract.writing import (
    SUFFIXES,
    Write,
    check_written,
    names,
    no_warnings,
    numbers,
    records_of,
    stored,
    tree,
    write_by_beam,
    write_by_table,
    write_each,
    x_of,
)
from tfrecord_beam import WriteToTFRecord, count, read_table

CODECS = list(SUFFIXES)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("shards", [1, 2, 5])
def test_each_number_of_shards_and_of_records(
    tmp_path: pathlib.Path, codec: str | None, shards: int
) -> None:
    for records in (0, 1, 2, 4, 5, 6, 23):
        folder = tmp_path / str(records)
        with no_warnings():
            written = write_by_table(
                [numbers(0, records)], folder / "a", num_shards=shards, compression=codec
            )
        assert names(folder) == [
            f"a-{shard:05}-of-{shards:05}.tfrecord{SUFFIXES[codec]}" for shard in range(shards)
        ]
        check_written(written, folder)
        assert sorted(x_of(folder)) == list(range(records))
        assert count(folder) == records
        sizes = [file.num_records for file in written]
        assert max(sizes) - min(sizes) <= 1


def test_each_codec_in_a_pipeline(tmp_path: pathlib.Path) -> None:
    with no_warnings():
        transforms = {
            f"{codec} {shards}": WriteToTFRecord(
                str(tmp_path / f"{codec} {shards}" / "a"), num_shards=shards, compression=codec
            )
            for codec, shards in zip([None, "gzip", "zlib", "zstd"], itertools.cycle([3, 1, 2]))
        }
        batches = [numbers(start, start + 7) for start in range(0, 49, 7)]
        results = write_each(batches, transforms)
    for name, written in results.items():
        codec, shards = name.split()
        assert len(written) == int(shards)
        check_written(written, tmp_path / name)
        assert sorted(x_of(tmp_path / name)) == list(range(49))
        suffix = SUFFIXES[None if codec == "None" else codec]
        assert all(file.path.endswith(f"-of-0000{shards}.tfrecord{suffix}") for file in written)


def test_bundles_of_a_pipeline_make_files(tmp_path: pathlib.Path) -> None:
    batches = [numbers(start, start + 10) for start in range(0, 100, 10)]
    written = write_by_beam(batches, tmp_path / "a")
    check_written(written, tmp_path)
    assert sorted(x_of(tmp_path)) == list(range(100))
    total = len(written)
    expected = [f"a-{shard:05}-of-{total:05}.tfrecord" for shard in range(total)]
    assert names(tmp_path) == expected


def test_no_record_gives_one_empty_file(write: Write, tmp_path: pathlib.Path) -> None:
    bounds: dict[str, Any] = {"max_records_per_shard": 10}
    for batches, codec in ((), None), ([numbers(0, 0)], "gzip"):
        folder = tmp_path / str(codec)
        written = write(batches, folder / "a", compression=codec, **bounds)
        assert [(file.num_records, stored(file.path)) for file in written] == [(0, [])]
        check_written(written, folder)
        assert count(folder) == 0


def test_at_most_so_many_records(tmp_path: pathlib.Path) -> None:
    for records, most in ((95, 10), (100, 10), (9, 10), (10, 10), (11, 10), (5, 1)):
        folder = tmp_path / f"{records} {most}"
        written = write_by_table([numbers(0, records)], folder / "a", max_records_per_shard=most)
        check_written(written, folder)
        assert max(file.num_records for file in written) <= most
        assert len(written) == -(-records // most)
        assert sorted(x_of(folder)) == list(range(records))


def test_at_most_so_many_bytes(write: Write, tmp_path: pathlib.Path) -> None:
    sizes = [0, 1, 30, 500, 2, 84, 83, 10, 10, 10, 1000, 3]
    records = [bytes([i]) * size for i, size in enumerate(sizes)]
    batch = pa.record_batch({"record": pa.array(records, pa.binary())})
    options: dict[str, Any] = {"max_bytes_per_shard": 100, "record_type": "ByteArray"}
    for compression in (None, "gzip"):
        folder = tmp_path / str(compression)
        written = write([batch], folder / "a", compression=compression, **options)
        check_written(written, folder)
        assert records_of(written) == Counter(records)
        for file in written:
            framed_bytes = [len(record) + 16 for record in stored(file.path)]
            assert sum(framed_bytes) <= 100 or len(framed_bytes) == 1
        assert any(file.num_records > 1 for file in written)


def test_both_bounds(tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"max_records_per_shard": 3, "max_bytes_per_shard": 10**6}
    written = write_by_table([numbers(0, 7)], tmp_path / "a", **options)
    assert [file.num_records for file in written] == [3, 3, 1]


def test_tables_keep_their_order(tmp_path: pathlib.Path) -> None:
    batches = [numbers(0, 13), numbers(13, 14), numbers(14, 50)]
    write_by_table(batches, tmp_path / "bounded" / "a", max_records_per_shard=4)
    assert x_of(tmp_path / "bounded") == list(range(50))
    write_by_table(batches, tmp_path / "one" / "a", num_shards=1)
    assert x_of(tmp_path / "one") == list(range(50))
    for file in write_by_table(batches, tmp_path / "three" / "a", num_shards=3):
        assert x_of(file.path) == sorted(x_of(file.path))


def test_order_of_what_is_told(tmp_path: pathlib.Path) -> None:
    """A table's files are told in the order of their names; a pipeline's as they come."""
    written = write_by_table([numbers(0, 50)], tmp_path / "a", num_shards=12)
    paths = [file.path for file in written]
    assert sorted(paths) == [str(tmp_path / name) for name in names(tmp_path)]
    assert paths == sorted(paths)


@pytest.mark.parametrize("codec", CODECS)
def test_equal_input_gives_equal_files(tmp_path: pathlib.Path, codec: str | None) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        with no_warnings():
            write_by_table([numbers(0, 300)], folder / "a", num_shards=2, compression=codec)
            # The name of a file does not stand in it.
            write_by_table([numbers(0, 300)], folder / folder.name, num_shards=1, compression=codec)
    one, other = tree(first), tree(second)
    assert list(one.values()) == list(other.values())
    if codec == "gzip":  # no time of writing
        assert all(data is not None and data[4:8] == bytes(4) for data in one.values())


def test_pipelines_write_the_bytes_of_tables(tmp_path: pathlib.Path) -> None:
    for write, folder in ((write_by_table, tmp_path / "table"), (write_by_beam, tmp_path / "beam")):
        write([numbers(0, 40)], folder / "a", num_shards=3, compression="gzip")
    assert tree(tmp_path / "table") == tree(tmp_path / "beam")


def test_levels_of_compression(tmp_path: pathlib.Path) -> None:
    sizes = {}
    for level in (1, 9):
        options: dict[str, Any] = {"num_shards": 1, "compression": "gzip"}
        [file] = write_by_table(
            [numbers(0, 3000)], tmp_path / str(level) / "a", compression_level=level, **options
        )
        sizes[level] = file.num_bytes
        assert x_of(file.path) == list(range(3000))
    assert sizes[9] < sizes[1]


def test_more_shards_than_digits(tmp_path: pathlib.Path) -> None:
    write_by_table([numbers(0, 12)], tmp_path / "a", num_shards=12, shard_name_template="-S-of-N")
    assert names(tmp_path) == sorted(f"a-{shard}-of-12.tfrecord" for shard in range(12))
    assert sorted(x_of(tmp_path)) == list(range(12))


def test_values_stay(write: Write, tmp_path: pathlib.Path) -> None:
    batch = pa.record_batch(
        {
            "i": pa.array([[1, -(2**63)], [], None, [2**63 - 1]], pa.large_list(pa.int64())),
            "f": pa.array([[0.5], None, [], [float("inf"), -0.0]], pa.list_(pa.float32())),
            "b": pa.array([[b"\0\xff", b""], [b"x"], None, []], pa.list_(pa.binary())),
        }
    )
    [file] = write([batch], tmp_path / "a", num_shards=1)
    table = read_table(file.path)
    for name in batch.schema.names:
        assert table.column(name).to_pylist() == batch.column(name).to_pylist()
