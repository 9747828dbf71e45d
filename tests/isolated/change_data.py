"""Decodes data that another thread writes to: any answer will do, but the process lives on.

Usage: python -m tests.isolated.change_data SECONDS
"""

from __future__ import annotations

import sys
import threading
import time
from array import array

import numpy as np

from tests.wire import entry, example, int64
from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import DecodePlan

# Nine bytes a number; where the thread writes, each byte is a number.
RECORD = example(entry("i", int64(*[2**62] * 300)))
NUMBERS = slice(40, len(RECORD) - 40)


def decode_for(seconds: float) -> None:
    """Decodes again and again; a crash is the only failure."""
    data = np.frombuffer(bytearray(RECORD), np.uint8)
    original = data.copy()
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            data[NUMBERS] = 1
            data[NUMBERS] = original[NUMBERS]

    thread = threading.Thread(target=change)
    thread.start()
    decoder = kernel.ExampleDecoder(DecodePlan())
    offsets, lengths = array("q", [0] * 300), array("q", [len(RECORD)] * 300)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        decoder.decode(data, offsets, lengths, collect_failures=True)
    done.set()
    thread.join()


if __name__ == "__main__":
    decode_for(float(sys.argv[1]))
