"""Tests of WriteToTFRecord on inputs without an end: files per window and pane."""

from __future__ import annotations

import pathlib
import time
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing import test_stream
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.transforms.trigger import AccumulationMode, AfterCount, AfterWatermark, Repeatedly
from apache_beam.transforms.window import (
    FixedWindows,
    GlobalWindow,
    GlobalWindows,
    Sessions,
    TimestampedValue,
)
from apache_beam.utils.windowed_value import PaneInfo, PaneInfoTiming

from tests.records.writing.encodings import encoding_of
from tests.records.writing.folders import paths_in, records_in
from tests.tfxio.pipelines import run
from tfrecord_beam import WriteError, WriteToTFRecord
from tfrecord_beam.records.writing.file_system import OutputFile
from tfrecord_beam.records.writing.options import Mode, WriteOptions
from tfrecord_beam.transforms import write_steps
from tfrecord_beam.transforms.filesystem import BeamOutputFileSystem
from tfrecord_beam.transforms.write_steps import PublishPane, WriteSteps


def stream() -> test_stream.TestStream:
    """Returns records at 0, 10, ... 110 s, the last of them after its window has ended."""
    early = [TimestampedValue(b"%d" % i, i * 10) for i in range(6)]
    late = [TimestampedValue(b"%d" % i, i * 10) for i in range(6, 12)]
    return (
        test_stream.TestStream(coder=beam.coders.BytesCoder())
        .advance_watermark_to(0)
        .add_elements(early[:3])
        .add_elements(early[3:])
        .advance_watermark_to(70)
        .add_elements(late)
        .add_elements([TimestampedValue(b"late", 5)])
        .advance_watermark_to_infinity()
    )


def write_stream(windows: beam.PTransform[Any, Any], transform: WriteToTFRecord) -> None:
    options = PipelineOptions([])
    options.view_as(StandardOptions).streaming = True
    pipeline = beam.Pipeline(runner=BundleBasedDirectRunner(), options=options)
    _ = pipeline | stream() | windows | transform
    pipeline.run().wait_until_finish()


def files_in(folder: pathlib.Path) -> dict[str, list[bytes]]:
    """Returns the records of each file by what its name tells of window, pane and shard."""
    return {
        path.removeprefix("a-").removesuffix(".tfrecord"): sorted(records_in(folder / path))
        for path in paths_in(folder)
        if not path.startswith(".")
    }


FIRST = "19700101T000000Z-19700101T000100Z"
SECOND = "19700101T000100Z-19700101T000200Z"


@pytest.mark.parametrize("mode", [AccumulationMode.DISCARDING, AccumulationMode.ACCUMULATING])
def test_windows_and_late_panes(tmp_path: pathlib.Path, mode: Any) -> None:
    windows = beam.WindowInto(
        FixedWindows(60),
        trigger=AfterWatermark(late=AfterCount(1)),
        accumulation_mode=mode,
        allowed_lateness=1000,
    )
    write_stream(windows, WriteToTFRecord(tmp_path / "a", num_shards=2))
    files = files_in(tmp_path)
    assert sorted(files) == [
        f"{FIRST}-0-00000-of-00002",
        f"{FIRST}-0-00001-of-00002",
        f"{FIRST}-1-00000-of-00002",
        f"{FIRST}-1-00001-of-00002",
        f"{SECOND}-0-00000-of-00002",
        f"{SECOND}-0-00001-of-00002",
    ]
    by_pane = {
        pane: sorted(files[f"{pane}-00000-of-00002"] + files[f"{pane}-00001-of-00002"])
        for pane in (f"{FIRST}-0", f"{FIRST}-1", f"{SECOND}-0")
    }
    assert by_pane == {
        f"{FIRST}-0": [b"0", b"1", b"2", b"3", b"4", b"5"],
        f"{FIRST}-1": [b"late"],
        f"{SECOND}-0": sorted(b"%d" % i for i in range(6, 12)),
    }
    assert not [path for path in paths_in(tmp_path) if path.startswith(".") and path[-1] != "/"]


def test_late_panes_leave_no_temporary_file(tmp_path: pathlib.Path) -> None:
    enlarge = beam.Map(lambda record: record.ljust(100_000)).with_output_types(bytes)
    windows = beam.WindowInto(
        FixedWindows(60),
        trigger=AfterWatermark(late=AfterCount(1)),
        accumulation_mode=AccumulationMode.DISCARDING,
        allowed_lateness=1000,
    )
    write_stream(enlarge | windows, WriteToTFRecord(tmp_path / "a", num_shards=1))
    assert len(files_in(tmp_path)) == 3
    assert not [path for path in paths_in(tmp_path) if path.startswith(".")]


def test_panes_of_the_global_window(tmp_path: pathlib.Path) -> None:
    windows = beam.WindowInto(
        GlobalWindows(),
        trigger=Repeatedly(AfterCount(1)),
        accumulation_mode=AccumulationMode.DISCARDING,
    )
    write_stream(windows, WriteToTFRecord(tmp_path / "a", num_shards=1))
    files = files_in(tmp_path)
    assert len(files) > 1
    assert set(files) == {f"pane-{i}-00000-of-00001" for i in range(len(files))}
    assert sorted(sum(files.values(), [])) == sorted([*(b"%d" % i for i in range(12)), b"late"])


