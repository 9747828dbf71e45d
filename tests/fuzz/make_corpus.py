"""Writes the inputs that the fuzzer starts from: `python3 -m tests.fuzz.make_corpus FOLDER`.

How an input is laid out is said in `input.h` and by what the fuzz targets take from it.
"""

from __future__ import annotations

import itertools
import pathlib
import random
import struct
import sys
from collections.abc import Iterator, Sequence

from tests import wire
from tests.wire import NO_KIND, bytes_list, delimited, entry, example, floats, int64

SEPARATOR = b"\xc0\xc1\xc0\xc1"
NUM_RECORD_TYPES = 3
NUM_PLANS = 5

FULL = example(
    entry("b", bytes_list(b"one", b"", b"longer than sixteen bytes")),
    entry("i", int64(1, -1, 300, 2**63 - 1)),
    entry("f", floats(0.5, float("nan"))),
    entry("any", bytes_list("größe".encode())),
    entry("beyond", int64(5)),
)
SPARSE = example(entry("i", int64()), entry("any", NO_KIND), entry("f", floats()), entry("größe"))
UNPACKED = example(
    entry("i", delimited(3, wire.varint_field(1, 7) + wire.varint_field(1, -2))),
    entry(
        "f", delimited(2, wire.fixed32_field(1, b"\0\0\x80\x3f") + wire.fixed32_field(1, b"abcd"))
    ),
)
MERGED = example(
    entry("i", int64(1), int64(2)),
    entry("b", bytes_list(b"x") + int64(1) + bytes_list(b"y") + bytes_list(b"z")),
    entry("f", floats(1.0)),
) + example(entry("f", floats(2.0)), entry("any", int64(3)))
UNKNOWN = (
    wire.group(9, wire.group(9) + wire.fixed64_field(3, bytes(8)))
    + example(wire.varint_field(7, 1), delimited(1, delimited(2, int64(4)) + delimited(1, b"i")))
    + wire.fixed32_field(2, bytes(4))
)
OTHER_KINDS = example(entry("i", floats(1.0)), entry("any", floats(1.0)), entry("b", int64()))
BAD = (
    FULL[:-3],
    example(entry(b"\xff", int64(1))),
    example(entry("i", int64(1))) + delimited(2, b""),
    delimited(1, example(entry("i", int64(1)))),
    example(entry("raw", int64(1))),
    example(entry("a\0b", int64(1)), entry("i", int64(1))),
)
LARGE = example(entry("i", int64(*range(127)) * 2), entry("b", bytes_list(bytes(200))))

STEPS = delimited(
    1, delimited(1, b"i") + delimited(2, delimited(1, int64(1, 2)) + delimited(1, b""))
)
TYPED_LATE = delimited(1, delimited(1, b"any") + delimited(2, delimited(1, b""))) + delimited(
    1, delimited(1, b"any") + delimited(2, delimited(1, floats()) + delimited(1, floats(1.0)))
)
SEQUENCES = (
    FULL + delimited(2, STEPS + TYPED_LATE),
    SPARSE + delimited(2, delimited(1, delimited(1, b"b"))) + delimited(2, STEPS),
    MERGED + delimited(2, b""),
    delimited(2, delimited(1, delimited(1, b"i") + delimited(2, delimited(1, floats(1.0))))),
    FULL + delimited(2, STEPS)[:-2],
)
EXAMPLE_LISTS = (
    delimited(1, FULL) + delimited(1, SPARSE) + delimited(2, MERGED),
    delimited(2, SPARSE) + delimited(1, UNPACKED) + delimited(1, b""),
    delimited(1, FULL) + delimited(1, OTHER_KINDS) + delimited(2, FULL),
    delimited(1, delimited(2, b"")),
)

RECORD_LISTS: tuple[tuple[bytes, ...], ...] = (
    (FULL,),
    (FULL, SPARSE, FULL),
    (SPARSE, UNPACKED, MERGED),
    (UNKNOWN, FULL, b"", UNKNOWN),
    (FULL, OTHER_KINDS, FULL),
    (OTHER_KINDS, FULL),
    *((FULL, bad, SPARSE) for bad in BAD),
    (LARGE, LARGE),
    SEQUENCES,
    EXAMPLE_LISTS,
)

PAYLOADS: tuple[tuple[bytes, ...], ...] = (
    (),
    (b"",),
    (b"", b"12345678", b"x" * 40),
    (bytes(8), bytes(8)),
    (FULL, SPARSE),
)


def decode_input(record_type: int, plan: int, records: Sequence[bytes]) -> bytes:
    """Returns an input for the decoder of a record type."""
    max_cells = 9
    return struct.pack("<BBBB", 1, record_type, plan, max_cells) + SEPARATOR.join(records)


def framing_input(flags: int, start: int, payloads: Sequence[bytes]) -> bytes:
    """Returns an input for the framing, with as many changes as `flags` says."""
    bounds = struct.pack("<HHHBH", start, 60, 90, 2, 70)
    changes = b"".join(struct.pack("<HB", 13 * i, 1 << i) for i in range(flags // 2 % 4))
    return struct.pack("<BB", 0, flags) + bounds + changes + SEPARATOR.join(payloads)


def encoding_input(flags: int, rows: int, seed: int) -> bytes:
    """Returns an input for the encoder: columns and values are what the bytes happen to say."""
    return struct.pack("<BBB", 2, flags, rows) + random.Random(seed).randbytes(200 * rows)


def inputs() -> Iterator[bytes]:
    """Yields all of them."""
    choices = range(NUM_RECORD_TYPES), range(NUM_PLANS)
    for record_type, plan, records in itertools.product(*choices, RECORD_LISTS):
        yield decode_input(record_type, plan, records)
    for flags, start, payloads in itertools.product(range(8), (0, 5, 28), PAYLOADS):
        yield framing_input(flags, start, payloads)
    for flags, rows in itertools.product(range(0, 64, 3), (0, 1, 3, 66)):
        yield encoding_input(flags, rows, seed=flags)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(inputs()):
        (folder / f"seed-{number:03}").write_bytes(data)
