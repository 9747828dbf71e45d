"""Memory in use does not grow with the number of calls, failed calls included."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

# What loses one object, or one small buffer, a call adds a block, or tens of bytes, a round.
ROUNDS = {"_native": 1500, "reference": 150}


@pytest.mark.slow
@pytest.mark.skipif(
    not (sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2")),
    reason="needs glibc's count of allocated bytes",
)
def test_memory_does_not_grow_with_the_number_of_calls(kernel: ModuleType) -> None:
    name = kernel.__name__.rpartition(".")[2]
    rounds = ROUNDS[name]
    finished = subprocess.run(
        [sys.executable, "-m", "tests.isolated.measure_leaks", name, str(rounds)],
        cwd=ROOT,
        env={**os.environ, "TFRECORD_BEAM_KERNEL": name.strip("_")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    lines = [line.split(maxsplit=2) for line in finished.stdout.splitlines()]
    assert len(lines) == 18
    leaks = [line for line in lines if int(line[0]) > 16 * rounds or int(line[1]) > rounds / 2]
    assert leaks == []
