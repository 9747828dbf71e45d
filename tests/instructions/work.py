"""What is counted: one function of the native kernel, called some times on a file of frames.

    python -m tests.instructions.work decode FILE 3

Nothing but the kernel is imported, so that it starts soon under valgrind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import Column, DecodePlan, EncodePlan, Kind, SequenceDecodePlan

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
"""Of the Examples, in the order in which they hold them."""

STEP_COLUMNS = {"clicks": Kind.INT64, "prices": Kind.FLOAT, "words": Kind.BYTES}
"""Of the feature lists of the SequenceExamples."""


def _columns(kinds: Mapping[str, Kind], names: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(name, kinds[name]) for name in names)


def make_call(name: str, data: bytes) -> Callable[[], object]:
    """Returns a call of the function that is meant."""
    if name == "scan":
        return lambda: kernel.scan(data)
    scan = kernel.scan(data)
    if name == "decode_steps":
        plan = SequenceDecodePlan((), _columns(STEP_COLUMNS, STEP_COLUMNS))
        steps = kernel.SequenceExampleDecoder(plan)
        return lambda: steps.decode(data, scan.offsets, scan.lengths)
    names = ("label", "age") if name == "decode_two_columns" else tuple(COLUMNS)
    decoder = kernel.ExampleDecoder(DecodePlan(_columns(COLUMNS, names)))
    if name in ("decode", "decode_two_columns"):
        return lambda: decoder.decode(data, scan.offsets, scan.lengths)
    batch, _ = decoder.decode(data, scan.offsets, scan.lengths)
    encoder = kernel.ExampleEncoder(EncodePlan(tuple(COLUMNS)))
    return lambda: encoder.encode_frames(batch)


if __name__ == "__main__":
    call = make_call(sys.argv[1], Path(sys.argv[2]).read_bytes())
    for _ in range(int(sys.argv[3])):
        call()
