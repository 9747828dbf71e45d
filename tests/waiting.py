from __future__ import annotations

import time
from collections.abc import Callable

_PATIENCE_SECONDS = 60


def wait_until(condition: Callable[[], bool]) -> None:
    """Returns when a condition is met; one that is not, in a long time, is a failure."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
