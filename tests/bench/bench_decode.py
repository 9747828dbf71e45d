"""Decoding of Examples to record batches: us a record, all columns and few, per data set.

Size: 20,000 records of each data set (2,000 images), in memory. The library decodes blocks of
frames, as its readers do, and the same batches of 1000 `bytes` objects that tfx_bsl gets. That
both give the same batch is checked first. Bounds: google.protobuf, which parses each record and
looks at nothing, and a memcpy of all bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.bench import generate_data, harness, readers
from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import Scan
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.records.reader import BLOCK_BYTES
from tfrecord_beam.schema.arrow import decode_plan

_MOST_RECORDS = 20_000

Decode = Callable[[Sequence[bytes]], pa.RecordBatch]


def _decode_blocks(schema: schema_pb2.Schema, data: bytes, scans: Sequence[Scan]) -> int:
    decoder = kernel.ExampleDecoder(decode_plan(schema))
    batches = (decoder.decode(data, scan.offsets, scan.lengths)[0] for scan in scans)
    return sum(pa.record_batch(batch).num_rows for batch in batches)


def _scan_blocks(data: bytes, block_bytes: int) -> list[Scan]:
    scans, position = [], 0
    while position < len(data):
        scans.append(kernel.scan(data, start=position, max_bytes=block_bytes))
        position = scans[-1].end
    return scans


def _record_decoder(schema: schema_pb2.Schema) -> Decode:
    decoder = kernel.ExampleDecoder(decode_plan(schema))
    return lambda records: pa.record_batch(decoder.decode_records(records)[0])


def _decode_records(
    make_decoder: Callable[[schema_pb2.Schema], Decode],
    schema: schema_pb2.Schema,
    records: Sequence[bytes],
) -> int:
    decode = make_decoder(schema)
    starts = range(0, len(records), readers.BATCH_SIZE)
    return sum(decode(records[start : start + readers.BATCH_SIZE]).num_rows for start in starts)


def _copy(data: bytes, target: memoryview, records: int) -> int:
    target[:] = data
    return records


def _parse(records: Sequence[bytes]) -> int:
    for record in records:
        Example.FromString(record)
    return len(records)


def _check_equal(schema: schema_pb2.Schema, records: Sequence[bytes]) -> None:
    """Raises unless both decoders give the same batch: other work cannot be compared."""
    if harness.is_installed("tfx_bsl"):
        ours = _record_decoder(schema)(records)
        theirs = readers.tfx_bsl_decoder(schema)(records)
        if not ours.equals(theirs):
            raise RuntimeError("Expected both decoders to give the same batch, found a difference")


def _cases(schema: schema_pb2.Schema, records: list[bytes]) -> list[harness.Case]:
    data = kernel.frame(records)
    count = len(records)
    target = memoryview(bytearray(len(data)))
    jobs: list[tuple[str, Callable[[], int], str | None]] = [
        (
            f"blocks of {BLOCK_BYTES >> 20} MiB",
            functools.partial(_decode_blocks, schema, data, _scan_blocks(data, BLOCK_BYTES)),
            None,
        ),
        (
            "bytes objects, by 1000",
            functools.partial(_decode_records, _record_decoder, schema, records),
            None,
        ),
        (
            "tfx_bsl, by 1000",
            functools.partial(_decode_records, readers.tfx_bsl_decoder, schema, records),
            "tfx_bsl",
        ),
        ("google.protobuf FromString", functools.partial(_parse, records), None),
        ("memcpy", functools.partial(_copy, data, target, count), None),
    ]
    return [harness.Case(name, job, count, len(data), needs) for name, job, needs in jobs]


def measure(run: harness.Run) -> None:
    for name, dataset in generate_data.DATASETS.items():
        records = dataset.records()[: run.count(_MOST_RECORDS)]
        for columns in (None, dataset.few_columns):
            schema = dataset.schema(columns)
            _check_equal(schema, records)
            run.compare(
                f"decode {name}: {len(schema.feature)} of {len(dataset.features)} columns, "
                f"{sum(map(len, records)) / len(records):.0f} bytes a record",
                _cases(schema, records),
            )


if __name__ == "__main__":
    harness.main(measure, __doc__)
