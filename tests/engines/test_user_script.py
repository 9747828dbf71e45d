"""A script as users write it, which starts Prism by Beam's own means."""

from __future__ import annotations

import pathlib
import sys

import pytest

from tests.engines.processes import finished
from tests.tfxio.example_files import NUM_RECORDS, write_files

SCRIPT = """
import sys

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from tfrecord_beam import BeamSource


def ids_of(batch):
    return [value for [value] in batch["id"].to_pylist()]


if __name__ == "__main__":
    folder, output, *options = sys.argv[1:]
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        (
            pipeline
            | BeamSource(folder, columns=["id"])
            | beam.FlatMap(ids_of)
            | beam.io.WriteToText(output)
        )
"""


@pytest.mark.parametrize("environment", ["loopback", "pool"])
def test_script(
    prism_binary: str,
    environment: str,
    request: pytest.FixtureRequest,
    tmp_path: pathlib.Path,
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write_files(data)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    options = ["--runner=PrismRunner", f"--prism_location={prism_binary}"]
    if environment == "pool":
        pool = request.getfixturevalue("worker_pool")
        options += ["--environment_type=EXTERNAL", f"--environment_config={pool}"]
    command = [sys.executable, str(script), str(data), str(tmp_path / "ids"), *options]
    assert finished(command, tmp_path / "log") == 0, (tmp_path / "log").read_text()
    ids = [int(line) for part in tmp_path.glob("ids-*") for line in part.read_text().splitlines()]
    assert sorted(ids) == list(range(NUM_RECORDS))
