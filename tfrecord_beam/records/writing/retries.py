"""Retries of operations that may fail temporarily."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tfrecord_beam.errors import WriteError

WAITS_SEC = (0.1, 0.5, 2.0)
"""Delays before the second, the third and the last attempt."""

_LASTING = (FileExistsError, IsADirectoryError, NotADirectoryError)
"""Errors for which a retry is useless."""

_Result = TypeVar("_Result")


def retry(action: Callable[[], _Result]) -> _Result:
    """Returns the result of an action, which is retried if it raises WriteError."""
    for wait_sec in WAITS_SEC:
        try:
            return action()
        except WriteError as error:
            if isinstance(error.__cause__, _LASTING):
                raise
            time.sleep(wait_sec)
    return action()
