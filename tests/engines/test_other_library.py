"""Worker processes that have another library than the process that makes the pipeline."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
from collections.abc import Iterator

import apache_beam as beam
import pytest

import tfrecord_beam
from tests.engines.engine import Collect, Engine, collected, prism_options
from tests.engines.processes import ROOT, serving_worker_pool
from tests.tfxio.example_files import NUM_RECORDS, SCHEMA, write_files
from tfrecord_beam import BeamSource, kernel

PACKAGE = pathlib.Path(tfrecord_beam.__file__).parent


@pytest.fixture
def library(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the package, to change, in a folder with these tests."""
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE, folder / "tfrecord_beam")
    (folder / "tests").symlink_to(ROOT / "tests")
    return folder


@contextlib.contextmanager
def running_with(library: pathlib.Path, prism: str, log: pathlib.Path) -> Iterator[Engine]:
    with serving_worker_pool(log, python_path=library) as pool:
        yield Engine(prism_options(prism, pool))


def test_another_version(prism: str, library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    module = library / "tfrecord_beam" / "__init__.py"
    here = f'__version__ = "{tfrecord_beam.__version__}"'
    assert here in module.read_text()
    module.write_text(module.read_text().replace(here, '__version__ = "9.0.0"'))
    write_files(tmp_path)
    source = BeamSource(f"{tmp_path}/*.tfrecord*", SCHEMA)
    with (
        running_with(library, prism, tmp_path / "log") as engine,
        pytest.raises(RuntimeError) as failure,
    ):
        engine.run(lambda pipeline: pipeline | source | Collect(tmp_path / "batches"))
    assert (
        f"Expected tfrecord_beam {tfrecord_beam.__version__} on the worker, as where the pipeline "
        "was made, found 9.0.0 (install the same version" in str(failure.value)
    )


@pytest.mark.skipif(kernel.implementation != "native", reason="the launcher needs the extension")
def test_no_extension(prism: str, library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for extension in library.glob("tfrecord_beam/kernel/_native*.so"):
        extension.unlink()
    write_files(tmp_path)
    log = tmp_path / "log"
    source = BeamSource(f"{tmp_path}/*.tfrecord*", SCHEMA, columns=["id"])
    with running_with(library, prism, log) as engine:
        counters = engine.run(
            lambda pipeline: (
                pipeline
                | source
                | beam.Map(lambda batch: batch["id"].to_pylist())
                | Collect(tmp_path / "ids")
            )
        )
    assert sorted(sum(collected(tmp_path / "ids"), [])) == [[i] for i in range(NUM_RECORDS)]
    assert counters["kernel_reference"] > 0
    assert "kernel_native" not in counters
    assert log.read_text().count("Expected the native kernel on the worker") == 1
