"""Warnings that point at the code that called the library."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_SKIPPED = ("tfrecord_beam", "importlib")
"""Packages whose frames are skipped to find the code that caused a warning."""


def warn_caller(text: str, category: type[Warning] = UserWarning, source: object = None) -> None:
    """Issues a warning at the line that called the library, however deep inside it is raised.

    Args:
      text: of the warning.
      category: of the warning.
      source: the object that a ResourceWarning is about.
    """
    # Like `skip_file_prefixes` of `warnings.warn`, available from Python 3.12 on.
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_skipped(frame):
        frame = frame.f_back
    warnings.warn_explicit(
        text,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
        source=source,
    )


def _is_skipped(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in _SKIPPED
