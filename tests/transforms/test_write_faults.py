"""Tests of WriteToTFRecord where files or bundles fail."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import apache_beam as beam
import pytest

from tests.records.writing.faulty import ALWAYS, FaultyFileSystem
from tests.records.writing.folders import paths_in, records_in
from tests.tfxio.pipelines import Run, run
from tests.transforms.writing import RECORDS, check_files, write, written
from tfrecord_beam import WriteError, WriteToTFRecord
from tfrecord_beam.records.writing import spill
from tfrecord_beam.records.writing.bundle import BundleWriter
from tfrecord_beam.transforms import write_steps
from tfrecord_beam.transforms.filesystem import BeamOutputFileSystem


class FailsOnce(beam.DoFn):
    """Fails in the middle of the first bundle that it sees."""

    def __init__(self, mark: pathlib.Path) -> None:
        self._mark = str(mark)

    def process(self, element: Any) -> Iterator[Any]:
        yield element
        if not pathlib.Path(self._mark).exists():
            pathlib.Path(self._mark).touch()
            raise OSError("once")


@pytest.mark.parametrize("options", [{}, {"num_shards": 2}])
def test_pipeline_that_failed_can_run_again(
    tmp_path: pathlib.Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "BUFFER_BYTES", 1)
    folder = tmp_path / "out"

    def attempt() -> Run:
        fails = beam.ParDo(FailsOnce(tmp_path / "mark")).with_output_types(bytes)
        return run(beam.Create(RECORDS), fails, WriteToTFRecord(folder / "a", **options))

    with pytest.raises(OSError, match="once"):
        attempt()
    assert [path for path in paths_in(folder) if not path.startswith(".")] == []
    files = written(attempt())
    check_files(folder, files)
    assert sorted(records_in(*(file.path for file in files))) == sorted(RECORDS)


@pytest.fixture
def faults(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, no_waiting: None
) -> Callable[..., None]:
    """Makes Beam's files fail as told; see `FaultyFileSystem`."""

    def plan(**options: Any) -> None:
        file_system = FaultyFileSystem(
            tmp_path_factory.mktemp("plan"), BeamOutputFileSystem(), **options
        )
        monkeypatch.setattr(write_steps, "BeamOutputFileSystem", lambda: file_system)

    return plan


WAYS: list[dict[str, Any]] = [{}, {"num_shards": 3}]
"""Options by which bundles write whole files, or spill."""


@pytest.mark.parametrize("options", WAYS)
def test_what_fails_once_does_no_harm(
    tmp_path: pathlib.Path, faults: Callable[..., None], options: dict[str, Any]
) -> None:
    faults(fail={"rename": 1, "delete": 1, "remove_folder": 1})
    (tmp_path / "a-00007-of-00009.tfrecord").touch()
    files = write(RECORDS, tmp_path / "a", mode="overwrite", **options)
    check_files(tmp_path, files)
    assert sorted(records_in(*(file.path for file in files))) == sorted(RECORDS)


@pytest.mark.parametrize("options", WAYS)
def test_rename_that_always_fails_fails_the_pipeline(
    tmp_path: pathlib.Path, faults: Callable[..., None], options: dict[str, Any]
) -> None:
    faults(fail={"rename": ALWAYS}, only="-00000-of")
    with pytest.raises(WriteError, match=r"Expected to rename, found .* - at .*a-00000-of-0000"):
        write(RECORDS, tmp_path / "a", **options)
    visible = [path for path in paths_in(tmp_path) if not path.startswith(".")]
    assert all(name.startswith(("a-00001-", "a-00002-")) for name in visible)


@pytest.mark.parametrize("options", WAYS)
def test_full_disk_leaves_no_final_file(
    tmp_path: pathlib.Path, faults: Callable[..., None], options: dict[str, Any]
) -> None:
    (tmp_path / "a-00007-of-00009.tfrecord").touch()
    faults(room=100)
    with pytest.raises(WriteError, match="No space left on device"):
        write(RECORDS, tmp_path / "a", mode="overwrite", **options)
    visible = [path for path in paths_in(tmp_path) if not path.startswith(".")]
    assert visible == ["a-00007-of-00009.tfrecord"]


def test_records_that_get_lost_are_missed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = BundleWriter.close
    monkeypatch.setattr(
        BundleWriter,
        "close",
        lambda writer: dataclasses.replace(real(writer), num_records=len(RECORDS) + 1),
    )
    with pytest.raises(WriteError, match=r"^Expected 51 records in all files together, found 50"):
        write(RECORDS, tmp_path / "a")
    assert [path for path in paths_in(tmp_path) if not path.startswith(".")] == []


def test_local_bundle_that_fails_leaves_nothing(
    tmp_path: pathlib.Path, faults: Callable[..., None]
) -> None:
    faults(fail={"rename": ALWAYS})
    with pytest.raises(WriteError, match=r"^Expected to rename"):
        write(RECORDS, tmp_path / "a", write_locality="local")
    assert paths_in(tmp_path) == []
