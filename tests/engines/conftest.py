"""The engines: Prism with workers in this process and with workers apart, and Flink.

The environment variable TFRECORD_BEAM_PRISM tells where Prism is. It is built by
``go install github.com/apache/beam/sdks/v2/go/cmd/prism@v2.77.0``, or another version of Beam.
FLINK_JOB_SERVER_JAR tells where Beam's job server for Flink is; see `tests.engines.flink`.

Prism and Beam's worker pool listen on all interfaces while these tests run, but where these are
started by `tests.engines.loopback`.
"""

from __future__ import annotations

import os
import pathlib
import signal
import threading
from collections.abc import Iterator

import pytest

from tests.engines.engine import Engine, prism_options
from tests.engines.flink import (
    FlinkCluster,
    explain_missing,
    flink_cluster,
    pipeline_options,
    serving_jobs,
)
from tests.engines.processes import pick_port, serving, serving_worker_pool


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
    with serving_worker_pool(tmp_path_factory.mktemp("worker_pool") / "log") as address:
        yield address


@pytest.fixture(scope="session")
def flink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    """A cluster of Flink with two TaskManagers."""
    if missing := explain_missing():
        pytest.skip(missing)
    with flink_cluster(tmp_path_factory.mktemp("flink"), task_managers=2) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def flink_jobs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of Beam's job server for the cluster."""
    jar = os.environ.get("FLINK_JOB_SERVER_JAR")
    if not jar:
        pytest.skip("FLINK_JOB_SERVER_JAR, the path of Beam's job server for Flink, is not set")
    cluster: FlinkCluster = request.getfixturevalue("flink")
    with serving_jobs(cluster, jar, tmp_path_factory.mktemp("flink_jobs")) as address:
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
    return Engine(prism_options(prism, worker_pool))


@pytest.fixture(scope="session")
def flink_engine(flink_jobs: str, worker_pool: str) -> Engine:
    """Flink, whose workers are processes of their own."""
    return Engine(pipeline_options(flink_jobs, worker_pool))


@pytest.fixture(scope="session", params=["loopback", "pool"])
def prism_engine(request: pytest.FixtureRequest) -> Engine:
    """Prism with its worker in this process, then with workers that are others."""
    return _find_engine(request)


@pytest.fixture(scope="session", params=["pool", "flink"])
def processes_engine(request: pytest.FixtureRequest) -> Engine:
    """The engines whose workers are processes of their own."""
    return _find_engine(request)


@pytest.fixture(scope="session", params=["loopback", "pool", "flink"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """All engines in turn."""
    return _find_engine(request)


def _find_engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found
