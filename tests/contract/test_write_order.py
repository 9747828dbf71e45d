"""Shuffled, ordered and local writes."""

from __future__ import annotations

import itertools
import pathlib
import random
import socket
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest

from tests.contract.writing import (
    Each,
    check_written,
    names,
    numbers,
    records_of,
    stored,
    tree,
    visible,
    write_by_beam,
    write_by_table,
    write_each,
    x_of,
)
from tests.tfxio.pipelines import run
from tfrecord_beam import EncodeError, WriteToTFRecord, write_table

SIZE = 1000

CUTS = {
    "one batch": [numbers(0, SIZE)],
    "small batches": [numbers(start, start + 40) for start in range(0, SIZE, 40)],
    "backwards": [numbers(start, start + 250) for start in range(SIZE - 250, -1, -250)],
}


def test_shuffled_files_depend_on_records_and_seed_alone(tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"shuffle": True, "seed": 7, "num_shards": 4}
    for name, batches in CUTS.items():
        write_by_table(batches, tmp_path / f"table {name}" / "a", **options)
        write_by_beam(batches, tmp_path / f"beam {name}" / "a", **options)
    folders = list(tmp_path.iterdir())
    assert len(folders) == 6
    expected = tree(folders[0])
    assert len(expected) == 4
    for folder in folders:
        assert tree(folder) == expected
    # Each record is there once, anywhere, and no shard is much larger than another.
    values = x_of(folders[0])
    assert sorted(values) == list(range(SIZE))
    for name in names(folders[0]):
        shard = x_of(folders[0] / name)
        assert 180 < len(shard) < 320
        assert shard != sorted(shard)
        assert min(shard) < 50 and max(shard) > SIZE - 50


def test_other_seeds_give_other_orders(tmp_path: pathlib.Path) -> None:
    orders = []
    for seed in (0, 1, 2):
        options: dict[str, Any] = {"shuffle": True, "seed": seed, "num_shards": 1}
        write_by_table(CUTS["one batch"], tmp_path / str(seed), **options)
        orders.append(x_of(str(tmp_path / f"{seed}-*")))
        assert sorted(orders[-1]) == list(range(SIZE))
    assert len(set(map(tuple, orders))) == 3
    for order in orders:  # about half of all neighbours stand in each direction
        assert 400 < sum(a < b for a, b in itertools.pairwise(order)) < 600


def test_shuffling_without_a_seed(tmp_path: pathlib.Path) -> None:
    write_by_table(CUTS["one batch"], tmp_path / "a", shuffle=True, num_shards=2)
    assert sorted(x_of(tmp_path)) == list(range(SIZE))


def test_shuffled_records_that_are_equal(tmp_path: pathlib.Path) -> None:
    records = [b"twin"] * 50 + [bytes([i]) * i for i in range(50)]
    results = []
    for seed in (1, 2):
        random.Random(seed).shuffle(records)
        folder = tmp_path / str(seed)
        transforms = {
            codec: WriteToTFRecord(
                str(folder / codec),
                shuffle=True,
                seed=3,
                num_shards=3,
                compression=codec,
            )
            for codec in ("none", "gzip")
        }
        for written in write_each(records, transforms).values():
            assert sum(records_of(written).values()) == 100
            assert records_of(written)[b"twin"] == 50
        results.append(tree(folder))
    assert results[0] == results[1]


def test_shuffled_partitions(tmp_path: pathlib.Path) -> None:
    batch = numbers(0, SIZE).append_column("k", pa.array(["xyz"[i % 3] for i in range(SIZE)]))
    options: dict[str, Any] = {"shuffle": True, "seed": 7, "num_shards": 2, "partition_by": ["k"]}
    for name, batches in (("one", [batch]), ("two", [batch.slice(600), batch.slice(0, 600)])):
        written = write_by_table(batches, tmp_path / name / "a", **options)
        assert len(written) == 6
        check_written(written, tmp_path / name)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


class Ordered(beam.PTransform[Any, Any]):
    """Writes pairs that come from several sources."""

    def __init__(
        self, parts: list[list[Any]], transforms: dict[str, beam.PTransform[Any, Any]]
    ) -> None:
        super().__init__()
        self._parts = parts
        self._transforms = transforms

    def expand(self, input_or_inputs: Any) -> Any:
        parts = [
            input_or_inputs | f"Create {i}" >> beam.Create(part, reshuffle=False)
            for i, part in enumerate(self._parts)
        ]
        return parts | beam.Flatten() | Each(self._transforms)


def cut(pairs: list[Any]) -> list[list[Any]]:
    """Returns the pairs in disorder, in parts."""
    mixed = pairs[:]
    random.Random(5).shuffle(mixed)
    return [mixed[:10], mixed[10:11], mixed[11:]]


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (list(range(-40, 40)), {"num_shards": 1, "compression": "gzip"}),
        ([f"{i:03}" for i in range(80)], {}),
    ],
    ids=["integers", "texts"],
)
def test_ordered_bytes(tmp_path: pathlib.Path, keys: list[Any], options: dict[str, Any]) -> None:
    parts = cut([(key, str(key).encode()) for key in keys])
    write = WriteToTFRecord(str(tmp_path / "a"), ordered=True, **options)
    [(_, file)] = run(Ordered(parts, {"a": write})).elements
    assert stored(file.path) == [str(key).encode() for key in keys]
    assert file.num_records == 80


def test_ordered_batches_and_rows(tmp_path: pathlib.Path) -> None:
    batches = [(i, numbers(3 * i, 3 * i + 3)) for i in range(20)]
    path = str(tmp_path / "a")
    [(_, file)] = run(Ordered(cut(batches), {"a": WriteToTFRecord(path, ordered=True)})).elements
    assert x_of(file.path) == list(range(60))
    rows = [(i, {"x": i}) for i in range(20)]
    path = str(tmp_path / "b")
    [(_, file)] = run(Ordered(cut(rows), {"b": WriteToTFRecord(path, ordered=True)})).elements
    assert x_of(file.path) == list(range(20))


def test_ordered_elements_that_are_no_pairs(tmp_path: pathlib.Path) -> None:
    with pytest.raises(EncodeError, match="pair"):
        write_by_beam([(1, 2, 3)], tmp_path / "a", ordered=True)
    assert visible(tmp_path) == []


def test_ordered_empty_input(tmp_path: pathlib.Path) -> None:
    [file] = write_by_beam([], tmp_path / "a", ordered=True)
    assert stored(file.path) == []


def test_local_files_are_told_with_their_host(tmp_path: pathlib.Path) -> None:
    batches = [numbers(start, start + 10) for start in range(0, 50, 10)]
    path = str(tmp_path / "new" / "a")
    transform = WriteToTFRecord(path, write_locality="local", compression="gzip")
    written = run(beam.Create(batches), transform).elements
    assert written
    assert {file.host for file in written} <= {socket.gethostname(), socket.getfqdn()}
    assert sorted(file.path for file in written) == [
        str(tmp_path / name) for name in names(tmp_path)
    ]
    assert sum(file.num_records for file in written) == 50
    assert sorted(x_of([file.path for file in written])) == list(range(50))
    for file in written:
        assert file.num_bytes == pathlib.Path(file.path).stat().st_size


def test_tables_have_no_locality(tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"write_locality": "local"}
    with pytest.raises(TypeError, match="write_locality"):
        write_table(numbers(0, 1), str(tmp_path / "a"), **options)
