"""The Python of README.md and docs/ runs as it stands there, on files by the names that it uses."""

from __future__ import annotations

import pathlib
import re
import sys
from typing import Any

import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.examples.test_examples import ROOT
from tfrecord_beam.records.demo import write_census

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = {
    f"{page.stem}-{number}": block
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
}

NEEDS = {"torch": "torch", "tfx_bsl": "tfx_bsl", "spark.read": "pyspark"}
"""What stands in a block that needs a package, and the package."""


def test_all_are_found() -> None:
    assert len(BLOCKS) == sum(page.read_text("utf-8").count("```python") for page in PAGES) >= 14


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_block(block: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Beam's own choice of a runner may be one that it downloads.
    code = compile(block.replace("beam.Pipeline(", "beam.Pipeline(FnApiRunner(), "), "", "exec")
    for text, package in NEEDS.items():
        if text in block:
            pytest.importorskip(package)
    if "spark.read" in block or "--runner=DataflowRunner" in block:
        pytest.skip("needs a session of Spark, or a project of Google Cloud")
    write_census(tmp_path, num_records=60)
    (tmp_path / "in").symlink_to(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["pipeline.py"])  # of which Beam takes its options
    names: dict[str, Any] = {"FnApiRunner": FnApiRunner}
    exec(code, names)
    if "table" in names:
        assert names["table"].num_rows >= 40  # and 20 in the file that is compressed