@pytest.mark.parametrize(
    ("size", "num_spilled"), [(3, 0), (write_steps.SMALL_BYTES // 3, 0), (100_000, 13)]
)
def test_few_records_of_a_session_need_no_temporary_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, size: int, num_spilled: int
) -> None:
    created: list[str] = []

    def create(file_system: BeamOutputFileSystem, path: str) -> OutputFile:
        created.append(path)
        return real(file_system, path)

    real = BeamOutputFileSystem.create
    monkeypatch.setattr(BeamOutputFileSystem, "create", create)
    enlarge = beam.Map(lambda record: record.ljust(size)).with_output_types(bytes)
    windows = beam.WindowInto(Sessions(60), allowed_lateness=1000)
    write_stream(enlarge | windows, WriteToTFRecord(tmp_path / "a", num_shards=1))
    [records] = files_in(tmp_path).values()
    assert len(records) == 13
    assert len(created) == 1 + num_spilled  # and one that becomes the file


def test_a_late_record_leaves_nothing(tmp_path: pathlib.Path) -> None:
    write_stream(beam.WindowInto(FixedWindows(60)), WriteToTFRecord(tmp_path / "a", num_shards=1))
    files = files_in(tmp_path)
    assert sorted(sum(files.values(), [])) == sorted(b"%d" % i for i in range(12))
    assert paths_in(tmp_path) == [f"a-{name}.tfrecord" for name in files]


def arrivals() -> list[beam.PTransform[Any, Any]]:
    start = time.time() - 10
    impulses = PeriodicImpulse(start, start + 4.5, fire_interval=1)
    return [impulses, beam.Map(lambda time: b"%d" % int(time)).with_output_types(bytes)]


@pytest.mark.parametrize("bundle_repeat", [0, 1])
def test_files_are_given_once_they_are_there(tmp_path: pathlib.Path, bundle_repeat: int) -> None:
    result = run(
        *arrivals(),
        beam.WindowInto(FixedWindows(2)),
        WriteToTFRecord(tmp_path / "a", num_shards=1, partition_by=None, mode="append"),
        beam.Map(lambda file: (file.path, file.num_records, tuple(records_in(file.path)))),
        runner=FnApiRunner(bundle_repeat=bundle_repeat),
    )
    files = {*result.elements}
    assert sum(num_records for _, num_records, _ in files) == 5
    assert all(num_records == len(records) for _, num_records, records in files)
    names = {pathlib.Path(path).name for path, _, _ in files}
    if bundle_repeat:  # the first attempt at a pane has left its temporary file
        assert names == {path for path in paths_in(tmp_path) if not path.startswith(".")}
    else:  # nor is any hidden folder left, once all that came in is published
        assert names == {*paths_in(tmp_path)}


@pytest.mark.parametrize("mode", ["error", "append"])
def test_pane_that_is_published_twice(tmp_path: pathlib.Path, mode: Mode) -> None:
    options = WriteOptions(tmp_path / "a", num_shards=3, mode=mode)
    steps = WriteSteps(options, encoding_of(options))
    [write] = steps.start(b"", has_end=False)
    writer = steps.open_bundle(write)
    writer.write([b"one", b"two"])
    keyed = (None, [writer.close()])
    pane = PaneInfo(True, False, PaneInfoTiming.ON_TIME, 0, 0)
    first, again = (
        [*PublishPane(steps).process(keyed, write, GlobalWindow(), pane)] for _ in range(2)
    )
    files = first[:-1]
    assert again[:-1] == files
    assert sorted(records_in(*(file.path for file in files))) == [b"one", b"two"]
    assert len(files_in(tmp_path)) == 3


def test_local_files_of_an_unbounded_input(tmp_path: pathlib.Path) -> None:
    result = run(*arrivals(), WriteToTFRecord(tmp_path / "a", write_locality="local"))
    assert sum(file.num_records for file in result.elements) == 5
    assert len(records_in(tmp_path / "a*")) == 5


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "Expected num_shards for an unbounded input, found None"),
        ({"num_shards": 1, "mode": "overwrite"}, "found 'overwrite'"),
        ({"num_shards": 1, "mode": "ignore"}, "found 'ignore'"),
    ],
)
def test_options_that_an_unbounded_input_does_not_have(
    tmp_path: pathlib.Path, options: dict[str, Any], text: str
) -> None:
    head, to_bytes = arrivals()
    with pytest.raises(ValueError, match=text):
        beam.Pipeline() | head | to_bytes | WriteToTFRecord(tmp_path / "a", **options)


def test_files_that_are_there_already(tmp_path: pathlib.Path) -> None:
    transform = WriteToTFRecord(tmp_path / "a", num_shards=1)
    (tmp_path / "a-00000-of-00001.tfrecord").touch()
    with pytest.raises(WriteError, match=r"^Expected no files of this data set, found 1"):
        run(*arrivals(), beam.WindowInto(FixedWindows(2)), transform)
