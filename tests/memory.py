"""How much memory a test may take."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Iterator


@contextlib.contextmanager
def bounded_memory(most: float) -> Iterator[None]:
    """Fails if a block of code has `most` bytes or more of Python's memory at any time."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most
