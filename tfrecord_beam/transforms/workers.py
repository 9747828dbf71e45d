"""The check that workers run the same library as the process that built the pipeline.

A worker with another version would fail somewhere inside, or silently do something else. So each
DoFn of the library carries the versions of the process that created it, and a worker compares them
with its own before it restores the rest of the DoFn.

By semantic versioning, releases that differ only in their last number behave the same, so they get
only a warning. So do another Beam version, which has its own rules, and a worker without the native
kernel.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Callable, Iterable
from typing import Any

import apache_beam as beam

from tfrecord_beam import __version__
from tfrecord_beam.errors import TFRecordBeamError
from tfrecord_beam.transforms import metrics

_logger = logging.getLogger(__name__)

_INSTALL = "install the same version where the pipeline is made and where it runs"


@dataclasses.dataclass(frozen=True)
class Environment:
    """The versions in a process. When unpickled in another one, they are checked against its own.

    Attributes:
      library: version of tfrecord_beam.
      beam: version of apache_beam.
      kernel: the kernel in use.
    """

    library: str
    beam: str
    kernel: str

    @classmethod
    def here(cls) -> Environment:
        """Returns the environment of this process."""
        return cls(__version__, beam.__version__, metrics.serving_kernel())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_environment, dataclasses.astuple(self)


class LibraryDoFn(beam.DoFn):
    """A DoFn that can be restored only with the version of the library that created it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_do_fn, (Environment.here(), type(self), self.__dict__)

    def __dir__(self) -> list[str]:
        """Returns the only method whose signature Beam should inspect for state and timers.

        Otherwise it inspects all 30 that a DoFn inherits, nine times: a quarter of the startup time
        of a pipeline.
        """
        return ["process"]


class Apply(LibraryDoFn):
    """Applies a function as `beam.FlatMap` does: yields all that it returns for an element.

    Args:
      function: called with an element and the side inputs.
    """

    def __init__(self, function: Callable[..., Iterable[Any]]) -> None:
        self._function = function

    def process(self, *arguments: Any) -> Iterable[Any]:
        return self._function(*arguments)

    def display_data(self) -> dict[str, object]:
        return {"fn": self._function.__qualname__}


def _restore_do_fn(_: Environment, kind: type[LibraryDoFn], state: dict[str, Any]) -> LibraryDoFn:
    do_fn = kind.__new__(kind)
    do_fn.__dict__.update(state)
    return do_fn


@functools.cache  # so that a process warns once
def _restore_environment(library: str, beam_version: str, kernel: str) -> Environment:
    launcher, worker = Environment(library, beam_version, kernel), Environment.here()
    check_environment(launcher, worker)
    return launcher


def check_environment(launcher: Environment, worker: Environment) -> None:
    """Compares the environment of the launcher with that of a worker, and warns of differences.

    Raises:
      TFRecordBeamError: the versions of the library differ in more than the last number.
    """
    message = (
        f"Expected tfrecord_beam {launcher.library} on the worker, as where the pipeline was made, "
        f"found {worker.library}"
    )
    if _series(launcher.library) != _series(worker.library):
        raise TFRecordBeamError(message, hint=_INSTALL)
    if launcher.library != worker.library:
        _logger.warning("%s (%s)", message, _INSTALL)
    if _series(launcher.beam) != _series(worker.beam):
        _logger.warning(
            "Expected apache_beam %s on the worker, as where the pipeline was made, found %s (%s)",
            launcher.beam,
            worker.beam,
            _INSTALL,
        )
    if launcher.kernel == "native" != worker.kernel:
        _logger.warning(
            "Expected the native kernel on the worker, as where the pipeline was made, found the "
            "%s one: the results are the same, but it is hundreds of times slower (the counter "
            "kernel_%s counts its work; install a wheel, or a C++17 compiler before the library)",
            worker.kernel,
            worker.kernel,
        )


def _series(version: str) -> list[str]:
    """Returns the numbers of a version without the last one: ``1.4`` for ``1.4.2``."""
    return version.split(".")[:2]
