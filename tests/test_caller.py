"""Warnings point at the line that called the library."""

from __future__ import annotations

import ast
import inspect
import pathlib
import subprocess
import sys
import warnings

import pytest

import tfrecord_beam
from tfrecord_beam.caller import warn_caller

PACKAGE = pathlib.Path(tfrecord_beam.__file__).parent


def test_place_and_text() -> None:
    frame = inspect.currentframe()
    assert frame is not None
    with pytest.warns(RuntimeWarning, match=r"^slow$") as found:
        line = frame.f_lineno + 1
        warn_caller("slow", RuntimeWarning)
    assert (found[0].filename, found[0].lineno) == (__file__, line)


def test_same_warning_of_a_line_is_shown_once() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_caller("slow")
    assert len(found) == 1


def test_program_that_only_imports() -> None:
    """The frames of importlib are no callers."""
    program = (
        "import sys; sys.modules['tfrecord_beam.kernel._native'] = None\n\n"
        "import tfrecord_beam.kernel"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PACKAGE.parent,
        env={"TFRECORD_BEAM_KERNEL": "auto"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.startswith("<string>:3: RuntimeWarning: The native kernel cannot be imp")


def test_there_is_no_other_way() -> None:
    wrong = [
        str(path)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "warnings.warn"
    ]
    assert wrong == []
