"""The single steps from lines of CSV to record batches."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.tfxio.pipelines import run
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.tfxio.coders.csv_decoder import (
    PARSE_CSV_LINE_YIELDS_RAW_RECORDS,
    BatchedCSVRowsToRecordBatch,
    ColumnInfo,
    ColumnType,
    ColumnTypeInferrer,
    CSVToRecordBatch,
    GetArrowSchema,
    ParseCSVLine,
)

SCHEMA = schema_pb2.Schema(feature=[{"name": "b", "type": "BYTES"}, {"name": "a", "type": "INT"}])
NAMES = ["a", "b"]
LINES = ["1,x", "", '2,"é,"', ","]


def test_lines_to_record_batches() -> None:
    [batch] = run(beam.Create(LINES), CSVToRecordBatch(NAMES, 4, schema=SCHEMA)).elements
    assert batch.schema == GetArrowSchema(NAMES, SCHEMA)
    assert batch.to_pydict() == {"a": [[1], [2], None], "b": [[b"x"], ["é,".encode()], None]}


def test_types_are_inferred() -> None:
    step = CSVToRecordBatch(
        NAMES, None, skip_blank_lines=False, raw_record_column_name="raw", delimiter=";"
    )
    [batch] = run(beam.Create(["1;2.5", ""]), step).elements
    assert batch.to_pydict() == {
        "a": [[1], None],
        "b": [[2.5], None],
        "raw": [[b"1;2.5"], [b""]],
    }


def test_steps_one_by_one() -> None:
    parse = ParseCSVLine(",")
    assert PARSE_CSV_LINE_YIELDS_RAW_RECORDS
    rows = [row for line in LINES for row in parse.process(line)]
    assert rows[2] == ([b"2", "é,".encode()], '2,"é,"')
    inferrer = ColumnTypeInferrer(NAMES, skip_blank_lines=True)
    halves = []
    for half in (rows[:2], rows[2:]):
        accumulator = inferrer.create_accumulator()
        for cells, _ in half:
            accumulator = inferrer.add_input(accumulator, cells)
        halves.append(accumulator)
    infos = inferrer.extract_output(inferrer.merge_accumulators(halves))
    assert infos == [ColumnInfo("a", ColumnType.INT), ColumnInfo("b", ColumnType.STRING)]
    decode = BatchedCSVRowsToRecordBatch(skip_blank_lines=True, raw_record_column_name="raw")
    [batch] = decode.process(rows, infos)
    assert batch.to_pydict() == {
        "a": [[1], [2], None],
        "b": [[b"x"], ["é,".encode()], None],
        "raw": [[b"1,x"], ['2,"é,"'.encode()], [b","]],
    }


def test_ignored_columns_and_lists() -> None:
    infos = [ColumnInfo("a", ColumnType.IGNORE), ColumnInfo("b", ColumnType.INT)]
    decode = BatchedCSVRowsToRecordBatch(False, {"b"}, ";")
    [batch] = decode.process([([b"x", b"1;2"], "x,1;2"), ([], "")], infos)
    assert batch.to_pydict() == {"b": [[1, 2], None]}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([b"1", b"1;2"], ["INT", "INT"]),
        ([b"1.5", b"1;x"], ["FLOAT", "STRING"]),
        ([b"", b""], ["UNKNOWN", "UNKNOWN"]),
        ([], ["UNKNOWN", "UNKNOWN"]),
    ],
)
def test_types_of_one_row(cells: list[bytes], expected: list[str]) -> None:
    for skip_blank_lines in (True, False):
        inferrer = ColumnTypeInferrer(NAMES, skip_blank_lines, ["b"], ";")
        types = inferrer.add_input(inferrer.create_accumulator(), cells)
        assert [info.type.name for info in inferrer.extract_output(types)] == expected


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(DecodeError, match=r"^Expected every quote closed on its line"):
        list(ParseCSVLine(",").process('"a'))
    with pytest.raises(DecodeError, match=r"^Expected a line of 2 cells, found 1"):
        ColumnTypeInferrer(NAMES, True).add_input({}, [b"1"])
    infos = [ColumnInfo("a", ColumnType.INT)]
    for row, text in (
        ([b"x"], r"found b'x' - at record 0"),
        ([b"1", b"2"], r"1 cell, found 2 - at"),
    ):
        with pytest.raises(DecodeError, match=text):
            list(BatchedCSVRowsToRecordBatch(True).process([(row, "")], infos))
    for names, options, text in (
        (["a"], {}, r"^Expected features of the schema among 'a', found 'b'$"),
        (NAMES, {"raw_record_column_name": "a"}, r"^Expected a raw-record column with a name of"),
    ):
        arguments: dict[str, Any] = {"schema": SCHEMA, **options}
        with pytest.raises(ValueError, match=text):
            GetArrowSchema(names, **arguments)
        with pytest.raises(ValueError, match=text):
            CSVToRecordBatch(names, None, **arguments)


def test_arrow_schema() -> None:
    assert GetArrowSchema(["x", "a", "b"], SCHEMA, "raw") == pa.schema(
        [
            ("a", pa.large_list(pa.int64())),
            ("b", pa.large_list(pa.large_binary())),
            ("raw", pa.large_list(pa.large_binary())),
        ]
    )
