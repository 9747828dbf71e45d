from __future__ import annotations

import time
from collections.abc import Callable

_PATIENCE_SECONDS = 60


def wait_until(condition: Callable[[], bool]) -> None:
    """Returns when a condition is met; one that is not, in a long time, is a failure."""
    assert wait_for(condition, _PATIENCE_SECONDS)


def wait_for(condition: Callable[[], bool], most_seconds: float) -> bool:
    """Returns when a condition is met, or after so long: whether it is."""
    deadline = time.monotonic() + most_seconds
    while not (done := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return done
