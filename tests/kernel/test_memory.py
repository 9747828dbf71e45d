"""How much memory a call takes."""

from __future__ import annotations

from array import array
from types import ModuleType

import numpy as np
import pyarrow as pa

from tests.decoding import BYTES, plan_of
from tests.wire import bytes_list, entry, example

MIB = 2**20


def test_few_long_records_do_not_count_for_a_million_short_ones(native: ModuleType) -> None:
    """As many bytes for all records as for the first ones would be more than there is."""
    parts = [example(entry("b", bytes_list(bytes(size)))) for size in (8 * MIB, 4 * MIB, 0)]
    starts = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    order = [2] * 15 + [0, 1] + [2] * 1_000_000
    offsets = array("q", [starts[part] for part in order])
    lengths = array("q", [len(parts[part]) for part in order])
    decoder = native.ExampleDecoder(plan_of({"b": BYTES}))
    exported, failures = decoder.decode(b"".join(parts), offsets, lengths)
    assert failures == []
    batch = pa.record_batch(exported)
    assert batch.num_rows == len(order)
    assert batch.nbytes < 32 * MIB


def test_columns_are_aligned_as_arrow_recommends(native: ModuleType) -> None:
    """To 64 bytes; what shares them, as TensorFlow does, may insist on it."""
    records = [example(entry("b", bytes_list(bytes(size)))) for size in (1, 10, 10_000, 100_000)]
    for record in records:
        exported, _ = native.ExampleDecoder(plan_of({"b": BYTES})).decode_records([record])
        buffers = pa.record_batch(exported).column("b").buffers()
        assert [buffer.address % 64 for buffer in buffers if buffer is not None] == [0, 0, 0]


def test_columns_do_not_take_the_memory_of_files(native: ModuleType) -> None:
    """Else each read would need fresh pages as long as columns are held."""

    def allocate_and_free() -> int:
        return int(np.frombuffer(native.allocate(MIB), np.uint8).ctypes.data)

    address = allocate_and_free()
    record = example(entry("b", bytes_list(bytes(MIB))))
    exported, _ = native.ExampleDecoder(plan_of({"b": BYTES})).decode_records([record])
    batch = pa.record_batch(exported)
    assert allocate_and_free() == address
    assert batch.num_rows == 1
