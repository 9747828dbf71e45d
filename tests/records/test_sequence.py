"""Tables and batches of records with steps, without Beam."""

from __future__ import annotations

import pathlib
import pickle

import pyarrow as pa
import pytest

from tests.frames import framed
from tests.sequence_files import (
    EXAMPLE_LIST_ROWS,
    EXAMPLE_LISTS,
    RECORDS,
    ROWS,
    SCHEMA,
    write_files,
)
from tests.wire import NO_KIND, bytes_list, entry, example, feature_list, int64, sequence_example
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.kernel.plan import RecordType, SequenceDecodePlan
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.decode import RecordDecoder
from tfrecord_beam.records.table import iter_batches, read_table
from tfrecord_beam.schema.arrow import decode_plan, plan_schema


def write(folder: pathlib.Path, *records: bytes, name: str = "a") -> pathlib.Path:
    (folder / name).write_bytes(framed(*records))
    return folder / name


def test_table_of_sequence_examples(tmp_path: pathlib.Path) -> None:
    files = write_files(tmp_path)
    table = read_table(files, SCHEMA, record_type="SequenceExample")
    assert table.to_pylist() == ROWS
    assert table.schema == plan_schema(decode_plan(SCHEMA, record_type="SequenceExample"))
    some = read_table(
        files, SCHEMA, columns=["##SEQUENCE##.ids", "id"], record_type="SequenceExample"
    )
    assert some.to_pylist() == [
        {"id": row["id"], "##SEQUENCE##": {"ids": row["##SEQUENCE##"]["ids"]}} for row in ROWS
    ]


def test_table_of_example_lists(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, *EXAMPLE_LISTS)
    table = read_table(path, SCHEMA, record_type="ExampleListWithContext")
    assert table.to_pylist() == EXAMPLE_LIST_ROWS


def test_batches_are_cut_to_size(tmp_path: pathlib.Path) -> None:
    batches = list(
        iter_batches(
            write_files(tmp_path),
            SCHEMA,
            batch_size=10,
            raw_record_column_name="raw",
            record_type="SequenceExample",
        )
    )
    assert [batch.num_rows for batch in batches] == [10, 10, 5, 10, 5]
    raw = [value for batch in batches for value in batch["raw"].flatten().to_pylist()]
    assert raw == RECORDS


def test_table_without_a_schema(tmp_path: pathlib.Path) -> None:
    """What one file does not show is null there, whatever it lacks: a kind, a field, the struct."""
    untyped = sequence_example(feature_list("a", NO_KIND), feature_list("b", int64()))
    typed = sequence_example(feature_list("a", bytes_list(b"x"), NO_KIND), feature_list("0"))
    without = example(entry("id", int64(1)))
    for index, record in enumerate((untyped, without, typed)):
        write(tmp_path, record, name=f"{index}.tfrecord")
    table = read_table(tmp_path, record_type="SequenceExample", raw_record_column_name="##raw##")
    table.validate(full=True)
    steps = pa.struct(
        {
            "0": pa.large_list(pa.null()),
            "a": pa.large_list(pa.large_list(pa.large_binary())),
            "b": pa.large_list(pa.large_list(pa.int64())),
        }
    )
    assert table.schema.names == ["id", "##SEQUENCE##", "##raw##"]
    assert table.schema.field("##SEQUENCE##").type == steps
    assert table.drop_columns(["##raw##"]).to_pylist() == [
        {"id": None, "##SEQUENCE##": {"0": None, "a": [None], "b": [[]]}},
        {"id": [1], "##SEQUENCE##": None},
        {"id": None, "##SEQUENCE##": {"0": [], "a": [[b"x"], None], "b": None}},
    ]


def test_kinds_that_differ_between_files(tmp_path: pathlib.Path) -> None:
    write(tmp_path, sequence_example(feature_list("a", int64(1))), name="1.tfrecord")
    write(tmp_path, sequence_example(feature_list("a", bytes_list())), name="2.tfrecord")
    with pytest.raises(DecodeError, match=r"for feature '##SEQUENCE##\.a' as at .*1\.tfrecord:0"):
        read_table(tmp_path, record_type="SequenceExample")


@pytest.mark.parametrize(
    ("record_type", "text"),
    [
        ("Example", r"found a message with field 2 - at .*a:0, record 0 \(.*record_type='Sequence"),
        ("ExampleListWithContext", r"ExampleListWithContext, found bytes .* - at .*a:0, record 0"),
    ],
)
def test_records_of_another_type(
    tmp_path: pathlib.Path, record_type: RecordType, text: str
) -> None:
    with pytest.raises(DecodeError, match=text):
        read_table(write(tmp_path, *RECORDS), record_type=record_type)


def test_records_that_go_aside() -> None:
    decoder = RecordDecoder(SequenceDecodePlan(), "SequenceExample")
    corrupt: list[CorruptRecord] = []
    batch = decoder.decode_records([b"\xff", RECORDS[1]], corrupt.append)
    assert batch.num_rows == 1
    (record,) = corrupt
    assert record.reason.startswith("Expected a serialized tf.train.SequenceExample, found bytes")


@pytest.mark.parametrize("record_type", ["SequenceExample", "ExampleListWithContext"])
def test_pickled_decoder(record_type: RecordType) -> None:
    records = RECORDS if record_type == "SequenceExample" else EXAMPLE_LISTS
    decoder = RecordDecoder(decode_plan(SCHEMA, record_type=record_type), record_type)
    copy = pickle.loads(pickle.dumps(decoder))
    assert copy.decode_records(records).equals(decoder.decode_records(records))
