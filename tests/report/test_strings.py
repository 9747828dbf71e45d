"""Tests of tfrecord_beam.report.strings: how often each value comes, where they are few."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tfrecord_beam.report import strings
from tfrecord_beam.report.strings import MAX_DISTINCT, MAX_VALUE_BYTES, StringSummary


def of(values: list[bytes]) -> StringSummary:
    summary = StringSummary()
    summary.add(pa.array(values, pa.large_binary()))
    return summary


def test_frequencies() -> None:
    summary = of([b"b", b"a", b"b", b"", b"c"])
    assert summary.frequencies == {b"": 1, b"a": 1, b"b": 2, b"c": 1}
    assert summary.most_frequent(2) == [(b"b", 2), (b"", 1)]
    assert summary.lengths.extremes == (0, 1)


def test_without_values() -> None:
    assert of([]).most_frequent(3) == []


@pytest.mark.parametrize(
    ("values", "are_counted"),
    [
        ([b"%d" % i for i in range(MAX_DISTINCT)], True),
        ([b"%d" % i for i in range(MAX_DISTINCT + 1)], False),
        ([b"x" * MAX_VALUE_BYTES], True),
        ([b"x" * (MAX_VALUE_BYTES + 1)], False),
    ],
)
def test_limits(values: list[bytes], are_counted: bool) -> None:
    assert (of(values).frequencies is not None) is are_counted
    half = len(values) // 2
    merged = of(values[half:])
    merged.merge(of(values[:half]))
    assert (merged.frequencies is not None) is are_counted
    assert merged.lengths.count == len(values)


@given(st.lists(st.lists(st.binary(max_size=2), max_size=9), max_size=4))
def test_parts_are_the_whole(parts: list[list[bytes]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "MAX_DISTINCT", 6)
        whole = Counter(value for part in parts for value in part)
        merged = StringSummary()
        for part in reversed(parts):
            merged.merge(of(part))
        assert merged.frequencies == (whole if len(whole) <= 6 else None)
