"""Tests of tfrecord_beam.records.decode."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pyarrow as pa
import pytest

from tests.frames import framed
from tests.records.reading import FILE, frame_starts, read_blocks
from tests.wire import bytes_list, entry, example, int64
from tfrecord_beam.errors import DecodeError, SchemaError
from tfrecord_beam.kernel.plan import Column, DecodePlan, Kind
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.corruption import MAX_SAMPLE_BYTES, CorruptRecord
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.ranges import FileRange

PLAN = DecodePlan((Column("id", Kind.INT64), Column("name", Kind.BYTES)), "raw")
RECORDS = [example(entry("id", int64(i)), entry("name", bytes_list(b"n%d" % i))) for i in range(6)]
BAD = {1: b"\xff no Example", 4: example(entry("id", bytes_list(b"1")))}
MIXED = [BAD.get(i, record) for i, record in enumerate(RECORDS)]


def block_of(records: list[bytes], start: int = 0) -> RecordBlock:
    """Returns a block of a file; one that begins inside it if `start` is not 0."""
    data = framed(b"skipped", *records)
    file_range = FileRange(FILE, start, None, len(data))
    [block] = read_blocks(data, file_range=file_range)
    return block.until(len(data)) if start else block


def rows(batch: pa.RecordBatch) -> list[dict[str, object]]:
    return [
        {"id": [i], "name": [b"n%d" % i], "raw": [RECORDS[i]]}
        for i in batch.column("id").flatten().to_pylist()
    ]


def test_both_ways_give_the_same_batch() -> None:
    decoder = RecordDecoder(PLAN)
    [of_block] = decoder.iter_block(block_of(RECORDS, start=1))
    of_records = decoder.decode_records(RECORDS)
    assert of_block.equals(of_records)
    assert of_block.to_pylist() == rows(of_block)
    assert of_block.schema.names == ["id", "name", "raw"]


def test_no_records() -> None:
    decoder = RecordDecoder(PLAN)
    empty = block_of(RECORDS, start=1).until(0)
    assert not list(decoder.iter_block(empty))
    assert decoder.decode_records([]).num_rows == 0


def test_error_in_a_block_says_where() -> None:
    starts = frame_starts([b"skipped", *MIXED])
    expected = f"parse as one - at {FILE}:{starts[2]} "
    with pytest.raises(DecodeError, match=expected) as caught:
        next(RecordDecoder(PLAN).iter_block(block_of(MIXED, start=1)))
    assert caught.value.record is None
    with pytest.raises(DecodeError, match=f"parse as one - at {FILE}:0, record 0 "):
        next(RecordDecoder(PLAN).iter_block(block_of(MIXED)))  # The record b"skipped".


def test_error_in_a_list_tells_the_index() -> None:
    with pytest.raises(DecodeError, match=r"do not parse as one - at record 1 \(are the rec"):
        RecordDecoder(PLAN).decode_records(MIXED)


def test_bad_records_go_aside_with_their_places() -> None:
    starts = frame_starts([b"skipped", *MIXED])
    corrupt: list[CorruptRecord] = []
    [batch] = RecordDecoder(PLAN).iter_block(block_of(MIXED, start=1), corrupt.append)
    assert batch.column("id").flatten().to_pylist() == [0, 2, 3, 5]
    assert batch.to_pylist() == rows(batch)
    assert [(each.file, each.offset, each.record) for each in corrupt] == [
        (FILE, starts[2], None),
        (FILE, starts[5], None),
    ]
    assert [each.sample for each in corrupt] == list(BAD.values())
    assert [each.length for each in corrupt] == [len(record) for record in BAD.values()]
    assert corrupt[1].reason == "Expected int64_list for feature 'id', found bytes_list"


def test_bad_records_of_a_list_go_aside() -> None:
    corrupt: list[CorruptRecord] = []
    batch = RecordDecoder(PLAN).decode_records(MIXED, corrupt.append)
    assert batch.column("id").flatten().to_pylist() == [0, 2, 3, 5]
    assert [(each.file, each.offset, each.record) for each in corrupt] == [
        (None, None, 1),
        (None, None, 4),
    ]


def test_number_of_a_bad_record_counts_from_the_start_of_the_file() -> None:
    corrupt: list[CorruptRecord] = []
    assert list(RecordDecoder(PLAN).iter_block(block_of(MIXED), corrupt.append))
    assert [each.record for each in corrupt] == [0, 2, 5]


def test_sample_is_bounded() -> None:
    corrupt: list[CorruptRecord] = []
    RecordDecoder(PLAN).decode_records([b"\xff" * 5000], corrupt.append)
    assert corrupt[0].length == 5000
    assert corrupt[0].sample == b"\xff" * MAX_SAMPLE_BYTES


def test_failed_call_leaves_no_trace() -> None:
    decoder = RecordDecoder(PLAN)
    expected = decoder.decode_records(RECORDS)
    with pytest.raises(DecodeError):
        decoder.decode_records(MIXED)
    assert decoder.decode_records(RECORDS).equals(expected)


def test_decoder_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(RecordDecoder(PLAN)))
    assert copy.decode_records(RECORDS).equals(RecordDecoder(PLAN).decode_records(RECORDS))


def test_threads_may_share_a_decoder() -> None:
    decoder = RecordDecoder(PLAN)
    expected = decoder.decode_records(RECORDS)
    with ThreadPoolExecutor(4) as pool:
        for batch in pool.map(lambda _: decoder.decode_records(RECORDS), range(100)):
            assert batch.equals(expected)


def test_more_columns_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = RecordDecoder(PLAN)

    class _Full:
        def decode(self, *args: Any, **options: Any) -> NoReturn:
            raise MemoryError

        decode_records = decode

    monkeypatch.setattr(decoder, "_decoder", _Full())
    text = "^Expected memory for all columns of a batch of"
    with pytest.raises(MemoryError, match=text):
        decoder.decode_records(RECORDS)
    with pytest.raises(MemoryError, match=f"{text} 7 records, found too little"):
        next(decoder.iter_block(block_of(RECORDS)))


def test_columns_of_one_name_are_refused() -> None:
    with pytest.raises(SchemaError, match=r"^Expected different columns, found 'id' twi"):
        RecordDecoder(DecodePlan((Column("id"), Column("id"))))


# --- A bound on the cells ----------------------------------------------------------------


@pytest.mark.parametrize("max_cells", [1, 2, 4, 5, 6, 100])
@pytest.mark.parametrize("start", [0, 1])
def test_parts_of_a_block_are_the_block(
    monkeypatch: pytest.MonkeyPatch, max_cells: int, start: int
) -> None:
    decoder, block = RecordDecoder(PLAN), block_of(MIXED, start)
    whole_corrupt: list[CorruptRecord] = []
    corrupt: list[CorruptRecord] = []
    [whole] = decoder.iter_block(block, whole_corrupt.append)
    monkeypatch.setattr("tfrecord_beam.records.decode.MAX_CELLS", max_cells)
    parts = list(decoder.iter_block(block, corrupt.append))
    assert pa.Table.from_batches(parts).combine_chunks().to_batches() == [whole]
    assert corrupt == whole_corrupt
    most = max(1, max_cells // 2)  # of two columns beside that of raw records
    assert [part.num_rows for part in parts if part.num_rows] == [
        min(most, whole.num_rows - done) for done in range(0, whole.num_rows, most)
    ]


@pytest.mark.parametrize("max_cells", [1, 4, 100])
def test_parts_of_a_list_are_the_list(monkeypatch: pytest.MonkeyPatch, max_cells: int) -> None:
    monkeypatch.setattr("tfrecord_beam.records.decode.MAX_CELLS", max_cells)
    decoder = RecordDecoder(PLAN)
    whole_corrupt: list[CorruptRecord] = []
    corrupt: list[CorruptRecord] = []
    whole = decoder.decode_records(MIXED, whole_corrupt.append)
    parts = list(decoder.iter_records(MIXED, corrupt.append))
    assert pa.Table.from_batches(parts).combine_chunks().to_batches() == [whole]
    assert max(part.num_rows for part in parts) == min(max(1, max_cells // 2), whole.num_rows)
    assert corrupt == whole_corrupt


def test_error_in_a_later_part_of_a_list_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfrecord_beam.records.decode.MAX_CELLS", 4)
    parts = RecordDecoder(PLAN).iter_records([*RECORDS[:4], BAD[4]])
    with pytest.raises(DecodeError, match="record 4"):
        list(parts)


def test_no_records_have_no_parts() -> None:
    decoder = RecordDecoder(PLAN)
    assert list(decoder.iter_block(block_of(RECORDS, start=1).until(0))) == []
    assert list(decoder.iter_records([])) == []


@pytest.mark.parametrize("start", [0, 1])
def test_error_in_a_later_part_says_where(monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    monkeypatch.setattr("tfrecord_beam.records.decode.MAX_CELLS", 2)
    plan = DecodePlan((Column("id", Kind.INT64), Column("name")))
    block = block_of([*RECORDS[:4], BAD[4]], start)
    parts = RecordDecoder(plan).iter_block(block.after(1 - start))
    assert [next(parts).num_rows for _ in range(4)] == [1] * 4
    with pytest.raises(DecodeError, match="for feature 'id'") as caught:
        next(parts)
    assert caught.value.file == FILE
    assert caught.value.offset == frame_starts([b"skipped", *RECORDS])[5]
    assert caught.value.record == (None if start else 5)
