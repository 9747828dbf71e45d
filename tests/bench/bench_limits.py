"""How far reading is from what the machine can do: each step by itself, beside a copy of the bytes.

Size: 100 MB of census records and of dense ones, one thread. The steps of `iter_batches`, on the
whole file: reading it into memory that is used again, checksums alone, frames with both checksums,
decoding; then all of it. A copy of the bytes in memory is the bound.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tests.bench import generate_data, harness, readers
from tfrecord_beam import kernel
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.reader import BLOCK_BYTES
from tfrecord_beam.schema.arrow import decode_plan

_BYTES = 100_000_000


def _views(data: bytes) -> Iterator[memoryview]:
    view = memoryview(data)
    return (view[start : start + BLOCK_BYTES] for start in range(0, len(data), BLOCK_BYTES))


def _copy(data: bytes, target: memoryview, count: int) -> int:
    for view in _views(data):
        target[: len(view)] = view
    return count


def _read(path: Path, target: memoryview, count: int) -> int:
    with path.open("rb", buffering=0) as file:
        while file.readinto(target):
            pass
    return count


def _checksum(data: bytes, count: int) -> int:
    for view in _views(data):
        kernel.crc32c(view)
    return count


def _scan(data: bytes) -> list[RecordBlock]:
    blocks, position = [], 0
    while position < len(data):
        scan = kernel.scan(data, start=position, max_bytes=BLOCK_BYTES)
        spans = np.frombuffer(scan.offsets, np.int64), np.frombuffer(scan.lengths, np.int64)
        blocks.append(RecordBlock("memory", 0, memoryview(data), *spans))
        position = scan.end
    return blocks


def _count_frames(data: bytes) -> int:
    return sum(block.num_records for block in _scan(data))


def _decode(decoder: RecordDecoder, blocks: list[RecordBlock]) -> int:
    return sum(batch.num_rows for block in blocks for batch in decoder.iter_block(block))


def measure(run: harness.Run) -> None:
    target = memoryview(bytearray(BLOCK_BYTES))
    for name in ("census", "dense"):
        count = run.count(generate_data.count_for_bytes(name, _BYTES))
        path = generate_data.write_dataset(name, count, run.folder)
        data = path.read_bytes()
        schema = generate_data.DATASETS[name].schema()
        decoder = RecordDecoder(decode_plan(schema))
        jobs: dict[str, Callable[[], int]] = {
            "iter_batches, one thread": functools.partial(
                readers.iterate_batches, path, schema, threads=1
            ),
            "memcpy": functools.partial(_copy, data, target, count),
            "read only": functools.partial(_read, path, target, count),
            "CRC only": functools.partial(_checksum, data, count),
            "frames and CRCs only": functools.partial(_count_frames, data),
            "decode only": functools.partial(_decode, decoder, _scan(data)),
        }
        cases = [harness.Case(title, job, count, len(data)) for title, job in jobs.items()]
        run.compare(f"limits: {name}, {len(data) / 1e6:.0f} MB", cases)


if __name__ == "__main__":
    harness.main(measure, __doc__)
