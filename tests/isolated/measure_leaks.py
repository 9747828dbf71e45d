"""Calls a kernel many times in many ways and prints how much the memory in use grows.

Usage: python -m tests.isolated.measure_leaks _native|reference ROUNDS. Prints a line for each kind
of call: by how many bytes the memory that malloc and Arrow have handed out grew over ROUNDS calls,
by how many blocks that of Python, and what was called.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import sys
from array import array
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from tests import wire
from tests.decoding import plan_of, spans
from tests.wire import entry, example, int64
from tfrecord_beam.kernel.plan import DecodePlan, EncodePlan, Kind

WARM_UP = 50

GOOD = example(
    entry("a", int64(*range(200))),
    entry("b", wire.bytes_list(b"x" * 300, b"")),
    entry("c", wire.floats(*range(100))),
)
BAD = {
    "not whole": GOOD[:-1],
    "name not UTF-8": example(entry(b"\xff")),
    "field 2": wire.delimited(2, b""),
    "other kind": example(entry("a", int64(1)), entry("b", int64(1))),
}
RECORDS = [GOOD, b"", *BAD.values(), GOOD]


class _MallInfo(ctypes.Structure):
    """glibc's ``struct mallinfo2`` (mallinfo(3))."""

    _fields_ = [
        *[(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")],
        *[(name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks")],
        ("keepcost", ctypes.c_size_t),
    ]


def allocated_bytes() -> int:
    """Returns what malloc (in arenas and in mappings of their own) and Arrow have handed out."""
    info = _mallinfo()
    return int(info.uordblks + info.hblkhd) + pa.total_allocated_bytes()


def expect_error(function: Callable[..., object], *arguments: Any, **options: Any) -> None:
    """Calls, and lets the error go that the call is there to raise."""
    try:
        function(*arguments, **options)
    except (ValueError, TypeError):
        return
    raise AssertionError("Expected an error")


def calls(kernel_name: str) -> dict[str, Callable[[], object]]:
    """Returns the calls to measure by name."""
    kernel = importlib.import_module(f"tfrecord_beam.kernel.{kernel_name}")
    plan = plan_of({"a": Kind.INT64, "b": Kind.BYTES, "c": None, "d": None}, "raw")
    decoder, decoder_of_all = kernel.ExampleDecoder(plan), kernel.ExampleDecoder(DecodePlan())
    good, mixed = spans([GOOD] * 5), spans(RECORDS)
    data = kernel.frame([GOOD] * 20)

    columns = {"i": [[1, 2], None, []] * 5, "b": [b"x" * 300, None, b""] * 5}
    batch = pa.record_batch(columns)
    null_value, other_type = pa.record_batch({"i": [[None, 1]]}), pa.record_batch({"i": [True]})
    encoder = kernel.ExampleEncoder(EncodePlan(("i", "b")))
    encoder_of_one = kernel.ExampleEncoder(EncodePlan(("i",)))

    lists, words = pa.array([[1, 2], None, []] * 50), pa.array([b"x" * 30, None, b"\xff"] * 50)

    texts = pa.array([["a", "b" * 100], None, []] * 50)
    texts_and_lists = pa.record_batch([texts, lists], ["a", "b"])

    def ask_arrays() -> None:
        kernel.row_splits(lists)
        kernel.element_lengths(words)
        for at_once in (False, True):
            reader = kernel.BatchReader(texts_and_lists, at_once)
            reader.value_lists(0)
            reader.sparse_lists(0)
            reader.sparse_columns(0, [1], [3])
            reader.sparse_columns(0, [1], [2])
            expect_error(reader.sparse_columns, 0, [1], [])
        kernel.byte_size(batch)
        kernel.count_invalid_utf8(words)
        expect_error(kernel.row_splits, lists.values)
        expect_error(kernel.count_invalid_utf8, lists)

    def go_there_and_back() -> None:
        splits, _, numbers = kernel.BatchReader(texts_and_lists, True).value_lists(1)
        kernel.parent_indices(splits)
        coordinates = kernel.coordinates([splits])
        kernel.splits_of_coordinates(coordinates, [len(lists), 2])
        kernel.splits_of_coordinates(coordinates, [1, 1])
        kernel.as_writable(numbers)
        expect_error(kernel.coordinates, [splits, splits])

    def fail_to_encode() -> None:
        expect_error(encoder_of_one.encode_frames, null_value)
        expect_error(encoder_of_one.encode_records, other_type)
        expect_error(encoder_of_one.encode_frames, batch)
        expect_error(kernel.ExampleEncoder, EncodePlan(("a", "a")))

    def take_twice() -> None:
        exported, _ = decoder.decode(*good)
        pa.record_batch(exported)
        with contextlib.suppress(ValueError, RuntimeError):
            pa.record_batch(exported)

    def fail_in_each_way() -> None:
        for bad in BAD.values():
            expect_error(decoder.decode_records, [GOOD, bad])
        expect_error(decoder.decode_records, [GOOD, "text"])
        expect_error(decoder.decode, b"", array("q", [1]), array("q", [1]))
        expect_error(kernel.ExampleDecoder, plan_of({"a": None}, "a"))
        expect_error(kernel.scan, data, start=-1)
        expect_error(kernel.frame, [GOOD, None])

    return {
        "decode": lambda: pa.record_batch(decoder.decode(*good)[0]),
        "decode all columns": lambda: pa.record_batch(decoder_of_all.decode(*good)[0]),
        "decode records": lambda: pa.record_batch(decoder.decode_records([GOOD] * 5)[0]),
        "collect failures": lambda: pa.record_batch(
            decoder.decode(*mixed, collect_failures=True)[0]
        ),
        "fail": fail_in_each_way,
        "drop the batch": lambda: decoder.decode(*good),
        "drop the capsules": lambda: decoder.decode(*good)[0].__arrow_c_array__(),
        "take twice": take_twice,
        "encode frames": lambda: encoder.encode_frames(batch),
        "encode records": lambda: encoder.encode_records(batch),
        "fail to encode": fail_to_encode,
        "ask arrays": ask_arrays,
        "coordinates": go_there_and_back,
        "make a decoder": lambda: kernel.ExampleDecoder(plan),
        "scan": lambda: kernel.scan(data),
        "find": lambda: kernel.find_record(data, start=1, stop=len(data), limit=len(data)),
        "frame": lambda: kernel.frame([GOOD] * 5),
        "crc": lambda: (kernel.crc32c(data), kernel.masked_crc32c(data)),
    }


def measure(call: Callable[[], object], rounds: int) -> tuple[int, int]:
    """Returns the growth in bytes and in Python blocks over `rounds` calls."""
    gc.collect()
    before, blocks_before = allocated_bytes(), sys.getallocatedblocks()
    for _ in range(rounds):
        call()
    gc.collect()
    return allocated_bytes() - before, sys.getallocatedblocks() - blocks_before


def measure_repeatedly(call: Callable[[], object], rounds: int) -> tuple[int, int]:
    """Returns the smallest of three growths: what an interpreter allocates once is no leak."""
    for _ in range(WARM_UP):
        call()
    num_bytes, num_blocks = zip(*(measure(call, rounds) for _ in range(3)), strict=True)
    return min(num_bytes), min(num_blocks)


if __name__ == "__main__":
    _mallinfo = ctypes.CDLL(None).mallinfo2
    _mallinfo.restype = _MallInfo
    for name, call in calls(sys.argv[1]).items():
        print(*measure_repeatedly(call, int(sys.argv[2])), name)
