"""Starts the processes of an engine and stops every one of them."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

_START_SECONDS = 120
_RUN_SECONDS = 240

ROOT = pathlib.Path(__file__).parents[2]

_WORKER = pathlib.Path(__file__).with_name("sdk_worker.py")


def pick_port() -> int:
    """Returns a port of the loopback interface that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def running(
    command: Sequence[str], log: pathlib.Path, *, python_path: pathlib.Path = ROOT
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a command that sees the tests and this Python, and stops all that is left of it.

    It leads a process group: so what it started is stopped too, even if nobody asks for that any
    more.

    Args:
      command: what to run.
      log: the file for its output.
      python_path: where the tests and the library are.
    """
    paths = {"PATH": pathlib.Path(sys.executable).parent, "PYTHONPATH": python_path}
    env = {
        name: os.pathsep.join(filter(None, (str(first), os.environ.get(name))))
        for name, first in paths.items()
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _stop_group(process)


@contextlib.contextmanager
def serving(
    command: Sequence[str], port: int, log: pathlib.Path, *, python_path: pathlib.Path = ROOT
) -> Iterator[str]:
    """Runs a server that listens on `port`, see `running`, and yields its address."""
    with running(command, log, python_path=python_path) as server:
        _wait_until_listening(server, port, log)
        yield f"localhost:{port}"


@contextlib.contextmanager
def serving_worker_pool(log: pathlib.Path, *, python_path: pathlib.Path = ROOT) -> Iterator[str]:
    """Runs Beam's pool, which starts a process for each environment, and yields its address."""
    port = pick_port()
    command = [
        *(sys.executable, "-m", "apache_beam.runners.worker.worker_pool_main"),
        *(f"--service_port={port}", f"--container_executable={_WORKER}"),
    ]
    with serving(command, port, log, python_path=python_path) as address:
        yield address


def finished(command: Sequence[str], log: pathlib.Path) -> int:
    """Runs a command to its end and returns its exit status."""
    with running(command, log) as process:
        return process.wait(_RUN_SECONDS)


def _stop_group(leader: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)
    leader.wait()


def _wait_until_listening(server: subprocess.Popen[bytes], port: int, log: pathlib.Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("localhost", port)):
            return
        time.sleep(0.05)
    raise RuntimeError(
        f"Expected {server.args!r} to listen on port {port}, found {log.read_text()}"
    )
