"""A standalone cluster of Flink from PyPI's `apache-flink-libraries`, on the loopback interface.

As a script it starts the cluster, Beam's job server for it (FLINK_JOB_SERVER_JAR names its jar)
and a pool of worker processes, runs a pipeline there, and stops them all::

  python -m tests.engines.loopback python -m tests.engines.flink pipeline.py ARGUMENTS...

The package holds Flink's jars, but neither its scripts nor its configuration: both kinds of
process are started here by their main classes.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from tests.engines.processes import pick_port, running, serving, serving_worker_pool

_PATIENCE_SECONDS = 120

_JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
_TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"

_OPENED = (
    *("java.net", "java.io", "java.lang", "java.lang.invoke", "java.lang.reflect", "java.math"),
    *("java.nio", "java.text", "java.time", "java.util", "java.util.concurrent"),
    *("java.util.concurrent.atomic", "java.util.concurrent.locks"),
)
"""Packages of Java that Flink looks into."""

_CONFIGURATION = """
jobmanager.rpc.address: localhost
jobmanager.rpc.port: {rpc_port}
jobmanager.bind-host: localhost
jobmanager.memory.jvm-overhead.max: 192m
rest.address: localhost
rest.bind-address: localhost
rest.port: {rest_port}
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 3
restart-strategy.fixed-delay.delay: 1 s
heartbeat.interval: 1000
heartbeat.timeout: 10000
taskmanager.host: localhost
taskmanager.bind-host: localhost
taskmanager.numberOfTaskSlots: 1
taskmanager.cpu.cores: 1
taskmanager.memory.framework.heap.size: 64m
taskmanager.memory.framework.off-heap.size: 64m
taskmanager.memory.task.heap.size: 256m
taskmanager.memory.task.off-heap.size: 0
taskmanager.memory.managed.size: 64m
taskmanager.memory.network.min: 32m
taskmanager.memory.network.max: 32m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 64m
taskmanager.memory.jvm-overhead.max: 64m
"""

_LOGGING = """
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = Console
appender.console.type = CONSOLE
appender.console.name = Console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %-5p %c{1} - %m%n
"""


def explain_missing() -> str | None:
    """Returns what a cluster lacks here, None if nothing."""
    if shutil.which("java") is None:
        return "java is not installed"
    if importlib.util.find_spec("pyflink") is None:
        return "apache-flink-libraries is not installed"
    return None


class FlinkCluster:
    """A cluster that runs.

    Args:
      folder: where configuration and logs go.
      stack: stops the processes.

    Attributes:
      address: host and port of the REST API.
      task_managers: the processes, also those that have ended.
    """

    def __init__(self, folder: pathlib.Path, stack: contextlib.ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self.task_managers: list[subprocess.Popen[bytes]] = []
        rest_port = pick_port()
        configuration = _CONFIGURATION.format(rpc_port=pick_port(), rest_port=rest_port)
        (folder / "config.yaml").write_text(configuration)
        (folder / "log4j.properties").write_text(_LOGGING)
        command = [*self._java(_JOB_MANAGER), "--executionMode", "cluster"]
        self.address = stack.enter_context(serving(command, rest_port, folder / "job_manager.log"))

    def start_task_manager(self) -> None:
        """Starts a TaskManager with one slot, of use once `wait_for_task_managers` says so."""
        log = self._folder / f"task_manager_{len(self.task_managers)}.log"
        process = self._stack.enter_context(running(self._java(_TASK_MANAGER), log))
        self.task_managers.append(process)

    def wait_for_task_managers(self, count: int) -> None:
        """Returns once the cluster has so many TaskManagers.

        Raises:
          RuntimeError: it takes too long.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (found := self._count_task_managers()) != count:
            if time.monotonic() > deadline:
                logs = [log.read_text() for log in self._folder.glob("*.log")]
                raise RuntimeError(f"Expected {count} TaskManagers, found {found}: {logs}")
            time.sleep(0.2)

    def _count_task_managers(self) -> int:
        connection = http.client.HTTPConnection(self.address)
        with contextlib.closing(connection):
            connection.request("GET", "/taskmanagers")
            answer = connection.getresponse()
            # At first it answers that it has no leader yet.
            return len(json.load(answer)["taskmanagers"]) if answer.status == 200 else 0

    def _java(self, main_class: str) -> list[str]:
        spec = importlib.util.find_spec("pyflink")
        assert spec is not None and spec.submodule_search_locations is not None
        return [
            *("java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
            f"-Dlog4j.configurationFile={self._folder}/log4j.properties",
            *("-cp", f"{spec.submodule_search_locations[0]}/lib/*"),
            *(main_class, "--configDir", str(self._folder)),
        ]


@contextlib.contextmanager
def flink_cluster(folder: pathlib.Path, *, task_managers: int) -> Iterator[FlinkCluster]:
    """Runs a cluster with so many TaskManagers; its files go to an empty folder."""
    with contextlib.ExitStack() as stack:
        cluster = FlinkCluster(folder, stack)
        for _ in range(task_managers):
            cluster.start_task_manager()
        cluster.wait_for_task_managers(task_managers)
        yield cluster


@contextlib.contextmanager
def serving_jobs(cluster: FlinkCluster, jar: str, folder: pathlib.Path) -> Iterator[str]:
    """Runs Beam's job server for a cluster, and yields its address."""
    port = pick_port()
    command = [
        *("java", "-Xmx512m", "-jar", jar, f"--flink-master={cluster.address}"),
        *("--job-host=localhost", f"--job-port={port}", "--artifact-port=0", "--expansion-port=0"),
        f"--artifacts-dir={folder / 'artifacts'}",
    ]
    with serving(command, port, folder / "job_server.log") as address:
        yield address


def pipeline_options(job_server: str, worker_pool: str) -> tuple[str, ...]:
    """Returns the options of pipelines that run on a cluster with two TaskManagers."""
    return (
        "--runner=PortableRunner",
        f"--job_endpoint={job_server}",
        "--environment_type=EXTERNAL",
        f"--environment_config={worker_pool}",
        "--parallelism=2",
    )


def _main() -> int:
    jar = os.environ.get("FLINK_JOB_SERVER_JAR")
    missing = explain_missing() or (None if jar else "FLINK_JOB_SERVER_JAR is not set")
    if jar is None or missing is not None:
        print(missing, file=sys.stderr)
        return 1
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = stack.enter_context(flink_cluster(folder, task_managers=2))
        server = stack.enter_context(serving_jobs(cluster, jar, folder))
        pool = stack.enter_context(serving_worker_pool(folder / "worker_pool.log"))
        command = [sys.executable, *sys.argv[1:], *pipeline_options(server, pool)]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(_main())
