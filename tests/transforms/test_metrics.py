"""Tests of tfrecord_beam.transforms.metrics, and of what the sources count."""

from __future__ import annotations

import itertools
import pathlib
import re
import time
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.metrics import Metrics
from hypothesis import given, strategies as st

from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import Distribution, run
from tfrecord_beam import kernel
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.decode import RawRecordToRecordBatch
from tfrecord_beam.transforms.read import BeamSource, RawRecordBeamSource

NUM_BYTES = sum(map(len, RECORDS))


def counters(*transforms: beam.PTransform[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = dict(run(*transforms).in_namespace(metrics.NAMESPACE))
    for name in ("read_msec", "decode_msec"):
        assert found.pop(name, 0) >= 0
    return found


def test_what_a_source_counts(tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)  # Four files, one of them without records.
    assert counters(BeamSource(tmp_path, SCHEMA, batch_size=10)) == {
        "files": 4,
        "blocks": 6,
        "records": NUM_RECORDS,
        "bytes": NUM_BYTES,
        "batches": 6,
        f"kernel_{kernel.implementation}": 4 + 6,
    }


def test_files_and_records_are_counted_once_however_they_are_cut(tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    found = counters(RawRecordBeamSource(tmp_path, desired_bundle_bytes=100))
    assert (found["files"], found["records"], found["bytes"]) == (4, NUM_RECORDS, NUM_BYTES)
    assert found["blocks"] > 10


def test_what_decoding_counts() -> None:
    decode = RawRecordToRecordBatch(SCHEMA, batch_size=NUM_RECORDS)
    found = counters(beam.Create(RECORDS, reshuffle=False), decode)
    assert found == {"batches": 1, f"kernel_{kernel.implementation}": 1}


def test_the_page_tells_of_all_counters() -> None:
    package = pathlib.Path(metrics.__file__).parent
    sources = "".join(path.read_text() for path in package.glob("*.py"))
    counted = {*re.findall(r'(?:count|Timer)\("(\w+)"', sources)}
    page = (package.parents[1] / "docs" / "engines.md").read_text()
    section = page.split("\n## Counters\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    told = {*re.findall(r"`(\w+)`", " ".join(rows))}
    assert told == counted | {"kernel_native", "kernel_reference"}


def fail_after_first() -> Iterator[int]:
    yield 1
    raise KeyError


def test_time_of_many_short_steps_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is far below a millisecond; the time of the consumer, and of a failure, is another's."""
    counted: list[tuple[str, int]] = []
    clock = iter(range(10_000))
    monkeypatch.setattr(metrics, "count", lambda name, amount: counted.append((name, amount)))
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock) * 0.0003)
    timer = metrics.Timer("read_msec")
    assert list(timer.measure(range(99))) == list(range(99))  # 100 steps of 0.3 ms
    assert {name for name, _ in counted} == {"read_msec"}
    assert sum(amount for _, amount in counted) in (29, 30)
    counted.clear()
    with pytest.raises(KeyError):
        list(timer.measure(itertools.chain(fail_after_first())))
    assert sum(amount for _, amount in counted) <= 1


def update(figures: dict[str, int]) -> None:
    metrics.update_distribution(Metrics.distribution("test", "values"), **figures)


@given(st.lists(st.integers(-1000, 1000), max_size=12))
def test_distribution_of_values_given_by_four_figures(values: list[int]) -> None:
    updates: list[int] = []

    class Fake:
        update = updates.append

    figures = {"count": len(values), "total": sum(values)}
    bounds = {"minimum": min(values, default=0), "maximum": max(values, default=0)}
    metrics.update_distribution(Fake(), **figures, **bounds)  # type: ignore[arg-type]
    assert len(updates) == len(values)
    assert sum(updates) == sum(values)
    assert (min(updates, default=0), max(updates, default=0)) == tuple(bounds.values())


def test_distribution_in_a_pipeline() -> None:
    several = {"count": 4, "total": 20, "minimum": 1, "maximum": 9}
    one = {"count": 1, "total": 100, "minimum": 100, "maximum": 100}
    result = run(beam.Create([several, one]), beam.Map(update))
    assert result.metrics["test", "values"] == Distribution(5, 120, 1, 100)
