"""Decoding of SequenceExamples and ExampleListWithContext to record batches: us a record.

Size: 5,000 visits of 5 to 19 steps, three features a step, in memory; as SequenceExamples and, the
same values, as lists of Examples. The library decodes blocks of frames, as its readers do, and the
same batches of 1000 `bytes` objects that tfx_bsl gets, which has no decoder for lists of Examples.
That both give the same batch is checked first. Bound: google.protobuf, which parses each record and
looks at nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from tests import wire
from tests.bench import generate_data, harness, readers
from tfrecord_beam import kernel
from tfrecord_beam.kernel.plan import RecordType
from tfrecord_beam.kernel.reference.protos import ExampleList, SequenceExample
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.schema.arrow import decode_plan

Decode = Callable[[Sequence[bytes]], pa.RecordBatch]

_SCHEMA = generate_data.SESSION_SCHEMA


def _make_decoder(record_type: RecordType) -> RecordDecoder:
    return RecordDecoder(decode_plan(_SCHEMA, record_type=record_type), record_type)


def _decode_block(record_type: RecordType, data: bytes) -> int:
    scan = kernel.scan(data)
    spans = np.asarray(scan.offsets), np.asarray(scan.lengths)
    block = RecordBlock("memory", 0, memoryview(data), *spans)
    return sum(batch.num_rows for batch in _make_decoder(record_type).iter_block(block))


def _decode_records(decode: Decode, records: Sequence[bytes]) -> int:
    starts = range(0, len(records), readers.BATCH_SIZE)
    return sum(decode(records[start : start + readers.BATCH_SIZE]).num_rows for start in starts)


def _parse(parse: Callable[[bytes], object], records: Sequence[bytes]) -> int:
    for record in records:
        parse(record)
    return len(records)


def _cases(
    record_type: RecordType,
    records: list[bytes],
    parse: Callable[[bytes], object],
    peer: Decode | None,
) -> list[harness.Case]:
    ours = _make_decoder(record_type).decode_records
    data = kernel.frame(records)
    jobs: list[tuple[str, Callable[[], int], str | None]] = [
        ("one block", functools.partial(_decode_block, record_type, data), None),
        ("bytes objects, by 1000", functools.partial(_decode_records, ours, records), None),
        ("google.protobuf FromString", functools.partial(_parse, parse, records), None),
    ]
    if peer is not None:
        if not ours(records).equals(peer(records)):
            raise RuntimeError("Expected both decoders to give the same batch, found a difference")
        job = functools.partial(_decode_records, peer, records)
        jobs.append(("tfx_bsl, by 1000", job, "tfx_bsl"))
    return [harness.Case(name, job, len(records), len(data), needs) for name, job, needs in jobs]


def measure(run: harness.Run) -> None:
    sessions = generate_data.sessions(run.count(5_000))
    sequences = [generate_data.sequence_example(*session) for session in sessions]
    lists = [wire.example_list(*steps, context=context) for context, steps in sessions]
    peer = None
    if harness.is_installed("tfx_bsl"):
        peer = readers.tfx_bsl_sequence_decoder(_SCHEMA)
    parse = SequenceExample.FromString
    run.compare("SequenceExample", _cases("SequenceExample", sequences, parse, peer))
    parse = ExampleList.FromString
    run.compare("ExampleListWithContext", _cases("ExampleListWithContext", lists, parse, None))


if __name__ == "__main__":
    harness.main(measure, __doc__)
