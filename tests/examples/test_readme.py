"""The Python of README.md runs as it stands there, on files by the names that it uses."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.examples.test_examples import ROOT
from tfrecord_beam import BeamSource
from tfrecord_beam.records.demo import write_census
from tfrecord_beam.schema.tfmd import load_schema

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_all_are_found() -> None:
    assert len(BLOCKS) == README.count("```python") >= 4


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_block(block: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "import torch" in block or "from torch" in block:
        pytest.importorskip("torch")
    data = tmp_path / "data"
    data.mkdir()
    demo = write_census(data, num_records=60)
    pathlib.Path(demo.schema).rename(tmp_path / "schema.pbtxt")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {  # what a reader has from the text or from an earlier block
        "beam": beam,
        "BeamSource": BeamSource,
        "FnApiRunner": FnApiRunner,
        "pattern": "data/*.tfrecord",
        "pipeline": beam.Pipeline(runner=FnApiRunner()),
        "schema": load_schema("schema.pbtxt"),
    }
    # Beam's own choice of a runner may be one that it downloads.
    exec(block.replace("beam.Pipeline()", "beam.Pipeline(runner=FnApiRunner())"), names)
    names["pipeline"].run().wait_until_finish()
    if "table" in names:
        assert names["table"].num_rows == 40  # without the file that is compressed
