"""What is counted: one function of the native kernel, called some times on a file of frames.

    python -m tests.instructions.work decode FILE 3

Nothing but the kernel is imported, so that it starts soon under valgrind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import Column, DecodePlan, EncodePlan, Kind

COLUMNS = {
    "age": Kind.INT64,
    "education": Kind.BYTES,
    "gain": Kind.INT64,
    "hours": Kind.INT64,
    "label": Kind.INT64,
    "occupation": Kind.BYTES,
    "score": Kind.FLOAT,
    "vector": Kind.FLOAT,
}
"""Of the records, in the order in which they hold them."""


def _decoder(*names: str) -> kernel.ExampleDecoder:
    return kernel.ExampleDecoder(DecodePlan(tuple(Column(name, COLUMNS[name]) for name in names)))


def make_call(name: str, data: bytes) -> Callable[[], object]:
    """Returns a call of the function that is meant."""
    if name == "scan":
        return lambda: kernel.scan(data)
    scan = kernel.scan(data)
    names = ("label", "age") if name == "decode_two_columns" else tuple(COLUMNS)
    decoder = _decoder(*names)
    if name in ("decode", "decode_two_columns"):
        return lambda: decoder.decode(data, scan.offsets, scan.lengths)
    batch, _ = decoder.decode(data, scan.offsets, scan.lengths)
    encoder = kernel.ExampleEncoder(EncodePlan(tuple(COLUMNS)))
    return lambda: encoder.encode_frames(batch)


if __name__ == "__main__":
    call = make_call(sys.argv[1], Path(sys.argv[2]).read_bytes())
    for _ in range(int(sys.argv[3])):
        call()
