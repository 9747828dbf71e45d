"""The benchmarks' data are what their schemas say, and the same each time."""

from __future__ import annotations

import dataclasses
import gzip
import random
from pathlib import Path

import pyarrow as pa
import pytest

from tests import wire
from tests.bench import generate_data
from tfrecord_beam import kernel
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.schema.arrow import decode_plan


@pytest.fixture(autouse=True)
def _small_base(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {
        name: dataclasses.replace(dataset, base_count=7)
        for name, dataset in generate_data.DATASETS.items()
    }
    monkeypatch.setattr(generate_data, "DATASETS", small)


def _payloads(data: bytes) -> list[bytes]:
    scan = kernel.scan(data)
    assert scan.end == len(data)
    return [data[offset : offset + size] for offset, size in zip(scan.offsets, scan.lengths)]


@pytest.mark.parametrize("name", generate_data.DATASETS)
def test_records_fit_the_schema(name: str) -> None:
    dataset = generate_data.DATASETS[name]
    plan = decode_plan(dataset.schema())
    batch, failures = kernel.ExampleDecoder(plan).decode_records(dataset.records())
    decoded = pa.record_batch(batch)
    assert not failures
    assert decoded.num_rows == 7
    for column, length in dataset.lengths.items():
        lengths = decoded.column(column).value_lengths().to_pylist()
        assert lengths == [length] * 7
    assert sum(column.null_count < 7 for column in decoded.columns) >= len(dataset.few_columns)


def test_orders_of_features() -> None:
    def orders(name: str) -> set[tuple[str, ...]]:
        dataset, source = generate_data.DATASETS[name], random.Random(0)
        return {tuple(dataset.make(source)) for _ in range(7)}

    assert len(orders("census")) == 1
    assert len(orders("census_shuffled")) == 7


@pytest.mark.parametrize("count", [0, 1, 7, 20])
def test_files_repeat_the_base_set(count: int, tmp_path: Path) -> None:
    base = generate_data.DATASETS["census"].records()
    expected = [base[index % 7] for index in range(count)]
    plain = generate_data.write_dataset("census", count, tmp_path)
    compressed = generate_data.write_dataset("census", count, tmp_path, compress=True)
    assert _payloads(plain.read_bytes()) == expected
    assert _payloads(gzip.decompress(compressed.read_bytes())) == expected
    assert sorted(tmp_path.iterdir()) == sorted([plain, compressed])


def test_files_are_made_once(tmp_path: Path) -> None:
    path = generate_data.write_dataset("census", 3, tmp_path)
    path.write_bytes(b"kept")
    assert generate_data.write_dataset("census", 3, tmp_path).read_bytes() == b"kept"


def test_count_for_bytes(tmp_path: Path) -> None:
    count = generate_data.count_for_bytes("census", 100_000)
    path = generate_data.write_dataset("census", count, tmp_path)
    assert path.stat().st_size == pytest.approx(100_000, rel=0.02)


def test_visits_are_the_same_in_both_forms() -> None:
    visits = generate_data.sessions(7)
    assert visits == generate_data.sessions(7)
    sequences = [generate_data.sequence_example(*visit) for visit in visits]
    lists = [wire.example_list(*steps, context=context) for context, steps in visits]
    schema = generate_data.SESSION_SCHEMA
    plan = decode_plan(schema, record_type="SequenceExample")
    found = RecordDecoder(plan, "SequenceExample").decode_records(sequences)
    assert found.equals(RecordDecoder(plan, "ExampleListWithContext").decode_records(lists))
    assert found.column("user").null_count == 0
