"""Each example runs by itself, on data that it makes and on files that it is given."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from tfrecord_beam.records.demo import write_census

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

# What each prints of the demo data, and of 60 records in two files (or in the first of them).
PRINTED = {
    "convert_parquet.py": (r"^all: 15,000 records$", r"^all: 60 records$"),
    "quarantine_corrupt.py": (r"^good records: 7,498$", r"^good records: 28$"),
    "read_census.py": (r"records: 15,000$", r"records: 60$"),
    "read_without_beam.py": (r"^table of 15,000 rows", r"^table of 60 rows"),
    "tfxio_drop_in.py": (r"^15,000 rows of", r"^60 rows of"),
    "write_partitions.py": (r"^read again: 15,000 records", r"^read again: 60 records"),
    "train_torch.py": (r"^epoch 1: 15,000 records, loss 0\.", r"^epoch 1: 60 records, loss "),
}

NEEDS = {"train_torch.py": "torch"}

# Run by the tests of tests/compat.
WITH_TENSORFLOW = ("census_model.py", "census_tft.py")


def run(name: str, *arguments: str) -> str:
    """Returns what an example prints; skips the test where what it needs is not installed."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name} needs {NEEDS[name]}")
    finished = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_all_are_tested() -> None:
    found = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    assert found == {*PRINTED, *WITH_TENSORFLOW}


@pytest.mark.parametrize("name", PRINTED)
def test_without_arguments(name: str) -> None:
    assert re.search(PRINTED[name][0], run(name), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_with_a_path(name: str, tmp_path: pathlib.Path) -> None:
    demo = write_census(tmp_path, num_records=60, num_shards=2)
    arguments = [*demo]
    if name == "quarantine_corrupt.py":
        arguments = [str(tmp_path / "data" / "census-00000-of-00002.tfrecord")]
    assert re.search(PRINTED[name][1], run(name, *arguments), re.MULTILINE)


@pytest.mark.parametrize("name", [*PRINTED, *WITH_TENSORFLOW])
def test_is_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 80
