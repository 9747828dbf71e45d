"""Reads TFRecord files without Beam: as a count, as batches and as one table.

python examples/read_without_beam.py [PATTERN [SCHEMA]]
"""

from __future__ import annotations

import sys
import tempfile

import tfrecord_beam
from tfrecord_beam.records.demo import write_census


def show_progress(done: int, total: int) -> None:
    print(f"\r{done:,} of {total:,} bytes", end="", file=sys.stderr)


def main(pattern: str, schema: str | None = None) -> None:
    records = tfrecord_beam.count(pattern, progress=show_progress)
    print(f"\nrecords: {records:,}")

    # For what does not fit into memory: batch by batch. Without a schema the records' features are
    # the columns.
    batches = tfrecord_beam.iter_batches(pattern, schema, batch_size=4096)
    print("rows of batches:", *(batch.num_rows for batch in batches))

    # As one table. Only the columns that are named are decoded.
    columns = tfrecord_beam.read_table(pattern, schema).column_names[:2]
    table = tfrecord_beam.read_table(pattern, schema, columns=columns)
    print(f"table of {table.num_rows:,} rows and {table.nbytes:,} bytes")
    print(table.schema)
    print(table.slice(0, 3).to_pylist())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(*write_census(folder))
