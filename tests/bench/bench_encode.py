"""Encoding of record batches to Examples: us a record, per data set.

Size: the batches of 20,000 records of each data set (2,000 images), in memory, by 1000 rows. The
library encodes to frames with their CRCs, as its writers do, and to `bytes` objects, as tfx_bsl
does.
That both encoders mean the same is checked first. Bound: a memcpy of all records.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.bench import generate_data, harness, readers
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.schema.arrow import decode_plan

_MOST_RECORDS = 20_000

Encode = Callable[[pa.RecordBatch], Sequence[bytes]]


def _batches(schema: schema_pb2.Schema, records: Sequence[bytes]) -> list[pa.RecordBatch]:
    decoder = RecordDecoder(decode_plan(schema))
    starts = range(0, len(records), readers.BATCH_SIZE)
    return [decoder.decode_records(records[start : start + readers.BATCH_SIZE]) for start in starts]


def _tfx_bsl_encode(batch: pa.RecordBatch) -> Sequence[bytes]:
    from tfx_bsl.coders.example_coder import RecordBatchToExamplesEncoder

    records: list[bytes] = RecordBatchToExamplesEncoder().encode(batch)
    return records


def _encode_frames(batches: Sequence[pa.RecordBatch]) -> int:
    encoder = RecordEncoder()
    return sum(encoder.encode_frames(batch).num_records for batch in batches)


def _encode_records(encode: Encode, batches: Sequence[pa.RecordBatch]) -> int:
    return sum(len(encode(batch)) for batch in batches)


def _copy(data: bytes, target: memoryview, records: int) -> int:
    target[:] = data
    return records


def _check_equal(batch: pa.RecordBatch) -> None:
    """Raises unless both encoders write the same features: other work cannot be compared."""
    if harness.is_installed("tfx_bsl"):
        for ours, theirs in zip(
            RecordEncoder().encode_records(batch), _tfx_bsl_encode(batch), strict=True
        ):
            if Example.FromString(ours) != Example.FromString(theirs):
                raise RuntimeError("Expected both encoders to mean the same, found a difference")


def _cases(batches: Sequence[pa.RecordBatch]) -> list[harness.Case]:
    encode = RecordEncoder().encode_records
    records = [record for batch in batches for record in encode(batch)]
    data, count = b"".join(records), len(records)
    target = memoryview(bytearray(len(data)))
    jobs: list[tuple[str, Callable[[], int], str | None]] = [
        ("frames", functools.partial(_encode_frames, batches), None),
        ("bytes objects", functools.partial(_encode_records, encode, batches), None),
        ("tfx_bsl", functools.partial(_encode_records, _tfx_bsl_encode, batches), "tfx_bsl"),
        ("memcpy", functools.partial(_copy, data, target, count), None),
    ]
    return [harness.Case(name, job, count, len(data), needs) for name, job, needs in jobs]


def measure(run: harness.Run) -> None:
    for name, dataset in generate_data.DATASETS.items():
        records = dataset.records()[: run.count(_MOST_RECORDS)]
        batches = _batches(dataset.schema(), records)
        _check_equal(batches[0])
        run.compare(f"encode {name}: {len(dataset.features)} columns", _cases(batches))


if __name__ == "__main__":
    harness.main(measure, __doc__)
