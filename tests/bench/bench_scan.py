"""Frame scanning: GB/s with both CRCs checked, against a memcpy of the same bytes.

Size: 100 MB of census records (about 430 bytes each) and of images (30 kB each), in memory,
in steps of one block (8 MiB), as the reader does it.
"""

from __future__ import annotations

import functools
import importlib
import io
from collections.abc import Callable
from typing import Any

from tests.bench import generate_data, harness
from tfrecord_beam import kernel

_MEGABYTES = 100

_BLOCK_BYTES = 8 << 20


def _scan(data: bytes, *, validate_crc: bool) -> int:
    records, position = 0, 0
    while position < len(data):
        scan = kernel.scan(data, start=position, max_bytes=_BLOCK_BYTES, validate_crc=validate_crc)
        records += len(scan.lengths)
        position = scan.end
    return records


def _for_each_block(data: bytes, records: int, function: Callable[[memoryview], object]) -> int:
    view = memoryview(data)
    for position in range(0, len(data), _BLOCK_BYTES):
        function(view[position : position + _BLOCK_BYTES])
    return records


def _copy(data: bytes, records: int) -> int:
    target = memoryview(bytearray(_BLOCK_BYTES))

    def copy(block: memoryview) -> None:
        target[: len(block)] = block

    return _for_each_block(data, records, copy)


def _checksum(data: bytes, records: int) -> int:
    crc32c: Any = importlib.import_module("crc32c")
    return _for_each_block(data, records, crc32c.crc32c)


def _read_records_beam(data: bytes) -> int:
    tfrecordio: Any = importlib.import_module("apache_beam.io.tfrecordio")
    file, records = io.BytesIO(data), 0
    while tfrecordio._TFRecordUtil.read_record(file) is not None:
        records += 1
    return records


def measure(run: harness.Run) -> None:
    for name in ("census", "images"):
        count = run.count(generate_data.count_for_bytes(name, _MEGABYTES * 10**6))
        data = generate_data.write_dataset(name, count, run.folder).read_bytes()
        jobs: list[tuple[str, Callable[[], int], str | None]] = [
            ("scan, both CRCs", functools.partial(_scan, data, validate_crc=True), None),
            ("scan, no CRC", functools.partial(_scan, data, validate_crc=False), None),
            ("memcpy", functools.partial(_copy, data, count), None),
            ("crc32c package, no frames", functools.partial(_checksum, data, count), "crc32c"),
            ("Beam's read_record", functools.partial(_read_records_beam, data), "google_crc32c"),
        ]
        run.compare(
            f"scan {name}: {len(data) / 1e6:.0f} MB, {count:,} records",
            [harness.Case(title, job, count, len(data), needs) for title, job, needs in jobs],
        )


if __name__ == "__main__":
    harness.main(measure, __doc__)
