"""Workers with another library than the one that made the pipeline."""

from __future__ import annotations

import copy
import inspect
import logging
import pathlib
import pickle
import re
from collections.abc import Iterator

import apache_beam as beam
import pytest
from apache_beam.internal import pickler
from apache_beam.transforms.core import _DoFnParam
from apache_beam.transforms.display import DisplayData
from apache_beam.transforms.userstate import get_dofn_specs

from tests.tfxio.example_files import NUM_RECORDS, write_files
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import TFRecordBeamError
from tfrecord_beam.transforms import workers
from tfrecord_beam.transforms.read import BeamSource
from tfrecord_beam.transforms.source import ReadRange, SplitFiles
from tfrecord_beam.transforms.workers import Apply, Environment, LibraryDoFn, check_environment
from tfrecord_beam.transforms.write_steps import WriteBundles

HERE = Environment("1.4.2", "2.77.0", "native")


def made_by(monkeypatch: pytest.MonkeyPatch, launcher: Environment) -> bytes:
    """Returns a DoFn as a launcher pickles it."""
    with monkeypatch.context() as patch:
        patch.setattr(Environment, "here", lambda: launcher)
        return pickle.dumps(SplitFiles(5, "gzip"))


def test_do_fn_comes_back_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    do_fn = SplitFiles(5, "gzip")
    for other in (
        pickle.loads(pickle.dumps(do_fn)),
        pickler.loads(pickler.dumps(do_fn)),
        copy.deepcopy(do_fn),
    ):
        assert type(other) is SplitFiles
        assert vars(other) == vars(do_fn)
    assert caplog.records == []


@pytest.mark.parametrize("version", ["9.0.0", "0.9", "1.5.0.dev3"])
def test_another_version_is_an_error(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    data = made_by(monkeypatch, Environment(version, HERE.beam, HERE.kernel))
    expected = rf"^Expected tfrecord_beam {version} on the worker, as where .*, found \d.* \(inst"
    with pytest.raises(TFRecordBeamError, match=expected):
        pickle.loads(data)
    # Also where that version has classes that this one does not know.
    with pytest.raises(TFRecordBeamError, match=expected):
        pickle.loads(data.replace(b"SplitFiles", b"SplitWorld"))


@pytest.mark.parametrize(
    ("launcher", "warning"),
    [
        (HERE, None),
        (Environment("1.4.3", "2.77.0", "native"), "^Expected tfrecord_beam 1.4.3 on the w.*1.4.2"),
        (Environment("1.4.2", "2.77.1", "native"), None),
        (Environment("1.4.2", "2.60.0", "native"), "^Expected apache_beam 2.60.0 on .*2.77.0 "),
        (Environment("1.4.2", "2.77.0", "reference"), None),
    ],
)
def test_small_differences_are_a_warning(
    caplog: pytest.LogCaptureFixture, launcher: Environment, warning: str | None
) -> None:
    check_environment(launcher, HERE)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == (warning is not None)
    assert all(re.search(warning or "", message) for message in messages)


def test_worker_without_the_extension_warns_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    here = Environment.here()
    data = made_by(monkeypatch, Environment(here.library, here.beam, "native"))
    monkeypatch.setattr("tfrecord_beam.transforms.metrics.serving_kernel", lambda: "reference")
    workers._restore_environment.cache_clear()  # as in a process that has met no launcher
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            pickle.loads(data)
    workers._restore_environment.cache_clear()
    [record] = caplog.records
    assert re.match("Expected the native kernel .*, found the reference one", record.getMessage())


def kinds_of(kind: type[LibraryDoFn]) -> Iterator[type[LibraryDoFn]]:
    yield kind
    for each in kind.__subclasses__():
        yield from kinds_of(each)


def test_beam_need_look_at_no_method_but_process() -> None:
    kinds = [*kinds_of(LibraryDoFn)]
    assert {ReadRange, WriteBundles, Apply} <= {*kinds}
    asking = {
        name
        for kind in kinds
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        for parameter in inspect.signature(method).parameters.values()
        if isinstance(parameter.default, _DoFnParam)
    }
    assert asking == {"process"}
    assert get_dofn_specs(Apply(list)) == (set(), set())


def test_the_page_of_a_job_names_the_function_of_a_step() -> None:
    shown = DisplayData.create_from(beam.ParDo(Apply(sorted))).items
    assert "sorted" in [item.value for item in shown]


def test_pipeline_ends_at_its_start(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    assert sum(batch.num_rows for batch in run(BeamSource(tmp_path))[0]) == NUM_RECORDS
    monkeypatch.setattr(
        ReadRange, "__reduce__", lambda self: (pickle.loads, (made_by(monkeypatch, HERE),))
    )
    with pytest.raises(Exception, match=r"Expected tfrecord_beam 1\.4\.2 on the worker, as where"):
        run(BeamSource(tmp_path))
