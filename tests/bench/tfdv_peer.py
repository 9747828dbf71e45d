"""Infers schemas with TensorFlow Data Validation: a program that other interpreters can run.

It reads paths of TFRecord files from standard input, and for each infers the schema and answers
with a line: the number of records that it looked at.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from typing import Any


def infer(path: str) -> int:
    """Reads a file with tfx_bsl, makes its statistics, and of these a schema."""
    beam: Any = importlib.import_module("apache_beam")
    runner: Any = importlib.import_module("apache_beam.runners.portability.fn_api_runner")
    record: Any = importlib.import_module("tfx_bsl.tfxio.tf_example_record")
    tfdv: Any = importlib.import_module("tensorflow_data_validation")
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/statistics"
        with beam.Pipeline(runner=runner.FnApiRunner()) as pipeline:
            _ = (
                pipeline
                | record.TFExampleRecord(path).BeamSource()
                | tfdv.GenerateStatistics()
                | tfdv.WriteStatisticsToTFRecord(output)
            )
        statistics = tfdv.load_statistics(output)
    tfdv.infer_schema(statistics)
    return int(statistics.datasets[0].num_examples)


def _main() -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr  # what libraries print is no answer
    for line in sys.stdin:
        print(infer(line.rstrip("\n")), file=answers, flush=True)


if __name__ == "__main__":
    _main()
