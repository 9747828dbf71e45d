"""What every test may use: the two kernels, and the Hypothesis profiles."""

from __future__ import annotations

import gc
import importlib
import os
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

# No profile has a deadline: the machine that runs the tests may be busy with other things. Only
# `ci`, of the leg `fuzz`, draws new examples each time.
_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile(
    "dev", max_examples=15, deadline=None, suppress_health_check=_QUIET, derandomize=True
)
settings.register_profile(
    "ci", max_examples=500, deadline=None, suppress_health_check=_QUIET, print_blob=True
)
# Where the same tests run again with other versions.
settings.register_profile(
    "few", max_examples=10, deadline=None, suppress_health_check=_QUIET, derandomize=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_configure(config: pytest.Config) -> None:
    # Old versions of Hypothesis ask the garbage collector who holds their own random generator, and
    # take it for dropped once it is frozen, as below.
    config.addinivalue_line("filterwarnings", "ignore:It looks like .register_random.")


def pytest_collection_finish() -> None:
    """Spares the garbage collector what stays until the end: thousands of tests, all modules."""
    gc.collect()
    gc.freeze()


_NO_NATIVE = os.environ.get("TFRECORD_BEAM_NO_NATIVE") == "1"
if _NO_NATIVE:  # The warning about the fallback would be an error: whoever sets this knows.
    os.environ.setdefault("TFRECORD_BEAM_KERNEL", "reference")


def _import_native() -> ModuleType:
    """Imports the C++ kernel; a missing one is a failure unless TFRECORD_BEAM_NO_NATIVE=1."""
    if _NO_NATIVE:
        pytest.skip("TFRECORD_BEAM_NO_NATIVE=1")
    try:
        return importlib.import_module("tfrecord_beam.kernel._native")
    except ImportError as error:
        pytest.fail(
            f"Expected the native kernel, found {error!r} "
            "(build it, or set TFRECORD_BEAM_NO_NATIVE=1)",
            pytrace=False,
        )


def _import_reference() -> ModuleType:
    return importlib.import_module("tfrecord_beam.kernel.reference")


@pytest.fixture(scope="session")
def native() -> ModuleType:
    """The C++ kernel."""
    return _import_native()


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """The kernel on google.protobuf, crc32c and pyarrow."""
    return _import_reference()


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a write tries again it tries again at once."""
    monkeypatch.setattr("tfrecord_beam.records.writing.retries.WAITS_SEC", (0, 0, 0))


@pytest.fixture(scope="session", params=["native", "reference"])
def kernel(request: pytest.FixtureRequest) -> ModuleType:
    """Each of the two kernels in turn; what is asserted of one is asserted of the other."""
    return _import_native() if request.param == "native" else _import_reference()
