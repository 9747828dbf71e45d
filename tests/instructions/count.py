"""Counts the instructions of the native kernel, so that a slower one shows without a clock.

    python -m tests.instructions.count            compares with figures.json; fails where it grew
    python -m tests.instructions.count --store    writes figures.json

callgrind counts what one process executes. Only the extension's own instructions are taken, not
those of Python, nor of the C library, which chooses other functions on other CPUs; and a process
with more calls less one with fewer, so that loading does not count. Then the figures depend on
nothing but the sources and the compiler: they are of the compiler that figures.json names, with
which the extension must have been built.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests import wire
from tests.instructions.work import COLUMNS, STEP_COLUMNS
from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import Kind

FIGURES = Path(__file__).with_name("figures.json")
FUNCTIONS = ("scan", "decode", "decode_two_columns", "decode_steps", "encode")
TOLERANCE = 0.05
"""Another release of the same compiler differs by less."""

_RECORDS = 500
_WORDS = [b"Bachelors", b"HS-grad", b"Masters", b"Some-college", b"11th"]


def make_records(name: str, count: int) -> list[bytes]:
    """Returns the records for a function, always the same."""
    source = random.Random(1)
    make = _make_sequence_example if name == "decode_steps" else _make_example
    return [make(source) for _ in range(count)]


def _make_example(source: random.Random) -> bytes:
    """Returns a record like those of a census."""
    return wire.example(
        *(
            wire.entry(name, _make_feature(source, kind, 16 if name == "vector" else 1))
            for name, kind in COLUMNS.items()
        )
    )


def _make_sequence_example(source: random.Random) -> bytes:
    """Returns a record of some steps, each of some values."""
    return wire.sequence_example(
        *(
            wire.feature_list(
                name,
                *(_make_feature(source, kind, source.randrange(1, 4)) for _ in range(12)),
            )
            for name, kind in STEP_COLUMNS.items()
        )
    )


def _make_feature(source: random.Random, kind: Kind, length: int) -> bytes:
    if kind == Kind.BYTES:
        return wire.bytes_list(*(source.choice(_WORDS) for _ in range(length)))
    if kind == Kind.INT64:
        bits = (source.choice((7, 7, 20)) for _ in range(length))
        return wire.int64(*(source.randrange(1 << each) for each in bits))
    return wire.floats(*(source.random() for _ in range(length)))


def count_self(lines: Iterable[str], object_name: str) -> int:
    """Returns the instructions that callgrind counted in the code of one object file.

    Args:
      lines: its output, with names and positions not compressed.
      object_name: what the path of the object file holds.
    """
    total = 0
    is_inside = is_call = False
    for line in lines:
        key, separator, value = line.rstrip("\n").partition("=")
        if separator:
            is_call = key == "calls"  # the next line is what the call took
            if key == "ob":
                is_inside = object_name in value
        elif line[:1].isdigit():
            total += int(line.split()[1]) if is_inside and not is_call else 0
            is_call = False
    return total


def _run(name: str, repeats: int, data: Path) -> int:
    out = data.with_name(f"{name}.{repeats}")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    command += ["--compress-strings=no", "--compress-pos=no", sys.executable]
    command += ["-m", "tests.instructions.work", name, str(data), str(repeats)]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "TFRECORD_BEAM_KERNEL": "native"}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True)
    if finished.returncode:
        raise RuntimeError(f"Expected {name} to be counted, found:\n{finished.stderr}")
    with out.open(encoding="utf-8") as lines:
        return count_self(lines, "kernel/_native.")


def count(name: str, folder: Path) -> float:
    """Returns the instructions of one function for each record; a folder takes its files."""
    data = folder / f"{name}.tfrecord"
    data.write_bytes(kernel.frame(make_records(name, _RECORDS)))
    return (_run(name, 3, data) - _run(name, 1, data)) / 2 / _RECORDS


def compare(stored: dict[str, float], found: dict[str, float]) -> list[str]:
    """Prints all figures, and returns the names of the functions that take more than they may."""
    grown = []
    for name, value in found.items():
        change = value / stored[name] - 1
        print(f"{name:20} {value:10.1f} a record, stored {stored[name]:10.1f}, {change:+.1%}")
        if change > TOLERANCE:
            grown.append(name)
        elif change < -TOLERANCE:
            print(f"{name:20} is faster: store the new figure, so that it is kept")
    return grown


def main() -> int:
    """Does what the command line asks for; returns 1 if a function takes more than it may."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", action="store_true", help="write the figures")
    is_storing = parser.parse_args().store
    known = json.loads(FIGURES.read_text("utf-8"))
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        figures = pool.map(functools.partial(count, folder=Path(folder)), FUNCTIONS)
        found = dict(zip(FUNCTIONS, figures, strict=True))
    if is_storing:
        rounded = {name: round(value, 1) for name, value in found.items()}
        known["instructions_a_record"] = rounded
        FIGURES.write_text(json.dumps(known, indent=2) + "\n", "utf-8")
        return 0
    grown = compare(known["instructions_a_record"], found)
    for name in grown:
        print(f"Expected {name} to take at most {TOLERANCE:.0%} more than stored, found more")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
