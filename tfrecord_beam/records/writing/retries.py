"""What fails once may work a moment later."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tfrecord_beam.errors import WriteError

WAITS_SEC = (0.1, 0.5, 2.0)
"""Before the second, the third and the last attempt."""

_LASTING = (FileExistsError, IsADirectoryError, NotADirectoryError)
"""What no further attempt would change."""

_Result = TypeVar("_Result")


def retry(action: Callable[[], _Result]) -> _Result:
    """Returns what an action gives, which is tried again where it raises WriteError."""
    for wait_sec in WAITS_SEC:
        try:
            return action()
        except WriteError as error:
            if isinstance(error.__cause__, _LASTING):
                raise
            time.sleep(wait_sec)
    return action()
