"""Files per window and pane."""

from __future__ import annotations

import collections
import pathlib
import re
import time
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.testing import test_stream
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.transforms.trigger import AccumulationMode, AfterCount, AfterWatermark
from apache_beam.transforms.window import FixedWindows, TimestampedValue

from tests.contract.writing import names, stored, visible
from tests.tfxio.pipelines import run
from tfrecord_beam import WriteToTFRecord

DAY = 86_400


def seconds_record(second: int) -> TimestampedValue:
    return TimestampedValue(str(second).encode(), second)


def test_windows_of_bounded_input(tmp_path: pathlib.Path) -> None:
    seconds = [0, 1, 59, 60, 100, 200, DAY]
    written = run(
        beam.Create(seconds),
        beam.Map(seconds_record),
        beam.WindowInto(FixedWindows(60)),
        WriteToTFRecord(str(tmp_path / "a"), num_shards=2),
    ).elements
    found: dict[str, list[int]] = collections.defaultdict(list)
    for file in written:
        name = pathlib.Path(file.path).name
        match = re.fullmatch(r"a-(.+)-0000[01]-of-00002\.tfrecord", name)
        assert match
        found[match[1]] += [int(record) for record in stored(file.path)]
    assert sorted(map(sorted, found.values())) == [[0, 1, 59], [60, 100], [200], [DAY]]
    assert sorted(file.path for file in written) == [
        str(tmp_path / name) for name in names(tmp_path)
    ]
    # Names tell the windows apart, in their order.
    by_name = [values for _, values in sorted(found.items())]
    assert [min(values) for values in by_name] == [0, 60, 200, DAY]


def arrivals(count: int) -> list[beam.PTransform[Any, Any]]:
    """Returns what gives a record each second, in an unbounded PCollection."""
    start = int(time.time()) - 3600
    impulses = PeriodicImpulse(start, start + count - 0.5, fire_interval=1)
    return [impulses, beam.Map(lambda at: TimestampedValue(b"%d" % int(at), at))]


def test_windows_of_unbounded_input(tmp_path: pathlib.Path) -> None:
    written = run(
        *arrivals(6),
        beam.WindowInto(FixedWindows(2)),
        WriteToTFRecord(str(tmp_path / "a"), num_shards=1),
    ).elements
    records = [record for file in written for record in stored(file.path)]
    assert len(set(records)) == len(records) == 6
    assert 3 <= len(written) <= 4
    for name in visible(tmp_path):
        assert re.fullmatch(r"a-.+-.+-\d+-00000-of-00001\.tfrecord", name)
    assert len(visible(tmp_path)) == len(written)


def test_panes_are_files_of_their_own(tmp_path: pathlib.Path) -> None:
    """Early, on time and late: no file takes the place of another."""
    stream: Any = test_stream.TestStream().advance_watermark_to(0)
    stream = stream.add_elements([seconds_record(1)]).advance_watermark_to(5)
    stream = stream.add_elements([seconds_record(2)]).advance_watermark_to(70)
    stream = stream.add_elements([seconds_record(3), seconds_record(65)])
    options = PipelineOptions()
    options.view_as(StandardOptions).streaming = True
    with beam.Pipeline(runner=BundleBasedDirectRunner(), options=options) as pipeline:
        windows = beam.WindowInto(
            FixedWindows(60),
            allowed_lateness=1000,
            trigger=AfterWatermark(early=AfterCount(1), late=AfterCount(1)),
            accumulation_mode=AccumulationMode.DISCARDING,
        )
        records = pipeline | stream.advance_watermark_to_infinity() | windows
        _ = records | WriteToTFRecord(str(tmp_path / "a"), num_shards=1)
    panes = {name: stored(tmp_path / name) for name in visible(tmp_path)}
    assert sorted(record for pane in panes.values() for record in pane) == [b"1", b"2", b"3", b"65"]
    for name in visible(tmp_path):
        assert re.fullmatch(r"a-.+-.+-\d+-00000-of-00001\.tfrecord", name)


def test_unbounded_input_needs_shards(tmp_path: pathlib.Path) -> None:
    unbounded: Any = beam.Pipeline()
    for transform in arrivals(2):
        unbounded = unbounded | transform
    with pytest.raises(ValueError, match="num_shards"):
        _ = unbounded | WriteToTFRecord(str(tmp_path / "a"))
