"""Damages a copy of a TFRecord file, and reads all of it that is still good.

python examples/quarantine_corrupt.py [FILE]
"""

from __future__ import annotations

import pathlib
import shutil
import sys
import tempfile

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.error_handling import ErrorHandler

import tfrecord_beam
from tfrecord_beam.records.demo import write_census

MAX_CORRUPT_RECORDS = 100


def damage(path: pathlib.Path) -> None:
    """Flips a bit in the middle of a file, and cuts its last byte off."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content[:-1])


def print_corrupt(record: tfrecord_beam.CorruptRecord) -> None:
    print(f"quarantined {record.length:,} bytes: {record}")


def main(path: str) -> None:
    # By default a corrupt record stops the pipeline. With an error handler it goes there.
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        with ErrorHandler(beam.Map(print_corrupt)) as handler:
            batches = pipeline | tfrecord_beam.BeamSource(
                path, error_handler=handler, max_corrupt_records=MAX_CORRUPT_RECORDS
            )
        _ = (
            batches
            | "CountRows" >> beam.Map(lambda batch: batch.num_rows)
            | "Sum" >> beam.CombineGlobally(sum)
            | "Print" >> beam.Map(lambda rows: print(f"good records: {rows:,}"))
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            original = pathlib.Path(sys.argv[1])
        else:
            write_census(folder, num_shards=2)
            original = pathlib.Path(folder, "data", "census-00000-of-00002.tfrecord")
        copy = pathlib.Path(folder) / f"damaged-{original.name}"
        shutil.copyfile(original, copy)
        damage(copy)
        main(str(copy))
