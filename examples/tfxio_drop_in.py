"""Reads with TFXIO's TFExampleRecord: the same as with tfx_bsl, but for the import.

python examples/tfxio_drop_in.py [PATTERN SCHEMA]
"""

from __future__ import annotations

import sys
import tempfile

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tfrecord_beam.records.demo import write_census
from tfrecord_beam.schema.tfmd import load_schema
from tfrecord_beam.tfxio import tf_example_record  # was: from tfx_bsl.tfxio import ...


def main(pattern: str, schema: str) -> None:
    tfxio = tf_example_record.TFExampleRecord(
        file_pattern=pattern,
        schema=load_schema(schema),
        telemetry_descriptors=["example"],
    )
    print("columns:", ", ".join(tfxio.ArrowSchema().names))

    names = sorted(tfxio.TensorRepresentations())[:2]
    projected = tfxio.Project(names)
    for name, representation in projected.TensorRepresentations().items():
        print(f"tensor {name}: {representation.WhichOneof('kind')}")

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        _ = (
            pipeline
            | "Read" >> projected.BeamSource(batch_size=4096)
            | "Describe" >> beam.Map(lambda batch: (tuple(batch.schema.names), batch.num_rows))
            | "Sum" >> beam.CombinePerKey(sum)
            | "Print" >> beam.MapTuple(lambda columns, rows: print(f"{rows:,} rows of {columns}"))
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(*write_census(folder))
