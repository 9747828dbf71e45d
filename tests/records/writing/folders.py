"""What is in a folder of a write, for tests of what writes there."""

from __future__ import annotations

import pathlib

import pyarrow as pa

from tfrecord_beam.records.files import iter_blocks


def paths_in(folder: pathlib.Path) -> list[str]:
    """Returns the files and the hidden folders below a folder, by their relative paths."""
    return sorted(
        str(path.relative_to(folder)) + "/" * path.is_dir()
        for path in folder.rglob("*")
        if path.is_file() or path.name.startswith(".")
    )


def records_in(*paths: object) -> list[bytes]:
    """Returns the records of files, in their order."""
    return [
        record for path in paths for block in iter_blocks(str(path)) for record in block.records()
    ]


def batch_of(*records: bytes) -> pa.RecordBatch:
    """Returns a batch for record_type="ByteArray"."""
    return pa.record_batch({"record": pa.array(records, pa.binary())})
