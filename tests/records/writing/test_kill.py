"""Processes killed while they write: files are whole or not there, and a retry is exact."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize(
    ("how", "mode"),
    [
        ("table", "error"),
        ("table", "overwrite"),
        ("table", "append"),
        ("pipeline", "overwrite"),
    ],
)
def test_killed_at_each_operation(tmp_path: pathlib.Path, how: str, mode: str) -> None:
    command = [sys.executable, "-m", "tests.isolated.kill_writes", how, mode, str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 20
