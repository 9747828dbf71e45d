"""Prism, the portable engine of Beam, with workers in this process and with workers apart.

The environment variable TFRECORD_BEAM_PRISM tells where Prism is. It is built by
``go install github.com/apache/beam/sdks/v2/go/cmd/prism@v2.77.0``, or another version of Beam.

Prism and Beam's worker pool listen on all interfaces: neither has an option to bind them to the
loopback one. They do so only while these tests run.
"""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.engines.engine import Engine
from tests.engines.processes import pick_port, serving


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets threads of Beam's worker in this process fail late.

    Prism forgets a worker as soon as its job is done, and a thread of the worker that is still
    starting then complains. What the job gave is what the tests look at.
    """
    ignored = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    folder = pathlib.Path(__file__).parent
    for item in items:
        if folder in item.path.parents:
            item.add_marker(ignored)


@pytest.fixture(scope="session", autouse=True)
def stop_processes_on_termination() -> Iterator[None]:
    """Makes SIGTERM, which by itself would leave them running, the same as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def prism_binary() -> str:
    """The path of Prism."""
    binary = os.environ.get("TFRECORD_BEAM_PRISM")
    if not binary:
        pytest.skip("TFRECORD_BEAM_PRISM, the path of Beam's engine Prism, is not set")
    return binary


@pytest.fixture(scope="session")
def prism(prism_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prism."""
    port = pick_port()
    command = [prism_binary, f"--job_port={port}", "--serve_http=false"]
    with serving(command, port, tmp_path_factory.mktemp("prism") / "log") as address:
        yield address
        _join_worker_threads()


def _join_worker_threads() -> None:
    """Waits for workers in this process, which complain if Prism goes before them."""
    for thread in threading.enumerate():
        if thread.name.startswith("run_worker_"):
            thread.join(10)


@pytest.fixture(scope="session")
def worker_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a pool, which starts a process for each environment of a pipeline."""
    port = pick_port()
    module = "apache_beam.runners.worker.worker_pool_main"
    command = [sys.executable, "-m", module, f"--service_port={port}"]
    with serving(command, port, tmp_path_factory.mktemp("worker_pool") / "log") as address:
        yield address


@pytest.fixture(scope="session")
def loopback_engine(prism: str) -> Engine:
    """Prism with its worker in this process."""
    return Engine(
        ("--runner=PrismRunner", f"--job_endpoint={prism}", "--environment_type=LOOPBACK")
    )


@pytest.fixture(scope="session")
def pool_engine(prism: str, worker_pool: str) -> Engine:
    """Prism with workers that are processes of their own."""
    return Engine(
        (
            "--runner=PrismRunner",
            f"--job_endpoint={prism}",
            "--environment_type=EXTERNAL",
            f"--environment_config={worker_pool}",
        )
    )


@pytest.fixture(scope="session", params=["loopback", "pool"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Prism with its worker in this process, then with workers that are others."""
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found
